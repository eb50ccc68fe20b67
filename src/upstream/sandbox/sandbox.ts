// The sandbox: a small aggregator inside the daemon, reached over loopback HTTP like any other upstream.

import http from 'node:http';
import { answerCompletion, type SandboxState } from './answer-completion.ts';
import { answerEmbeddings } from './answer-embeddings.ts';
import { createPrefixCache } from './prefix-cache.ts';
import { sandboxEmbeddingModels } from './sandbox-embeddings.ts';
import { SandboxRefusal, sendJson, sendRefusal } from './sandbox-http.ts';
import { parseSandboxModels, renderModelList } from './sandbox-models.ts';

type SandboxOptions = {
  /** The parsed catalogue file, `{models: [{id, name, pricing, …}]}`; rows it cannot read are left out. */
  readonly catalogJson: unknown;
  /** 1 (default) answers at a believable pace, 0 at once. */
  readonly paceScale?: number;
  /** Milliseconds since 1970, for `created`. */
  readonly now: () => number;
};

export type Sandbox = {
  /** The base URL: `{url}/models`, `{url}/chat/completions`, `{url}/embeddings`. */
  readonly url: string;
  close(): Promise<void>;
};

/** A body over this is refused; the gateway's own limit is lower. */
const MAX_BODY_BYTES = 40 * 1024 * 1024;
/** Longer than any client keeps an idle connection, so that the client is always the one to close it. */
const KEEP_ALIVE_MS = 75_000;
const BASE_PATH = '/api/v1';

/** Listens on a free loopback port. The same request always gets the same answer (only `created` and cached tokens differ). */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const written = parseSandboxModels(options.catalogJson);
  // A catalogue without models makes a sandbox without any.
  const models = written.length > 0 ? [...written, ...sandboxEmbeddingModels()] : written;
  const state: SandboxState = {
    models: new Map(models.map((model) => [model.id, model])),
    cache: createPrefixCache(),
    paceScale: options.paceScale ?? 1,
    now: options.now,
  };
  const modelList = JSON.stringify(renderModelList(models));
  const server = http.createServer((req, res) => {
    // A caller that goes away while its body or answer is under way is no fault of the sandbox.
    res.on('error', () => res.destroy());
    route(req, res, state, modelList).catch((error: unknown) => sendRefusal(res, error));
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}${BASE_PATH}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function route(
  req: http.IncomingMessage,
  res: http.ServerResponse,
  state: SandboxState,
  modelList: string,
): Promise<void> {
  const path = (req.url ?? '').split('?', 1)[0];
  if (path === `${BASE_PATH}/models` && req.method === 'GET') return sendJson(res, 200, modelList);
  if (path === `${BASE_PATH}/chat/completions` && req.method === 'POST') {
    return answerCompletion(parseBody(await readBody(req)), res, state);
  }
  if (path === `${BASE_PATH}/embeddings` && req.method === 'POST') {
    return answerEmbeddings(parseBody(await readBody(req)), res, state);
  }
  throw new SandboxRefusal(404, `The sandbox has no ${req.method} ${path}.`);
}

async function readBody(req: http.IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of req) {
    if (!Buffer.isBuffer(chunk)) continue;
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw new SandboxRefusal(413, 'The body is over 40 MiB.');
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
}

function parseBody(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw new SandboxRefusal(400, 'The body is not JSON.');
  }
}

function listen(server: http.Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      if (address === null || typeof address === 'string') reject(new Error('The sandbox has no port.'));
      else resolve(address.port);
    });
  });
}

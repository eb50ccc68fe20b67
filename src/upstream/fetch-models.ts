// Asks an upstream for its list of models, once, within limits of time and size.

import { Client, type Dispatcher } from 'undici';
import { errorCode, toUpstreamFailure } from './upstream-failure.ts';
import { parseUpstreamUrl } from './upstream-url.ts';

type ModelsSource = {
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  /** Milliseconds for the whole request. Default 10,000. */
  readonly timeoutMs?: number;
};

const TIMEOUT_MS = 10_000;
/** The largest list known has about 2 MB. */
const MAX_BYTES = 32 * 1024 * 1024;

/**
 * The parsed JSON of `GET {baseUrl}/models`, whatever its shape. Throws an `Error` with a sentence for the operator: not
 * reachable, refused, too slow, too large, not JSON. An abort by `signal` throws the signal's reason.
 */
export async function fetchModels(source: ModelsSource, signal: AbortSignal): Promise<unknown> {
  const { origin, basePath, host } = parseUpstreamUrl(source.baseUrl);
  const timeoutMs = source.timeoutMs ?? TIMEOUT_MS;
  const deadline = AbortSignal.timeout(timeoutMs);
  const either = AbortSignal.any([signal, deadline]);
  const client = new Client(origin, { connect: { timeout: timeoutMs } });
  try {
    const headers: Record<string, string> = { accept: 'application/json', 'accept-encoding': 'identity' };
    if (source.apiKey !== undefined) headers['authorization'] = `Bearer ${source.apiKey}`;
    const answer = await client.request({ path: `${basePath}/models`, method: 'GET', headers, signal: either });
    if (answer.statusCode !== 200) {
      answer.body.on('error', ignoreError).destroy();
      throw new ModelsError(explainStatus(host, answer.statusCode));
    }
    return parseModels(host, await readBody(host, answer));
  } catch (error) {
    if (error instanceof ModelsError) throw error;
    if (signal.aborted) throw signal.reason;
    if (deadline.aborted) throw new Error(`The upstream at ${host} did not list its models within ${timeoutMs} ms.`);
    const progress = errorCode(error) === 'UND_ERR_SOCKET' || errorCode(error) === 'ECONNRESET' ? 'sent' : 'waiting';
    throw new Error(toUpstreamFailure(host, progress, error).message, { cause: error });
  } finally {
    await client.destroy();
  }
}

class ModelsError extends Error {}

function explainStatus(host: string, status: number): string {
  if (status === 401 || status === 403)
    return `The upstream at ${host} refused the API key (${status}); check the key.`;
  if (status === 404) return `The upstream at ${host} has no list of models under its URL (404); check the URL's path.`;
  return `The upstream at ${host} answered ${status} when asked for its models.`;
}

async function readBody(host: string, answer: Dispatcher.ResponseData): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer.body) {
    if (!Buffer.isBuffer(chunk)) continue;
    size += chunk.length;
    if (size > MAX_BYTES) throw new ModelsError(`The upstream at ${host} sent a list of models over 32 MiB.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function parseModels(host: string, body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (cause) {
    throw new ModelsError(`The upstream at ${host} sent a list of models that is not JSON.`, { cause });
  }
}

/** The body is not read, so its end by `destroy` is no news. */
function ignoreError(): void {}

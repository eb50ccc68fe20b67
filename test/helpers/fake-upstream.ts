// A scriptable aggregator for tests: real HTTP on a free port, every request recorded, any answer or fault on demand.
//
//   const upstream = await startFakeUpstream();            // answers every completion with "Hello from <model>."
//   upstream.queue({ status: 429, json: { error: … } });   // the next request only
//   upstream.respond((request) => ({ sse: chatEvents({ text: 'Hi' }) }));   // from now on
//   upstream.requests[0]?.body; await upstream.arrived(2); await upstream.requests[0]?.closed;
//   await upstream.close();

import http from 'node:http';
import type { AddressInfo } from 'node:net';

export type RecordedRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  /** The body as JSON; undefined where it is none. */
  readonly json: unknown;
  /** Tells requests of one connection apart from those of another. */
  readonly connection: number;
  /** True once the caller has gone before the answer was whole. */
  readonly closedEarly: boolean;
  /** Resolves when the answer is over: `done`, or `early` where the caller went first. */
  readonly closed: Promise<'done' | 'early'>;
};

/** Text or bytes are written as they are; a number waits so many ms; a promise is awaited (a gate the test opens). */
export type Piece = string | Uint8Array | number | Promise<unknown>;

/**
 * One answer. `json` is sent whole with a content-length, `sse` as an event stream and `raw` as given, piece by piece.
 * `ending` says what follows the last piece: `end` (default) a proper end, `hang` silence, `reset` a TCP reset, `cut` a
 * closed connection without the last chunk. Without a body, `hang`, `reset` and `cut` come before the head.
 */
export type FakeReply = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly sse?: readonly Piece[];
  readonly raw?: readonly Piece[];
  readonly ending?: 'end' | 'hang' | 'reset' | 'cut';
  /** Awaited before the head. */
  readonly wait?: Promise<unknown>;
};

export type FakeScript = (request: RecordedRequest) => FakeReply | Promise<FakeReply>;

export type FakeUpstream = {
  readonly url: string;
  /** Completions and everything else but `GET /models`, in order of arrival. */
  readonly requests: readonly RecordedRequest[];
  /** How many connections were opened so far. */
  readonly connections: () => number;
  respond(script: FakeScript): void;
  /** These come first, one per request. */
  queue(...replies: (FakeReply | FakeScript)[]): void;
  /** What `GET /models` lists; a reply instead of a list makes it answer that. */
  models(list: readonly unknown[] | FakeReply): void;
  /** Resolves with the n-th request (from 1) once it has come. */
  arrived(n: number): Promise<RecordedRequest>;
  close(): Promise<void>;
};

export async function startFakeUpstream(script: FakeScript = answerByModel): Promise<FakeUpstream> {
  const requests: RecordedRequest[] = [];
  const queued: (FakeReply | FakeScript)[] = [];
  const waiting: { readonly n: number; readonly resolve: (request: RecordedRequest) => void }[] = [];
  const sockets = new Map<unknown, number>();
  let current = script;
  let models: readonly unknown[] | FakeReply = DEFAULT_MODELS;

  const handle = async (recorded: RecordedRequest, res: http.ServerResponse): Promise<void> => {
    if (recorded.method === 'GET' && recorded.path.endsWith('/models')) {
      return play(res, Array.isArray(models) ? { json: { data: models } } : (models as FakeReply));
    }
    requests.push(recorded);
    const next = queued.shift() ?? current;
    for (const waiter of waiting) if (waiter.n === requests.length) waiter.resolve(recorded);
    await play(res, typeof next === 'function' ? await next(recorded) : next);
  };
  const server = http.createServer(async (req, res) => {
    const recorded = await record(req, res, sockets.get(req.socket) ?? 0).catch(() => undefined);
    // Undefined: the caller broke off in the middle of its own body.
    if (recorded !== undefined) await handle(recorded, res);
  });
  server.keepAliveTimeout = 60_000;
  server.on('connection', (socket) => sockets.set(socket, sockets.size + 1));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`,
    requests,
    connections: () => sockets.size,
    respond(next) {
      current = next;
    },
    queue(...replies) {
      queued.push(...replies);
    },
    models(list) {
      models = list;
    },
    arrived(n) {
      const there = requests[n - 1];
      if (there !== undefined) return Promise.resolve(there);
      return new Promise((resolve) => waiting.push({ n, resolve }));
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export type ChatAnswer = {
  readonly text?: string;
  readonly model?: string;
  readonly finishReason?: string;
  readonly toolCalls?: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  /** Null leaves usage out. Default: 10 prompt and 5 completion tokens. */
  readonly usage?: Readonly<Record<string, unknown>> | null;
};

const DEFAULT_USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

/** A whole Chat Completions answer. */
export function chatAnswer(answer: ChatAnswer = {}): Record<string, unknown> {
  const toolCalls = answer.toolCalls?.map(({ id, name, arguments: args }) => ({
    id,
    type: 'function',
    function: { name, arguments: args },
  }));
  const content = answer.text ?? (toolCalls === undefined ? 'Hello.' : null);
  const message = { role: 'assistant', content, ...(toolCalls === undefined ? {} : { tool_calls: toolCalls }) };
  const finish = answer.finishReason ?? (toolCalls === undefined ? 'stop' : 'tool_calls');
  return {
    id: 'gen-fake',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: answer.model ?? 'test/cheap',
    choices: [{ index: 0, message, finish_reason: finish }],
    ...(answer.usage === null ? {} : { usage: answer.usage ?? DEFAULT_USAGE }),
  };
}

/** The same answer as the events of a stream, one per word, up to and with `[DONE]`. */
export function chatEvents(answer: ChatAnswer = {}): string[] {
  const base = {
    id: 'gen-fake',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: answer.model ?? 'test/cheap',
  };
  const deltas: Record<string, unknown>[] = (answer.text ?? (answer.toolCalls ? '' : 'Hello.'))
    .split(/(?<=\s)/)
    .filter((word) => word !== '')
    .map((content) => ({ content }));
  for (const [index, call] of (answer.toolCalls ?? []).entries()) {
    const { id, name } = call;
    deltas.push({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] });
    deltas.push({ tool_calls: [{ index, function: { arguments: call.arguments } }] });
  }
  const finish = answer.finishReason ?? (answer.toolCalls ? 'tool_calls' : 'stop');
  const chunks: Record<string, unknown>[] = deltas.map((delta, at) => ({
    ...base,
    choices: [{ index: 0, delta: at === 0 ? { role: 'assistant', ...delta } : delta, finish_reason: null }],
  }));
  chunks.push({ ...base, choices: [{ index: 0, delta: {}, finish_reason: finish }] });
  if (answer.usage !== null) chunks.push({ ...base, choices: [], usage: answer.usage ?? DEFAULT_USAGE });
  return [...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), 'data: [DONE]\n\n'];
}

/** What `GET /models` lists unless told otherwise, in OpenRouter's shape. */
export const DEFAULT_MODELS: readonly Readonly<Record<string, unknown>>[] = [
  listedModel('test/cheap', '0.0000001', '0.0000004', ['text']),
  listedModel('test/good', '0.000003', '0.000015', ['text']),
  listedModel('test/vision', '0.000001', '0.000004', ['text', 'image']),
];

function listedModel(id: string, prompt: string, completion: string, modalities: readonly string[]) {
  return {
    id,
    name: id,
    created: 1_700_000_000,
    context_length: 128_000,
    architecture: { input_modalities: modalities, output_modalities: ['text'] },
    pricing: { prompt, completion },
    supported_parameters: ['tools', 'tool_choice', 'response_format', 'structured_outputs', 'max_tokens', 'stop'],
    top_provider: { context_length: 128_000, max_completion_tokens: 16_384 },
  };
}

function answerByModel(request: RecordedRequest): FakeReply {
  const { model, stream } = (request.json ?? {}) as { model?: string; stream?: boolean };
  const answer = { text: `Hello from ${model ?? 'nobody'}.`, ...(model === undefined ? {} : { model }) };
  return stream === true ? { sse: chatEvents(answer) } : { json: chatAnswer(answer) };
}

async function record(req: http.IncomingMessage, res: http.ServerResponse, connection: number) {
  const state = { early: false };
  const closed = new Promise<'done' | 'early'>((resolve) => {
    res.on('close', () => {
      state.early = !res.writableFinished;
      resolve(state.early ? 'early' : 'done');
    });
  });
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  const recorded: RecordedRequest = {
    method: req.method ?? '',
    path: req.url ?? '',
    headers: req.headers,
    body,
    json: parseOrUndefined(body),
    connection,
    get closedEarly() {
      return state.early;
    },
    closed,
  };
  return recorded;
}

function parseOrUndefined(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

async function play(res: http.ServerResponse, reply: FakeReply): Promise<void> {
  await reply.wait;
  const pieces = reply.sse ?? reply.raw;
  if (reply.json !== undefined) {
    const text = JSON.stringify(reply.json);
    res.writeHead(reply.status ?? 200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      ...reply.headers,
    });
    res.write(text);
  } else if (pieces !== undefined) {
    const type: Record<string, string> = reply.sse === undefined ? {} : { 'content-type': 'text/event-stream' };
    res.writeHead(reply.status ?? 200, { ...type, ...reply.headers });
    res.flushHeaders();
    for (const piece of pieces) await playPiece(res, piece);
  } else if (reply.ending === undefined || reply.ending === 'end') {
    res.writeHead(reply.status ?? 200, { 'content-length': 0, ...reply.headers });
  }
  await finish(res, reply.ending ?? 'end');
}

async function playPiece(res: http.ServerResponse, piece: Piece): Promise<void> {
  if (res.destroyed) return;
  if (typeof piece === 'number') await new Promise((resolve) => setTimeout(resolve, piece));
  else if (typeof piece === 'string' || piece instanceof Uint8Array) await writeThrough(res, piece);
  else await piece;
}

/** Waits until the bytes have left, so that each piece is a chunk of its own and a later reset cannot overtake it. */
function writeThrough(res: http.ServerResponse, piece: string | Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    res.once('close', resolve);
    res.write(piece, () => {
      res.off('close', resolve);
      setImmediate(resolve);
    });
  });
}

async function finish(res: http.ServerResponse, ending: NonNullable<FakeReply['ending']>): Promise<void> {
  if (ending === 'end') res.end();
  else if (ending === 'cut') res.socket?.destroy();
  else if (ending === 'reset') res.socket?.resetAndDestroy();
}

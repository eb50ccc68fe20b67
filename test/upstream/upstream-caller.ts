// Calls an upstream and records what comes back; a raw TCP server for what HTTP servers will not do.

import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';
import { createHttpUpstream, type HttpUpstreamOptions } from '../../src/upstream/http-upstream.ts';
import type {
  Upstream,
  UpstreamCall,
  UpstreamControl,
  UpstreamFailure,
  UpstreamTimeouts,
} from '../../src/upstream/upstream.ts';

export const TIMEOUTS: UpstreamTimeouts = { connectMs: 5000, firstEventMs: 5000, idleMs: 5000 };
export const KEY = 'sk-upstream-secret';

type Seen = {
  heads: number;
  status?: number;
  headers?: Readonly<Record<string, string>>;
  text: string;
  chunks: number;
  end: 'end' | 'failure' | undefined;
  terminals: number;
  failure?: UpstreamFailure;
};
type Started = { seen: Seen; over: Promise<Seen>; head: Promise<UpstreamControl>; abort: () => void };

export function start(
  upstream: Upstream,
  overrides: Partial<UpstreamCall> = {},
  onChunk?: (seen: Seen) => void,
): Started {
  const seen: Seen = { heads: 0, text: '', chunks: 0, end: undefined, terminals: 0 };
  let headCame: (control: UpstreamControl) => void = () => {};
  const head = new Promise<UpstreamControl>((resolve) => {
    headCame = resolve;
  });
  let abort = (): void => {};
  const over = new Promise<Seen>((resolve) => {
    const call = { path: '/chat/completions', body: Buffer.from('{"model":"m"}'), headers: {}, timeouts: TIMEOUTS };
    abort = upstream.send(
      { ...call, ...overrides },
      {
        onHead(status, headers, control) {
          Object.assign(seen, { status, headers });
          seen.heads += 1;
          headCame(control);
        },
        onData(chunk) {
          seen.text += chunk.toString('utf8');
          seen.chunks += 1;
          onChunk?.(seen);
        },
        onEnd() {
          seen.end = 'end';
          seen.terminals += 1;
          resolve(seen);
        },
        onFailure(failure) {
          seen.end = 'failure';
          seen.failure = failure;
          seen.terminals += 1;
          resolve(seen);
        },
      },
    );
  });
  return { seen, over, head, abort };
}

export function upstreamAt(baseUrl: string, options: Partial<HttpUpstreamOptions> = {}): Upstream {
  return createHttpUpstream({
    name: 'test',
    baseUrl,
    apiKey: KEY,
    formats: ['chat'],
    dialect: 'openrouter',
    ...options,
  });
}

export const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

export const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

/** Calls back with the number of the request on this connection once its head and its body are there. */
export function onRequest(socket: Socket, call: (n: number) => void): void {
  let requests = 0;
  socket.on('data', (bytes) => {
    if (!bytes.toString('utf8').endsWith('}')) return;
    requests += 1;
    call(requests);
  });
}

export function gate(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((open) => {
    resolve = open;
  });
  return { promise, resolve: () => resolve() };
}

export async function startRaw(onSocket: (socket: Socket) => void) {
  const open = new Set<Socket>();
  let connections = 0;
  const server: Server = createServer((socket) => {
    connections += 1;
    open.add(socket);
    socket.on('error', () => {});
    onSocket(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => connections,
    close() {
      for (const socket of open) socket.destroy();
      server.close();
    },
  };
}

// The listening socket: limits against slow clients, the exact Host values it answers for, and a close that drops nobody.

import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import { answerBadRequests } from './bad-requests.ts';

const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 120_000;
const CHECK_INTERVAL_MS = 2000;
/** Longer than the usual 60 s of clients and proxies, so that they close first. */
const KEEP_ALIVE_MS = 75_000;
const HEADER_BYTES_MAX = 16 * 1024;

export interface Listener {
  /** As bound, e.g. `http://127.0.0.1:4747`. */
  readonly url: string;
  readonly hosts: ReadonlySet<string>;
  /** Takes no new connections; those that are open stay. */
  stopListening(): void;
  closeConnections(): void;
}

export class ListenError extends Error {
  override readonly name = 'ListenError';
}

export async function listen(handler: RequestListener, host: string, port: number): Promise<Listener> {
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: CHECK_INTERVAL_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: HEADER_BYTES_MAX,
      // The guard refuses such requests, with the contract's body.
      requireHostHeader: false,
    },
    handler,
  );
  answerBadRequests(server);
  const address = await bind(server, host, port);
  const shown = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return {
    url: `http://${shown}:${address.port}`,
    hosts: new Set(['127.0.0.1', 'localhost', '[::1]', shown].map((name) => `${name}:${address.port}`)),
    // http.Server's own close() also drops idle keep-alive connections, and with them requests already on their way.
    stopListening: () => void NetServer.prototype.close.call(server),
    closeConnections: () => server.closeAllConnections(),
  };
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

function bind(server: Server, host: string, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = error.code === 'EADDRINUSE';
      const hint = taken ? 'another program has it; stop that, or choose another port with --port' : error.message;
      reject(new ListenError(`cannot listen on ${host}:${port}: ${hint}`, { cause: error }));
    });
    server.listen(port, host, () => {
      const address = server.address();
      if (address === null || typeof address === 'string') reject(new ListenError(`no address for ${host}:${port}`));
      else resolve(address);
    });
  });
}

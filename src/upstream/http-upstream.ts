// Calls an aggregator over HTTP: a pool of kept-alive connections and undici's raw dispatch, one object per call.

import { type Dispatcher, Pool } from 'undici';
import { type CallLines, HttpCall } from './http-call.ts';
import { ReuseClient } from './reuse-client.ts';
import type { Upstream, UpstreamCall, UpstreamDialect, UpstreamFormat, UpstreamHandler } from './upstream.ts';
import { parseUpstreamUrl } from './upstream-url.ts';

export type HttpUpstreamOptions = {
  readonly name: string;
  /** With its path, e.g. `https://openrouter.ai/api/v1`; see `parseUpstreamUrl` for what is refused. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly formats: readonly UpstreamFormat[];
  readonly dialect: UpstreamDialect;
  /** Default false. */
  readonly takesSandboxField?: boolean;
  /** Calls beyond this many wait for a free connection, for as long as their `connectMs`. Default 512. */
  readonly maxConnections?: number;
};

/** Many streams at once, and still well below the usual limit of 1,024 open files. */
const MAX_CONNECTIONS = 512;
/** An attempt nobody waits for any more is given up after this; what a call itself waits is its own `connectMs`. */
const MAX_CONNECT_MS = 60_000;
/** Below the 60 s after which common load balancers drop an idle connection; a shorter `Keep-Alive` hint wins. */
const KEEP_ALIVE_MS = 50_000;
/** A head larger than this is no answer to a completion. */
const MAX_HEADER_BYTES = 32 * 1024;

/** Set here and by HTTP itself; a caller's header of the same name is left out. */
const OWN_HEADERS = new Set([
  'accept',
  'accept-encoding',
  'authorization',
  'connection',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'x-api-key',
]);

/**
 * Throws an `Error` with a sentence for the operator where the URL or the key cannot be used.
 * Redirects are not followed: a 3xx is an answer like any other, so the key stays with its origin.
 * `close` takes no new calls and resolves once the running ones are over; their own deadlines bound the wait.
 */
export function createHttpUpstream(options: HttpUpstreamOptions): Upstream {
  const { origin, basePath, host } = parseUpstreamUrl(options.baseUrl);
  const ownHeaders = renderOwnHeaders(options.apiKey);
  const messagesHeaders = options.apiKey === undefined ? ownHeaders : [...ownHeaders, 'x-api-key', options.apiKey];
  const lines = createLines(origin, host, options.maxConnections ?? MAX_CONNECTIONS);
  return {
    name: options.name,
    formats: options.formats,
    dialect: options.dialect,
    takesSandboxField: options.takesSandboxField ?? false,
    send(call: UpstreamCall, handler: UpstreamHandler): () => void {
      // Upstreams of that dialect look for the key in either place.
      const headers = mergeHeaders(call.path.startsWith('/messages') ? messagesHeaders : ownHeaders, call.headers);
      const running = new HttpCall(lines, basePath + call.path, headers, call, handler);
      lines.acquire();
      if (lines.closed) running.refuse();
      else running.start(lines.pool);
      return () => running.abort();
    },
    close: lines.close,
  };
}

type Lines = CallLines & { readonly closed: boolean; acquire(): void; close(): Promise<void> };

/** The pool, the connections for repeats (made when first needed), and the count of running calls. */
function createLines(origin: string, host: string, connections: number): Lines {
  const settings = { connections, connect: { timeout: MAX_CONNECT_MS }, maxHeaderSize: MAX_HEADER_BYTES };
  const factory = (url: URL, clientOptions: object): Dispatcher => new ReuseClient(url, clientOptions);
  const pool = new Pool(origin, { ...settings, keepAliveTimeout: KEEP_ALIVE_MS, factory });
  let freshPool: Pool | undefined;
  let running = 0;
  let closing: Promise<void> | undefined;
  let whenIdle = (): void => {};
  return {
    host,
    pool,
    get closed() {
      return closing !== undefined;
    },
    fresh() {
      // `pipelining: 0` makes undici close each connection after its answer.
      freshPool ??= new Pool(origin, { ...settings, pipelining: 0, factory });
      return freshPool;
    },
    acquire() {
      running += 1;
    },
    release() {
      running -= 1;
      if (running === 0) whenIdle();
    },
    close() {
      closing ??= new Promise<void>((resolve) => {
        whenIdle = resolve;
        if (running === 0) resolve();
      }).then(async () => {
        await Promise.all([pool.destroy(), freshPool?.destroy()]);
      });
      return closing;
    },
  };
}

function renderOwnHeaders(apiKey: string | undefined): readonly string[] {
  const headers = [
    'content-type',
    'application/json',
    'accept',
    'application/json, text/event-stream',
    // Chunks are passed on as they come; a compressed stream could not be watched for usage.
    'accept-encoding',
    'identity',
    'user-agent',
    'svc-gateway',
  ];
  if (apiKey === undefined) return headers;
  if (!/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new Error(
      'The upstream API key holds characters that cannot be sent; set it again, without spaces or line ends.',
    );
  }
  headers.push('authorization', `Bearer ${apiKey}`);
  return headers;
}

function mergeHeaders(own: readonly string[], extra: Readonly<Record<string, string>>): string[] {
  const headers = own.slice();
  for (const name in extra) {
    const value = extra[name];
    // A value that cannot be written as HTTP is left out: a stray client header must not fail the call.
    if (value === undefined || OWN_HEADERS.has(name) || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) continue;
    headers.push(name, value);
  }
  return headers;
}

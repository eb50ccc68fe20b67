// One call to an upstream, from waiting for a connection to the last byte: undici's callbacks in, ours out.

import type { Dispatcher } from 'undici';
import type { ReuseAware, ReuseAwareOptions, ReuseClient } from './reuse-client.ts';
import type { UpstreamCall, UpstreamControl, UpstreamFailure, UpstreamHandler } from './upstream.ts';
import { type CallProgress, errorCode, toUpstreamFailure } from './upstream-failure.ts';

/** What a call needs of its upstream. */
export type CallLines = {
  readonly host: string;
  readonly pool: Dispatcher;
  /** A dispatcher that opens a new connection for each request. */
  fresh(): Dispatcher;
  /** Called once per call, when it is over in any way. */
  release(): void;
};

/**
 * A kept-alive connection may be closed by the upstream just as a request is written to it; the write is then answered
 * with a reset, one round trip later. Within this time, and before any byte of an answer, the request is sent once more.
 */
const STALE_CONNECTION_MS = 1000;

/**
 * The handler undici talks to and the control the reader holds: one object, so that a call allocates little.
 *
 * A completion is not idempotent, so in general nothing is sent twice here. The one exception is the keep-alive race
 * above: the socket had served an answer before, no byte of this answer has come, the other side closed it within a
 * second. What remains is an upstream that took the request and broke off in
 * that same second without a byte of answer: it had next to nothing to bill, and svc holds and settles once per client
 * request, so the client is never charged twice. Later resets are reported, never repeated. The repeat goes over a new
 * connection, because the rest of the pool may be as stale as the first; a new connection has answered nothing, so there
 * is never a second repeat.
 */
export class HttpCall implements Dispatcher.DispatchHandler, UpstreamControl, ReuseAware {
  connection: ReuseClient | undefined;
  readonly #lines: CallLines;
  readonly #options: ReuseAwareOptions;
  readonly #handler: UpstreamHandler;
  readonly #connectMs: number;
  #controller: Dispatcher.DispatchController | undefined;
  #connectTimer: NodeJS.Timeout | undefined;
  #progress: CallProgress = 'waiting';
  #over = false;
  #dispatching = false;
  #reused = false;
  #answering = false;
  #sentAt = 0;

  constructor(lines: CallLines, path: string, headers: string[], call: UpstreamCall, handler: UpstreamHandler) {
    this.#lines = lines;
    this.#handler = handler;
    this.#connectMs = call.timeouts.connectMs;
    this.#options = {
      path,
      method: 'POST',
      headers,
      body: call.body,
      headersTimeout: call.timeouts.firstEventMs,
      bodyTimeout: call.timeouts.idleMs,
      call: this,
    };
  }

  start(dispatcher: Dispatcher): void {
    this.#connectTimer = setTimeout(onConnectTimeout, this.#connectMs, this);
    this.#dispatching = true;
    dispatcher.dispatch(this.#options, this);
    this.#dispatching = false;
  }

  /** Ends a call that came after its upstream was closed. */
  refuse(): void {
    this.#dispatching = true;
    const message = `The upstream at ${this.#lines.host} is no longer in use here.`;
    this.reject({ code: 'UPSTREAM_ERROR', message, sent: false });
  }

  // The reader's side.

  pause(): void {
    if (!this.#over) this.#controller?.pause();
  }

  resume(): void {
    // After the end the connection may already carry somebody else's answer.
    if (!this.#over) this.#controller?.resume();
  }

  abort(): void {
    if (this.#over) return;
    this.#finish();
    this.#controller?.abort(new Error('The call was aborted.'));
  }

  /** The answer so far is of no use: the reader gets `failure` and the connection is closed. */
  reject(failure: UpstreamFailure): void {
    if (this.#over) return;
    this.#finish();
    this.#controller?.abort(new Error(failure.message));
    // The caller of `send` has not got its abort function yet, so it must not hear of the end before.
    if (this.#dispatching) queueMicrotask(() => this.#handler.onFailure(failure));
    else this.#handler.onFailure(failure);
  }

  connectTimedOut(): void {
    const text = `no connection to the upstream at ${this.#lines.host} within ${this.#connectMs} ms`;
    this.reject({ code: 'UPSTREAM_TIMEOUT', message: `There was ${text}.`, sent: false });
  }

  // undici's side.

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#over) {
      controller.abort(new Error('The call was over before a connection was there.'));
      return;
    }
    clearTimeout(this.#connectTimer);
    this.#progress = 'sent';
    this.#reused = this.connection !== undefined && this.connection.answered > 0;
    if (this.#reused) this.#sentAt = performance.now();
  }

  /** The first byte of the answer, before its head is whole. */
  onResponseStarted(): void {
    this.#answering = true;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // 1xx heads announce the real one.
    if (this.#over || status < 200) return;
    this.#progress = 'head';
    const flat = flattenHeaders(headers);
    const encoding = flat['content-encoding'];
    if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
      // Asked for plain bytes; inflating what came instead would let an upstream blow up our memory.
      const message = `The upstream at ${this.#lines.host} sent a compressed answer though it was asked not to.`;
      this.reject({ code: 'UPSTREAM_INVALID_RESPONSE', message, sent: true });
      return;
    }
    this.#handler.onHead(status, flat, this);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#over) this.#handler.onData(chunk);
  }

  onResponseEnd(): void {
    if (this.connection !== undefined) this.connection.answered += 1;
    if (this.#over) return;
    this.#finish();
    this.#handler.onEnd();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#over) return;
    if (this.#isStaleConnection(error)) {
      this.#progress = 'waiting';
      this.start(this.#lines.fresh());
      return;
    }
    this.reject(toUpstreamFailure(this.#lines.host, this.#progress, error));
  }

  #isStaleConnection(error: Error): boolean {
    if (!this.#reused || this.#answering || this.#progress !== 'sent') return false;
    const code = errorCode(error);
    if (code !== 'ECONNRESET' && code !== 'EPIPE' && code !== 'UND_ERR_SOCKET') return false;
    return performance.now() - this.#sentAt < STALE_CONNECTION_MS;
  }

  #finish(): void {
    this.#over = true;
    clearTimeout(this.#connectTimer);
    this.#lines.release();
  }
}

function onConnectTimeout(call: HttpCall): void {
  call.connectTimedOut();
}

function flattenHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  for (const name in headers) {
    const value = headers[name];
    if (Array.isArray(value)) headers[name] = value.join(', ');
  }
  return headers as Record<string, string>;
}

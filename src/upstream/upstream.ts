// What svc asks of an upstream: one call out, answered by callbacks, so that chunks pass without a stream in between.

import type { ErrorCode } from '../wire/svc-error.ts';

export type UpstreamFormat = 'chat' | 'messages';
export type UpstreamDialect = 'openrouter' | 'openai';

export type UpstreamCall = {
  /** Below the upstream's base URL, e.g. `/chat/completions`. */
  readonly path: string;
  readonly body: Uint8Array;
  /** Besides content-type, accept and the upstream's own credential, which the client adds. Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly timeouts: UpstreamTimeouts;
};

/** Milliseconds. `firstEventMs` runs until the response head, `idleMs` between two chunks of the body. */
export type UpstreamTimeouts = { readonly connectMs: number; readonly firstEventMs: number; readonly idleMs: number };

/** Held by the reader of an answer. `abort` closes the connection at once; no callback follows it. */
export type UpstreamControl = { pause(): void; resume(): void; abort(): void };

/** A failure below HTTP: refused, reset, timed out. `sent` tells whether the request may have reached the upstream. */
export type UpstreamFailure = {
  readonly code: Extract<ErrorCode, 'UPSTREAM_ERROR' | 'UPSTREAM_TIMEOUT' | 'UPSTREAM_INVALID_RESPONSE'>;
  readonly message: string;
  readonly sent: boolean;
  readonly cause?: unknown;
};

/** Exactly one of `onEnd` and `onFailure` comes last, unless the reader aborted. Header names are lower-case. */
export type UpstreamHandler = {
  onHead(status: number, headers: Readonly<Record<string, string>>, control: UpstreamControl): void;
  onData(chunk: Buffer): void;
  onEnd(): void;
  onFailure(failure: UpstreamFailure): void;
};

export interface Upstream {
  readonly name: string;
  readonly formats: readonly UpstreamFormat[];
  readonly dialect: UpstreamDialect;
  /** Extra top-level body fields this upstream understands (the sandbox takes `sandbox`). */
  readonly takesSandboxField: boolean;
  /** Starts the call; the returned function aborts it at any time, also before the head has come. */
  send(call: UpstreamCall, handler: UpstreamHandler): () => void;
  close(): Promise<void>;
}

// What one request carries along the road: what is known of it so far, and how it is told to stop.

import type { Usage } from '../wire/neutral.ts';
import type { SvcError } from '../wire/svc-error.ts';
import type { CompletionCall, CompletionDeps, Offer, ParsedRequest, Plan } from './completion.ts';
import type { Downstream } from './downstream.ts';
import type { Hold } from './hold-credits.ts';
import type { Principal } from './principal.ts';
import type { RequestSize } from './request-size.ts';

/** The client left. Not an answer: nobody is there to read one. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

/** What is measured on the way; written by the attempt and the relay, read by settle. */
export type Meter = {
  attempts: number;
  usage: Usage | undefined;
  /** Counts that the upstream's usage lacked or held no usable number for. */
  usageMissing: readonly ('inputTokens' | 'outputTokens')[];
  anomalies: readonly string[];
  finishReason: string | undefined;
  /** The upstream refused the request, though the caller's dialect has an answer for that: nothing was billed. */
  refused: boolean;
  /** UTF-8 bytes of the answer that reached the client. */
  deliveredBytes: number;
  /** Monotonic milliseconds; 0 while it has not happened. */
  sentMs: number;
  firstEventMs: number;
  upstreamEndMs: number;
};

export function createMeter(): Meter {
  return {
    attempts: 0,
    usage: undefined,
    usageMissing: [],
    anomalies: [],
    finishReason: undefined,
    refused: false,
    deliveredBytes: 0,
    sentMs: 0,
    firstEventMs: 0,
    upstreamEndMs: 0,
  };
}

/** Tells whoever is waiting on the upstream that the client has gone or the daemon is stopping. */
export class Stopper {
  #reason: ClientGone | SvcError | undefined;
  #listener: ((reason: ClientGone | SvcError) => void) | undefined;

  stop(reason: ClientGone | SvcError): void {
    if (this.#reason) return;
    this.#reason = reason;
    this.#listener?.(reason);
  }

  get reason(): ClientGone | SvcError | undefined {
    return this.#reason;
  }

  /** One listener at a time; called at once when the stop has already come. */
  listen(listener: (reason: ClientGone | SvcError) => void): void {
    this.#listener = listener;
    if (this.#reason) listener(this.#reason);
  }
}

/** A request that has a plan. `hold` is there once credits are held. */
export type Road = {
  readonly deps: CompletionDeps;
  readonly call: CompletionCall;
  readonly principal: Principal;
  readonly parsed: ParsedRequest;
  readonly size: RequestSize;
  readonly offer: Offer;
  readonly down: Downstream;
  readonly meter: Meter;
  readonly stopper: Stopper;
  plan: Plan | undefined;
  hold: Hold | undefined;
};

/** An upstream's answer under way. */
export interface Answer {
  /** Passes the stream on until the upstream has ended; resolves with the failure, if it broke. Whole answers resolve at once. */
  relay(): Promise<SvcError | ClientGone | undefined>;
  /** Sends the last bytes of a good answer; `cost` in USD as a decimal string, `usage` as charged. */
  finish(cost: string, usage: Usage): void;
  /** Ends a broken stream with an error event in the caller's dialect. */
  fail(error: SvcError): void;
}

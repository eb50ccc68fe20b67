// What stands between an upstream's stream and the client's: bytes in, bytes out, and what was learned on the way.

import type { ChargedCount } from './chat-usage.ts';
import type { FinishReason, Usage } from './neutral.ts';
import type { SvcError } from './svc-error.ts';

export interface StreamRelay {
  /** Feeds upstream bytes; returns what may go to the client now (possibly empty). Never throws. */
  push(chunk: Uint8Array): Uint8Array;
  /** The upstream's body has ended; flushes a tail without blank line. */
  end(): Uint8Array;
  /** True once the first real event (not a comment, not an error) has arrived. */
  readonly started: boolean;
  /** Real events so far: comments and pings are none, what is held back is one all the same. */
  readonly events: number;
  /** Set when the stream carried an error, was malformed or (after `end`) ended without a finish reason. */
  readonly failure: SvcError | undefined;
  /** True once every choice has its finish reason. */
  readonly finished: boolean;
  /** True once the upstream has also sent `[DONE]`. */
  readonly done: boolean;
  /** The last one the upstream sent; undefined while there was none. */
  readonly usage: Usage | undefined;
  /** Counts of `usage` that the upstream left out or made unusable; empty while there is no usage. */
  readonly usageMissing: readonly ChargedCount[];
  readonly anomalies: readonly string[];
  readonly finishReason: FinishReason | undefined;
  /**
   * UTF-8 bytes of generated text, thinking and tool arguments so far: no answer has more tokens than that. Images and
   * other media count a thousandth, never nothing.
   */
  readonly deliveredBytes: number;
  /**
   * The last bytes of a good stream, sent once it is settled; `cost` is a plain decimal in USD. `usage` is what was
   * charged: a Messages caller is told it, a Chat caller where the upstream sent none.
   */
  complete(cost: string, usage?: Usage): Uint8Array;
  /** The last bytes of a broken stream: an error event in the caller's dialect, and nothing after it. */
  fail(error: SvcError): Uint8Array;
  /** Keeps a silent connection open. */
  ping(): Uint8Array;
}

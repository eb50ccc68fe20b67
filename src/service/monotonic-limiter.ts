// One limit over windows of a minute that the wall clock cannot move: rate-limiter-flexible counts, the monotonic clock ends windows.

import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';

export const WINDOW_SECONDS = 60;
const WINDOW_MS = WINDOW_SECONDS * 1000;

/** `admitted`: there were so many points left. `resetMs` until the key's window ends. */
export type LimitState = { readonly admitted: boolean; readonly remainingPoints: number; readonly resetMs: number };

export class MonotonicLimiter {
  readonly #counter: RateLimiterMemory;
  readonly #monotonicMs: () => number;
  /** When the running window of a key began. */
  readonly #begun = new Map<string, number>();
  #sweptMs: number;

  constructor(points: number, keyPrefix: string, monotonicMs: () => number) {
    // Without a duration of its own the counter keeps a key until it is told otherwise.
    this.#counter = new RateLimiterMemory({ points, duration: 0, keyPrefix });
    this.#monotonicMs = monotonicMs;
    this.#sweptMs = monotonicMs();
  }

  /** The points are counted also when they are more than are left. */
  async consume(key: string, points: number): Promise<LimitState> {
    this.#begin(key);
    try {
      return this.#state(key, true, await this.#counter.consume(key, points));
    } catch (refusal) {
      if (refusal instanceof RateLimiterRes) return this.#state(key, false, refusal);
      throw refusal;
    }
  }

  /** Null where nothing was taken in the running window. */
  async get(key: string): Promise<LimitState | null> {
    if (this.#isOver(key)) return null;
    const result = await this.#counter.get(key);
    return result === null ? null : this.#state(key, true, result);
  }

  async penalty(key: string, points: number): Promise<void> {
    this.#begin(key);
    await this.#counter.penalty(key, points);
  }

  /** What was taken in a window that is over has come back by itself. */
  async reward(key: string, points: number): Promise<void> {
    if (!this.#isOver(key)) await this.#counter.reward(key, points);
  }

  #begin(key: string): void {
    if (!this.#isOver(key)) return;
    this.#sweep();
    this.#drop(key);
    this.#begun.set(key, this.#monotonicMs());
  }

  #isOver(key: string): boolean {
    const begun = this.#begun.get(key);
    return begun === undefined || this.#monotonicMs() - begun >= WINDOW_MS;
  }

  #state(key: string, admitted: boolean, { remainingPoints }: RateLimiterRes): LimitState {
    const begun = this.#begun.get(key) ?? this.#monotonicMs();
    return { admitted, remainingPoints, resetMs: Math.max(0, begun + WINDOW_MS - this.#monotonicMs()) };
  }

  /** Once a window, so that keys nobody uses any more take no memory. */
  #sweep(): void {
    if (this.#monotonicMs() - this.#sweptMs < WINDOW_MS) return;
    this.#sweptMs = this.#monotonicMs();
    for (const key of [...this.#begun.keys()]) if (this.#isOver(key)) this.#drop(key);
  }

  #drop(key: string): void {
    this.#begun.delete(key);
    void this.#counter.delete(key);
  }
}

// Rate limits: requests and tokens a minute, per API key and per workspace, counted in memory by rate-limiter-flexible.

import { SvcError } from '../wire/svc-error.ts';
import { type LimitState, MonotonicLimiter, WINDOW_SECONDS } from './monotonic-limiter.ts';
import type { Principal } from './principal.ts';

/** What is left of one limit. `resetMs` until the window starts anew. */
type Allowance = { readonly limit: number; readonly remaining: number; readonly resetMs: number };
export type Admission = {
  /** Replaces the tokens taken at admission by what was really used. */
  correct(tokens: number): void;
};

export interface RateLimiter {
  /**
   * Takes one request and `tokens` from every limit that applies, or nothing at all and throws `RATE_LIMITED`.
   * Writes the rate-limit headers of contract §4 into `headers` either way.
   */
  admit(principal: Principal, tokens: number, headers: Record<string, string>): Promise<Admission>;
  /** Writes the same headers without taking anything: for answers that end before admission. */
  describe(principal: Principal, headers: Record<string, string>): Promise<void>;
}

type Limit = { readonly key: string; readonly points: number; readonly limit: number; readonly what: string };

/** Windows end by `monotonicMs`, which also tells whether a correction still belongs to the one its tokens were taken from. */
export function createRateLimiter(monotonicMs: () => number): RateLimiter {
  const limiters = new Map<string, MonotonicLimiter>();
  const limiterFor = (limit: Limit): MonotonicLimiter => {
    const id = `${limit.what}:${limit.limit}`;
    const known = limiters.get(id);
    if (known) return known;
    const made = new MonotonicLimiter(limit.limit, limit.what, monotonicMs);
    limiters.set(id, made);
    return made;
  };

  async function take(limits: readonly Limit[]): Promise<LimitState[]> {
    const states: LimitState[] = [];
    for (const [index, limit] of limits.entries()) {
      const state = await limiterFor(limit).consume(limit.key, limit.points);
      if (!state.admitted) {
        await giveBack(limits.slice(0, index + 1));
        throw refused(limit, state);
      }
      states.push(state);
    }
    return states;
  }

  // A refused request uses up nothing: what the earlier limits, and the refusing one, counted for it goes back.
  async function giveBack(limits: readonly Limit[]): Promise<void> {
    await Promise.all(limits.map((limit) => limiterFor(limit).reward(limit.key, limit.points)));
  }

  async function describe(principal: Principal, headers: Record<string, string>): Promise<void> {
    const limits = limitsOf(principal, 0);
    const [requests, tokens] = await Promise.all(limits.slice(0, 2).map((limit) => limiterFor(limit).get(limit.key)));
    writeHeaders(headers, allowance(limits[0], requests), allowance(limits[1], tokens));
  }

  return {
    describe,
    async admit(principal, tokens, headers) {
      const limits = limitsOf(principal, tokens);
      const states = await take(limits).catch(async (error: unknown) => {
        await describe(principal, headers);
        throw error;
      });
      writeHeaders(headers, allowance(limits[0], states[0]), allowance(limits[1], states[1]));
      const windowEnd = monotonicMs() + Math.min(...states.map(({ resetMs }) => resetMs));
      return {
        correct(used) {
          const delta = used - tokens;
          // Giving back into a later window would allow more than its limit.
          if (delta === 0 || (delta < 0 && monotonicMs() >= windowEnd)) return;
          for (const limit of limits.filter(({ what }) => what.endsWith('tokens'))) {
            const limiter = limiterFor(limit);
            void (delta > 0 ? limiter.penalty(limit.key, delta) : limiter.reward(limit.key, -delta));
          }
        },
      };
    },
  };
}

function writeHeaders(headers: Record<string, string>, requests: Allowance, tokens: Allowance): void {
  const requestsReset = Math.ceil(requests.resetMs / 1000);
  const tokensReset = Math.ceil(tokens.resetMs / 1000);
  headers['x-ratelimit-limit-requests'] = String(requests.limit);
  headers['x-ratelimit-remaining-requests'] = String(requests.remaining);
  headers['x-ratelimit-reset-requests'] = `${requestsReset}s`;
  headers['x-ratelimit-limit-tokens'] = String(tokens.limit);
  headers['x-ratelimit-remaining-tokens'] = String(tokens.remaining);
  headers['x-ratelimit-reset-tokens'] = `${tokensReset}s`;
  headers['ratelimit'] =
    `"requests";r=${requests.remaining};t=${requestsReset}, "tokens";r=${tokens.remaining};t=${tokensReset}`;
  headers['ratelimit-policy'] =
    `"requests";q=${requests.limit};w=${WINDOW_SECONDS}, "tokens";q=${tokens.limit};w=${WINDOW_SECONDS}`;
}

function limitsOf({ apiKey, workspace }: Principal, tokens: number): readonly Limit[] {
  const limits: Limit[] = [
    { key: apiKey.id, points: 1, limit: apiKey.requestsPerMinute, what: 'key-requests' },
    { key: apiKey.id, points: tokens, limit: apiKey.tokensPerMinute, what: 'key-tokens' },
  ];
  if (workspace.requestsPerMinute !== null) {
    limits.push({ key: workspace.id, points: 1, limit: workspace.requestsPerMinute, what: 'workspace-requests' });
  }
  if (workspace.tokensPerMinute !== null) {
    limits.push({ key: workspace.id, points: tokens, limit: workspace.tokensPerMinute, what: 'workspace-tokens' });
  }
  return limits;
}

function allowance(limit: Limit | undefined, state: LimitState | null | undefined): Allowance {
  const most = limit?.limit ?? 0;
  return {
    limit: most,
    remaining: Math.max(0, Math.min(most, state?.remainingPoints ?? most)),
    resetMs: state?.resetMs ?? 0,
  };
}

function refused(limit: Limit, { resetMs }: LimitState): SvcError {
  const [owner = 'key', unit = 'requests'] = limit.what.split('-');
  const retryAfterSeconds = Math.max(1, Math.ceil(resetMs / 1000));
  if (limit.points > limit.limit) {
    return new SvcError(
      'RATE_LIMITED',
      `The request needs about ${limit.points} tokens, more than the ${owner}'s ${limit.limit} a minute.`,
      {
        retryAfterSeconds: WINDOW_SECONDS,
      },
    );
  }
  return new SvcError(
    'RATE_LIMITED',
    `The ${owner}'s limit of ${limit.limit} ${unit} a minute is reached: try again in ${retryAfterSeconds} s.`,
    {
      retryAfterSeconds,
    },
  );
}

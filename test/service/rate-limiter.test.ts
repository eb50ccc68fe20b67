// Rate limits: exact under concurrency, and a refused request uses up nothing.

import { describe, expect, it } from 'vitest';
import type { Principal } from '../../src/service/principal.ts';
import { createRateLimiter } from '../../src/service/rate-limiter.ts';
import { isSvcError } from '../../src/wire/svc-error.ts';

function principal(limits: { rpm?: number; tpm?: number; wsRpm?: number; wsTpm?: number } = {}): Principal {
  return {
    apiKey: {
      id: 'key_1',
      workspaceId: 'ws_1',
      name: 'test',
      digest: '',
      prefix: '',
      last4: '',
      createdAt: 0,
      expiresAt: null,
      revokedAt: null,
      models: null,
      requestsPerMinute: limits.rpm ?? 600,
      tokensPerMinute: limits.tpm ?? 2_000_000,
      budgetNano: null,
      budgetPeriod: 'total',
    },
    workspace: {
      id: 'ws_1',
      name: 'test',
      createdAt: 0,
      members: [],
      requestsPerMinute: limits.wsRpm ?? null,
      tokensPerMinute: limits.wsTpm ?? null,
    },
  };
}

const refused = async (admission: Promise<unknown>): Promise<boolean> =>
  admission.then(
    () => false,
    (error: unknown) => isSvcError(error) && error.code === 'RATE_LIMITED',
  );

describe('the limiter', () => {
  it.each([
    ['requests of the key', { rpm: 5 }, 0],
    ['tokens of the key', { tpm: 500 }, 100],
    ['requests of the workspace', { wsRpm: 5 }, 0],
    ['tokens of the workspace', { wsTpm: 500 }, 100],
  ])('admits exactly what the limit on %s allows, however many come at once', async (_name, limits, tokens) => {
    const limiter = createRateLimiter(() => performance.now());
    const results = await Promise.all(
      Array.from({ length: 50 }, () => refused(limiter.admit(principal(limits), tokens, {}))),
    );
    expect(results.filter((no) => !no)).toHaveLength(5);
  });

  it('takes nothing from the other limits for a refused request', async () => {
    const limiter = createRateLimiter(() => performance.now());
    const who = principal({ rpm: 10, wsTpm: 100 });
    await limiter.admit(who, 100, {});
    for (let tries = 0; tries < 20; tries += 1) expect(await refused(limiter.admit(who, 100, {}))).toBe(true);
    const headers: Record<string, string> = {};
    await limiter.describe(who, headers);
    expect(headers['x-ratelimit-remaining-requests']).toBe('9');
  });

  it('says in headers what is left, on admission and on refusal', async () => {
    const limiter = createRateLimiter(() => performance.now());
    const headers: Record<string, string> = {};
    await limiter.admit(principal({ rpm: 2 }), 100, headers);
    expect(headers).toMatchObject({
      'x-ratelimit-limit-requests': '2',
      'x-ratelimit-remaining-requests': '1',
      'x-ratelimit-limit-tokens': '2000000',
      'x-ratelimit-remaining-tokens': '1999900',
      'ratelimit-policy': '"requests";q=2;w=60, "tokens";q=2000000;w=60',
    });
    await limiter.admit(principal({ rpm: 2 }), 0, headers);
    expect(await refused(limiter.admit(principal({ rpm: 2 }), 0, headers))).toBe(true);
    expect(headers['x-ratelimit-remaining-requests']).toBe('0');
    expect(headers['x-ratelimit-reset-requests']).toMatch(/^\d+s$/);
  });

  it('corrects the tokens by what was used', async () => {
    const limiter = createRateLimiter(() => performance.now());
    const headers: Record<string, string> = {};
    const admission = await limiter.admit(principal({ tpm: 1000 }), 800, headers);
    admission.correct(300);
    await limiter.describe(principal({ tpm: 1000 }), headers);
    expect(headers['x-ratelimit-remaining-tokens']).toBe('700');
  });

  it('gives nothing back into a later window', async () => {
    let now = 0;
    const limiter = createRateLimiter(() => now);
    const headers: Record<string, string> = {};
    const admission = await limiter.admit(principal({ tpm: 1000 }), 800, headers);
    now = 60_001;
    await limiter.admit(principal({ tpm: 1000 }), 500, headers);
    admission.correct(0);
    await limiter.describe(principal({ tpm: 1000 }), headers);
    expect(headers['x-ratelimit-remaining-tokens']).toBe('500');
  });

  it('ends a window by the monotonic clock alone', async () => {
    let now = 0;
    const limiter = createRateLimiter(() => now);
    const headers: Record<string, string> = {};
    await limiter.admit(principal({ rpm: 1 }), 0, headers);
    now = 59_999;
    expect(await refused(limiter.admit(principal({ rpm: 1 }), 0, headers))).toBe(true);
    expect(headers['x-ratelimit-reset-requests']).toBe('1s');
    now = 60_000;
    await limiter.admit(principal({ rpm: 1 }), 0, headers);
    expect(headers['x-ratelimit-reset-requests']).toBe('60s');
  });

  it('says how long to wait, and that a request over the whole limit never fits', async () => {
    const limiter = createRateLimiter(() => performance.now());
    await limiter.admit(principal({ rpm: 1 }), 0, {});
    await expect(limiter.admit(principal({ rpm: 1 }), 0, {})).rejects.toMatchObject({
      retryAfterSeconds: expect.any(Number),
      status: 429,
    });
    await expect(limiter.admit(principal({ tpm: 10 }), 11, {})).rejects.toThrow('more than the key');
  });
});

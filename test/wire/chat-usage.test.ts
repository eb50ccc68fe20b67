import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_TOKENS_COUNTED, parseChatUsage } from '../../src/wire/chat-usage.ts';

describe('usage of a Chat upstream', () => {
  it('is read with its details', () => {
    const value = {
      prompt_tokens: 100,
      completion_tokens: 50,
      total_tokens: 150,
      cost: 0.0012,
      prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
      completion_tokens_details: { reasoning_tokens: 20 },
    };
    expect(parseChatUsage(value)).toEqual({
      usage: {
        inputTokens: 100,
        cachedTokens: 60,
        cacheWriteTokens: 30,
        outputTokens: 50,
        reasoningTokens: 20,
        upstreamCost: 0.0012,
      },
      anomalies: [],
      missing: [],
    });
  });

  it('takes the other name of cache writes', () => {
    const value = { prompt_tokens: 9, completion_tokens: 1, prompt_tokens_details: { cache_creation_tokens: 4 } };
    expect(parseChatUsage(value)?.usage.cacheWriteTokens).toBe(4);
  });

  it.each([[undefined], [null], [7], ['x'], [[]], [{}], [{ total_tokens: 3 }]])('is absent in %j', (value) => {
    expect(parseChatUsage(value)).toBeUndefined();
  });

  it.each([
    [-1, 0],
    [1.5, 2],
    [0.001, 1],
    [-0.5, 0],
    [MAX_TOKENS_COUNTED - 0.5, MAX_TOKENS_COUNTED],
    ['12', 0],
    [null, 0],
    [true, 0],
    [{}, 0],
    [Number.NaN, 0],
    [1e308, MAX_TOKENS_COUNTED],
    [MAX_TOKENS_COUNTED + 1, MAX_TOKENS_COUNTED],
    [Number.POSITIVE_INFINITY, MAX_TOKENS_COUNTED],
  ])('clamps %j and names it', (value, expected) => {
    const parsed = parseChatUsage({ prompt_tokens: 5, completion_tokens: value });
    expect(parsed?.usage.outputTokens).toBe(expected);
    expect(parsed?.anomalies).toEqual(['usage_invalid:completion_tokens']);
  });

  it.each([[-1], [-0.5], ['12'], [null], [true], [{}], [[]], [Number.NaN], [undefined]])(
    'says that %j is no count to charge by',
    (value) => {
      expect(parseChatUsage({ prompt_tokens: 5, completion_tokens: value })?.missing).toEqual(['outputTokens']);
      expect(parseChatUsage({ prompt_tokens: value, completion_tokens: 5 })?.missing).toEqual(['inputTokens']);
    },
  );

  it.each([[0], [7], [1.5], [1e308]])('can charge by %j', (value) => {
    expect(parseChatUsage({ prompt_tokens: value, completion_tokens: value })?.missing).toEqual([]);
  });

  it('names both counts where both are unusable', () => {
    const parsed = parseChatUsage({ prompt_tokens: null, completion_tokens: 'many' });
    expect(parsed?.missing).toEqual(['inputTokens', 'outputTokens']);
    expect(parsed?.anomalies).toEqual(['usage_invalid:prompt_tokens', 'usage_invalid:completion_tokens']);
  });

  it('takes the cap itself', () => {
    expect(parseChatUsage({ prompt_tokens: MAX_TOKENS_COUNTED, completion_tokens: 0 })?.anomalies).toEqual([]);
  });

  it('names a count that is missing beside the other', () => {
    expect(parseChatUsage({ prompt_tokens: 5 })?.anomalies).toEqual(['usage_invalid:completion_tokens']);
    expect(parseChatUsage({ completion_tokens: 5 })?.anomalies).toEqual(['usage_invalid:prompt_tokens']);
  });

  const parts: readonly (readonly [string, object, object, string])[] = [
    ['cached tokens', { prompt_tokens_details: { cached_tokens: 11 } }, { cachedTokens: 10 }, 'cached_tokens'],
    [
      'cache writes',
      { prompt_tokens_details: { cached_tokens: 8, cache_write_tokens: 3 } },
      { cachedTokens: 8, cacheWriteTokens: 2 },
      'cache_write_tokens',
    ],
    ['reasoning', { completion_tokens_details: { reasoning_tokens: 6 } }, { reasoningTokens: 5 }, 'reasoning_tokens'],
  ];
  it.each(parts)('lets %s be no more than the whole', (_name, details, expected, field) => {
    const parsed = parseChatUsage({ prompt_tokens: 10, completion_tokens: 5, ...details });
    expect(parsed?.usage).toMatchObject(expected);
    expect(parsed?.anomalies).toEqual([`usage_invalid:${field}`]);
  });

  it.each([[-0.1], ['0.1'], [Number.NaN], [1e300]])('does not believe the cost %j', (cost) => {
    const parsed = parseChatUsage({ prompt_tokens: 1, completion_tokens: 1, cost });
    expect(parsed?.usage).not.toHaveProperty('upstreamCost');
    expect(parsed?.anomalies).toEqual(['upstream_cost_invalid']);
  });

  it('always gives counts that can be charged', () => {
    const odd = fc.oneof(fc.double(), fc.integer(), fc.string(), fc.constant(null), fc.constant(undefined), fc.nat());
    const value = fc.record({
      prompt_tokens: odd,
      completion_tokens: odd,
      cost: odd,
      prompt_tokens_details: fc.oneof(odd, fc.record({ cached_tokens: odd, cache_write_tokens: odd })),
      completion_tokens_details: fc.oneof(odd, fc.record({ reasoning_tokens: odd })),
    });
    fc.assert(
      fc.property(value, (usageValue) => {
        const usage = parseChatUsage(usageValue)?.usage;
        if (usage === undefined) return;
        const { upstreamCost = 0, ...counts } = usage;
        for (const count of Object.values(counts)) {
          expect(Number.isInteger(count) && count >= 0 && count <= MAX_TOKENS_COUNTED).toBe(true);
        }
        expect(counts.cachedTokens + counts.cacheWriteTokens).toBeLessThanOrEqual(counts.inputTokens);
        expect(counts.reasoningTokens).toBeLessThanOrEqual(counts.outputTokens);
        expect(upstreamCost).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

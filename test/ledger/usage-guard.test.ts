// What an upstream reports is kept within what is possible.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IMAGE_TOKENS_MAX, inputTokensBound } from '../../src/ledger/input-bound.ts';
import { boundCharge, guardUsage, type ReportedUsage } from '../../src/ledger/usage-guard.ts';

const bounds = { inputTokensMax: 1_000, maxOutputTokens: 100, estimate: { inputTokens: 500, outputTokens: 50 } };
const honest: ReportedUsage = {
  inputTokens: 900,
  cachedTokens: 300,
  cacheWriteTokens: 100,
  outputTokens: 80,
  reasoningTokens: 20,
};

describe('guardUsage', () => {
  it('lets honest usage through as it is', () => {
    expect(guardUsage(honest, bounds)).toEqual({ usage: honest, anomalies: [] });
  });

  it.each<[unknown, number, string]>([
    [-1, 0, 'usage_clamped'],
    [1.5, 2, 'usage_clamped'],
    [1e308, 100, 'usage_clamped'],
    [Number.POSITIVE_INFINITY, 100, 'usage_clamped'],
    [Number.NEGATIVE_INFINITY, 0, 'usage_clamped'],
    [101, 100, 'usage_clamped'],
    [Number.NaN, 50, 'usage_invalid'],
    ['12', 50, 'usage_invalid'],
    [null, 50, 'usage_invalid'],
    [undefined, 50, 'usage_invalid'],
    [{ valueOf: () => 3 }, 50, 'usage_invalid'],
    [12n, 50, 'usage_invalid'],
  ])('makes %s output tokens into %d and says so', (outputTokens, counted, anomaly) => {
    const { usage, anomalies } = guardUsage({ ...honest, outputTokens, reasoningTokens: 0 }, bounds);
    expect(usage.outputTokens).toBe(counted);
    expect(anomalies).toEqual([anomaly]);
  });

  it('keeps cached and written input within the input', () => {
    const { usage, anomalies } = guardUsage({ ...honest, cachedTokens: 800, cacheWriteTokens: 800 }, bounds);
    expect(usage).toMatchObject({ inputTokens: 900, cachedTokens: 800, cacheWriteTokens: 100 });
    expect(anomalies).toEqual(['usage_clamped']);
  });

  it('counts an unusable field as 0 where there is no estimate', () => {
    const result = guardUsage({ ...honest, inputTokens: 'many' }, { inputTokensMax: 10, maxOutputTokens: 100 });
    expect(result.usage.inputTokens).toBe(0);
  });

  it('always answers whole counts within the bounds', () => {
    fc.assert(
      fc.property(
        fc.record({
          inputTokens: fc.anything(),
          cachedTokens: fc.anything(),
          cacheWriteTokens: fc.anything(),
          outputTokens: fc.anything(),
        }),
        (reported) => {
          const { usage } = guardUsage(reported, bounds);
          for (const value of Object.values(usage)) {
            expect(Number.isSafeInteger(value) && value >= 0 && !Object.is(value, -0)).toBe(true);
          }
          expect(usage.inputTokens).toBeLessThanOrEqual(bounds.inputTokensMax);
          expect(usage.outputTokens).toBeLessThanOrEqual(bounds.maxOutputTokens);
          expect(usage.cachedTokens + usage.cacheWriteTokens).toBeLessThanOrEqual(usage.inputTokens);
        },
      ),
    );
  });
});

describe('boundCharge', () => {
  it.each([
    [5, 10, 5, []],
    [10, 10, 10, []],
    [11, 10, 10, ['charge_over_hold']],
    [Number.POSITIVE_INFINITY, 10, 10, ['charge_over_hold']],
    [-1, 10, 0, ['charge_invalid']],
    [Number.NaN, 10, 0, ['charge_invalid']],
    [1.5, 10, 2, ['charge_invalid']],
    [0, 0, 0, []],
  ])('of %d with %d held is %d', (charge, held, chargeNano, anomalies) => {
    expect(boundCharge(charge, held)).toEqual({ chargeNano, anomalies });
  });
});

describe('inputTokensBound', () => {
  it('is never below the bytes of the text', () => {
    expect(inputTokensBound(1_000, 0, 0)).toBeGreaterThanOrEqual(1_000);
  });

  it('counts images by number, not by bytes', () => {
    const without = inputTokensBound(1_000, 0, 0);
    expect(inputTokensBound(5_001_000, 5_000_000, 2)).toBe(without + 2 * IMAGE_TOKENS_MAX);
    expect(inputTokensBound(5_001_000, 5_000_000, 2, 5_000)).toBe(without + 10_000);
  });

  it('stays positive for whatever it is told', () => {
    expect(inputTokensBound(10, 20, 0)).toBeGreaterThan(0);
  });
});

// Charges, worst cases and affordable outputs, against an exact sum in BigInt.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BilledUsage, chargeNano } from '../../src/ledger/price.ts';
import { affordableOutputTokens, worstCaseNano } from '../../src/ledger/worst-case.ts';
import { type Pricing, ratesAt } from '../../src/routing/catalog.ts';

const usage = (fields: Partial<BilledUsage>): BilledUsage => ({
  inputTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  ...fields,
});
const plain: Pricing = { inputPerMTok: 150_000_000, outputPerMTok: 600_000_000 };
const full: Pricing = {
  inputPerMTok: 3_000_000_000,
  outputPerMTok: 15_000_000_000,
  cachedInputPerMTok: 300_000_000,
  cacheWritePerMTok: 3_750_000_000,
  perRequest: 7,
  perImage: 1_000,
  overrides: [{ minInputTokens: 200_000, inputPerMTok: 6_000_000_000, outputPerMTok: 22_500_000_000 }],
};

describe('chargeNano', () => {
  it.each<[string, Pricing, Partial<BilledUsage>, number, number]>([
    ['nothing is free', plain, {}, 0, 0],
    ['tokens at their prices', plain, { inputTokens: 1_000, outputTokens: 100 }, 0, 210_000],
    ['one odd token is rounded up', { inputPerMTok: 1, outputPerMTok: 1 }, { inputTokens: 1 }, 0, 1],
    [
      'input and output are rounded up together',
      { inputPerMTok: 500_000, outputPerMTok: 500_000 },
      { inputTokens: 1, outputTokens: 1 },
      0,
      1,
    ],
    ['cached input falls back to the input price', plain, { inputTokens: 1_000, cachedTokens: 1_000 }, 0, 150_000],
    [
      'cached and written input have prices of their own',
      full,
      { inputTokens: 1_000, cachedTokens: 400, cacheWriteTokens: 100 },
      0,
      7 + 1_500_000 + 120_000 + 375_000,
    ],
    ['images and the request cost a piece', full, {}, 3, 3_007],
    ['below the long-context limit', full, { inputTokens: 199_999 }, 0, 7 + 599_997_000],
    [
      'from the long-context limit on',
      full,
      { inputTokens: 200_000, outputTokens: 10 },
      0,
      7 + 1_200_000_000 + 225_000,
    ],
    [
      'cached parts beyond the input are not charged twice',
      full,
      { inputTokens: 10, cachedTokens: 50, cacheWriteTokens: 50 },
      0,
      7 + 3_000,
    ],
  ])('charges %s', (_name, pricing, fields, images, nano) => {
    expect(chargeNano(pricing, usage(fields), images)).toBe(nano);
  });

  it('takes each price from the last override that names it', () => {
    const pricing: Pricing = {
      inputPerMTok: 1e6,
      outputPerMTok: 1e6,
      overrides: [
        { minInputTokens: 100, inputPerMTok: 5e6, outputPerMTok: 7e6 },
        { minInputTokens: 10, inputPerMTok: 3e6 },
        { minInputTokens: 100, perRequest: 1_000 },
      ],
    };
    const cost = (inputTokens: number) => chargeNano(pricing, usage({ inputTokens, outputTokens: 10 }), 0);
    expect([cost(9), cost(10), cost(99), cost(100)]).toEqual([9 + 10, 30 + 10, 297 + 10, 300 + 70 + 1_000]);
  });

  it('stays exact where the products leave the safe integers', () => {
    const pricing: Pricing = { inputPerMTok: 75_000_000_001, outputPerMTok: 150_000_000_003 };
    expect(chargeNano(pricing, usage({ inputTokens: 999_999, outputTokens: 333_333 }), 0)).toBe(124_999_875_002);
  });

  it('answers the largest safe integer where the charge is beyond it', () => {
    const pricing: Pricing = { inputPerMTok: Number.MAX_SAFE_INTEGER, outputPerMTok: 0 };
    expect(chargeNano(pricing, usage({ inputTokens: 5_000_000 }), 0)).toBe(Number.MAX_SAFE_INTEGER);
  });

  it('equals the exact sum rounded up once', () => {
    fc.assert(
      fc.property(pricings(), usages(10_000_000), fc.nat(20), (pricing, used, images) => {
        const rates = ratesAt(pricing, used.inputTokens);
        const rest = used.inputTokens - used.cachedTokens - used.cacheWriteTokens;
        const sum =
          BigInt(rest) * BigInt(rates.input) +
          BigInt(used.cachedTokens) * BigInt(rates.cached) +
          BigInt(used.cacheWriteTokens) * BigInt(rates.cacheWrite) +
          BigInt(used.outputTokens) * BigInt(rates.output);
        const pieces = BigInt(rates.perRequest) + BigInt(images) * BigInt(rates.perImage);
        const exact = sum / 1_000_000n + (sum % 1_000_000n > 0n ? 1n : 0n) + pieces;
        expect(BigInt(chargeNano(pricing, used, images))).toBe(exact);
      }),
    );
  });
});

describe('worstCaseNano', () => {
  it('takes the dearest of the input prices', () => {
    expect(worstCaseNano(full, { inputTokensMax: 1_000, maxOutputTokens: 0, images: 0 })).toBe(7 + 3_750_000);
  });

  it('takes the long-context prices once the input may reach them', () => {
    const bounds = { inputTokensMax: 200_000, maxOutputTokens: 1_000_000, images: 0 };
    expect(worstCaseNano(full, bounds)).toBe(7 + 1_200_000_000 + 22_500_000_000);
  });

  it('takes the shorter input when its prices are the dearer ones', () => {
    const pricing: Pricing = {
      inputPerMTok: 1_000_000,
      outputPerMTok: 0,
      overrides: [{ minInputTokens: 100, inputPerMTok: 0 }],
    };
    expect(worstCaseNano(pricing, { inputTokensMax: 500, maxOutputTokens: 0, images: 0 })).toBe(99);
  });

  it('is never below the charge of any usage within the bounds', () => {
    fc.assert(
      fc.property(
        pricings(),
        usages(3_000),
        fc.nat(8),
        fc.nat(500),
        fc.nat(500),
        (pricing, used, images, more, longer) => {
          const worst = worstCaseNano(pricing, {
            inputTokensMax: used.inputTokens + more,
            maxOutputTokens: used.outputTokens + longer,
            images,
          });
          for (const fewer of [0, images]) {
            expect(worst).toBeGreaterThanOrEqual(chargeNano(pricing, used, fewer));
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('affordableOutputTokens', () => {
  it.each([
    ['nothing when the input does not fit', 149_999, 0],
    ['nothing when only the input fits', 150_000, 0],
    ['one token from its price on', 150_600, 1],
    ['not a token more than that', 151_199, 1],
  ])('affords %s', (_name, available, tokens) => {
    expect(affordableOutputTokens(plain, { inputTokensMax: 1_000, images: 0 }, available)).toBe(tokens);
  });

  it('has no limit where output is free', () => {
    const free: Pricing = { inputPerMTok: 0, outputPerMTok: 0 };
    expect(affordableOutputTokens(free, { inputTokensMax: 1_000, images: 2 }, 0)).toBe(Number.MAX_SAFE_INTEGER);
  });

  it('is the largest number whose worst case fits', () => {
    fc.assert(
      fc.property(
        pricings(),
        fc.nat(3_000),
        fc.nat(8),
        fc.nat(1_000_000_000),
        (pricing, inputTokensMax, images, available) => {
          const tokens = affordableOutputTokens(pricing, { inputTokensMax, images }, available);
          const worst = (maxOutputTokens: number) =>
            worstCaseNano(pricing, { inputTokensMax, images, maxOutputTokens });
          if (worst(0) > available) expect(tokens).toBe(0);
          else expect(worst(tokens)).toBeLessThanOrEqual(available);
          if (tokens < Number.MAX_SAFE_INTEGER) expect(worst(tokens + 1)).toBeGreaterThan(available);
        },
      ),
      { numRuns: 500 },
    );
  });
});

function pricings(): fc.Arbitrary<Pricing> {
  const price = fc.oneof(fc.constant(0), fc.nat(100), fc.nat(200_000_000_000));
  const override = fc.record(
    {
      minInputTokens: fc.nat(3_000),
      inputPerMTok: price,
      outputPerMTok: price,
      cachedInputPerMTok: price,
      cacheWritePerMTok: price,
      perRequest: fc.nat(1_000_000),
      perImage: fc.nat(1_000_000),
    },
    { requiredKeys: ['minInputTokens'] },
  );
  return fc.record(
    {
      inputPerMTok: price,
      outputPerMTok: price,
      cachedInputPerMTok: price,
      cacheWritePerMTok: price,
      perRequest: fc.nat(1_000_000),
      perImage: fc.nat(1_000_000),
      // In any order, several of one size among them.
      overrides: fc.array(override, { maxLength: 4 }),
    },
    { requiredKeys: ['inputPerMTok', 'outputPerMTok'] },
  );
}

function usages(max: number): fc.Arbitrary<BilledUsage> {
  return fc
    .tuple(
      fc.nat(max),
      fc.nat(max),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.double({ min: 0, max: 1, noNaN: true }),
    )
    .map(([inputTokens, outputTokens, cachedShare, writtenShare]) => {
      const cachedTokens = Math.floor(inputTokens * cachedShare);
      const cacheWriteTokens = Math.floor((inputTokens - cachedTokens) * writtenShare);
      return { inputTokens, outputTokens, cachedTokens, cacheWriteTokens };
    });
}

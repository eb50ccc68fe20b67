// Which prices hold: by size, by the hour, and the later of two wins, price by price.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chargeNano } from '../../src/ledger/price.ts';
import { worstCaseNano } from '../../src/ledger/worst-case.ts';
import { createCatalog, type ListedPricing, type Pricing, pricingAt, ratesAt } from '../../src/routing/catalog.ts';
import { mergeUpstreamModels } from '../../src/routing/merge-upstream-models.ts';
import { parseModelList } from '../../src/routing/parse-model-list.ts';
import { parsePricing } from '../../src/routing/parse-pricing.ts';
import { route } from '../../src/routing/route.ts';
import { model, price, routeInput } from './routing-samples.ts';

const BASE = { prompt: '0.000001', completion: '0.000002' };
const listed = (...overrides: unknown[]) => parsePricing({ ...BASE, overrides });
const at = (clock: string): number => Date.parse(`2026-03-04T${clock}Z`);
const inputAt = (pricing: ListedPricing | undefined, clock: string, tokens = 1): number | undefined =>
  pricing && ratesAt(pricingAt(pricing, at(clock)), tokens).input;

describe('a daily window', () => {
  const day = { utc_start: 930, utc_end: 1745, prompt: '0.000009' };
  const night = { utc_start: 2200, utc_end: 130, prompt: '0.000009' };

  it.each([
    ['before its start', day, '09:29:59.999', 1e9],
    ['at its start', day, '09:30:00', 9e9],
    ['inside', day, '12:00:00', 9e9],
    ['in its last second', day, '17:44:59.999', 9e9],
    ['at its end', day, '17:45:00', 1e9],
    ['over midnight, before its start', night, '21:59:59', 1e9],
    ['over midnight, at its start', night, '22:00:00', 9e9],
    ['over midnight, at midnight', night, '00:00:00', 9e9],
    ['over midnight, before its end', night, '01:29:59', 9e9],
    ['over midnight, at its end', night, '01:30:00', 1e9],
    ['of one and the same time', { ...day, utc_end: 930 }, '03:00:00', 9e9],
    ['of the whole day', { ...day, utc_start: 0, utc_end: 2400 }, '23:59:59.999', 9e9],
  ])('%s', (_name, override, clock, expected) => {
    expect(inputAt(listed(override), clock)).toBe(expected);
  });

  it.each([
    [0, 0],
    [5, 300],
    [100, 3600],
    [1030, 37_800],
    [2400, 86_400],
    ['09:30', 34_200],
    ['09:30Z', 34_200],
    ['09:30:15', 34_215],
    ['23:59:59Z', 86_399],
  ])('is read from %j', (value, second) => {
    const override = { utc_start: value, utc_end: value };
    expect(listed(override)?.overrides?.[0]?.window).toEqual({ startSecond: second, endSecond: second });
  });

  it.each([
    60,
    1060,
    2401,
    2500,
    -1,
    9.5,
    Number.NaN,
    '9:30',
    '09:60',
    '24:01',
    '25:00',
    '09:30+01:00',
    'noon',
    true,
    {},
  ])('is refused with %j', (value) => {
    expect(() => listed({ utc_start: value, utc_end: 100 })).toThrow('utc_start must be a time of day');
    expect(() => listed({ utc_start: 100, utc_end: value })).toThrow('utc_end must be a time of day');
  });

  it.each([{ utc_start: 100 }, { utc_end: 100 }])('needs both ends: %j', (half) => {
    expect(() => listed({ ...half, prompt: '0' })).toThrow('must be a time of day');
  });

  it('holds only together with the other condition', () => {
    const both = listed({ ...day, min_prompt_tokens: 100 });
    const seen = (['12:00:00', '20:00:00'] as const).map((clock) => [
      inputAt(both, clock, 100),
      inputAt(both, clock, 101),
    ]);
    expect(seen).toEqual([
      [1e9, 9e9],
      [1e9, 1e9],
    ]);
  });

  it('is gone from the prices of a moment, and prices without one are the same object', () => {
    const fixed = listed({ min_prompt_tokens: 5, prompt: '0' });
    expect(fixed && pricingAt(fixed, 0)).toBe(fixed);
    const hourly = listed(day, { min_prompt_tokens: 5, prompt: '0' });
    expect(hourly && pricingAt(hourly, at('03:00:00')).overrides).toEqual([{ minInputTokens: 6, inputPerMTok: 0 }]);
  });
});

describe('overrides', () => {
  it('apply above their size, the later one winning price by price', () => {
    const pricing = listed(
      { min_prompt_tokens: 200, prompt: '0.000005', completion: '0.000006' },
      { min_prompt_tokens: 100, prompt: '0.000003' },
    );
    const rates = [100, 101, 200, 201].map((tokens) => pricing && ratesAt(pricingAt(pricing, 0), tokens));
    expect(rates.map((each) => [each?.input, each?.output])).toEqual([
      [1e9, 2e9],
      [3e9, 2e9],
      [3e9, 2e9],
      [3e9, 6e9],
    ]);
  });

  it('with prices of things not charged for change nothing', () => {
    const pricing = listed({ min_prompt_tokens: 0, audio: '0.1', input_cache_write_1h: '0.1' });
    expect(pricing?.overrides).toEqual([{ minInputTokens: 1 }]);
  });

  it.each([
    ['an unknown condition', { weekday: 'sunday', prompt: '0' }, 'weekday is unknown'],
    [
      'an unknown condition beside a known one',
      { min_prompt_tokens: 1, region: 'eu', prompt: '0' },
      'region is unknown',
    ],
    ['no condition', { prompt: '0' }, 'needs min_prompt_tokens'],
    ['a size below zero', { min_prompt_tokens: -1 }, 'min_prompt_tokens'],
    ['a size of words', { min_prompt_tokens: '200' }, 'min_prompt_tokens'],
    ['a size beyond counting', { min_prompt_tokens: 1e300 }, 'min_prompt_tokens'],
  ])('with %s are refused', (_name, override, message) => {
    expect(() => listed(override)).toThrow(message);
  });

  it('that can not be read make the price unknown, whatever an older list said', () => {
    const snapshot = createCatalog([model('acme/one', { pricing: price(1, 2) })]);
    const entry = { id: 'acme/one', pricing: { ...BASE, overrides: [{ weekday: 'sunday', prompt: '0' }] } };
    const merge = (data: unknown) =>
      mergeUpstreamModels(snapshot, parseModelList({ data: [data] })).byId.get('acme/one');
    expect(merge(entry)).not.toHaveProperty('pricing');
    expect(merge({ id: 'acme/one' })?.pricing).toEqual(price(1, 2));
    expect(merge({ id: 'acme/one', pricing: BASE })?.pricing).toEqual(price(1, 2));
  });
});

it('whatever the hours, the worst case of a moment covers every charge of that moment', () => {
  const rate = fc.oneof(fc.constant(0), fc.nat(50_000_000_000));
  const second = fc.nat(86_400);
  const override = fc.record(
    {
      minInputTokens: fc.nat(2_000),
      inputPerMTok: rate,
      outputPerMTok: rate,
      cachedInputPerMTok: rate,
      cacheWritePerMTok: rate,
      window: fc.record({ startSecond: second, endSecond: second }),
    },
    { requiredKeys: ['minInputTokens'] },
  );
  const pricings = fc.record(
    { inputPerMTok: rate, outputPerMTok: rate, overrides: fc.array(override, { maxLength: 5 }) },
    { requiredKeys: ['inputPerMTok', 'outputPerMTok'] },
  );
  fc.assert(
    fc.property(
      pricings,
      fc.nat(4e12),
      fc.nat(2_500),
      fc.nat(2_500),
      fc.nat(500),
      (pricing, atMs, input, output, more) => {
        const now: Pricing = pricingAt(pricing, atMs);
        const usage = {
          inputTokens: input,
          cachedTokens: input >> 1,
          cacheWriteTokens: input >> 2,
          outputTokens: output,
        };
        const worst = worstCaseNano(now, { inputTokensMax: input + more, maxOutputTokens: output + more, images: 0 });
        expect(worst).toBeGreaterThanOrEqual(chargeNano(now, usage, 0));
        expect(pricingAt(now, atMs + 43_200_000)).toBe(now);
      },
    ),
    { numRuns: 500 },
  );
});

it('the router reckons with the price of the hour', () => {
  const pricing = parsePricing({
    prompt: '0.00001',
    completion: '0.00004',
    overrides: [{ utc_start: 0, utc_end: 600, prompt: '0.0000001', completion: '0.0000004' }],
  });
  const catalog = createCatalog([model('acme/steady'), model('acme/night', pricing === undefined ? {} : { pricing })]);
  const chosen = (clock: string) => {
    const routing = route(routeInput({ catalog, nowSeconds: at(clock) / 1000 }));
    return 'none' in routing ? routing : [routing.chosen.id, routing.decision().candidates[0]?.model];
  };
  expect(chosen('05:59:59')).toEqual(['acme/night', 'acme/night']);
  expect(chosen('06:00:00')).toEqual(['acme/steady', 'acme/steady']);
});

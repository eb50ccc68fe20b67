// The three numbers behind a score, and what moves each.

import { describe, expect, it } from 'vitest';
import { type CatalogModel, createCatalog } from '../../src/routing/catalog.ts';
import type { Candidate, Classification, Needs } from '../../src/routing/decision.ts';
import { BIG, classification, decided, MID, model, needs, price, request, TINY } from './routing-samples.ts';

type About = { models?: readonly CatalogModel[]; needs?: Partial<Needs>; about?: Partial<Classification> };

function rowOf(id: string, { models = [TINY, MID, BIG], needs: wanted = {}, about = {} }: About = {}): Candidate {
  const { candidates } = decided({
    catalog: createCatalog(models),
    needs: needs(wanted),
    classification: classification(about),
  });
  const row = candidates.find((each) => each.model === id);
  if (!row) throw new Error(`${id} is no candidate`);
  return row;
}

describe('quality', () => {
  it('falls as prompts get harder, and never below 0 or above 1', () => {
    for (const each of [TINY, MID, BIG]) {
      const qualities = [0, 0.25, 0.5, 0.75, 1].map((difficulty) => rowOf(each.id, { about: { difficulty } }).quality);
      expect(qualities).toEqual([...qualities].sort((a, b) => b - a));
      expect(Math.min(...qualities)).toBeGreaterThanOrEqual(0);
      expect(Math.max(...qualities)).toBeLessThanOrEqual(1);
    }
  });

  it('saturates for cheap models on easy prompts and parts them on hard ones', () => {
    const gap = (difficulty: number) =>
      rowOf(BIG.id, { about: { difficulty } }).quality - rowOf(MID.id, { about: { difficulty } }).quality;
    expect(gap(0.05)).toBeLessThan(0.01);
    expect(gap(0.8)).toBeGreaterThan(0.4);
    expect(rowOf(TINY.id, { about: { difficulty: 0.05 } }).quality).toBeGreaterThan(0.95);
  });

  it('leans toward the strong when the classification is unsure', () => {
    const gap = (confidence: number) =>
      rowOf(BIG.id, { about: { confidence } }).quality - rowOf(MID.id, { about: { confidence } }).quality;
    expect(gap(0.2)).toBeGreaterThan(gap(1));
  });

  it.each([
    ['task and domain', { general: 0.1, qa: 0.1, 'qa/law': 0.9 }],
    ['task', { general: 0.1, qa: 0.9 }],
    ['general', { general: 0.9, coding: 0.1, 'qa/history': 0.1 }],
  ])('looks abilities up by %s', (_name, abilities) => {
    const row = rowOf('acme/x', {
      models: [model('acme/x', { abilities })],
      about: { task_type: 'qa', domain: 'law' },
    });
    expect(row.quality).toBeGreaterThan(0.9);
  });

  it.each([0, 1])('survives an ability of %d', (general) => {
    const row = rowOf('acme/x', { models: [model('acme/x', { abilities: { general } })] });
    expect(row.quality).toBeCloseTo(general, 1);
  });

  it('takes a model without any figure as middling', () => {
    const row = rowOf('acme/x', { models: [model('acme/x', { abilities: { math: 0.9 } })] });
    expect(row.quality).toBe(0.5);
  });
});

describe('cost', () => {
  it('is 1 for the cheapest and falls by the same step for each factor of ten', () => {
    const models = [0.1, 1, 10].map((usd) =>
      model(`acme/at-${usd}`, { pricing: price(usd, usd), supportedParameters: [] }),
    );
    const costs = models.map(({ id }) => rowOf(id, { models }).cost);
    expect(costs[0]).toBe(1);
    expect((costs[0] ?? 0) - (costs[1] ?? 0)).toBeCloseTo((costs[1] ?? 0) - (costs[2] ?? 0), 3);
  });

  it('does not blow up a small difference', () => {
    const models = [1, 1.05].map((usd) => model(`acme/at-${usd}`, { pricing: price(usd, usd) }));
    expect(rowOf('acme/at-1.05', { models }).cost).toBeGreaterThan(0.98);
  });

  it('is 1 for the free alone', () => {
    const models = [model('acme/free', { pricing: price(0, 0) }), TINY, BIG];
    expect(rowOf('acme/free', { models })).toMatchObject({ cost: 1, estimated_cost: '0' });
    expect(rowOf(TINY.id, { models }).cost).toBe(0.95);
  });

  it('is the input at its price plus the expected output at its own', () => {
    const one = [model('acme/x', { pricing: price(2, 10), ttftMs: 500 })];
    const at = (wanted: Partial<Needs>) =>
      rowOf('acme/x', { models: one, needs: wanted, about: { task_type: 'chat' } }).estimated_cost;
    expect(at({ input_tokens: 1_000_000 / 10, max_output_tokens: 10 })).toBe('0.2001');
    expect(at({ input_tokens: 0 })).toBe('0.002');
    expect(at({ input_tokens: 0, max_output_tokens: 100_000 })).toBe('0.002');
  });

  it('respects the model’s own cap', () => {
    const capped = [model('acme/x', { pricing: price(0, 10), maxOutputTokens: 20 })];
    expect(rowOf('acme/x', { models: capped }).estimated_cost).toBe('0.0002');
  });

  it('applies long-context tiers from their size on', () => {
    const tiered = [
      model('acme/x', {
        contextLength: 1e6,
        pricing: { ...price(1, 0), overrides: [{ minInputTokens: 200_000, inputPerMTok: 2e9 }] },
      }),
    ];
    const at = (input_tokens: number) => rowOf('acme/x', { models: tiered, needs: { input_tokens } }).estimated_cost;
    expect(at(199_999)).toBe('0.199999');
    expect(at(200_000)).toBe('0.4');
  });

  it('adds prices per request and, with an image, per image', () => {
    const sees = [
      model('acme/x', { inputModalities: ['text', 'image'], pricing: { ...price(0, 0), perRequest: 5, perImage: 7 } }),
    ];
    expect(rowOf('acme/x', { models: sees }).estimated_cost).toBe('0.000000005');
    expect(rowOf('acme/x', { models: sees, needs: { vision: true } }).estimated_cost).toBe('0.000000012');
  });

  it('takes an allowed unknown price as dear, never as nothing', () => {
    const { pricing: _unknown, ...unpriced } = model('acme/unpriced');
    const decision = decided({
      catalog: createCatalog([unpriced, MID]),
      limits: { allow: [], deny: [], keyModels: null, allowUnknownPrice: true },
    });
    const row = decision.candidates.find((each) => each.model === 'acme/unpriced');
    expect(Number(row?.estimated_cost)).toBeGreaterThan(
      Number(decision.candidates.find((each) => each.model === MID.id)?.estimated_cost),
    );
  });

  it('counts the thinking of models that think', () => {
    const thinker = model('acme/thinker', { ttftMs: 21_500, tokensPerSecond: 100, pricing: price(0, 1) });
    const plain = model('acme/plain', { ttftMs: 1500, tokensPerSecond: 100, pricing: price(0, 1) });
    const models = [thinker, plain];
    const extra =
      Number(rowOf('acme/thinker', { models }).estimated_cost) - Number(rowOf('acme/plain', { models }).estimated_cost);
    expect(extra).toBeCloseTo(0.002, 6);
  });
});

describe('speed', () => {
  it('is 1 for the quickest', () => {
    expect(rowOf(TINY.id).speed).toBe(1);
    expect(rowOf(BIG.id).speed).toBeLessThan(rowOf(MID.id).speed);
  });

  it('counts both the wait and the writing', () => {
    const prompt = model('acme/prompt', { ttftMs: 300, tokensPerSecond: 20 });
    const fluent = model('acme/fluent', { ttftMs: 1500, tokensPerSecond: 500 });
    const models = [prompt, fluent];
    const quicker = (max_output_tokens: number) =>
      rowOf('acme/prompt', { models, needs: { max_output_tokens } }).speed >
      rowOf('acme/fluent', { models, needs: { max_output_tokens } }).speed;
    expect(quicker(5)).toBe(true);
    expect(quicker(5000)).toBe(false);
  });

  it('takes an unmeasured model as slower than most', () => {
    const {
      tokensPerSecond: _rate,
      ttftMs: _ttft,
      ...unmeasured
    } = model('acme/new', { supportedParameters: ['reasoning'] });
    expect(rowOf('acme/new', { models: [unmeasured, MID] }).speed).toBeLessThan(
      rowOf(MID.id, { models: [unmeasured, MID] }).speed,
    );
  });

  it('expects a translation to be about as long as its text', () => {
    const about = { task_type: 'translation' } as const;
    const cost = (input_tokens: number) => Number(rowOf(MID.id, { needs: { input_tokens }, about }).estimated_cost);
    expect(cost(1000) / cost(100)).toBeCloseTo(10, 0);
  });

  it('is asked less of when effort is low', () => {
    const thinker = createCatalog([model('acme/t', { ttftMs: 20_000 })]);
    const wait = (effort: string) =>
      decided({ catalog: thinker, request: request({ reasoning: { effort } }) }).candidates[0]?.estimated_ttft_ms ?? 0;
    expect(wait('low')).toBeLessThan(wait('medium'));
    expect(wait('medium')).toBeLessThan(wait('max'));
    expect(wait('none')).toBe(1500);
  });
});

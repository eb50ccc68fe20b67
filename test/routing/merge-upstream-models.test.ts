// The upstream's list, read leniently, and joined with the snapshot.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCatalog } from '../../src/routing/catalog.ts';
import { mergeUpstreamModels } from '../../src/routing/merge-upstream-models.ts';
import { parseModelList } from '../../src/routing/parse-model-list.ts';
import { BIG, decided, MID, price, shippedCatalog, THREE } from './routing-samples.ts';

const LISTED = {
  id: 'acme/mid',
  name: 'Mid as listed',
  created: 1_760_000_000,
  context_length: 64_000,
  architecture: { input_modalities: ['text', 'image'], output_modalities: ['text'] },
  pricing: { prompt: '0.000002', completion: '0.000009', request: '0', image: '0' },
  top_provider: { context_length: 64_000, max_completion_tokens: 4096, is_moderated: false },
  supported_parameters: ['tools'],
};

const merge = (...data: unknown[]) => mergeUpstreamModels(THREE, parseModelList({ data }));

describe('parseModelList', () => {
  it('reads an OpenRouter entry', () => {
    expect(parseModelList({ data: [LISTED] })).toEqual([
      {
        id: 'acme/mid',
        name: 'Mid as listed',
        created: 1_760_000_000,
        contextLength: 64_000,
        maxOutputTokens: 4096,
        inputModalities: ['text', 'image'],
        outputModalities: ['text'],
        supportedParameters: ['tools'],
        pricing: price(2, 9),
      },
    ]);
  });

  it('reads a plain OpenAI entry', () => {
    const plain = { id: 'gpt-4o', object: 'model', created: 1_700_000_000, owned_by: 'openai' };
    expect(parseModelList({ object: 'list', data: [plain] })).toEqual([{ id: 'gpt-4o', created: 1_700_000_000 }]);
  });

  it.each([
    ['no object', 5],
    ['no id', { name: 'x' }],
    ['an empty id', { id: '' }],
    ['an endless id', { id: 'x'.repeat(300) }],
    ['null', null],
  ])('skips an entry with %s and keeps the rest', (_name, bad) => {
    expect(parseModelList({ data: [bad, LISTED] }).map(({ id }) => id)).toEqual(['acme/mid']);
  });

  it.each([
    ['-1, which means it depends', { prompt: '-1', completion: '-1' }],
    ['words', { prompt: 'free', completion: '0' }],
    ['one side only', { prompt: '0.1' }],
    ['a broken tier', { prompt: '0', completion: '0', overrides: [{}] }],
    ['a list', []],
    ['null', null],
  ])('takes a price of %s as unknown', (_name, pricing) => {
    expect(parseModelList({ data: [{ ...LISTED, pricing }] })[0]).not.toHaveProperty('pricing');
  });

  it('takes prices given as numbers', () => {
    expect(
      parseModelList({ data: [{ ...LISTED, pricing: { prompt: 1.5e-7, completion: 6e-7 } }] })[0]?.pricing,
    ).toEqual(price(0.15, 0.6));
  });

  it('keeps the first of two entries with one id', () => {
    expect(parseModelList({ data: [LISTED, { ...LISTED, name: 'again' }] }).map(({ name }) => name)).toEqual([
      'Mid as listed',
    ]);
  });

  it.each([undefined, null, {}, [], { data: 'x' }, 'html'])('throws on what is no list: %j', (value) => {
    expect(() => parseModelList(value)).toThrow('data');
  });

  it('survives any entries', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.jsonValue(),
            fc.record({
              id: fc.string(),
              pricing: fc.jsonValue(),
              architecture: fc.jsonValue(),
              created: fc.jsonValue(),
            }),
          ),
        ),
        (data) => {
          const listed = parseModelList({ data });
          expect(mergeUpstreamModels(THREE, listed).models).toHaveLength(listed.length);
        },
      ),
    );
  });
});

describe('mergeUpstreamModels', () => {
  it('holds exactly what the upstream lists, in its order', () => {
    const merged = merge({ id: 'zeus/big' }, { id: 'new/thing' }, LISTED);
    expect(merged.models.map(({ id }) => id)).toEqual(['zeus/big', 'new/thing', 'acme/mid']);
    expect(merged.byId.has('acme/tiny')).toBe(false);
  });

  it('lets listed prices and limits win over the snapshot', () => {
    expect(merge(LISTED).byId.get('acme/mid')).toMatchObject({
      name: 'Mid as listed',
      contextLength: 64_000,
      maxOutputTokens: 4096,
      inputModalities: ['text', 'image'],
      supportedParameters: ['tools'],
      pricing: price(2, 9),
      abilities: MID.abilities,
      estimated: false,
    });
  });

  it('falls back to the snapshot where the list is silent', () => {
    expect(merge({ id: 'acme/mid' }).byId.get('acme/mid')).toEqual(MID);
  });

  it('takes a listed expiry date and routes accordingly', () => {
    const catalog = merge({ id: 'acme/mid', expiration_date: '2020-01-01' }, { id: 'zeus/big' });
    expect(decided({ catalog }).excluded).toEqual([{ model: 'acme/mid', reason: 'expired on 2020-01-01' }]);
  });

  it('recognises a name without its maker when only one model is so called', () => {
    expect(merge({ id: 'big' }).models[0]).toMatchObject({ id: 'big', abilities: BIG.abilities, estimated: false });
    const twins = createCatalog([BIG, { ...BIG, id: 'hera/big' }]);
    expect(mergeUpstreamModels(twins, [{ id: 'big' }]).models[0]?.estimated).toBe(true);
  });

  it('gives an unknown model estimated abilities and says so in its candidate row', () => {
    const catalog = merge({ ...LISTED, id: 'new/thing' });
    expect(catalog.models[0]).toMatchObject({ estimated: true, contextLength: 64_000 });
    expect(decided({ catalog }).candidates[0]?.estimated).toBe(true);
  });

  it('leaves the price of an unknown, unpriced model unknown, so that it is refused', () => {
    const catalog = merge({ id: 'new/thing' }, { id: 'acme/mid' });
    expect(catalog.models[0]).not.toHaveProperty('pricing');
    expect(decided({ catalog }).excluded).toEqual([{ model: 'new/thing', reason: 'price is unknown' }]);
  });

  it.each(['text-embedding-3-small', 'acme/rerank-2', 'whisper-1', 'dall-e-3', 'tts-1', 'omni-moderation-latest'])(
    'never routes a chat to %s of a plain list',
    (id) => {
      const catalog = merge({ id }, { id: 'acme/mid' });
      const { excluded } = decided({
        catalog,
        limits: { allow: [], deny: [], keyModels: null, allowUnknownPrice: true },
      });
      expect(excluded).toEqual([{ model: id, reason: 'does not answer in text' }]);
    },
  );

  it.each([
    ['gpt-4o-2026', true],
    ['claude-next', true],
    ['qwen9-vl', true],
    ['deepseek-v9', false],
  ])('guesses whether %s of a plain list sees images', (id, sees) => {
    expect(merge({ id }).models[0]?.inputModalities.includes('image')).toBe(sees);
  });
});

describe('estimated abilities on the shipped catalogue', () => {
  const snapshot = shippedCatalog();
  const estimate = (entry: Record<string, unknown>) =>
    mergeUpstreamModels(snapshot, parseModelList({ data: [entry] })).models[0]?.abilities['general'] ?? 0;
  const usd = (input: number, output: number) => ({ prompt: `${input}e-6`, completion: `${output}e-6` });
  const entry = { id: 'nobody/thing', created: 1_770_000_000, pricing: usd(1, 4), supported_parameters: ['reasoning'] };

  it('rise with the date and with the price', () => {
    expect(estimate({ ...entry, created: 1_790_000_000 })).toBeGreaterThan(estimate(entry));
    expect(estimate({ ...entry, pricing: usd(5, 25) })).toBeGreaterThan(estimate(entry));
    expect(estimate({ ...entry, pricing: usd(0.02, 0.05) })).toBeLessThan(estimate(entry));
  });

  it('follow the family', () => {
    const opus = estimate({ ...entry, id: 'anthropic/claude-opus-5.6', created: 1_791_000_000, pricing: usd(4, 20) });
    expect(opus).toBeGreaterThan(0.93);
    const nano = estimate({ ...entry, id: 'openai/gpt-4.1-nano-next', created: 1_745_000_000, pricing: usd(0.1, 0.4) });
    expect(nano).toBeLessThan(0.75);
  });

  it('do not call a free variant worthless', () => {
    const free = estimate({ ...entry, id: 'z-ai/glm-5.3:free', pricing: usd(0, 0), created: 1_786_000_000 });
    expect(free).toBeGreaterThan(0.85);
  });

  it('stay within reason whatever is said', () => {
    for (const created of [0, 1, 4_000_000_000]) {
      for (const pricing of [usd(0, 0), usd(0.00001, 0.00001), usd(5, 8), undefined]) {
        const ability = estimate({ ...entry, created, pricing });
        expect(ability).toBeGreaterThanOrEqual(0.02);
        expect(ability).toBeLessThanOrEqual(0.97);
      }
    }
  });

  it('come near the measured ones when a model is left out in turn', () => {
    const errors = snapshot.models.map((left) => {
      const others = createCatalog(snapshot.models.filter((each) => each !== left));
      const { abilities: _abilities, estimated: _estimated, pricing, ...rest } = left;
      const guess = mergeUpstreamModels(others, [{ ...rest, ...(pricing ? { pricing } : {}) }]).models[0]?.abilities;
      return Math.abs((guess?.['general'] ?? 0) - (left.abilities['general'] ?? 0));
    });
    expect(errors.reduce((sum, error) => sum + error, 0) / errors.length).toBeLessThan(0.07);
  });
});

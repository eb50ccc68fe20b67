import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCatalog } from '../../src/routing/parse-catalog.ts';

const ROW = {
  id: 'acme/one',
  name: 'One',
  context_length: 128_000,
  max_output_tokens: 8192,
  input_modalities: ['text', 'image'],
  supported_parameters: ['tools', 'response_format'],
  pricing: { prompt: '0.00000015', completion: '0.0000006', input_cache_read: '0.000000075' },
  abilities: { general: 0.62, coding: 0.7, 'qa/law': 0.55 },
  tokens_per_second: 90,
  ttft_ms: 800,
  created: 1_700_000_000,
};

const parseOne = (overrides: Record<string, unknown>) => parseCatalog({ models: [{ ...ROW, ...overrides }] }).models[0];

describe('a catalogue file', () => {
  it('becomes models with prices in nano-dollars per million tokens', () => {
    const catalog = parseCatalog({ snapshot_date: '2026-10-10', note: 'anything', models: [ROW] });
    expect(catalog.byId.get('acme/one')).toEqual({
      id: 'acme/one',
      name: 'One',
      contextLength: 128_000,
      maxOutputTokens: 8192,
      inputModalities: ['text', 'image'],
      supportedParameters: ['tools', 'response_format'],
      pricing: { inputPerMTok: 150_000_000, outputPerMTok: 600_000_000, cachedInputPerMTok: 75_000_000 },
      abilities: { general: 0.62, coding: 0.7, 'qa/law': 0.55 },
      estimated: false,
      tokensPerSecond: 90,
      ttftMs: 800,
      created: 1_700_000_000,
    });
  });

  it.each([
    [
      'a price per request and per image in nano-dollars',
      { prompt: '0', completion: '0', request: '0.005', image: '0.00001' },
      { perRequest: 5_000_000, perImage: 10_000 },
    ],
    ['zero per request as none', { prompt: '0', completion: '0', request: '0' }, { inputPerMTok: 0, outputPerMTok: 0 }],
    [
      'long-context tiers in their order, from the token above the size on',
      {
        prompt: '0.000001',
        completion: '0.000002',
        overrides: [
          { min_prompt_tokens: 500, prompt: '0.000004' },
          {
            min_prompt_tokens: 200,
            prompt: '0.000002',
            completion: '0.000003',
            input_cache_read: '0',
            input_cache_write: '0.1',
          },
        ],
      },
      {
        overrides: [
          { minInputTokens: 501, inputPerMTok: 4e9 },
          {
            minInputTokens: 201,
            inputPerMTok: 2e9,
            outputPerMTok: 3e9,
            cachedInputPerMTok: 0,
            cacheWritePerMTok: 1e14,
          },
        ],
      },
    ],
    [
      'a cache write price',
      { prompt: '0', completion: '0', input_cache_write: '0.000001' },
      { cacheWritePerMTok: 1e9 },
    ],
  ])('understands %s', (_name, pricing, expected) => {
    expect(parseOne({ pricing })?.pricing).toMatchObject(expected);
  });

  it.each([
    ['no pricing', { pricing: undefined }],
    ['null pricing', { pricing: null }],
    ['pricing without rates', { pricing: {} }],
  ])('leaves the price unknown with %s', (_name, overrides) => {
    expect(parseOne(overrides)).not.toHaveProperty('pricing');
  });

  it.each([
    [
      'null caps as absent',
      { max_output_tokens: null },
      (model: unknown) => expect(model).not.toHaveProperty('maxOutputTokens'),
    ],
    [
      'a missing name as the id',
      { name: undefined },
      (model: unknown) => expect(model).toHaveProperty('name', 'acme/one'),
    ],
    [
      'an ISO expiry date',
      { expiration_date: '2027-01-01' },
      (model: unknown) => expect(model).toHaveProperty('expires', 1_798_761_600),
    ],
    [
      'missing modalities as text',
      { input_modalities: undefined },
      (model: unknown) => expect(model).toHaveProperty('inputModalities', ['text']),
    ],
    [
      'missing abilities as a guess',
      { abilities: undefined },
      (model: unknown) => expect(model).toHaveProperty('estimated', true),
    ],
    [
      'what it gives out',
      { output_modalities: ['image'] },
      (model: unknown) => expect(model).toHaveProperty('outputModalities', ['image']),
    ],
  ])('takes %s', (_name, overrides, check) => {
    check(parseOne(overrides));
  });

  it.each([
    [
      'a negative price',
      { pricing: { prompt: '-1', completion: '0' } },
      'model acme/one: pricing.prompt must be a decimal string in USD of 0 or more, not "-1"',
    ],
    ['a price as a number', { pricing: { prompt: 0.1, completion: '0' } }, 'model acme/one: pricing.prompt'],
    ['a price of words', { pricing: { prompt: '0', completion: 'cheap' } }, 'model acme/one: pricing.completion'],
    ['half a price', { pricing: { prompt: '0.1' } }, 'model acme/one: pricing.completion is missing'],
    ['a price beyond exact integers', { pricing: { prompt: '10', completion: '0' } }, 'model acme/one: pricing.prompt'],
    ['pricing as a list', { pricing: [] }, 'model acme/one: pricing must be an object'],
    ['tiers that are no array', { pricing: { prompt: '0', completion: '0', overrides: {} } }, 'pricing.overrides'],
    [
      'a tier without a size',
      { pricing: { prompt: '0', completion: '0', overrides: [{ prompt: '0' }] } },
      'min_prompt_tokens',
    ],
    [
      'a tier that is no object',
      { pricing: { prompt: '0', completion: '0', overrides: [3] } },
      'pricing.overrides must hold objects',
    ],
    ['no context', { context_length: undefined }, 'model acme/one: context_length is missing'],
    ['a context of zero', { context_length: 0 }, 'model acme/one: context_length'],
    ['a fractional cap', { max_output_tokens: 1.5 }, 'model acme/one: max_output_tokens'],
    ['an ability over one', { abilities: { coding: 1.2 } }, 'model acme/one: abilities.coding must be 0 to 1'],
    ['an ability of words', { abilities: { coding: 'good' } }, 'model acme/one: abilities.coding'],
    ['abilities as a list', { abilities: [1] }, 'model acme/one: abilities must be an object'],
    ['modalities of numbers', { input_modalities: [1] }, 'model acme/one: input_modalities'],
    ['parameters as a string', { supported_parameters: 'tools' }, 'model acme/one: supported_parameters'],
    ['a speed of zero', { tokens_per_second: 0 }, 'model acme/one: tokens_per_second'],
    ['an unreadable date', { expiration_date: 'soon' }, 'model acme/one: expiration_date'],
    ['a name that is no string', { name: 7 }, 'model acme/one: name'],
  ])('refuses %s, naming model and field', (_name, overrides, message) => {
    expect(() => parseOne(overrides)).toThrow(message);
  });

  it.each([
    ['nothing', undefined, '"models"'],
    ['an array', [], '"models"'],
    ['models as an object', { models: {} }, '"models"'],
    ['a model that is no object', { models: [7] }, 'model 0: id'],
    ['a model without an id', { models: [{ ...ROW, id: '' }] }, 'model 0: id'],
    ['the same id twice', { models: [ROW, ROW] }, 'model acme/one: id is listed twice'],
    ['too many models', { models: new Array(10_001).fill(ROW) }, 'more than 10000'],
  ])('refuses %s', (_name, value, message) => {
    expect(() => parseCatalog(value)).toThrow(message);
  });

  it('fails with an Error, never otherwise, on arbitrary JSON', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.jsonValue(),
            fc.record({
              id: fc.string(),
              context_length: fc.integer(),
              pricing: fc.jsonValue(),
              abilities: fc.jsonValue(),
            }),
          ),
        ),
        (models) => {
          try {
            parseCatalog({ models });
          } catch (error) {
            expect(error).toBeInstanceOf(Error);
            expect(error instanceof Error && error.message).toMatch(/^(model |the catalogue)/);
          }
        },
      ),
    );
  });
});

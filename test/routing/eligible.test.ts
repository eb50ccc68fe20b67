// Every reason a model can be left out for, and what is not a reason.

import { describe, expect, it } from 'vitest';
import { type CatalogModel, createCatalog } from '../../src/routing/catalog.ts';
import type { Needs } from '../../src/routing/decision.ts';
import type { RouteLimits } from '../../src/routing/eligible.ts';
import { route } from '../../src/routing/route.ts';
import { ANYTHING, MID, model, NOW, needs, price, routeInput, THREE } from './routing-samples.ts';

const { pricing: _price, ...UNPRICED } = MID;

function reasonFor(
  given: CatalogModel,
  wanted: Partial<Needs> = {},
  limits: Partial<RouteLimits> = {},
): string | undefined {
  const input = routeInput({
    catalog: createCatalog([given]),
    needs: needs(wanted),
    limits: { ...ANYTHING, ...limits },
  });
  const routing = route(input);
  return 'none' in routing ? routing.none[0]?.reason : undefined;
}

describe('a model is left out', () => {
  it.each<[string, CatalogModel, Partial<Needs>, Partial<RouteLimits>, string]>([
    ['once it has expired', { ...MID, expires: NOW }, {}, {}, 'expired on 2026-09-21'],
    [
      'when the prompt is longer than its context',
      { ...MID, contextLength: 1000 },
      { input_tokens: 1001 },
      {},
      'context of 1000 tokens is too small for 1001 of input',
    ],
    [
      'when prompt and output together are',
      { ...MID, contextLength: 1000 },
      { input_tokens: 600, max_output_tokens: 401 },
      {},
      'context of 1000 tokens is too small for 600 of input and 401 of output',
    ],
    ['without vision', MID, { vision: true }, {}, 'does not take images (vision)'],
    ['without tools', { ...MID, supportedParameters: [] }, { tools: true }, {}, 'does not take tools'],
    [
      'without structured output',
      { ...MID, supportedParameters: ['tools'] },
      { structured_output: true },
      {},
      'has no structured output',
    ],
    ['without reasoning', MID, { reasoning: true }, {}, 'has no reasoning, which was asked for'],
    ['when it gives no text', { ...MID, outputModalities: ['image'] }, {}, {}, 'does not answer in text'],
    [
      'over the input price cap',
      { ...MID, pricing: price(2, 3) },
      {},
      { maxInputPerMTok: 1_500_000_000 },
      'input price of $2 per million tokens is over the cap of $1.5',
    ],
    [
      'over the output price cap',
      { ...MID, pricing: price(2, 3) },
      {},
      { maxOutputPerMTok: 2_999_999_999 },
      'output price of $3 per million tokens is over the cap of $2.999999999',
    ],
    [
      'over the cap for this request',
      { ...MID, pricing: price(1000, 1000) },
      { input_tokens: 1000, max_output_tokens: 1 },
      { maxCostNano: 1_000_999_999 },
      'estimated cost of $1.001 is over the cap of $1.000999999',
    ],
    ['by the allow list', MID, {}, { allow: ['zeus/*', 'acme/tiny'] }, 'not on the allow list'],
    ['by the deny list', MID, {}, { deny: ['acme/*'] }, 'on the deny list'],
    ['by the API key', MID, {}, { keyModels: ['zeus/*'] }, 'not among the models of this API key'],
    ['by an API key with an empty list', MID, {}, { keyModels: [] }, 'not among the models of this API key'],
    ['with an unknown price', UNPRICED, {}, {}, 'price is unknown'],
    [
      'with an unknown price under a cap, allowed or not',
      UNPRICED,
      {},
      { allowUnknownPrice: true, maxInputPerMTok: 1e12 },
      'price is unknown',
    ],
    [
      'in a dearer tier of context',
      { ...MID, pricing: { ...price(1, 1), overrides: [{ minInputTokens: 400, inputPerMTok: 9e9 }] } },
      { input_tokens: 400 },
      { maxInputPerMTok: 2e9 },
      'input price of $9 per million tokens is over the cap of $2',
    ],
  ])('%s', (_name, given, wanted, limits, expected) => {
    expect(reasonFor(given, wanted, limits)).toBe(expected);
  });
});

describe('a model stays in', () => {
  it.each<[string, CatalogModel, Partial<Needs>, Partial<RouteLimits>]>([
    ['until its last second', { ...MID, expires: NOW + 1 }, {}, {}],
    [
      'when prompt and output just fit',
      { ...MID, contextLength: 1000 },
      { input_tokens: 600, max_output_tokens: 400 },
      {},
    ],
    ['when it sees', { ...MID, inputModalities: ['text', 'image'] }, { vision: true }, {}],
    [
      'when structured output goes by its other name',
      { ...MID, supportedParameters: ['structured_outputs'] },
      { structured_output: true },
      {},
    ],
    ['when it reasons', { ...MID, supportedParameters: ['reasoning'] }, { reasoning: true }, {}],
    [
      'exactly at the price caps',
      { ...MID, pricing: price(2, 3) },
      {},
      { maxInputPerMTok: 2e9, maxOutputPerMTok: 3e9 },
    ],
    ['under an empty allow list', MID, {}, { allow: [] }],
    ['when a pattern allows it', MID, {}, { allow: ['*/mid'] }],
    ['when the key names only virtual models', MID, {}, { keyModels: ['svc:auto'] }],
    ['when the key names it beside virtual models', MID, {}, { keyModels: ['svc:auto', 'acme/mid'] }],
    ['with an unknown price where the operator allows it', UNPRICED, {}, { allowUnknownPrice: true }],
    [
      'below the dearer tier',
      { ...MID, pricing: { ...price(1, 1), overrides: [{ minInputTokens: 400, inputPerMTok: 9e9 }] } },
      { input_tokens: 399 },
      { maxInputPerMTok: 2e9 },
    ],
    ['when it gives text among others', { ...MID, outputModalities: ['image', 'text'] }, {}, {}],
  ])('%s', (_name, given, wanted, limits) => {
    expect(reasonFor(given, wanted, limits)).toBeUndefined();
  });
});

describe('lists', () => {
  it('deny wins over allow', () => {
    expect(reasonFor(MID, {}, { allow: ['acme/*'], deny: ['acme/mid'] })).toBe('on the deny list');
  });

  it('are told apart however many different ones come by', () => {
    for (let index = 0; index < 600; index += 1) {
      const allowed = `maker/m${index % 3}`;
      const catalog = createCatalog([0, 1, 2].map((each) => model(`maker/m${each}`)));
      const routing = route(routeInput({ catalog, limits: { ...ANYTHING, allow: [allowed, `none/${index}`] } }));
      expect('none' in routing ? '' : routing.chosen.id).toBe(allowed);
    }
  });

  it('stay apart on one catalogue after more lists than are remembered', () => {
    for (let index = 0; index < 700; index += 1) {
      const routing = route(
        routeInput({ catalog: THREE, limits: { ...ANYTHING, allow: [`none/${index}`, 'zeus/*'] } }),
      );
      expect('none' in routing ? '' : routing.chosen.id).toBe('zeus/big');
    }
  });
});

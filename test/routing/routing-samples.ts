// Models, classifications and requests for the routing tests; every field can be overridden.

import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { type Catalog, type CatalogModel, createCatalog } from '../../src/routing/catalog.ts';
import {
  type Classification,
  type Decision,
  DOMAINS,
  type Flip,
  type Needs,
  TASK_TYPES,
  type Weights,
} from '../../src/routing/decision.ts';
import { parseCatalog } from '../../src/routing/parse-catalog.ts';
import { type RouteInput, type RouteLimits, type Routing, route } from '../../src/routing/route.ts';
import type { NeutralRequest } from '../../src/wire/neutral.ts';

export const NOW = 1_790_000_000;

export function model(id: string, overrides: Partial<CatalogModel> = {}): CatalogModel {
  return {
    id,
    name: id,
    contextLength: 128_000,
    inputModalities: ['text'],
    supportedParameters: ['tools', 'response_format'],
    pricing: { inputPerMTok: 1_000_000_000, outputPerMTok: 4_000_000_000 },
    abilities: { general: 0.7 },
    estimated: false,
    tokensPerSecond: 80,
    ttftMs: 900,
    created: 1_750_000_000,
    ...overrides,
  };
}

/** USD per million tokens. */
export function price(input: number, output: number): NonNullable<CatalogModel['pricing']> {
  return { inputPerMTok: Math.round(input * 1e9), outputPerMTok: Math.round(output * 1e9) };
}

export const TINY = model('acme/tiny', {
  pricing: price(0.05, 0.2),
  abilities: { general: 0.35 },
  tokensPerSecond: 300,
  ttftMs: 300,
});
export const MID = model('acme/mid', {
  pricing: price(0.5, 2),
  abilities: { general: 0.75 },
  tokensPerSecond: 120,
  ttftMs: 800,
});
export const BIG = model('zeus/big', {
  pricing: price(5, 25),
  abilities: { general: 0.96 },
  tokensPerSecond: 50,
  ttftMs: 3000,
});
export const THREE = createCatalog([TINY, MID, BIG]);

export const ANYTHING: RouteLimits = { allow: [], deny: [], keyModels: null, allowUnknownPrice: false };
export const AUTO: Weights = { speed: 50, quality: 50, cost: 50 };

export function request(overrides: Partial<NeutralRequest> = {}): NeutralRequest {
  return {
    dialect: 'chat',
    model: 'svc:auto',
    messages: [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }],
    tools: [],
    stream: false,
    includeUsage: false,
    choices: 1,
    ...overrides,
  };
}

export function classification(overrides: Partial<Classification> = {}): Classification {
  return {
    task_type: 'chat',
    domain: 'other',
    complexity: 'medium',
    difficulty: 0.5,
    confidence: 1,
    signals: {},
    ...overrides,
  };
}

export function needs(overrides: Partial<Needs> = {}): Needs {
  return {
    input_tokens: 500,
    max_output_tokens: 0,
    vision: false,
    tools: false,
    structured_output: false,
    reasoning: false,
    ...overrides,
  };
}

export function routeInput(overrides: Partial<RouteInput> = {}): RouteInput {
  return {
    id: 'req_1',
    request: request(),
    requested: 'svc:auto',
    preset: 'svc:auto',
    weights: AUTO,
    classification: classification(),
    needs: needs(),
    catalog: THREE,
    limits: ANYTHING,
    nowSeconds: NOW,
    ...overrides,
  };
}

export function routed(overrides: Partial<RouteInput> = {}): Routing {
  const routing = route(routeInput(overrides));
  if ('none' in routing) throw new Error(`nothing eligible: ${JSON.stringify(routing.none)}`);
  return routing;
}

export function decided(overrides: Partial<RouteInput> = {}): Decision {
  return routed(overrides).decision();
}

/** What a decision's `flips` should hold. */
export function flip(change: Flip['if'], to: string): Flip {
  // biome-ignore lint/suspicious/noThenProperty: the contract's name for it; a flip is never awaited.
  return { if: change, then: to };
}

export function shippedCatalog(): Catalog {
  return parseCatalog(JSON.parse(readFileSync(new URL('../../config/catalog.json', import.meta.url), 'utf8')));
}

const nanoPrice = fc.integer({ min: 0, max: 80_000 }).map((mills) => mills * 1_000_000);

export const anyModel: fc.Arbitrary<CatalogModel> = fc
  .record({
    ability: fc.double({ min: 0, max: 1, noNaN: true }),
    input: nanoPrice,
    output: nanoPrice,
    priced: fc.boolean(),
    context: fc.integer({ min: 100, max: 1_000_000 }),
    tokensPerSecond: fc.option(fc.integer({ min: 5, max: 900 }), { nil: undefined }),
    ttftMs: fc.option(fc.integer({ min: 100, max: 90_000 }), { nil: undefined }),
    sees: fc.boolean(),
    parameters: fc.subarray(['tools', 'response_format', 'reasoning']),
    expires: fc.option(fc.constantFrom(NOW - 5, NOW + 5), { nil: undefined }),
  })
  .map((raw) => {
    const { tokensPerSecond: _rate, ttftMs: _ttft, pricing: _pricing, ...base } = model('x');
    return {
      ...base,
      contextLength: raw.context,
      inputModalities: raw.sees ? ['text', 'image'] : ['text'],
      supportedParameters: raw.parameters,
      abilities: { general: raw.ability },
      ...(raw.priced ? { pricing: { inputPerMTok: raw.input, outputPerMTok: raw.output } } : {}),
      ...(raw.tokensPerSecond === undefined ? {} : { tokensPerSecond: raw.tokensPerSecond }),
      ...(raw.ttftMs === undefined ? {} : { ttftMs: raw.ttftMs }),
      ...(raw.expires === undefined ? {} : { expires: raw.expires }),
    };
  });

export const anyCatalog: fc.Arbitrary<Catalog> = fc
  .array(anyModel, { minLength: 1, maxLength: 12 })
  .map((models) => createCatalog(models.map((each, index) => ({ ...each, id: `maker/m${index}` }))));

export const anyWeights: fc.Arbitrary<Weights> = fc
  .record({
    speed: fc.integer({ min: 0, max: 100 }),
    quality: fc.integer({ min: 0, max: 100 }),
    cost: fc.integer({ min: 0, max: 100 }),
  })
  .filter(({ speed, quality, cost }) => speed + quality + cost > 0);

export const anyClassification: fc.Arbitrary<Classification> = fc.record({
  task_type: fc.constantFrom(...TASK_TYPES),
  domain: fc.constantFrom(...DOMAINS),
  complexity: fc.constantFrom('simple', 'medium', 'complex'),
  difficulty: fc.double({ min: 0, max: 1, noNaN: true }),
  confidence: fc.double({ min: 0, max: 1, noNaN: true }),
  signals: fc.constant({}),
});

export const anyNeeds: fc.Arbitrary<Needs> = fc.record({
  input_tokens: fc.integer({ min: 0, max: 300_000 }),
  max_output_tokens: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 64_000 })),
  vision: fc.boolean(),
  tools: fc.boolean(),
  structured_output: fc.boolean(),
  reasoning: fc.boolean(),
});

export const anyInput: fc.Arbitrary<RouteInput> = fc
  .record({
    catalog: anyCatalog,
    weights: anyWeights,
    classification: anyClassification,
    needs: anyNeeds,
    allowUnknownPrice: fc.boolean(),
  })
  .map(({ allowUnknownPrice, ...rest }) => routeInput({ ...rest, limits: { ...ANYTHING, allowUnknownPrice } }));

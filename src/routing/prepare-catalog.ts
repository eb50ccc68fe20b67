// A catalogue laid out in columns, made once per catalogue, so that a request is scored without an object per model.

import type { Catalog, CatalogModel, ListedPricing } from './catalog.ts';

/** What a model can do, as bits. */
export const CAN_SEE = 1;
export const CAN_CALL_TOOLS = 2;
export const CAN_STRUCTURE = 4;
export const CAN_REASON = 8;
export const CAN_WRITE = 16;

export type PreparedCatalog = {
  readonly models: readonly CatalogModel[];
  readonly abilities: Uint8Array;
  readonly contextTokens: Float64Array;
  /** Infinity where a model has no cap or no date. */
  readonly outputTokensMax: Float64Array;
  readonly expiresSeconds: Float64Array;
  /** Nano-dollars per million tokens; -1 where the price is unknown. */
  readonly inputPerMTok: Float64Array;
  readonly outputPerMTok: Float64Array;
  /** 1 where the price is more than two rates: by request, by image, by size or by the hour. */
  readonly pricedOddly: Uint8Array;
  readonly tokensPerSecond: Float64Array;
  /** The first token without thinking, and the thinking before the answer to a prompt of medium difficulty. */
  readonly promptMs: Float64Array;
  readonly thinkingMs: Float64Array;
  /** Columns of ability for a kind of prompt, in logits, made when first asked for. */
  readonly logits: Map<string, Float64Array>;
  /** Which models a list of patterns matches, by the list's text. */
  readonly matches: Map<string, Uint8Array>;
};

/** What an unmeasured model is taken to do: slower than most, so that ignorance is no advantage. */
const UNKNOWN_TOKENS_PER_SECOND = 50;
const UNKNOWN_PROMPT_MS = 1500;
const UNKNOWN_THINKING_MS = 6000;
/** Of a measured time to the first token of an answer, the part that is not thinking. */
const PROMPT_MS_MAX = 1500;
/** A model with no ability figure that fits. */
const UNKNOWN_ABILITY = 0.5;
const LOGIT_MAX = 5;

/** A memo, not state: a catalogue never changes, and its entry goes when the catalogue does. */
const prepared = new WeakMap<Catalog, PreparedCatalog>();

export function prepareCatalog(catalog: Catalog): PreparedCatalog {
  const known = prepared.get(catalog);
  if (known) return known;
  const fresh = layOut(catalog.models);
  prepared.set(catalog, fresh);
  return fresh;
}

/** Ability in logits for each model: `task/domain`, else `task`, else `general`. */
export function abilityLogits(columns: PreparedCatalog, task: string, domain: string): Float64Array {
  const key = `${task}/${domain}`;
  const known = columns.logits.get(key);
  if (known) return known;
  const fresh = Float64Array.from(columns.models, ({ abilities }) =>
    logit(abilities[key] ?? abilities[task] ?? abilities['general'] ?? UNKNOWN_ABILITY),
  );
  columns.logits.set(key, fresh);
  return fresh;
}

function layOut(models: readonly CatalogModel[]): PreparedCatalog {
  const column = (of: (model: CatalogModel) => number) => Float64Array.from(models, of);
  return {
    models,
    abilities: Uint8Array.from(models, abilityBits),
    contextTokens: column((model) => model.contextLength),
    outputTokensMax: column((model) => model.maxOutputTokens ?? Number.POSITIVE_INFINITY),
    expiresSeconds: column((model) => model.expires ?? Number.POSITIVE_INFINITY),
    inputPerMTok: column((model) => model.pricing?.inputPerMTok ?? -1),
    outputPerMTok: column((model) => model.pricing?.outputPerMTok ?? -1),
    pricedOddly: Uint8Array.from(models, ({ pricing }) => (pricing && isOdd(pricing) ? 1 : 0)),
    tokensPerSecond: column((model) => model.tokensPerSecond ?? UNKNOWN_TOKENS_PER_SECOND),
    promptMs: column((model) => Math.min(model.ttftMs ?? UNKNOWN_PROMPT_MS, PROMPT_MS_MAX)),
    thinkingMs: column(thinkingMs),
    logits: new Map(),
    matches: new Map(),
  };
}

function isOdd(pricing: ListedPricing): boolean {
  return pricing.perRequest !== undefined || pricing.perImage !== undefined || pricing.overrides !== undefined;
}

function abilityBits(model: CatalogModel): number {
  const can = (parameters: readonly string[]) => parameters.some((name) => model.supportedParameters.includes(name));
  let bits = model.outputModalities === undefined || model.outputModalities.includes('text') ? CAN_WRITE : 0;
  if (model.inputModalities.includes('image')) bits |= CAN_SEE;
  if (can(['tools'])) bits |= CAN_CALL_TOOLS;
  if (can(['response_format', 'structured_outputs'])) bits |= CAN_STRUCTURE;
  if (can(['reasoning', 'reasoning_effort', 'include_reasoning'])) bits |= CAN_REASON;
  return bits;
}

function thinkingMs(model: CatalogModel): number {
  if (model.ttftMs !== undefined) return Math.max(0, model.ttftMs - PROMPT_MS_MAX);
  return model.supportedParameters.includes('reasoning') ? UNKNOWN_THINKING_MS : 0;
}

function logit(share: number): number {
  const odds = Math.log(share / (1 - share));
  return Math.min(LOGIT_MAX, Math.max(-LOGIT_MAX, odds));
}

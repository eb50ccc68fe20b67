// The catalogue: the models svc knows, with limits and abilities, and which of their prices hold when and for what size.

/** Prices of one moment, in nano-dollars per million tokens (integers), so that fractions of a nano-dollar stay exact. */
export type Pricing = BasePrices & { readonly overrides?: readonly PricingOverride[] };
/** Prices as they are listed: some may hold in hours of the day alone. `pricingAt` makes them those of one moment. */
export type ListedPricing = BasePrices & { readonly overrides?: readonly ListedOverride[] };

type BasePrices = Prices & { readonly inputPerMTok: number; readonly outputPerMTok: number };
type Prices = {
  readonly inputPerMTok?: number;
  readonly outputPerMTok?: number;
  readonly cachedInputPerMTok?: number;
  readonly cacheWritePerMTok?: number;
  /** Nano-dollars per request and per image. */
  readonly perRequest?: number;
  readonly perImage?: number;
};

/**
 * Prices that replace the base ones for the whole of a request with at least `minInputTokens` of input. Of several that
 * apply the last one in the list wins, price by price; what none of them names stays as the base says.
 */
export type PricingOverride = Prices & { readonly minInputTokens: number; readonly window?: never };
/** With a `window` it applies only within these hours. */
export type ListedOverride = Prices & { readonly minInputTokens: number; readonly window?: UtcWindow };
/** Seconds of the UTC day: from `startSecond` until before `endSecond`, over midnight where it ends earlier; equal: always. */
export type UtcWindow = { readonly startSecond: number; readonly endSecond: number };

/** What one request is charged by: nano-dollars per million tokens, per request and per image. */
export type Rates = {
  readonly input: number;
  readonly cached: number;
  readonly cacheWrite: number;
  readonly output: number;
  readonly perRequest: number;
  readonly perImage: number;
};

export type CatalogModel = {
  readonly id: string;
  readonly name: string;
  readonly contextLength: number;
  /** Absent where nobody said. */
  readonly maxOutputTokens?: number;
  readonly inputModalities: readonly string[];
  /** Absent: text. A model that gives no text (embeddings, speech, images) is listed but never a candidate. */
  readonly outputModalities?: readonly string[];
  readonly supportedParameters: readonly string[];
  /** Absent: the price is unknown and the model is refused unless the operator allows it. */
  readonly pricing?: ListedPricing;
  /** Share of medium prompts done well, 0 to 1, by `task/domain`, `task` or `general`. */
  readonly abilities: Readonly<Record<string, number>>;
  /** True where `abilities` are a guess. */
  readonly estimated: boolean;
  readonly tokensPerSecond?: number;
  readonly ttftMs?: number;
  /** Unix seconds. */
  readonly created: number;
  /** Unix seconds after which the model is gone. */
  readonly expires?: number;
};

/** One immutable state of the catalogue; a refresh makes a new one. */
export type Catalog = {
  readonly models: readonly CatalogModel[];
  readonly byId: ReadonlyMap<string, CatalogModel>;
};

export function createCatalog(models: readonly CatalogModel[]): Catalog {
  return { models, byId: new Map(models.map((model) => [model.id, model])) };
}

const DAY_SECONDS = 86_400;

/** The prices that hold at a moment, milliseconds since 1970; the same object where no hour of the day changes them. */
export function pricingAt(listed: ListedPricing, atMs: number): Pricing {
  if (isFixed(listed)) return listed;
  const { overrides = [], ...base } = listed;
  const second = Math.floor(atMs / 1000) % DAY_SECONDS;
  const now = overrides.filter(({ window }) => window === undefined || isWithin(window, second));
  return { ...base, overrides: now.map(({ window: _window, ...override }) => override) };
}

/** The rates for a request with this many input tokens. */
export function ratesAt(pricing: Pricing, inputTokens: number): Rates {
  let { inputPerMTok, outputPerMTok, cachedInputPerMTok, cacheWritePerMTok, perRequest, perImage } = pricing;
  for (const override of pricing.overrides ?? []) {
    if (inputTokens < override.minInputTokens) continue;
    inputPerMTok = override.inputPerMTok ?? inputPerMTok;
    outputPerMTok = override.outputPerMTok ?? outputPerMTok;
    cachedInputPerMTok = override.cachedInputPerMTok ?? cachedInputPerMTok;
    cacheWritePerMTok = override.cacheWritePerMTok ?? cacheWritePerMTok;
    perRequest = override.perRequest ?? perRequest;
    perImage = override.perImage ?? perImage;
  }
  return {
    input: inputPerMTok,
    cached: cachedInputPerMTok ?? inputPerMTok,
    cacheWrite: cacheWritePerMTok ?? inputPerMTok,
    output: outputPerMTok,
    perRequest: perRequest ?? 0,
    perImage: perImage ?? 0,
  };
}

function isFixed(listed: ListedPricing): listed is Pricing {
  return listed.overrides === undefined || listed.overrides.every(({ window }) => window === undefined);
}

function isWithin({ startSecond, endSecond }: UtcWindow, second: number): boolean {
  if (startSecond === endSecond) return true;
  if (startSecond < endSecond) return second >= startSecond && second < endSecond;
  return second >= startSecond || second < endSecond;
}

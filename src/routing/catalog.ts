// The catalogue: the models svc knows, with prices, limits and abilities, and how one is looked up.

/** Prices in nano-dollars per million tokens (integers), so that fractions of a nano-dollar per token stay exact. */
export type Pricing = {
  readonly inputPerMTok: number;
  readonly outputPerMTok: number;
  readonly cachedInputPerMTok?: number;
  readonly cacheWritePerMTok?: number;
  /** Nano-dollars per request and per image. */
  readonly perRequest?: number;
  readonly perImage?: number;
  /** Long-context prices: from this many input tokens on, these rates hold for the whole request. Ascending. */
  readonly overrides?: readonly PricingOverride[];
};
export type PricingOverride = {
  readonly minInputTokens: number;
  readonly inputPerMTok?: number;
  readonly outputPerMTok?: number;
  readonly cachedInputPerMTok?: number;
  readonly cacheWritePerMTok?: number;
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
  readonly pricing?: Pricing;
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

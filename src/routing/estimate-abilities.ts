// Abilities for a model nobody measured: a guess from its price, date and family, marked as such in every decision.

import type { CatalogModel, ListedPricing } from './catalog.ts';

export type Unmeasured = {
  readonly id: string;
  /** Unix seconds; 0 when nobody said. */
  readonly created: number;
  readonly supportedParameters: readonly string[];
  readonly pricing: ListedPricing | undefined;
};

/**
 * A least-squares fit of the general ability, in logits, over the 177 models of the shipped catalogue: explains 85 % of
 * the variance (residual 0.44). Newer, dearer and reasoning models do more; a decade of price is worth half a year.
 */
const FIT = { base: -1.2, perPriceDecade: 0.6, perYear: 1.18, reasoning: 0.23, knownLab: 0.2 };
const KNOWN_LABS = /^(anthropic|openai|google)\//;
/** Where the fit has data; beyond, it would run away. */
const YEARS_MIN = -1;
const YEARS_MAX = 2.9;
const YEAR_ZERO_SECONDS = 1_704_067_200;
const SECONDS_PER_YEAR = 31_557_600;
/** Undated models are taken as a year old at the snapshot's time: neither the newest nor a relic. */
const YEARS_UNDATED = 1.6;
const DOLLAR_PER_MTOK_NANO = 1_000_000_000;
const PRICE_MIN_USD = 0.02;
const PRICE_MAX_USD = 100;
const PRICE_UNKNOWN_USD = 1;
/** How far a relative's deviation from the fit is taken to run in the family; best when each model is left out in turn. */
const FAMILY_TRUST = 0.4;
const ABILITY_MIN = 0.02;
const ABILITY_MAX = 0.97;

/** `relatives`: measured models, of which the nearest by name (same family) lends its profile over tasks. */
export function estimateAbilities(
  model: Unmeasured,
  relatives: readonly CatalogModel[],
): Readonly<Record<string, number>> {
  const relative = nearestRelative(model.id, relatives);
  if (!relative) return { general: share(fittedLogits(model)) };
  const general = logit(relative.abilities['general'] ?? 0.5);
  // A missing or free price says nothing, and the relative's is then the better guess.
  const pricing = tells(model.pricing) ? model.pricing : relative.pricing;
  const deviation = general - fittedLogits({ ...relative, pricing: relative.pricing });
  const level = fittedLogits({ ...model, pricing }) + FAMILY_TRUST * deviation;
  const entries = Object.entries(relative.abilities).map(([key, ability]) => [
    key,
    share(level + logit(ability) - general),
  ]);
  return Object.fromEntries(entries);
}

function fittedLogits(model: Unmeasured): number {
  const reasons = model.supportedParameters.includes('reasoning') ? FIT.reasoning : 0;
  const lab = KNOWN_LABS.test(model.id) ? FIT.knownLab : 0;
  const decades = Math.log10(outputPriceUsd(model.pricing));
  return FIT.base + FIT.perPriceDecade * decades + FIT.perYear * years(model.created) + reasons + lab;
}

function outputPriceUsd(pricing: ListedPricing | undefined): number {
  if (!tells(pricing)) return PRICE_UNKNOWN_USD;
  return clamp(pricing.outputPerMTok / DOLLAR_PER_MTOK_NANO, PRICE_MIN_USD, PRICE_MAX_USD);
}

/** A free variant costs nothing but is no worse for it: its price says as little as a missing one. */
function tells(pricing: ListedPricing | undefined): pricing is ListedPricing {
  return pricing !== undefined && pricing.outputPerMTok > 0;
}

function years(created: number): number {
  if (created === 0) return YEARS_UNDATED;
  return clamp((created - YEAR_ZERO_SECONDS) / SECONDS_PER_YEAR, YEARS_MIN, YEARS_MAX);
}

/** The measured model most alike by name; the maker alone is no kinship. Of equals the newest. */
function nearestRelative(id: string, relatives: readonly CatalogModel[]): CatalogModel | undefined {
  const words = wordsOf(id);
  let best: CatalogModel | undefined;
  let bestKinship = 1;
  for (const relative of relatives) {
    const unusable = relative.estimated || relative.abilities['general'] === undefined;
    const kinship = unusable ? 0 : kinshipOf(words, wordsOf(relative.id));
    if (kinship > bestKinship || (kinship === bestKinship && best && relative.created > best.created)) {
      best = relative;
      bestKinship = kinship;
    }
  }
  return best;
}

function wordsOf(id: string): readonly string[] {
  return id.toLowerCase().split(/[/:\-_]/);
}

/** Leading words in common (maker, family), and from the second on also those further back (`mini`, `flash`). */
function kinshipOf(a: readonly string[], b: readonly string[]): number {
  let leading = 0;
  while (leading < a.length && a[leading] === b[leading]) leading += 1;
  if (leading < 2) return leading;
  const rest = b.slice(leading);
  return leading + a.slice(leading).filter((word) => rest.includes(word)).length;
}

function logit(ability: number): number {
  const safe = clamp(ability, 0.01, 0.99);
  return Math.log(safe / (1 - safe));
}

function share(logits: number): number {
  return clamp(Math.round(1000 / (1 + Math.exp(-logits))) / 1000, ABILITY_MIN, ABILITY_MAX);
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, value));
}

// Which model serves a request: scored on the hot path, explained only when somebody asks.

import type { NeutralRequest } from '../wire/neutral.ts';
import type { Catalog, CatalogModel } from './catalog.ts';
import { renderNanoUsd } from './decimal-price.ts';
import type { Candidate, Classification, Decision, Exclusion, Needs, Weights } from './decision.ts';
import { describeExclusion, ELIGIBLE, type RouteLimits } from './eligible.ts';
import { explainChoice } from './explain-choice.ts';
import { findFlips } from './find-flips.ts';
import { prepareCatalog } from './prepare-catalog.ts';
import { compare, evaluate, type Field, pickBest, ratesFor, scoreOf, UNIT } from './score.ts';

export type { RouteLimits } from './eligible.ts';

export type RouteInput = {
  readonly id: string;
  readonly request: NeutralRequest;
  readonly requested: string;
  readonly preset: string | null;
  readonly weights: Weights;
  readonly classification: Classification;
  readonly needs: Needs;
  readonly catalog: Catalog;
  readonly limits: RouteLimits;
  readonly nowSeconds: number;
  /** What this gateway measured of a model lately; undefined when it has not been used. */
  readonly measured?: (modelId: string) => { tokensPerSecond: number; ttftMs: number } | undefined;
};

export type Routing = {
  readonly chosen: CatalogModel;
  /** Best first; sorted when first read. */
  readonly ranked: readonly CatalogModel[];
  /** One sentence on why, as in the decision; worked out when first asked for. */
  why(): string;
  /** The whole record, worked out when first asked for. */
  decision(): Decision;
};

/** `none`: nothing can serve the request, and why not, for every model. */
export function route(input: RouteInput): Routing | { readonly none: readonly Exclusion[] } {
  const field = evaluate(prepareCatalog(input.catalog), input);
  const best = pickBest(field, input.weights);
  const chosen = input.catalog.models[best];
  if (!chosen) return { none: exclusionsOf(field) };
  return new LazyRouting(input, field, best, chosen);
}

/** A real model asked for by name: one candidate, no weights, nothing weighed. */
export function passthroughDecision(
  input: Omit<RouteInput, 'preset' | 'weights'> & { readonly model: CatalogModel },
): Decision {
  const { model } = input;
  const limits: RouteLimits = { allow: [model.id], deny: [], keyModels: null, allowUnknownPrice: true };
  const catalog: Catalog = { models: [model], byId: new Map([[model.id, model]]) };
  // What it needs and can't do is the upstream's to say: the caller asked for this model.
  const needs: Needs = { ...input.needs, vision: false, tools: false, structured_output: false, reasoning: false };
  const endless = Float64Array.of(Number.POSITIVE_INFINITY);
  const columns = { ...prepareCatalog(catalog), contextTokens: endless, expiresSeconds: endless };
  const field = evaluate(columns, { ...input, needs, limits });
  return {
    ...headOf(input),
    preset: null,
    weights: null,
    candidates: [candidateOf(field, { speed: 1, quality: 1, cost: 1 }, 0)],
    excluded: [],
    chosen: model.id,
    why: `${model.id} was asked for by name.`,
    flips: [],
    sticky: false,
  };
}

/** A class for its memos: most requests never read more than `chosen`. */
class LazyRouting implements Routing {
  readonly chosen: CatalogModel;
  readonly #input: RouteInput;
  readonly #field: Field;
  readonly #best: number;
  #ranks: readonly number[] | undefined;
  #why: string | undefined;
  #decision: Decision | undefined;

  constructor(input: RouteInput, field: Field, best: number, chosen: CatalogModel) {
    this.chosen = chosen;
    this.#input = input;
    this.#field = field;
    this.#best = best;
  }

  get ranked(): readonly CatalogModel[] {
    const { models } = this.#input.catalog;
    return this.#order().flatMap((index) => models[index] ?? []);
  }

  why(): string {
    this.#why ??= explainChoice(this.#field, this.#best, this.#runnerUp(), this.#input.classification);
    return this.#why;
  }

  decision(): Decision {
    this.#decision ??= this.#decide();
    return this.#decision;
  }

  #decide(): Decision {
    const { preset, weights } = this.#input;
    return {
      ...headOf(this.#input),
      preset,
      weights,
      candidates: this.#order().map((index) => candidateOf(this.#field, weights, index)),
      excluded: exclusionsOf(this.#field),
      chosen: this.chosen.id,
      why: this.why(),
      flips: findFlips(this.#field, this.#input, weights, this.#best),
      sticky: false,
    };
  }

  #order(): readonly number[] {
    this.#ranks ??= indexesWhere(this.#field, (code) => code === ELIGIBLE).sort((a, b) =>
      compare(this.#field, this.#input.weights, a, b),
    );
    return this.#ranks;
  }

  #runnerUp(): number {
    let second = -1;
    for (const index of indexesWhere(this.#field, (code) => code === ELIGIBLE)) {
      if (index === this.#best) continue;
      if (second < 0 || compare(this.#field, this.#input.weights, index, second) < 0) second = index;
    }
    return second;
  }
}

function headOf(input: Omit<RouteInput, 'preset' | 'weights'>) {
  const { id, requested, classification, needs } = input;
  return { id, requested, classification, needs };
}

function candidateOf(field: Field, weights: Weights, index: number): Candidate {
  const model = field.columns.models[index];
  return {
    model: model?.id ?? '',
    score: scoreOf(field, weights, index),
    quality: (field.quality[index] ?? 0) / UNIT,
    speed: (field.speed[index] ?? 0) / UNIT,
    cost: (field.cost[index] ?? 0) / UNIT,
    estimated_cost: renderNanoUsd(field.costNano[index] ?? 0),
    estimated_ttft_ms: Math.round(field.ttftMs[index] ?? 0),
    ...(model?.estimated ? { estimated: true } : {}),
  };
}

function exclusionsOf(field: Field): readonly Exclusion[] {
  const { columns, ask, exclusions } = field;
  return indexesWhere(field, (code) => code !== ELIGIBLE).map((index) => {
    const [input, output] = ratesFor(field, index);
    const costNano = field.costNano[index] ?? 0;
    return describeExclusion(columns, index, exclusions[index] ?? 0, { ask, input, output, costNano });
  });
}

function indexesWhere(field: Field, test: (code: number) => boolean): number[] {
  const indexes: number[] = [];
  for (let index = 0; index < field.exclusions.length; index += 1) {
    if (test(field.exclusions[index] ?? 0)) indexes.push(index);
  }
  return indexes;
}

// Quality, speed and cost of every model for one request, each 0 to 1, and the best of them under given weights.

import type { NeutralRequest } from '../wire/neutral.ts';
import { pricingAt, ratesAt } from './catalog.ts';
import type { Classification, Needs, Weights } from './decision.ts';
import { type Ask, ELIGIBLE, exclusionOf, prepareAsk, priceExclusion, type RouteLimits } from './eligible.ts';
import { expectedAnswerTokens, thinkingScale } from './expected-use.ts';
import { abilityLogits, CAN_REASON, type PreparedCatalog } from './prepare-catalog.ts';

export type Question = {
  readonly request: NeutralRequest;
  readonly classification: Classification;
  readonly needs: Needs;
  readonly limits: RouteLimits;
  readonly nowSeconds: number;
  /** What this gateway measured of a model lately; undefined when it has not been used. */
  readonly measured?: (modelId: string) => { tokensPerSecond: number; ttftMs: number } | undefined;
};

/** One row per model of the catalogue, in its order. Scores are whole numbers of `UNIT`, so that sums are exact. */
export type Field = {
  readonly columns: PreparedCatalog;
  readonly ask: Ask;
  /** `ELIGIBLE` or why not. */
  readonly exclusions: Uint8Array;
  readonly costNano: Float64Array;
  readonly ttftMs: Float64Array;
  readonly quality: Uint16Array;
  readonly speed: Uint16Array;
  readonly cost: Uint16Array;
};

/** Scores have four decimals: what is shown is what was summed. */
export const UNIT = 10_000;

/**
 * Success curve: logit(quality) = DISCRIMINATION × (logit(ability) − slope × (difficulty − 0.5)). An ability is the share
 * of medium prompts done well, an average over prompts that differ; for one prompt of known difficulty the curve is
 * steeper, hence the factor. So at difficulty 0.1 a model of 0.4 does 99 % and price decides, while at 0.9 one of
 * 0.95 does 73 % and one of 0.8 16 %. Hard prompts part models a little less steeply than easy ones saturate.
 */
const DISCRIMINATION = 1.8;
const SLOPE_EASY = 7.4;
const SLOPE_HARD = 6;
/** How much of the way to the hardest prompt an entirely unsure classification goes. */
const DOUBT = 0.3;
/**
 * Log scales start at the cheapest (quickest) candidate and reach over at least these ratios: a price ten times as high
 * costs a quarter of the scale, a wait ten times as long a third. Narrower, a small difference among alike candidates
 * would count as the whole, and cheap and quick together would outweigh being able to do the work at all.
 */
const COST_RATIO_MIN = 10_000;
const TIME_RATIO_MIN = 1000;
/** Free has 1 to itself: the cheapest that costs anything comes this close. */
const CHEAPEST_BESIDE_FREE = 0.95;
/** Stands in for an unknown price where the operator allows one: dear, so that it is no way to win. Nano-dollars per million. */
export const ASSUMED_INPUT_PER_MTOK = 5_000_000_000;
export const ASSUMED_OUTPUT_PER_MTOK = 25_000_000_000;
/** A model asked to reason does so at least this long, whatever it does by default. */
const ASKED_THINKING_MS = 5000;
const TOKENS_PER_MTOK = 1_000_000;

export function evaluate(columns: PreparedCatalog, question: Question): Field {
  const count = columns.models.length;
  const numbers = new Float64Array(count * 3);
  const scores = new Uint16Array(count * 3);
  const field: Field = {
    columns,
    ask: prepareAsk(columns, question.needs, question.limits, question.nowSeconds),
    exclusions: new Uint8Array(count),
    costNano: numbers.subarray(0, count),
    ttftMs: numbers.subarray(count, 2 * count),
    quality: scores.subarray(0, count),
    speed: scores.subarray(count, 2 * count),
    cost: scores.subarray(2 * count),
  };
  const totalMs = numbers.subarray(2 * count);
  measure(field, question, totalMs);
  scoreQuality(field, question.classification);
  scoreOnLogScale(field, field.costNano, field.cost, COST_RATIO_MIN);
  scoreOnLogScale(field, totalMs, field.speed, TIME_RATIO_MIN);
  return field;
}

/** Index of the best candidate, or -1 when there is none. */
export function pickBest(field: Field, weights: Weights): number {
  const { exclusions, speed, quality, cost } = field;
  const by = usable(weights);
  let best = -1;
  let most = -1;
  for (let index = 0; index < exclusions.length; index += 1) {
    if (exclusions[index] !== ELIGIBLE) continue;
    const sum = by.speed * (speed[index] ?? 0) + by.quality * (quality[index] ?? 0) + by.cost * (cost[index] ?? 0);
    if (sum < most || (sum === most && compare(field, weights, index, best) > 0)) continue;
    best = index;
    most = sum;
  }
  return best;
}

/** Below 0 when `a` goes before `b`: by score; of equals the better in sum, so that nothing chosen is worse in all; then the cheaper. */
export function compare(field: Field, weights: Weights, a: number, b: number): number {
  return (
    weightedSum(field, weights, b) - weightedSum(field, weights, a) ||
    weightedSum(field, EVEN, b) - weightedSum(field, EVEN, a) ||
    (field.costNano[a] ?? 0) - (field.costNano[b] ?? 0) ||
    a - b
  );
}

/** The weighted mean of the three scores, 0 to 1. */
export function scoreOf(field: Field, weights: Weights, index: number): number {
  const { speed, quality, cost } = usable(weights);
  return weightedSum(field, weights, index) / ((speed + quality + cost) * UNIT);
}

const EVEN: Weights = { speed: 1, quality: 1, cost: 1 };

function weightedSum(field: Field, weights: Weights, index: number): number {
  const { speed, quality, cost } = usable(weights);
  return speed * (field.speed[index] ?? 0) + quality * (field.quality[index] ?? 0) + cost * (field.cost[index] ?? 0);
}

/** All zero prefers nothing, so all count alike. */
function usable(weights: Weights): Weights {
  return weights.speed + weights.quality + weights.cost > 0 ? weights : EVEN;
}

/** Rates for input and output in nano-dollars per million tokens, -1 where unknown, for this size at this moment. */
export function ratesFor({ columns, ask }: Field, index: number): readonly [number, number] {
  const pricing = columns.models[index]?.pricing;
  if (!pricing) return [-1, -1];
  const { input, output } = ratesAt(pricingAt(pricing, ask.nowSeconds * 1000), ask.needs.input_tokens);
  return [input, output];
}

function measure(field: Field, question: Question, totalMs: Float64Array): void {
  const { columns, ask, exclusions, costNano, ttftMs } = field;
  const { needs, limits, measured, classification } = question;
  const answerTokens = expectedAnswerTokens(classification, needs);
  const scale = thinkingScale(classification, question.request.reasoning);
  const asked = needs.max_output_tokens > 0 ? needs.max_output_tokens : Number.POSITIVE_INFINITY;
  for (let index = 0; index < exclusions.length; index += 1) {
    let code = exclusionOf(columns, index, ask);
    if (code === ELIGIBLE) {
      const thinkingMs = thinkingAt(columns, index, needs) * scale;
      const thinkingTokens = ((columns.tokensPerSecond[index] ?? 1) * thinkingMs) / 1000;
      const cap = Math.min(asked, columns.outputTokensMax[index] ?? asked);
      const price = priceAt(columns, index, question);
      const output = Math.min(cap, answerTokens + thinkingTokens);
      const nano = (needs.input_tokens * price.input + output * price.output) / TOKENS_PER_MTOK + price.fixed;
      costNano[index] = Math.ceil(nano);
      const live = measured?.(columns.models[index]?.id ?? '');
      const ttft = live?.ttftMs ?? (columns.promptMs[index] ?? 0) + thinkingMs;
      const perSecond = live?.tokensPerSecond ?? columns.tokensPerSecond[index] ?? 1;
      ttftMs[index] = ttft;
      totalMs[index] = ttft + (1000 * Math.min(cap, answerTokens)) / perSecond;
      code = priceExclusion(limits, price.known ? price.input : -1, price.output, costNano[index] ?? 0);
    }
    exclusions[index] = code;
  }
}

function thinkingAt(columns: PreparedCatalog, index: number, needs: Needs): number {
  const usual = columns.thinkingMs[index] ?? 0;
  const asked = needs.reasoning && ((columns.abilities[index] ?? 0) & CAN_REASON) !== 0;
  return asked ? Math.max(usual, ASKED_THINKING_MS) : usual;
}

type Price = { readonly input: number; readonly output: number; readonly fixed: number; readonly known: boolean };

/** The rates that hold for this prompt (nano-dollars per million tokens), and what comes on top (nano-dollars). */
function priceAt(columns: PreparedCatalog, index: number, { needs, nowSeconds }: Question): Price {
  const input = columns.inputPerMTok[index] ?? -1;
  const output = columns.outputPerMTok[index] ?? -1;
  if (input < 0) return { input: ASSUMED_INPUT_PER_MTOK, output: ASSUMED_OUTPUT_PER_MTOK, fixed: 0, known: false };
  const pricing = columns.pricedOddly[index] === 1 ? columns.models[index]?.pricing : undefined;
  if (!pricing) return { input, output, fixed: 0, known: true };
  const rates = ratesAt(pricingAt(pricing, nowSeconds * 1000), needs.input_tokens);
  const fixed = rates.perRequest + (needs.vision ? rates.perImage : 0);
  return { input: rates.input, output: rates.output, fixed, known: true };
}

function scoreQuality(field: Field, classification: Classification): void {
  const { columns, exclusions, quality } = field;
  const { difficulty, confidence } = classification;
  const hardest = difficulty + DOUBT * (1 - confidence) * (1 - difficulty);
  const needed = (hardest < 0.5 ? SLOPE_EASY : SLOPE_HARD) * (hardest - 0.5);
  const logits = abilityLogits(columns, classification.task_type, classification.domain);
  for (let index = 0; index < exclusions.length; index += 1) {
    if (exclusions[index] !== ELIGIBLE) continue;
    quality[index] = Math.round(UNIT / (1 + Math.exp(DISCRIMINATION * (needed - (logits[index] ?? 0)))));
  }
}

/** The least of `values` scores 1, what is `ratioMin` times as great (or the greatest) 0; 0 itself scores 1 alone. */
function scoreOnLogScale(field: Field, values: Float64Array, scores: Uint16Array, ratioMin: number): void {
  const { exclusions } = field;
  const { least, most, free } = rangeOf(exclusions, values);
  const top = free ? CHEAPEST_BESIDE_FREE : 1;
  const perE = (top * UNIT) / Math.log(Math.max(ratioMin, most / least));
  const ceiling = top * UNIT + perE * Math.log(least);
  for (let index = 0; index < exclusions.length; index += 1) {
    if (exclusions[index] !== ELIGIBLE) continue;
    const value = values[index] ?? 0;
    scores[index] = value > 0 ? Math.max(0, Math.round(ceiling - perE * Math.log(value))) : UNIT;
  }
}

/** Least and greatest above 0 among the candidates, and whether one is 0. */
function rangeOf(exclusions: Uint8Array, values: Float64Array): { least: number; most: number; free: boolean } {
  let least = Number.POSITIVE_INFINITY;
  let most = 0;
  let free = false;
  for (let index = 0; index < exclusions.length; index += 1) {
    if (exclusions[index] !== ELIGIBLE) continue;
    const value = values[index] ?? 0;
    if (value > most) most = value;
    if (value <= 0) free = true;
    else if (value < least) least = value;
  }
  return { least, most, free };
}

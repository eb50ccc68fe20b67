// The smallest changes of a weight or of the prompt's size that would change the choice; each is tried before it is told.

import type { Flip, Weights } from './decision.ts';
import { ELIGIBLE } from './eligible.ts';
import { evaluate, type Field, pickBest, type Question } from './score.ts';

const AXES = ['quality', 'cost', 'speed'] as const;
type Axis = (typeof AXES)[number];

/** Weights are told in whole steps where they are given on a scale like 0 to 100, in hundredths on one like 0 to 1. */
const COARSE_FROM = 10;
const FINE_STEP = 0.01;
const COARSE_MAX = 100;
/** Quotients of sums that should be whole may miss it by this much. */
const ROUNDING = 1e-9;
/** Sizes are tried up to the longest context anyone has, and no further than these doublings. */
const DOUBLINGS_MAX = 22;
const INPUT_TOKENS_MAX = 4_000_000;
/** Without a `max_tokens` the first cap tried; above the answers expected it changes nothing. */
const OUTPUT_CAP_FIRST = 8192;

/** `chosen`: index of the choice under `weights`. At most one flip for each weight and two for each size. */
export function findFlips(field: Field, question: Question, weights: Weights, chosen: number): readonly Flip[] {
  const byWeight = AXES.flatMap((axis) => weightFlip(field, weights, chosen, axis) ?? []);
  return [
    ...byWeight,
    ...inputFlips(field, question, weights, chosen),
    ...outputFlips(field, question, weights, chosen),
  ];
}

function weightFlip(field: Field, weights: Weights, chosen: number, axis: Axis): Flip | undefined {
  const largest = Math.max(weights.speed, weights.quality, weights.cost);
  const coarse = largest >= COARSE_FROM;
  const step = coarse ? 1 : FINE_STEP;
  const max = Math.max(coarse ? COARSE_MAX : 1, largest);
  const now = weights[axis];
  const tries = [1, -1].flatMap((sign) => {
    const steps = stepsTo(field, weights, chosen, axis, sign * step);
    // At an exact tie the rule for ties may keep the choice; the step after it can't.
    return [steps, steps + 1].map((count) => ({ count, value: roundTo(now + sign * count * step, step) }));
  });
  tries.sort((a, b) => a.count - b.count);
  for (const { value } of tries) {
    if (!(value >= 0 && value <= max) || value === now) continue;
    const changed = { ...weights, [axis]: value };
    if (changed.speed + changed.quality + changed.cost === 0) continue;
    const best = pickBest(field, changed);
    if (best !== chosen) return flipTo({ weights: changed }, nameOf(field, best));
  }
  return undefined;
}

/** Steps of `step` on one weight until some rival draws level with the chosen model; infinite when none ever does. */
function stepsTo(field: Field, weights: Weights, chosen: number, axis: Axis, step: number): number {
  let fewest = Number.POSITIVE_INFINITY;
  for (let rival = 0; rival < field.exclusions.length; rival += 1) {
    if (field.exclusions[rival] !== ELIGIBLE || rival === chosen) continue;
    const gain = ((field[axis][rival] ?? 0) - (field[axis][chosen] ?? 0)) * step;
    if (gain <= 0) continue;
    let behind = 0;
    for (const each of AXES) behind += weights[each] * ((field[each][chosen] ?? 0) - (field[each][rival] ?? 0));
    fewest = Math.min(fewest, Math.max(1, Math.ceil(behind / gain - ROUNDING)));
  }
  return fewest;
}

function roundTo(value: number, step: number): number {
  return Math.round(value / step) / Math.round(1 / step);
}

function inputFlips(field: Field, question: Question, weights: Weights, chosen: number): readonly Flip[] {
  const now = Math.max(1, question.needs.input_tokens);
  const choose = (tokens: number) => chooseAt(field, question, weights, { input_tokens: tokens });
  const found = [nearestChange(now, 2, INPUT_TOKENS_MAX, chosen, choose), nearestChange(now, 0.5, 1, chosen, choose)];
  return found.flatMap((change) =>
    change === undefined ? [] : [flipTo({ input_tokens: change.size }, nameOf(field, change.best))],
  );
}

function outputFlips(field: Field, question: Question, weights: Weights, chosen: number): readonly Flip[] {
  const now = question.needs.max_output_tokens;
  const choose = (tokens: number) => chooseAt(field, question, weights, { max_output_tokens: tokens });
  const found = [
    now > 0 ? nearestChange(now, 2, INPUT_TOKENS_MAX, chosen, choose) : undefined,
    nearestChange(now > 0 ? now : OUTPUT_CAP_FIRST, 0.5, 1, chosen, choose),
  ];
  return found.flatMap((change) =>
    change === undefined ? [] : [flipTo({ max_output_tokens: change.size }, nameOf(field, change.best))],
  );
}

type Change = { readonly size: number; readonly best: number };

/** Doubles (or halves) until the choice changes, then closes in on where it does. */
function nearestChange(
  start: number,
  factor: number,
  limit: number,
  chosen: number,
  choose: (size: number) => number,
): Change | undefined {
  let near = start;
  for (let turn = 0; turn < DOUBLINGS_MAX; turn += 1) {
    const far = factor > 1 ? Math.min(limit, near * factor) : Math.max(limit, Math.floor(near * factor));
    if (far === near) return undefined;
    const best = choose(far);
    // Nothing can serve such a size: that is no other choice.
    if (best < 0) return undefined;
    if (best !== chosen) return closeIn(near, { size: far, best }, chosen, choose);
    near = far;
  }
  return undefined;
}

/** `near` keeps the choice, `far` changes it; halves the gap until they are neighbours. */
function closeIn(near: number, far: Change, chosen: number, choose: (size: number) => number): Change {
  let kept = near;
  let changed = far;
  while (Math.abs(changed.size - kept) > 1) {
    const middle = Math.floor((kept + changed.size) / 2);
    const best = choose(middle);
    if (best === chosen || best < 0) kept = middle;
    else changed = { size: middle, best };
  }
  return changed;
}

function chooseAt(
  field: Field,
  question: Question,
  weights: Weights,
  size: { readonly input_tokens?: number; readonly max_output_tokens?: number },
): number {
  return pickBest(evaluate(field.columns, { ...question, needs: { ...question.needs, ...size } }), weights);
}

function flipTo(change: Flip['if'], model: string): Flip {
  // biome-ignore lint/suspicious/noThenProperty: the contract's name for it; a flip is never awaited.
  return { if: change, then: model };
}

function nameOf(field: Field, index: number): string {
  return field.columns.models[index]?.id ?? '';
}

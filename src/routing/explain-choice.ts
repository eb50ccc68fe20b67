// One plain sentence on why the chosen model and not another: the trade-off that decided.

import { renderNanoUsd } from './decimal-price.ts';
import type { Classification } from './decision.ts';
import { ELIGIBLE } from './eligible.ts';
import { type Field, UNIT } from './score.ts';

/** Differences of quality below this are no difference to a reader. */
const SAME_QUALITY = 0.005 * UNIT;
/** … and up to this much is little. */
const SMALL_LOSS = 0.1 * UNIT;
/** A ratio of cost or time worth naming. */
const RATIO_NAMED = 1.15;

/** `rival`: the next best, or -1 when the chosen one is alone. */
export function explainChoice(field: Field, chosen: number, rival: number, classification: Classification): string {
  const id = nameOf(field, chosen);
  if (rival < 0) return `${id} is the only model that can serve this request.`;
  const prompt = `this ${classification.complexity} ${classification.task_type} prompt`;
  const ablest = indexOfAblest(field);
  const lost = (field.quality[ablest] ?? 0) - (field.quality[chosen] ?? 0);
  if (lost <= SAME_QUALITY) {
    return `${id} is as likely as any to do ${prompt} well (${share(field, chosen)}) ${beside(field, chosen, rival)}.`;
  }
  const gains = gainsOver(field, chosen, ablest);
  const shares = `(${share(field, chosen)} against ${share(field, ablest)})`;
  const price = lost <= SMALL_LOSS ? 'and is nearly as likely' : 'though less likely';
  return `${id} ${gains} ${nameOf(field, ablest)}, the strongest here, ${price} to do ${prompt} well ${shares}.`;
}

/** How the strongest compares with the next best. */
function beside(field: Field, chosen: number, rival: number): string {
  const name = nameOf(field, rival);
  const lead = (field.quality[chosen] ?? 0) - (field.quality[rival] ?? 0);
  if (lead > SAME_QUALITY) return `and ahead of ${name}, the next best (${share(field, rival)})`;
  return `and ${gainsOver(field, chosen, rival)} ${name}, the next best`;
}

/** A verb phrase that wants the other's name after it. */
function gainsOver(field: Field, chosen: number, other: number): string {
  const parts: string[] = [];
  const cost = ratio(field.costNano, other, chosen);
  const wait = ratio(field.ttftMs, other, chosen);
  if (cost === Number.POSITIVE_INFINITY) parts.push('is free, and so cheaper');
  else if (cost > RATIO_NAMED)
    parts.push(`costs ${times(cost)} less ($${usd(field, chosen)} against $${usd(field, other)})`);
  if (wait > RATIO_NAMED) parts.push(`starts ${times(wait)} sooner`);
  return parts.length > 0 ? `${parts.join(' and ')} than` : 'has the better sum of speed, quality and cost than';
}

/** By how much `other` is above `chosen`; infinite when the chosen one is 0. */
function ratio(values: Float64Array, other: number, chosen: number): number {
  const above = values[other] ?? 0;
  const below = values[chosen] ?? 0;
  if (below > 0) return above / below;
  return above > 0 ? Number.POSITIVE_INFINITY : 1;
}

function times(value: number): string {
  return `${value < 10 ? value.toFixed(1) : Math.round(value)}×`;
}

function usd(field: Field, index: number): string {
  return renderNanoUsd(field.costNano[index] ?? 0);
}

function share(field: Field, index: number): string {
  return ((field.quality[index] ?? 0) / UNIT).toFixed(2);
}

function nameOf(field: Field, index: number): string {
  return field.columns.models[index]?.id ?? '';
}

/** The candidate with the highest quality; of equals the cheapest. */
function indexOfAblest(field: Field): number {
  let most = -1;
  for (let index = 0; index < field.exclusions.length; index += 1) {
    if (field.exclusions[index] !== ELIGIBLE) continue;
    const gain = most < 0 ? 1 : (field.quality[index] ?? 0) - (field.quality[most] ?? 0);
    if (gain > 0 || (gain === 0 && (field.costNano[index] ?? 0) < (field.costNano[most] ?? 0))) most = index;
  }
  return most;
}

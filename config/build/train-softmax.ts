// The slope of a softmax head's loss, in place of its scores.

/** A stretch of outputs with the true one's place in it; `target` is negative where the label is missing. */
export type Head = {
  readonly start: number;
  readonly count: number;
  readonly target: number;
  readonly weight: number;
  readonly allowed?: readonly boolean[] | undefined;
};

export function softmaxSlope(scores: Float64Array, { start, count, target, weight, allowed }: Head): void {
  let top = Number.NEGATIVE_INFINITY;
  for (let index = 0; index < count; index++) {
    if (allowed?.[index] !== false) top = Math.max(top, scores[start + index] ?? 0);
  }
  let total = 0;
  for (let index = 0; index < count; index++) {
    const power = allowed?.[index] === false ? 0 : Math.exp((scores[start + index] ?? 0) - top);
    scores[start + index] = power;
    total += power;
  }
  for (let index = 0; index < count; index++) {
    const share = (scores[start + index] ?? 0) / total - (index === target ? 1 : 0);
    scores[start + index] = target < 0 ? 0 : share * weight;
  }
}

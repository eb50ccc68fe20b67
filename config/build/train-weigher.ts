// How much each example counts, so that rare labels are heard and benchmarks don't drown what people type.
import type { Example } from './train-data.ts';

/** However rare a label is, its few examples are not repeated more often than this. */
const RARITY_MAX = 3;

/**
 * What an example counts for in a head: hand-written ones by their label's rarity (to the power of
 * `evenness`), benchmark ones so that together they weigh `share` of what the average label has.
 */
export function weigher(
  examples: readonly Example[],
  labelOf: (example: Example) => string | undefined,
  share: number,
  evenness: number,
): (example: Example) => number {
  const written = new Map<string, number>();
  const benchmark = new Map<string, number>();
  for (const example of examples) {
    const label = labelOf(example);
    const counts = example.batch === '' ? benchmark : written;
    if (label !== undefined) counts.set(label, (counts.get(label) ?? 0) + 1);
  }
  const mean = [...written.values()].reduce((sum, value) => sum + value, 0) / Math.max(1, written.size);
  return (example) => {
    const label = labelOf(example);
    if (label === undefined) return 0;
    if (example.batch === '') return Math.min(share, (share * mean) / (benchmark.get(label) ?? 1));
    return Math.min(RARITY_MAX, (mean / (written.get(label) ?? 1)) ** evenness);
  };
}

// Names like one that does not exist, for "did you mean"; bounded work however long the name or the list.

const NAME_LENGTH_MAX = 80;
const NAMES_MAX = 5000;
/** Below this two names have too little in common to be a slip of the pen. */
const LIKENESS_MIN = 0.4;

/** The ids most like `wanted`, best first; empty when none is close. */
export function closeNames(wanted: string, ids: readonly string[], limit = 3): string[] {
  const target = pairsOf(wanted);
  const targetTail = pairsOf(tailOf(wanted));
  const close: { id: string; likeness: number }[] = [];
  for (const id of ids.slice(0, NAMES_MAX)) {
    // The maker is easily left out or wrong, so the part after it counts by itself, slightly less.
    const likeness = Math.max(dice(target, pairsOf(id)), 0.98 * dice(targetTail, pairsOf(tailOf(id))));
    if (likeness >= LIKENESS_MIN) close.push({ id, likeness });
  }
  close.sort((a, b) => b.likeness - a.likeness || (a.id < b.id ? -1 : 1));
  return close.slice(0, limit).map(({ id }) => id);
}

function tailOf(name: string): string {
  return name.slice(name.indexOf('/') + 1);
}

/** How often each pair of neighbouring characters occurs; the ends count as characters. */
function pairsOf(name: string): ReadonlyMap<string, number> {
  const text = `^${name.slice(0, NAME_LENGTH_MAX).toLowerCase()}$`;
  const pairs = new Map<string, number>();
  for (let index = 0; index + 1 < text.length; index += 1) {
    const pair = text.slice(index, index + 2);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return pairs;
}

/** Dice's coefficient over the pairs: 1 for equal names, 0 for nothing in common. */
function dice(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number {
  let shared = 0;
  let total = 0;
  for (const [pair, count] of a) {
    shared += Math.min(count, b.get(pair) ?? 0);
    total += count;
  }
  for (const count of b.values()) total += count;
  return total === 0 ? 0 : (2 * shared) / total;
}

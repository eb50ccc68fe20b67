// One at a time per key: what reads, waits and then writes must not meet itself.

export type KeyedLock = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/** Runs work of the same key in the order it came; a failure does not stop what waits behind it. */
export function createKeyedLock(): KeyedLock {
  const tails = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const before = tails.get(key);
    const run = before === undefined ? work() : before.then(work, work);
    tails.set(key, run);
    try {
      return await run;
    } finally {
      if (tails.get(key) === run) tails.delete(key);
    }
  };
}

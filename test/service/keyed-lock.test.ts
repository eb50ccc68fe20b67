// The keyed lock: one at a time per key, in order, and never stuck.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createKeyedLock } from '../../src/service/keyed-lock.ts';

it('loses no update of what is read, waited for and written', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 20 }),
      async (scheduler, keys) => {
        const lock = createKeyedLock();
        const counts = new Map<string, number>();
        const all = keys.map((key) =>
          lock(key, async () => {
            const before = counts.get(key) ?? 0;
            await scheduler.schedule(Promise.resolve());
            counts.set(key, before + 1);
          }),
        );
        await scheduler.waitFor(Promise.all(all));
        for (const key of ['a', 'b', 'c'])
          expect(counts.get(key) ?? 0).toBe(keys.filter((each) => each === key).length);
      },
    ),
    { numRuns: 50 },
  );
});

it('passes results and failures to their own callers only', async () => {
  const lock = createKeyedLock();
  const results = await Promise.allSettled([
    lock('a', async () => 1),
    lock('a', () => Promise.reject(new Error('two'))),
    lock('a', async () => 3),
  ]);
  expect(results.map((result) => (result.status === 'fulfilled' ? result.value : 'failed'))).toEqual([1, 'failed', 3]);
});

it('keeps keys apart', async () => {
  const lock = createKeyedLock();
  let release = (): void => {};
  const held = lock('a', () => new Promise<void>((resolve) => (release = resolve)));
  expect(await lock('b', async () => 'free')).toBe('free');
  release();
  await held;
});

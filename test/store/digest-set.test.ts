// A set that never forgets a text and never takes one for another.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { DigestSet } from '../../src/store/digest-set.ts';

it('does what a set of texts does', () => {
  const text = fc.oneof(fc.string({ maxLength: 3 }), fc.integer({ min: 0, max: 30 }).map(String));
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), text), { maxLength: 200 }), (steps) => {
      const model = new Set<string>();
      const set = new DigestSet();
      for (const [adds, value] of steps) {
        expect(set.has(value)).toBe(model.has(value));
        if (adds) expect(set.add(value)).toBe(!model.has(value));
        if (adds) model.add(value);
        expect(set.size).toBe(model.size);
      }
    }),
  );
});

it('keeps all it was given while it grows', () => {
  const set = new DigestSet();
  for (let number = 0; number < 20_000; number += 1) expect(set.add(`req_${number}`)).toBe(true);
  for (let number = 0; number < 20_000; number += 1) expect(set.has(`req_${number}`)).toBe(true);
  for (let number = 20_000; number < 40_000; number += 1) expect(set.has(`req_${number}`)).toBe(false);
  expect(set.add('req_7')).toBe(false);
  expect(set.size).toBe(20_000);
});

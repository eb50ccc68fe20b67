// What a key has spent in the running day and month, whatever the clock did before.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeySpend, utcDay } from '../../src/ledger/key-spend.ts';
import { DAY_MS, NOON } from '../store/fixtures/records.ts';

const YEAR_MS = 365 * DAY_MS;

describe('spending', () => {
  it('of the running day is counted after the clock was a year ahead for days', () => {
    const spend = new KeySpend();
    for (let day = 0; day < 9; day += 1) spend.charge(5, NOON + YEAR_MS + day * DAY_MS);
    spend.charge(7, NOON);
    spend.charge(8, NOON + 1);
    expect(spend.spentNano('day', NOON)).toBe(15);
    expect(spend.spentNano('month', NOON)).toBe(15);
    expect(spend.spentNano('total', NOON)).toBe(60);
  });

  it('of the running day survives a jump ahead and back', () => {
    const spend = new KeySpend();
    spend.charge(7, NOON);
    spend.charge(1, NOON + YEAR_MS);
    spend.charge(8, NOON);
    expect(spend.spentNano('day', NOON)).toBe(15);
  });

  it('of the period charged last is always exact, also from a state', () => {
    const charges = fc.array(
      fc.record({ nano: fc.integer({ min: 0, max: 1_000 }), at: fc.integer({ min: 0, max: 12 }) }),
      { minLength: 1, maxLength: 40 },
    );
    fc.assert(
      fc.property(charges, fc.nat(), (list, cut) => {
        let spend = new KeySpend();
        for (const [index, { nano, at }] of list.entries()) {
          if (index === cut % list.length) spend = new KeySpend(structuredClone(spend.state()));
          const now = NOON + at * DAY_MS;
          spend.charge(nano, now);
          expect(spend.spentNano('day', now)).toBe(chargedOn(utcDay(now), list.slice(0, index + 1)));
        }
      }),
    );
  });
});

/** Of this day, back to where four others were charged without it in between. */
function chargedOn(day: number, list: readonly { readonly nano: number; readonly at: number }[]): number {
  const others = new Set<number>();
  let sum = 0;
  for (const { nano, at } of list.toReversed()) {
    if (others.size >= 4) break;
    const other = utcDay(NOON + at * DAY_MS);
    if (other !== day) {
      others.add(other);
      continue;
    }
    others.clear();
    sum += nano;
  }
  return sum;
}

// Rollups as JSON and back, into dictionaries that number the same names otherwise.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UsageChunk } from '../../src/store/usage-chunk.ts';
import { toRowFilter } from '../../src/store/usage-filter.ts';
import { type RollupState, UsageRollup } from '../../src/store/usage-rollup.ts';
import { UsageStrings } from '../../src/store/usage-strings.ts';
import { UsageSums } from '../../src/store/usage-sums.ts';
import { DAY_MS, makeEntry, NOON } from './fixtures/records.ts';

type Kind = { readonly key: string; readonly model: string | null; readonly task: string | null; readonly day: number };

function rollupOf(kinds: readonly Kind[], strings = new UsageStrings()): UsageRollup {
  const chunk = new UsageChunk(1);
  kinds.forEach(({ key, model, task, day }, row) => {
    chunk.add(
      { seq: row + 1, segment: 1, offset: 0, bytes: 1 },
      makeEntry({ created_at: NOON + day * DAY_MS, cost: row }),
      {
        workspace: strings.numberFor('ws_1'),
        key: strings.numberFor(key),
        model: strings.numberFor(model),
        virtualModel: 0,
        task: strings.numberFor(task),
      },
    );
  });
  const rollup = new UsageRollup(strings);
  rollup.add(chunk, 0, chunk.rows);
  return rollup;
}

function sumsOf(rollup: UsageRollup, strings: UsageStrings) {
  return (['day', 'key', 'model', 'task'] as const).map((groupBy) => {
    const filter = toRowFilter(strings, 'ws_1', {});
    if (filter === null) return [];
    const sums = new UsageSums(groupBy, filter);
    rollup.addTo(sums);
    return sums.render(strings);
  });
}

const asJson = (state: RollupState): RollupState => JSON.parse(JSON.stringify(state));
const name = fc.constantFrom('a', 'b', 'c', '', 'ws_1');
const kinds = fc.array(
  fc.record({ key: name, model: fc.option(name), task: fc.option(name), day: fc.integer({ min: -40_000, max: 3 }) }),
  { maxLength: 50 },
);

describe('a rollup', () => {
  it('is the same after JSON, whatever numbers its names get', () => {
    fc.assert(
      fc.property(kinds, fc.shuffledSubarray(['c', 'b', 'a', 'x', 'ws_1']), (list, known) => {
        const strings = new UsageStrings();
        const rollup = rollupOf(list, strings);
        const otherStrings = new UsageStrings(known);
        const other = new UsageRollup(otherStrings);
        other.merge(asJson(rollup.state()));
        expect(sumsOf(other, otherStrings)).toEqual(sumsOf(rollup, strings));
        expect(other.state()).toEqual(rollup.state());
      }),
    );
  });

  it('merged with another has the sums of both', () => {
    fc.assert(
      fc.property(kinds, kinds, (first, second) => {
        const strings = new UsageStrings();
        const both = rollupOf(first, strings);
        both.merge(rollupOf(second, new UsageStrings(['b'])).state());
        const requests = both.state().requests.reduce((sum, each) => sum + each, 0);
        expect(requests).toBe(first.length + second.length);
        const cells = new Set(
          [...first, ...second].map((kind) => JSON.stringify([kind.key, kind.model, kind.task, kind.day])),
        );
        expect(both.state().requests).toHaveLength(cells.size);
      }),
    );
  });

  it('is not changed by what is added to a copy', () => {
    const strings = new UsageStrings();
    const rollup = rollupOf([{ key: 'a', model: null, task: 'b', day: 0 }], strings);
    const before = rollup.state();
    const copy = rollup.copy();
    copy.merge(before);
    const more = Array.from({ length: 40 }, (_, day) => ({ key: 'z', model: 'y', task: null, day }));
    copy.merge(rollupOf(more).state());
    expect(rollup.state()).toEqual(before);
    expect(copy.state().requests).toEqual([2, ...more.map(() => 1)]);
  });

  it('names only what its cells have', () => {
    const strings = new UsageStrings(['unused_1', 'unused_2']);
    expect(rollupOf([{ key: 'a', model: null, task: 'b', day: 0 }], strings).state()).toEqual({
      names: ['ws_1', 'a', 'b'],
      workspace: [1],
      key: [2],
      model: [0],
      virtualModel: [0],
      task: [3],
      createdAt: [NOON - DAY_MS / 2],
      status: [200],
      requests: [1],
      inputTokens: [100],
      cachedTokens: [10],
      outputTokens: [20],
      cost: [0],
    });
  });
});

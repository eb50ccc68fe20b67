// Pages that stay put under writes, and sums that agree with the entries.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { UsageEntry } from '../../src/ledger/records.ts';
import type { UsageFilter, UsageGroupBy } from '../../src/store/store.ts';
import { UsageIndex } from '../../src/store/usage-index.ts';
import { DAY_MS, makeEntry, NOON } from './fixtures/records.ts';

const MIDNIGHT = NOON - DAY_MS / 2;

function indexOf(entries: readonly UsageEntry[]): UsageIndex {
  const index = new UsageIndex();
  for (const [position, entry] of entries.entries()) index.add('ws_1', 10 + position * 3, entry);
  return index;
}

const numbered = (count: number) => Array.from({ length: count }, (_, n) => makeEntry({ id: `use_${n}` }));

function allPages(index: UsageIndex, filter: UsageFilter, limit: number, afterPage?: () => void): string[] {
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const page = index.page('ws_1', filter, limit, cursor);
    expect(page.entries.length).toBeLessThanOrEqual(limit);
    ids.push(...page.entries.map((entry) => entry.id));
    cursor = page.nextCursor;
    afterPage?.();
  } while (cursor !== null);
  return ids;
}

describe('pages', () => {
  it('are newest first and end without a cursor', () => {
    const index = indexOf(numbered(5));
    const first = index.page('ws_1', {}, 2, null);
    expect(first.entries.map((entry) => entry.id)).toEqual(['use_4', 'use_3']);
    expect(index.page('ws_1', {}, 5, null).nextCursor).toBeNull();
    expect(index.page('ws_2', {}, 5, null)).toEqual({ entries: [], nextCursor: null });
    expect(allPages(index, {}, 2)).toEqual(['use_4', 'use_3', 'use_2', 'use_1', 'use_0']);
  });

  it('do not move when entries arrive between them', () => {
    const index = indexOf(numbered(7));
    let seq = 1_000;
    const ids = allPages(index, {}, 2, () => {
      seq += 1;
      index.add('ws_1', seq, makeEntry({ id: `use_late_${seq}` }));
    });
    expect(ids).toEqual(['use_6', 'use_5', 'use_4', 'use_3', 'use_2', 'use_1', 'use_0']);
  });

  it.each(['', 'x', 'u', 'u-1', 'uzzzzzzzzzzzzz', '10', 'u1 '])('refuse the cursor %j', (cursor) => {
    expect(() => indexOf(numbered(1)).page('ws_1', {}, 1, cursor)).toThrow('cursor');
  });

  it.each<[string, UsageFilter, string[]]>([
    ['from a time on', { fromMs: NOON }, ['use_c', 'use_b']],
    ['before a time', { toMs: NOON }, ['use_a']],
    ['of a model', { model: 'maker/other' }, ['use_c']],
    ['of a key', { keyId: 'key_2' }, ['use_b']],
    ['with a status', { status: 502 }, ['use_a']],
    ['with all of that', { fromMs: NOON, toMs: NOON + 1, keyId: 'key_2', status: 200 }, ['use_b']],
  ])('take only entries %s', (_name, filter, ids) => {
    const index = indexOf([
      makeEntry({ id: 'use_a', created_at: NOON - 1, status: 502 }),
      makeEntry({ id: 'use_b', api_key_id: 'key_2' }),
      makeEntry({ id: 'use_c', created_at: NOON + 1, model: 'maker/other' }),
    ]);
    expect(allPages(index, filter, 1)).toEqual(ids);
  });
});

describe('sums', () => {
  const index = indexOf([
    makeEntry({ created_at: MIDNIGHT - 1, cost: 5, status: 502, virtual_model: null }),
    makeEntry({ created_at: MIDNIGHT, cost: 7, input_tokens: 1, cached_tokens: 0, output_tokens: 2 }),
    makeEntry({ created_at: NOON, cost: 20, model: null, task_type: 'coding', api_key_id: 'key_2' }),
  ]);

  it.each<[UsageGroupBy, [string, number][]]>([
    [
      'day',
      [
        ['2026-01-14', 5],
        ['2026-01-15', 27],
      ],
    ],
    [
      'model',
      [
        ['(none)', 20],
        ['maker/model', 12],
      ],
    ],
    [
      'key',
      [
        ['key_2', 20],
        ['key_1', 12],
      ],
    ],
    [
      'task',
      [
        ['coding', 20],
        ['chat', 12],
      ],
    ],
    [
      'virtual_model',
      [
        ['svc:auto', 27],
        ['(none)', 5],
      ],
    ],
  ])('by %s', (groupBy, groups) => {
    expect(index.sums('ws_1', groupBy, {}).map((sum) => [sum.group, sum.costNano])).toEqual(groups);
  });

  it('count requests, errors and tokens', () => {
    expect(index.sums('ws_1', 'model', { toMs: NOON })).toEqual([
      {
        group: 'maker/model',
        requests: 2,
        errors: 1,
        inputTokens: 101,
        cachedTokens: 10,
        outputTokens: 22,
        costNano: 12,
      },
    ]);
  });

  it('take whole days and single moments alike', () => {
    expect(index.sums('ws_1', 'day', { fromMs: MIDNIGHT })).toHaveLength(1);
    expect(index.sums('ws_1', 'day', { toMs: MIDNIGHT })).toHaveLength(1);
    expect(index.sums('ws_1', 'key', { fromMs: MIDNIGHT + 1 }).map((sum) => sum.group)).toEqual(['key_2']);
  });

  it('are copies', () => {
    Object.assign(index.sums('ws_1', 'day', {})[0] ?? {}, { costNano: 1e9 });
    expect(index.sums('ws_1', 'day', {})[0]?.costNano).toBe(5);
  });

  it('are the same kept by day as folded over the entries', () => {
    const entry = fc.record({
      created_at: fc.integer({ min: NOON - 5 * DAY_MS, max: NOON + 5 * DAY_MS }),
      cost: fc.nat(1_000),
      status: fc.constantFrom(200, 402, 500),
      model: fc.constantFrom('a', 'b', null),
    });
    const day = fc.option(fc.integer({ min: -5, max: 5 }), { nil: undefined });
    fc.assert(
      fc.property(
        fc.array(entry),
        day,
        day,
        fc.constantFrom<UsageGroupBy>('day', 'model', 'key'),
        (fields, from, to, groupBy) => {
          const entries = fields.map((each) => makeEntry(each));
          const range = {
            ...(from !== undefined && { fromMs: MIDNIGHT + from * DAY_MS }),
            ...(to !== undefined && { toMs: MIDNIGHT + to * DAY_MS }),
          };
          const kept = indexOf(entries).sums('ws_1', groupBy, range);
          // A filter that everything passes makes it look at each entry.
          expect(kept).toEqual(indexOf(entries).sums('ws_1', groupBy, { ...range, keyId: 'key_1' }));
        },
      ),
    );
  });
});

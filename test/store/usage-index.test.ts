// Pages that stay put under writes, and sums that agree with a fold over the entries whatever was restored or expired.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { UsageEntry } from '../../src/ledger/records.ts';
import type { RecordPlace } from '../../src/store/journal-format.ts';
import type { UsageFilter, UsageGroupBy, UsageSum } from '../../src/store/store.ts';
import { CHUNK_ROWS, UsageChunk } from '../../src/store/usage-chunk.ts';
import { UsageIndex } from '../../src/store/usage-index.ts';
import type { RollupState } from '../../src/store/usage-rollup.ts';
import { DAY_MS, makeEntry, NOON } from './fixtures/records.ts';

const MIDNIGHT = NOON - DAY_MS / 2;
const GROUP_BYS = ['day', 'model', 'key', 'task', 'virtual_model'] as const satisfies readonly UsageGroupBy[];

type Row = { readonly workspaceId: string; readonly place: RecordPlace; readonly entry: UsageEntry };

const placeOf = (position: number, segment = 1): RecordPlace => ({
  seq: 10 + position * 3,
  segment,
  offset: position * 700,
  bytes: 699,
});

function rowsOf(entries: readonly UsageEntry[]): readonly Row[] {
  return entries.map((entry, position) => ({ workspaceId: 'ws_1', place: placeOf(position), entry }));
}

function indexOf(rows: readonly Row[], index = new UsageIndex()): UsageIndex {
  for (const { workspaceId, place, entry } of rows) index.add(workspaceId, place, entry);
  return index;
}

/** Through the bytes of its chunks, as after a restart. */
function restored(index: UsageIndex, carried: RollupState | null = null, firstSegment = 0): UsageIndex {
  const chunks = index.chunks().map((chunk) => UsageChunk.decode(chunk.encode()));
  return UsageIndex.restore({ strings: [...index.strings()], chunks, carried, firstSegment });
}

const numbered = (count: number) => rowsOf(Array.from({ length: count }, (_, n) => makeEntry({ id: `use_${n}` })));
const position = ({ seq }: RecordPlace): number => (seq - 10) / 3;

function allPages(index: UsageIndex, filter: UsageFilter, limit: number, afterPage?: () => void): number[] {
  const positions: number[] = [];
  let cursor: string | null = null;
  do {
    const page = index.page('ws_1', filter, limit, cursor);
    expect(page.places.length).toBeLessThanOrEqual(limit);
    positions.push(...page.places.map(position));
    cursor = page.nextCursor;
    afterPage?.();
  } while (cursor !== null);
  return positions;
}

describe('pages', () => {
  it('are newest first, give whole places and end without a cursor', () => {
    const index = indexOf(numbered(5));
    expect(index.page('ws_1', {}, 2, null)).toEqual({ places: [placeOf(4), placeOf(3)], nextCursor: 'uj' });
    expect(index.page('ws_1', {}, 5, null).nextCursor).toBeNull();
    expect(index.page('ws_2', {}, 5, null)).toEqual({ places: [], nextCursor: null });
    expect(allPages(index, {}, 2)).toEqual([4, 3, 2, 1, 0]);
  });

  it('do not move when entries arrive between them', () => {
    const index = indexOf(numbered(7));
    let late = 1_000;
    const seen = allPages(index, {}, 2, () => {
      late += 1;
      index.add('ws_1', placeOf(late), makeEntry());
    });
    expect(seen).toEqual([6, 5, 4, 3, 2, 1, 0]);
  });

  it.each(['', 'x', 'u', 'u-1', 'uzzzzzzzzzzzzz', '10', 'u1 ', 'U1'])('refuse the cursor %j', (cursor) => {
    for (const workspaceId of ['ws_1', 'ws_unknown']) {
      expect(() => indexOf(numbered(1)).page(workspaceId, {}, 1, cursor)).toThrow(
        expect.objectContaining({ code: 'INVALID_REQUEST' }),
      );
    }
  });

  it.each<[string, UsageFilter, number[]]>([
    ['from a time on', { fromMs: NOON }, [2, 1]],
    ['before a time', { toMs: NOON }, [0]],
    ['of a model', { model: 'maker/other' }, [2]],
    ['of a key', { keyId: 'key_2' }, [1]],
    ['with a status', { status: 502 }, [0]],
    ['with all of that', { fromMs: NOON, toMs: NOON + 1, keyId: 'key_2', status: 200, model: 'maker/model' }, [1]],
    ['of a model that none has', { model: 'maker/none' }, []],
    ['of a key that none has', { keyId: 'key_none' }, []],
    ['of a model named like a key', { model: 'key_2' }, []],
    ['before all', { toMs: NOON - 1 }, []],
    ['from the last moment on', { fromMs: NOON + 1 }, [2]],
    ['after all', { fromMs: NOON + 2 }, []],
  ])('take only entries %s', (_name, filter, expected) => {
    const index = indexOf(
      rowsOf([
        makeEntry({ created_at: NOON - 1, status: 502 }),
        makeEntry({ api_key_id: 'key_2' }),
        makeEntry({ created_at: NOON + 1, model: 'maker/other' }),
      ]),
    );
    expect(allPages(index, filter, 1)).toEqual(expected);
    expect(allPages(restored(index), filter, 1)).toEqual(expected);
  });

  it('run on over chunks, and find the few among many', () => {
    const rare = new Set([0, 5_000, CHUNK_ROWS - 1, CHUNK_ROWS, CHUNK_ROWS + 7]);
    const index = new UsageIndex();
    const entry = makeEntry();
    const rareEntry = makeEntry({ model: 'maker/rare' });
    for (let n = 0; n < CHUNK_ROWS + 10; n += 1) index.add('ws_1', placeOf(n), rare.has(n) ? rareEntry : entry);
    expect(index.chunks().map(({ number, rows }) => [number, rows])).toEqual([
      [1, CHUNK_ROWS],
      [2, 10],
    ]);
    expect(allPages(index, { model: 'maker/rare' }, 2)).toEqual([...rare].reverse());
    const cursor = `u${placeOf(CHUNK_ROWS + 2).seq.toString(36)}`;
    const { places } = index.page('ws_1', {}, 4, cursor);
    expect(places.map(position)).toEqual([1, 0, -1, -2].map((n) => CHUNK_ROWS + n));
  });
});

describe('sums', () => {
  const index = indexOf(
    rowsOf([
      makeEntry({ created_at: MIDNIGHT - 1, cost: 5, status: 502, virtual_model: null }),
      makeEntry({ created_at: MIDNIGHT, cost: 7, input_tokens: 1, cached_tokens: 0, output_tokens: 2 }),
      makeEntry({ created_at: NOON, cost: 20, model: null, task_type: 'coding', api_key_id: 'key_2' }),
    ]),
  );

  it.each<[UsageGroupBy, Record<string, number>]>([
    ['day', { '2026-01-14': 5, '2026-01-15': 27 }],
    ['model', { '(none)': 20, 'maker/model': 12 }],
    ['key', { key_2: 20, key_1: 12 }],
    ['task', { coding: 20, chat: 12 }],
    ['virtual_model', { 'svc:auto': 27, '(none)': 5 }],
  ])('by %s', (groupBy, groups) => {
    const sums = index.sums('ws_1', groupBy, {});
    expect(sums.map((sum) => [sum.group, sum.costNano])).toEqual(Object.entries(groups));
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

  it('are copies, and nothing for what has no entries', () => {
    Object.assign(index.sums('ws_1', 'day', {})[0] ?? {}, { costNano: 1e9 });
    expect(index.sums('ws_1', 'day', {})[0]?.costNano).toBe(5);
    expect(index.sums('ws_2', 'day', {})).toEqual([]);
    expect(index.sums('ws_1', 'day', { model: 'maker/none' })).toEqual([]);
  });

  it('stay apart for many groups and for days far from ours', () => {
    const days = [-4_000, -1, 0, 1, 20_000, 2_000_000];
    const many = indexOf(
      rowsOf(
        Array.from({ length: 3_000 }, (_, n) =>
          makeEntry({ cost: 1, api_key_id: `key_${n % 1_500}`, created_at: (days[n % days.length] ?? 0) * DAY_MS }),
        ),
      ),
    );
    expect(many.sums('ws_1', 'day', {}).map((sum) => sum.requests)).toEqual(days.map(() => 500));
    const keys = many.sums('ws_1', 'key', {});
    expect(new Set(keys.map((sum) => sum.group)).size).toBe(1_500);
    expect(new Set(keys.map((sum) => sum.costNano))).toEqual(new Set([2]));
  });
});

describe('what expired', () => {
  const rows = [
    { workspaceId: 'ws_1', place: placeOf(0, 1), entry: makeEntry({ created_at: MIDNIGHT - 5, cost: 1 }) },
    { workspaceId: 'ws_1', place: placeOf(1, 1), entry: makeEntry({ created_at: NOON, cost: 10 }) },
    { workspaceId: 'ws_1', place: placeOf(2, 2), entry: makeEntry({ created_at: NOON, cost: 100 }) },
  ];
  const expired = indexOf(rows);
  expired.forgetBefore(2);

  it('is gone from the pages but not from the sums', () => {
    expect(allPages(expired, {}, 5)).toEqual([2]);
    expect(expired.rows).toBe(1);
    for (const groupBy of GROUP_BYS) {
      expect(expired.sums('ws_1', groupBy, {})).toEqual(indexOf(rows).sums('ws_1', groupBy, {}));
    }
  });

  it.each<[string, UsageFilter, number]>([
    ['whole days', { fromMs: MIDNIGHT, toMs: MIDNIGHT + DAY_MS }, 110],
    ['a part that begins with the day', { fromMs: MIDNIGHT, toMs: MIDNIGHT + 1 }, 10],
    ['a part that begins later in the day', { fromMs: MIDNIGHT + 1 }, 100],
    ['all before noon', { toMs: NOON }, 11],
  ])('counts as of the first moment of its day: %s', (_name, filter, costNano) => {
    const total = expired.sums('ws_1', 'model', filter).reduce((sum, each) => sum + each.costNano, 0);
    expect(total).toBe(costNano);
  });

  it('is not forgotten twice, nor brought back', () => {
    const index = indexOf(rows);
    for (const segment of [2, 1, 2, 0]) index.forgetBefore(segment);
    expect(index.sums('ws_1', 'model', {})[0]?.costNano).toBe(111);
    expect(index.rows).toBe(1);
    index.forgetBefore(3);
    expect(index.page('ws_1', {}, 5, null)).toEqual({ places: [], nextCursor: null });
    expect(index.rows).toBe(0);
    expect(index.sums('ws_1', 'model', {})[0]?.costNano).toBe(111);
  });

  it('is carried over to an index made again from the rest of the journal', () => {
    const carried: RollupState = JSON.parse(JSON.stringify(indexOf(rows).rollupBefore(2)));
    const again = UsageIndex.restore({ strings: [], chunks: [], carried, firstSegment: 2 });
    expect(again.sums('ws_1', 'model', {})[0]?.costNano).toBe(11);
    indexOf(rows.slice(2), again);
    expect(again.sums('ws_1', 'day', {})).toEqual(indexOf(rows).sums('ws_1', 'day', {}));
  });

  it('takes its chunks with it, except the last, from which the numbers go on', () => {
    const index = new UsageIndex();
    const entry = makeEntry({ cost: 1 });
    const segmentOf = (n: number) => 1 + Math.floor(n / 50_000);
    for (let n = 0; n < 2 * CHUNK_ROWS; n += 1) index.add('ws_1', placeOf(n, segmentOf(n)), entry);
    index.forgetBefore(2);
    expect([index.chunks().length, index.rows]).toEqual([2, 2 * CHUNK_ROWS - 50_000]);
    expect(index.sums('ws_1', 'key', {})[0]?.requests).toBe(2 * CHUNK_ROWS);
    index.forgetBefore(3);
    expect(index.chunks().map(({ number }) => number)).toEqual([2]);
    index.forgetBefore(9);
    expect([index.chunks().length, index.rows]).toEqual([1, 0]);
    index.add('ws_1', placeOf(2 * CHUNK_ROWS, 9), entry);
    expect(index.chunks().at(-1)?.number).toBe(3);
    expect(index.sums('ws_1', 'key', {})[0]?.requests).toBe(2 * CHUNK_ROWS + 1);
    const again = restored(index, index.rollupBefore(9), 9);
    expect(again.sums('ws_1', 'key', {})).toEqual(index.sums('ws_1', 'key', {}));
    expect(again.rows).toBe(1);
  });
});

describe('restore', () => {
  const chunkFrom = (number: number, seq: number, name = 1): UsageChunk => {
    const chunk = new UsageChunk(number);
    const names = { workspace: name, key: 0, model: 0, virtualModel: 0, task: 0 };
    chunk.add({ seq, segment: 1, offset: 0, bytes: 1 }, makeEntry(), names);
    return chunk;
  };
  const full = (number: number): UsageChunk => {
    const chunk = chunkFrom(number, 1);
    const names = { workspace: 1, key: 0, model: 0, virtualModel: 0, task: 0 };
    const entry = makeEntry();
    for (let seq = 2; seq <= CHUNK_ROWS; seq += 1) chunk.add({ seq, segment: 1, offset: 0, bytes: 1 }, entry, names);
    return chunk;
  };

  it.each<[string, () => readonly UsageChunk[], string]>([
    ['a chunk missing between', () => [full(1), chunkFrom(3, CHUNK_ROWS + 1)], 'usage chunk 3 is out of order'],
    ['an open chunk that is not the last', () => [chunkFrom(1, 1), chunkFrom(2, 2)], 'usage chunk 1 has too few rows'],
    ['rows twice', () => [full(1), chunkFrom(2, CHUNK_ROWS)], 'usage chunk 2 begins before'],
    ['a name that is not in the dictionary', () => [chunkFrom(1, 1, 2)], 'usage chunk 1 names what is not'],
  ])('refuses %s', (_name, chunks, reason) => {
    const state = { strings: ['ws_1'], chunks: chunks(), carried: null, firstSegment: 0 };
    expect(() => UsageIndex.restore(state)).toThrow(reason);
  });

  it.each<[string, (state: RollupState) => RollupState, string]>([
    ['columns of unlike length', (state) => ({ ...state, cost: [] }), 'a rollup has 0 of 1 in cost'],
    ['a name it does not hold', (state) => ({ ...state, model: [99] }), 'a rollup names 99 of 5 in model'],
  ])('refuses a rollup with %s', (_name, change, reason) => {
    const carried = change(indexOf(numbered(3)).rollupBefore(2));
    expect(() => UsageIndex.restore({ strings: [], chunks: [], carried, firstSegment: 2 })).toThrow(reason);
  });

  it('refuses a dictionary with a name twice', () => {
    const state = { strings: ['a', 'a'], chunks: [], carried: null, firstSegment: 0 };
    expect(() => UsageIndex.restore(state)).toThrow('twice');
  });
});

/** The straightforward answer. Rows before `firstSegment` have expired, so they count as of the start of their day. */
function foldSums(
  rows: readonly Row[],
  groupBy: UsageGroupBy,
  filter: UsageFilter,
  firstSegment: number,
): readonly UsageSum[] {
  const groups = new Map<string, UsageSum>();
  for (const { workspaceId, place, entry } of rows) {
    const at = place.segment < firstSegment ? Math.floor(entry.created_at / DAY_MS) * DAY_MS : entry.created_at;
    if (workspaceId !== 'ws_1' || !isMatch({ ...entry, created_at: at }, filter)) continue;
    const group = groupOf(entry, groupBy);
    const sum = groups.get(group);
    groups.set(group, {
      group,
      requests: (sum?.requests ?? 0) + 1,
      errors: (sum?.errors ?? 0) + (entry.status >= 400 ? 1 : 0),
      inputTokens: (sum?.inputTokens ?? 0) + entry.input_tokens,
      cachedTokens: (sum?.cachedTokens ?? 0) + entry.cached_tokens,
      outputTokens: (sum?.outputTokens ?? 0) + entry.output_tokens,
      costNano: (sum?.costNano ?? 0) + entry.cost,
    });
  }
  return [...groups.values()];
}

function groupOf(entry: UsageEntry, groupBy: UsageGroupBy): string {
  if (groupBy === 'day') return new Date(entry.created_at).toISOString().slice(0, 10);
  const { model, api_key_id: key, task_type: task, virtual_model } = entry;
  return { model, key, task, virtual_model }[groupBy] ?? '(none)';
}

function isMatch(entry: UsageEntry, { fromMs, toMs, model, keyId, status }: UsageFilter): boolean {
  if (fromMs !== undefined && entry.created_at < fromMs) return false;
  if (toMs !== undefined && entry.created_at >= toMs) return false;
  if (model !== undefined && entry.model !== model) return false;
  return (keyId === undefined || entry.api_key_id === keyId) && (status === undefined || entry.status === status);
}

const byGroup = (sums: readonly UsageSum[]) => sums.toSorted((a, b) => (a.group < b.group ? -1 : 1));

const fields = fc.record({
  created_at: fc.integer({ min: NOON - 3 * DAY_MS, max: NOON + 3 * DAY_MS }),
  cost: fc.nat(1_000),
  input_tokens: fc.nat(100),
  cached_tokens: fc.nat(100),
  output_tokens: fc.nat(100),
  status: fc.constantFrom(200, 402, 500),
  model: fc.constantFrom('a', 'b', null),
  api_key_id: fc.constantFrom('key_1', 'key_2'),
  task_type: fc.constantFrom('chat', null),
  virtual_model: fc.constantFrom('svc:auto', 'a', null),
});
const rowsArbitrary = fc
  .array(fc.tuple(fields, fc.constantFrom('ws_1', 'ws_1', 'ws_2'), fc.boolean()), { maxLength: 60 })
  .map((list) => {
    let segment = 1;
    return list.map(([entry, workspaceId, nextSegment], n): Row => {
      if (nextSegment) segment += 1;
      return { workspaceId, place: placeOf(n, segment), entry: makeEntry(entry) };
    });
  });
const time = fc.oneof(
  fc.integer({ min: -3, max: 4 }).map((day) => MIDNIGHT + day * DAY_MS),
  fc.integer({ min: NOON - 3 * DAY_MS, max: NOON + 3 * DAY_MS }),
);
const filterArbitrary = fc.record(
  {
    fromMs: time,
    toMs: time,
    model: fc.constantFrom('a', 'b', 'c'),
    keyId: fc.constantFrom('key_1', 'key_2'),
    status: fc.constantFrom(200, 500, 418),
  },
  { requiredKeys: [] },
);

/** What happens to an index between two rows. */
type Event = 'restart' | 'rebuild' | 'expire';
const events = fc.array(fc.tuple(fc.nat(60), fc.constantFrom<Event>('restart', 'rebuild', 'expire')), { maxLength: 5 });

/** Fills an index with the rows while it is restarted, made again and shortened; answers the first segment left too. */
function lived(rows: readonly Row[], happenings: readonly (readonly [number, Event])[]) {
  let index = new UsageIndex();
  let carried: RollupState | null = null;
  let firstSegment = 0;
  rows.forEach((row, at) => {
    index.add(row.workspaceId, row.place, row.entry);
    for (const [when, event] of happenings) {
      if (when !== at) continue;
      if (event === 'restart') index = restored(index, carried, firstSegment);
      if (event === 'rebuild') {
        index = UsageIndex.restore({ strings: [], chunks: [], carried, firstSegment });
        indexOf(
          rows.slice(0, at + 1).filter(({ place }) => place.segment >= firstSegment),
          index,
        );
      }
      if (event === 'expire') {
        firstSegment = row.place.segment;
        carried = JSON.parse(JSON.stringify(index.rollupBefore(firstSegment)));
        index.forgetBefore(firstSegment);
      }
    }
  });
  return { index, firstSegment };
}

describe('an index through restarts, rebuilds and expiry', () => {
  it('has the sums of a fold over all entries', () => {
    fc.assert(
      fc.property(rowsArbitrary, events, filterArbitrary, (rows, happenings, filter) => {
        const { index, firstSegment } = lived(rows, happenings);
        for (const groupBy of GROUP_BYS) {
          const expected = foldSums(rows, groupBy, filter, firstSegment);
          expect(byGroup(index.sums('ws_1', groupBy, filter))).toEqual(byGroup(expected));
        }
      }),
      { numRuns: 150 },
    );
  });

  it('has the pages of the entries that are left', () => {
    fc.assert(
      fc.property(
        rowsArbitrary,
        events,
        filterArbitrary,
        fc.integer({ min: 1, max: 9 }),
        (rows, happenings, filter, limit) => {
          const { index, firstSegment } = lived(rows, happenings);
          const left = rows.filter(({ place }) => place.segment >= firstSegment);
          const expected = left.filter(({ workspaceId, entry }) => workspaceId === 'ws_1' && isMatch(entry, filter));
          expect(allPages(index, filter, limit)).toEqual(expected.map(({ place }) => position(place)).reverse());
          expect(index.rows).toBe(left.length);
        },
      ),
      { numRuns: 100 },
    );
  });

  it.each([
    ['few', 500, 1],
    ['nearly as many', 500, 41],
  ])('has the same sums from the cells of a full chunk as from its rows, when they are %s', (_name, kinds, tasks) => {
    const samples = fc.sample(fields, { numRuns: kinds, seed: 7 });
    const list = Array.from({ length: kinds * tasks }, (_, n) => {
      const sample = samples[n % kinds];
      return makeEntry({ ...sample, ...(tasks > 1 && { task_type: `task_${n % tasks}` }) });
    });
    const rows = Array.from({ length: CHUNK_ROWS + 500 }, (_, n): Row => {
      const entry = list[n % list.length] ?? makeEntry();
      return { workspaceId: n % 7 === 0 ? 'ws_2' : 'ws_1', place: placeOf(n, 1 + Math.floor(n / 30_000)), entry };
    });
    const index = restored(indexOf(rows));
    const [chunk] = index.chunks();
    expect([chunk?.cells('all') === null, chunk?.cells('byTask') === null]).toEqual([tasks > 1, false]);
    const filters: UsageFilter[] = [
      {},
      { model: 'a' },
      { keyId: 'key_2', status: 200 },
      { model: 'b', fromMs: MIDNIGHT },
      { toMs: NOON + 12_345 },
      { status: 500 },
    ];
    const check = (firstSegment: number) => {
      for (const [at, filter] of filters.entries()) {
        const groupBy = GROUP_BYS[(at + 3) % GROUP_BYS.length] ?? 'day';
        const expected = foldSums(rows, groupBy, filter, firstSegment);
        expect(byGroup(index.sums('ws_1', groupBy, filter))).toEqual(byGroup(expected));
      }
    };
    check(0);
    index.forgetBefore(2);
    check(2);
    index.forgetBefore(3);
    check(3);
  });
});

// Which cells a full chunk gets, and that each kind adds up to its rows.
import { describe, expect, it } from 'vitest';
import type { UsageFilter, UsageGroupBy } from '../../src/store/store.ts';
import { ChunkCells, cellNeedOf } from '../../src/store/usage-chunk-cells.ts';
import { makeColumns, type UsageColumns } from '../../src/store/usage-row-columns.ts';
import { DAY_MS, NOON } from './fixtures/records.ts';

const ROWS = 16_384;

/** Each row's names and day by its position. */
function columnsOf(
  names: (row: number) => { key?: number; model?: number; task?: number; day?: number },
): UsageColumns {
  const columns = makeColumns(ROWS);
  for (let row = 0; row < ROWS; row += 1) {
    const { key = 1, model = 2, task = 3, day = 0 } = names(row);
    columns.workspace[row] = 9;
    columns.key[row] = key;
    columns.model[row] = model;
    columns.task[row] = task;
    columns.createdAt[row] = NOON + day * DAY_MS;
    columns.status[row] = row % 2 === 0 ? 200 : 502;
    columns.cost[row] = row;
    columns.inputTokens[row] = 3;
    columns.cachedTokens[row] = 2;
    columns.outputTokens[row] = 1;
  }
  return columns;
}

const sumOf = (column: Float64Array) => column.reduce((sum, each) => sum + each, 0);

describe('the cells of a chunk', () => {
  it.each<[string, Parameters<typeof columnsOf>[0], (number | null)[]]>([
    ['rows that are alike', () => ({}), [2, 2, 2, 2, 2]],
    ['two thousand kinds', (row) => ({ key: row % 50, task: row % 41 }), [2_050, 2_050, 2_050, 50, 2]],
    ['too many kinds of both', (row) => ({ key: row % 100, task: row % 99 }), [null, 100, 198, 100, 2]],
    ['too many keys alone', (row) => ({ key: row }), [null, null, 2, null, null]],
    ['too many tasks alone', (row) => ({ task: row }), [null, 2, null, 2, 2]],
    ['too many days', (row) => ({ day: row }), [null, null, null, null, null]],
    // The first rows look promising, all of them are not.
    ['kinds that come late', (row) => ({ key: Math.max(0, row - 4_096) }), [null, null, 2, null, null]],
  ])('of %s', (_name, names, counts) => {
    const columns = columnsOf(names);
    const chunk = new ChunkCells(columns, ROWS);
    const kinds = (['all', 'byKeyAndModel', 'byTask', 'byKey', 'byModel'] as const).map((need) => chunk.of(need));
    expect(kinds.map((cells) => cells?.count ?? null)).toEqual(counts);
    for (const cells of kinds) {
      if (cells === null) continue;
      expect(cells.columns.requests).toHaveLength(cells.count);
      expect(sumOf(cells.columns.requests)).toBe(ROWS);
      expect(sumOf(cells.columns.cost)).toBe(sumOf(columns.cost));
      expect(sumOf(cells.columns.inputTokens)).toBe(ROWS * 3);
      expect(sumOf(cells.columns.cachedTokens)).toBe(ROWS * 2);
      expect(sumOf(cells.columns.outputTokens)).toBe(ROWS);
      expect(cells.columns.createdAt[0]).toBe(NOON - DAY_MS / 2);
    }
  });

  it.each<[UsageGroupBy, UsageFilter, string]>([
    ['day', {}, 'byTask'],
    ['day', { keyId: 'key_1' }, 'byKey'],
    ['day', { model: 'm' }, 'byModel'],
    ['day', { keyId: 'key_1', model: 'm' }, 'byKeyAndModel'],
    ['model', {}, 'byModel'],
    ['model', { keyId: 'key_1' }, 'byKeyAndModel'],
    ['model', { keyId: 'key_1', model: 'm', status: 200 }, 'byKeyAndModel'],
    ['key', { fromMs: 1 }, 'byKey'],
    ['key', { model: 'm' }, 'byKeyAndModel'],
    ['task', { status: 200, toMs: 5 }, 'byTask'],
    ['virtual_model', {}, 'byTask'],
    ['task', { keyId: 'key_1' }, 'all'],
    ['virtual_model', { model: 'm' }, 'all'],
  ])('that sums by %s with the filter %j need are %s', (groupBy, filter, need) => {
    expect(cellNeedOf(groupBy, filter)).toBe(need);
  });
});

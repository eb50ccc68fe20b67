// Which rows pass a filter: one quick loop per column, each over what the one before left.

import type { UsageFilter } from './store.ts';
import type { SummedColumns } from './usage-row-columns.ts';
import type { UsageStrings } from './usage-strings.ts';

/** A filter in the numbers of rows: names are numbers of the dictionary, `ANY` takes all. */
export type RowFilter = {
  readonly workspace: number;
  /** Within the range; `toMs` is not. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly model: number;
  readonly key: number;
  readonly status: number;
};

/** Rows are looked at in runs of at most this many. */
export const RUN_ROWS = 4_096;

const ANY = -1;

/** Null where no row can pass: it names something that no row has. */
export function toRowFilter(strings: UsageStrings, workspaceId: string, filter: UsageFilter): RowFilter | null {
  const workspace = strings.find(workspaceId);
  const model = filter.model === undefined ? ANY : strings.find(filter.model);
  const key = filter.keyId === undefined ? ANY : strings.find(filter.keyId);
  if (workspace === undefined || model === undefined || key === undefined) return null;
  const { fromMs = Number.NEGATIVE_INFINITY, toMs = Number.POSITIVE_INFINITY, status = ANY } = filter;
  return { workspace, fromMs, toMs, model, key, status };
}

/**
 * Writes the numbers of the rows from `first` on and before `end` that pass, ascending, into `rows`, which must have room for
 * all; answers how many there are.
 */
export function selectRows(
  columns: SummedColumns,
  { first, end }: { readonly first: number; readonly end: number },
  filter: RowFilter,
  rows: Uint32Array,
): number {
  let count = 0;
  const { workspace } = columns;
  for (let row = first; row < end; row += 1) {
    rows[count] = row;
    if (workspace[row] === filter.workspace) count += 1;
  }
  if (filter.key !== ANY) count = keepEqual(columns.key, filter.key, rows, count);
  if (filter.model !== ANY) count = keepEqual(columns.model, filter.model, rows, count);
  if (filter.status !== ANY) count = keepStatus(columns.status, filter.status, rows, count);
  if (Number.isFinite(filter.fromMs) || Number.isFinite(filter.toMs)) {
    count = keepBetween(columns.createdAt, filter, rows, count);
  }
  return count;
}

function keepEqual(column: Uint32Array, wanted: number, rows: Uint32Array, count: number): number {
  let kept = 0;
  for (let index = 0; index < count; index += 1) {
    const row = rows[index] ?? 0;
    rows[kept] = row;
    if (column[row] === wanted) kept += 1;
  }
  return kept;
}

function keepStatus(column: Uint16Array, wanted: number, rows: Uint32Array, count: number): number {
  let kept = 0;
  for (let index = 0; index < count; index += 1) {
    const row = rows[index] ?? 0;
    rows[kept] = row;
    if (column[row] === wanted) kept += 1;
  }
  return kept;
}

function keepBetween(column: Float64Array, { fromMs, toMs }: RowFilter, rows: Uint32Array, count: number): number {
  let kept = 0;
  for (let index = 0; index < count; index += 1) {
    const row = rows[index] ?? 0;
    const createdAt = column[row] ?? 0;
    rows[kept] = row;
    if (createdAt >= fromMs && createdAt < toMs) kept += 1;
  }
  return kept;
}

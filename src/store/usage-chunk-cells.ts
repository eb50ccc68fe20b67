// The cells of a full chunk: in all detail where that makes them few, otherwise in the two halves that most sums need.

import type { UsageFilter, UsageGroupBy } from './store.ts';
import { UsageCells } from './usage-cells.ts';
import type { SummedColumns } from './usage-row-columns.ts';

/** Null where there would be too many. Those by key and model know no task and virtual model, and the other way round. */
type FineCells = {
  readonly all: UsageCells | null;
  readonly byKeyAndModel: UsageCells | null;
  readonly byTask: UsageCells | null;
};
/** The coarsest cells that do. */
export type CellNeed = keyof FineCells | 'byKey' | 'byModel';

/** Cells that are not far fewer than the rows save no time, only cost memory: the rows are looked at then. */
const ROWS_PER_CELL_MIN = 4;
const ROWS_PER_COARSE_CELL_MIN = 8;
/** Where this many rows make nearly as many cells, the rest is not worth trying. */
const SAMPLE_ROWS = 4_096;
const SAMPLE_CELLS_MAX = 3_072;

export function cellNeedOf(groupBy: UsageGroupBy, filter: UsageFilter): CellNeed {
  const ofAnyKey = filter.keyId === undefined;
  const ofAnyModel = filter.model === undefined;
  if (groupBy === 'task' || groupBy === 'virtual_model') return ofAnyKey && ofAnyModel ? 'byTask' : 'all';
  // The fewest cells of all.
  if (groupBy === 'day' && ofAnyKey && ofAnyModel) return 'byTask';
  if (groupBy === 'model' && ofAnyKey) return 'byModel';
  if (groupBy === 'key' && ofAnyModel) return 'byKey';
  if (groupBy === 'day' && ofAnyKey) return 'byModel';
  return groupBy === 'day' && ofAnyModel ? 'byKey' : 'byKeyAndModel';
}

/** The cells of one chunk. The coarsest ones are made from the finer ones, when first asked for. */
export class ChunkCells {
  readonly #fine: FineCells;
  #byKey: UsageCells | null = null;
  #byModel: UsageCells | null = null;

  constructor(columns: SummedColumns, rows: number) {
    this.#fine = makeFineCells(columns, rows);
  }

  /** Null where the rows themselves are to be looked at. */
  of(need: CellNeed): UsageCells | null {
    if (need === 'byKey') {
      this.#byKey ??= this.#coarser('model');
      return this.#byKey;
    }
    if (need === 'byModel') {
      this.#byModel ??= this.#coarser('key');
      return this.#byModel;
    }
    return this.#fine.all ?? this.#fine[need];
  }

  #coarser(without: 'key' | 'model'): UsageCells | null {
    const fine = this.#fine.byKeyAndModel ?? this.#fine.all;
    if (fine === null) return null;
    const none = new Uint32Array(fine.count);
    const cells = new UsageCells();
    cells.addRows({ ...fine.columns, task: none, virtualModel: none, [without]: none }, 0, fine.count);
    cells.finish();
    return cells;
  }
}

function makeFineCells(columns: SummedColumns, rows: number): FineCells {
  const sample = new UsageCells(SAMPLE_CELLS_MAX);
  const isPromising = sample.addRows(columns, 0, Math.min(rows, SAMPLE_ROWS));
  const all = isPromising ? cellsOf(columns, rows, ROWS_PER_CELL_MIN) : null;
  if (all !== null) return { all, byKeyAndModel: null, byTask: null };
  const none = new Uint32Array(rows);
  return {
    all,
    byKeyAndModel: cellsOf({ ...columns, task: none, virtualModel: none }, rows, ROWS_PER_COARSE_CELL_MIN),
    byTask: cellsOf({ ...columns, key: none, model: none }, rows, ROWS_PER_COARSE_CELL_MIN),
  };
}

function cellsOf(columns: SummedColumns, rows: number, rowsPerCellMin: number): UsageCells | null {
  const cells = new UsageCells(Math.floor(rows / rowsPerCellMin));
  if (!cells.addRows(columns, 0, rows)) return null;
  cells.finish();
  return cells;
}

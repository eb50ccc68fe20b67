// Usage rows in sum: one cell for all that agree in workspace, day, key, model, virtual model, task and status.

import { utcDay } from '../ledger/key-spend.ts';
import { addColumn, type SummedColumns } from './usage-row-columns.ts';

const MS_PER_DAY = 86_400_000;
const FIRST_CAPACITY = 16;
/** Rows are taken in runs of at most this many, one column after the other, which is several times as quick as row by row. */
const RUN_ROWS = 1_024;

type Run = { readonly first: number; readonly end: number };

/** Cells are rows as well: their `createdAt` is the first moment of their day, and each stands for several requests. */
export class UsageCells {
  #columns = makeCellColumns(FIRST_CAPACITY);
  #count = 0;
  readonly #countMax: number;
  /** A hash table of cell numbers plus one, at most half full; 0 is free. */
  #slots = new Int32Array(FIRST_CAPACITY * 2);
  #hashes = new Int32Array(FIRST_CAPACITY);
  readonly #runHashes = new Int32Array(RUN_ROWS);
  readonly #runCells = new Uint32Array(RUN_ROWS);

  constructor(countMax: number = Number.POSITIVE_INFINITY) {
    this.#countMax = countMax;
  }

  get count(): number {
    return this.#count;
  }

  /** The first `count` count. */
  get columns(): Required<SummedColumns> {
    return this.#columns;
  }

  /** False, with an unfinished sum, as soon as there are more cells than the most allowed. */
  addRows(rows: SummedColumns, first: number, end: number): boolean {
    for (let start = first; start < end; start += RUN_ROWS) {
      const run = { first: start, end: Math.min(end, start + RUN_ROWS) };
      hashRows(rows, run, this.#runHashes);
      for (let row = start; row < run.end; row += 1) {
        this.#runCells[row - start] = this.#cellOf(rows, row, this.#runHashes[row - start] ?? 0);
      }
      if (this.#count > this.#countMax) return false;
      const columns = this.#columns;
      addColumn(columns.requests, this.#runCells, rows.requests, run);
      addColumn(columns.inputTokens, this.#runCells, rows.inputTokens, run);
      addColumn(columns.cachedTokens, this.#runCells, rows.cachedTokens, run);
      addColumn(columns.outputTokens, this.#runCells, rows.outputTokens, run);
      addColumn(columns.cost, this.#runCells, rows.cost, run);
    }
    return true;
  }

  copy(): UsageCells {
    const copy = new UsageCells(this.#countMax);
    copy.#columns = resized(this.#columns, this.#columns.cost.length);
    copy.#slots = this.#slots.slice();
    copy.#hashes = this.#hashes.slice();
    copy.#count = this.#count;
    return copy;
  }

  /** Gives back the memory that only further rows would need: there must be none. */
  finish(): void {
    this.#columns = resized(this.#columns, this.#count);
    this.#slots = new Int32Array(0);
    this.#hashes = new Int32Array(0);
  }

  #cellOf(rows: SummedColumns, row: number, hash: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = hash & mask;
    for (;;) {
      const cell = (slots[slot] ?? 0) - 1;
      if (cell === -1) break;
      if (this.#hashes[cell] === hash && agree(this.#columns, cell, rows, row)) return cell;
      slot = (slot + 1) & mask;
    }
    if (this.#count * 2 === slots.length) {
      this.#grow();
      return this.#cellOf(rows, row, hash);
    }
    this.#slots[slot] = this.#count + 1;
    return this.#insert(rows, row, hash);
  }

  #insert(rows: SummedColumns, row: number, hash: number): number {
    const columns = this.#columns;
    const cell = this.#count;
    columns.createdAt[cell] = utcDay(rows.createdAt[row] ?? 0) * MS_PER_DAY;
    columns.workspace[cell] = rows.workspace[row] ?? 0;
    columns.key[cell] = rows.key[row] ?? 0;
    columns.model[cell] = rows.model[row] ?? 0;
    columns.virtualModel[cell] = rows.virtualModel[row] ?? 0;
    columns.task[cell] = rows.task[row] ?? 0;
    columns.status[cell] = rows.status[row] ?? 0;
    this.#hashes[cell] = hash;
    this.#count += 1;
    return cell;
  }

  #grow(): void {
    this.#columns = resized(this.#columns, this.#count * 2);
    const hashes = new Int32Array(this.#count * 2);
    hashes.set(this.#hashes);
    this.#hashes = hashes;
    const slots = new Int32Array(this.#slots.length * 2);
    const mask = slots.length - 1;
    for (let cell = 0; cell < this.#count; cell += 1) {
      let slot = (hashes[cell] ?? 0) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = cell + 1;
    }
    this.#slots = slots;
  }
}

function agree(columns: SummedColumns, cell: number, rows: SummedColumns, row: number): boolean {
  return (
    columns.model[cell] === rows.model[row] &&
    columns.key[cell] === rows.key[row] &&
    columns.task[cell] === rows.task[row] &&
    columns.virtualModel[cell] === rows.virtualModel[row] &&
    columns.status[cell] === rows.status[row] &&
    columns.workspace[cell] === rows.workspace[row] &&
    utcDay(columns.createdAt[cell] ?? 0) === utcDay(rows.createdAt[row] ?? 0)
  );
}

function hashRows(rows: SummedColumns, run: Run, hashes: Int32Array): void {
  for (let row = run.first; row < run.end; row += 1) {
    hashes[row - run.first] = mix(utcDay(rows.createdAt[row] ?? 0), rows.workspace[row] ?? 0);
  }
  for (const column of [rows.key, rows.model, rows.virtualModel, rows.task]) mixColumn(hashes, column, run);
  for (let row = run.first; row < run.end; row += 1) {
    hashes[row - run.first] = mix(hashes[row - run.first] ?? 0, rows.status[row] ?? 0);
  }
}

function mixColumn(hashes: Int32Array, column: Uint32Array, { first, end }: Run): void {
  for (let row = first; row < end; row += 1) hashes[row - first] = mix(hashes[row - first] ?? 0, column[row] ?? 0);
}

/** The factor is odd and its bits have no pattern, as multiplicative hashing wants it. */
function mix(hash: number, value: number): number {
  const mixed = Math.imul(hash ^ value, 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
}

function makeCellColumns(capacity: number): Required<SummedColumns> {
  return {
    createdAt: new Float64Array(capacity),
    requests: new Float64Array(capacity),
    inputTokens: new Float64Array(capacity),
    cachedTokens: new Float64Array(capacity),
    outputTokens: new Float64Array(capacity),
    cost: new Float64Array(capacity),
    workspace: new Uint32Array(capacity),
    key: new Uint32Array(capacity),
    model: new Uint32Array(capacity),
    virtualModel: new Uint32Array(capacity),
    task: new Uint32Array(capacity),
    status: new Uint16Array(capacity),
  };
}

function resized(columns: Required<SummedColumns>, capacity: number): Required<SummedColumns> {
  const made = makeCellColumns(capacity);
  const targets = Object.values(made);
  Object.values(columns).forEach((column, index) => {
    targets[index]?.set(column.subarray(0, capacity));
  });
  return made;
}

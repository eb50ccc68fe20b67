// Adds up rows of one workspace by group, as far as they pass a filter.

import { utcDay } from '../ledger/key-spend.ts';
import type { UsageGroupBy, UsageSum } from './store.ts';
import { type RowFilter, RUN_ROWS, selectRows } from './usage-filter.ts';
import type { SummedColumns } from './usage-row-columns.ts';
import type { UsageStrings } from './usage-strings.ts';

const MS_PER_DAY = 86_400_000;
/** The group of entries that have no value there: no virtual model, say. */
const NO_GROUP = '(none)';
/** A group's sums in their order: requests, errors, input tokens, cached tokens, output tokens, cost. */
const GROUP_SUMS = 6;
/** Groups are found by their number in a table up to this length; beyond it are only days far from ours. */
const TABLE_LENGTH_MAX = 1_048_576;

export class UsageSums {
  readonly #groupBy: UsageGroupBy;
  readonly #filter: RowFilter;
  /** The groups' numbers (days or names) in the order of arrival, and their sums. */
  readonly #groups: number[] = [];
  #sums = new Float64Array(GROUP_SUMS * 64);
  /** By number, the group's position plus one. */
  #table = new Int32Array(1_024);
  readonly #beyondTable = new Map<number, number>();
  /** The rows of a run that pass, and where their groups' sums are. */
  readonly #rows = new Uint32Array(RUN_ROWS);
  readonly #places = new Uint32Array(RUN_ROWS);

  constructor(groupBy: UsageGroupBy, filter: RowFilter) {
    this.#groupBy = groupBy;
    this.#filter = filter;
  }

  addRows(columns: SummedColumns, first: number, end: number): void {
    for (let start = first; start < end; start += RUN_ROWS) {
      const run = { first: start, end: Math.min(end, start + RUN_ROWS) };
      const count = selectRows(columns, run, this.#filter, this.#rows);
      this.#findPlaces(columns, count);
      this.#addSelected(columns, count);
    }
  }

  /** Days in order; other groups with the dearest first. */
  render(strings: UsageStrings): readonly UsageSum[] {
    const sums = this.#groups.map((group, position): UsageSum => {
      const [requests = 0, errors = 0, inputTokens = 0, cachedTokens = 0, outputTokens = 0, costNano = 0] =
        this.#sums.subarray(position * GROUP_SUMS, (position + 1) * GROUP_SUMS);
      const name = this.#groupBy === 'day' ? dayText(group) : (strings.nameOf(group) ?? NO_GROUP);
      return { group: name, requests, errors, inputTokens, cachedTokens, outputTokens, costNano };
    });
    if (this.#groupBy === 'day') return sums.sort((a, b) => compareText(a.group, b.group));
    return sums.sort((a, b) => b.costNano - a.costNano || b.requests - a.requests || compareText(a.group, b.group));
  }

  #findPlaces(columns: SummedColumns, count: number): void {
    const rows = this.#rows;
    const places = this.#places;
    const names = namesColumn(columns, this.#groupBy);
    for (let index = 0; index < count; index += 1) {
      const row = rows[index] ?? 0;
      const group = names === null ? utcDay(columns.createdAt[row] ?? 0) : (names[row] ?? 0);
      const position = (this.#table[group] ?? 0) - 1;
      places[index] = (position === -1 ? this.#newPosition(group) : position) * GROUP_SUMS;
    }
  }

  #addSelected(columns: SummedColumns, count: number): void {
    const { requests, inputTokens, cachedTokens, outputTokens, cost } = columns;
    this.#addErrors(columns, count);
    this.#addColumn(0, requests, count);
    this.#addColumn(2, inputTokens, count);
    this.#addColumn(3, cachedTokens, count);
    this.#addColumn(4, outputTokens, count);
    this.#addColumn(5, cost, count);
  }

  #addColumn(part: number, column: Float64Array | undefined, count: number): void {
    const sums = this.#sums;
    const rows = this.#rows;
    const places = this.#places;
    for (let index = 0; index < count; index += 1) {
      const at = (places[index] ?? 0) + part;
      sums[at] = (sums[at] ?? 0) + (column === undefined ? 1 : (column[rows[index] ?? 0] ?? 0));
    }
  }

  #addErrors({ status, requests }: SummedColumns, count: number): void {
    const sums = this.#sums;
    for (let index = 0; index < count; index += 1) {
      const row = this.#rows[index] ?? 0;
      if ((status[row] ?? 0) < 400) continue;
      const at = (this.#places[index] ?? 0) + 1;
      sums[at] = (sums[at] ?? 0) + (requests === undefined ? 1 : (requests[row] ?? 0));
    }
  }

  /** Only for a number that the table doesn't have. */
  #newPosition(group: number): number {
    const known = this.#beyondTable.get(group);
    if (known !== undefined) return known;
    const position = this.#groups.push(group) - 1;
    if (group < 0 || group >= TABLE_LENGTH_MAX) {
      this.#beyondTable.set(group, position);
    } else {
      if (group >= this.#table.length) this.#table = lengthened(this.#table, Int32Array, group + 1);
      this.#table[group] = position + 1;
    }
    const needed = this.#groups.length * GROUP_SUMS;
    if (needed > this.#sums.length) this.#sums = lengthened(this.#sums, Float64Array, needed);
    return position;
  }
}

/** At least twice as long, so that growing step by step costs little. */
function lengthened<List extends { readonly length: number; set(from: List): void }>(
  list: List,
  Type: new (length: number) => List,
  lengthMin: number,
): List {
  const longer = new Type(Math.max(lengthMin, list.length * 2));
  longer.set(list);
  return longer;
}

/** Null for days, which follow from the time. */
function namesColumn(columns: SummedColumns, groupBy: UsageGroupBy): Uint32Array | null {
  switch (groupBy) {
    case 'day':
      return null;
    case 'model':
      return columns.model;
    case 'key':
      return columns.key;
    case 'task':
      return columns.task;
    case 'virtual_model':
      return columns.virtualModel;
  }
}

function dayText(day: number): string {
  return new Date(day * MS_PER_DAY).toISOString().slice(0, 10);
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

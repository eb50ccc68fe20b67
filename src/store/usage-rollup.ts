// What usage rows add up to that are not there any more: by UTC day and by all that sums group and filter by.

import { UsageCells } from './usage-cells.ts';
import type { UsageChunk } from './usage-chunk.ts';
import type { UsageStrings } from './usage-strings.ts';
import type { UsageSums } from './usage-sums.ts';

/**
 * A rollup as JSON that needs nothing beside it: columns of the same length, one place in them for each cell. `workspace`, `key`,
 * `model`, `virtualModel` and `task` count from 1 in `names`, 0 is none; `createdAt` is the first moment of the cell's UTC day.
 */
export type RollupState = { readonly names: readonly string[] } & Readonly<Record<RollupColumn, readonly number[]>>;

const NAME_COLUMNS = ['workspace', 'key', 'model', 'virtualModel', 'task'] as const;
const COLUMNS = [
  ...NAME_COLUMNS,
  'createdAt',
  'status',
  'requests',
  'inputTokens',
  'cachedTokens',
  'outputTokens',
  'cost',
] as const;
type RollupColumn = (typeof COLUMNS)[number];

export class UsageRollup {
  readonly #strings: UsageStrings;
  readonly #cells: UsageCells;

  /** Names that are merged in go to `strings`. */
  constructor(strings: UsageStrings, cells: UsageCells = new UsageCells()) {
    this.#strings = strings;
    this.#cells = cells;
  }

  copy(): UsageRollup {
    return new UsageRollup(this.#strings, this.#cells.copy());
  }

  /** The rows from `first` on and before `end`. */
  add(chunk: UsageChunk, first: number, end: number): void {
    const whole = first === 0 && end === chunk.rows ? chunk.cells('all') : null;
    if (whole === null) this.#cells.addRows(chunk.columns, first, end);
    else this.#cells.addRows(whole.columns, 0, whole.count);
  }

  addTo(sums: UsageSums): void {
    sums.addRows(this.#cells.columns, 0, this.#cells.count);
  }

  state(): RollupState {
    const names: string[] = [];
    const numbers = new Map<number, number>([[0, 0]]);
    const localNumber = (number: number): number => {
      let local = numbers.get(number);
      if (local === undefined) {
        local = names.push(this.#strings.nameOf(number) ?? '');
        numbers.set(number, local);
      }
      return local;
    };
    const { columns, count } = this.#cells;
    // A loop, because turning a typed array into a list by its iterator takes many times as long.
    const list = (column: RollupColumn): number[] => {
      const values: number[] = [];
      for (let cell = 0; cell < count; cell += 1) values.push(columns[column][cell] ?? 0);
      return values;
    };
    const named = (column: (typeof NAME_COLUMNS)[number]): number[] => list(column).map(localNumber);
    return {
      names,
      workspace: named('workspace'),
      key: named('key'),
      model: named('model'),
      virtualModel: named('virtualModel'),
      task: named('task'),
      createdAt: list('createdAt'),
      status: list('status'),
      requests: list('requests'),
      inputTokens: list('inputTokens'),
      cachedTokens: list('cachedTokens'),
      outputTokens: list('outputTokens'),
      cost: list('cost'),
    };
  }

  /** Throws an `Error` for a state that `state` can't have made. */
  merge(state: RollupState): void {
    const count = state.createdAt.length;
    for (const column of COLUMNS) {
      if (state[column].length !== count)
        throw new Error(`a rollup has ${state[column].length} of ${count} in ${column}`);
    }
    const numbers = [0, ...state.names.map((name) => this.#strings.numberFor(name))];
    const named = (column: (typeof NAME_COLUMNS)[number]): Uint32Array =>
      Uint32Array.from(state[column], (local) => {
        const number = numbers[local];
        if (number === undefined) throw new Error(`a rollup names ${local} of ${state.names.length} in ${column}`);
        return number;
      });
    const rows = {
      workspace: named('workspace'),
      key: named('key'),
      model: named('model'),
      virtualModel: named('virtualModel'),
      task: named('task'),
      createdAt: Float64Array.from(state.createdAt),
      status: Uint16Array.from(state.status),
      requests: Float64Array.from(state.requests),
      inputTokens: Float64Array.from(state.inputTokens),
      cachedTokens: Float64Array.from(state.cachedTokens),
      outputTokens: Float64Array.from(state.outputTokens),
      cost: Float64Array.from(state.cost),
    };
    this.#cells.addRows(rows, 0, count);
  }
}

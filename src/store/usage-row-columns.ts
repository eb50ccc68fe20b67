// The columns of usage rows: typed arrays over one piece of memory, so that a file of them is read without a loop.

/** What sums are made of. Names are numbers of the dictionary. */
export type SummedColumns = {
  /** How many requests each row stands for; one without this column. */
  readonly requests?: Float64Array;
  readonly createdAt: Float64Array;
  readonly cost: Float64Array;
  readonly inputTokens: Float64Array;
  readonly cachedTokens: Float64Array;
  readonly outputTokens: Float64Array;
  readonly workspace: Uint32Array;
  readonly key: Uint32Array;
  readonly model: Uint32Array;
  readonly virtualModel: Uint32Array;
  readonly task: Uint32Array;
  readonly status: Uint16Array;
};

export type UsageColumns = Omit<SummedColumns, 'requests'> & {
  readonly capacity: number;
  readonly seq: Float64Array;
  readonly segment: Uint32Array;
  readonly offset: Uint32Array;
  readonly bytes: Uint32Array;
};

const DOUBLES = 6;
const NUMBERS = 8;
export const ROW_BYTES = DOUBLES * 8 + NUMBERS * 4 + 2;

/** The widest come first, so that each column is aligned whatever the capacity. `byteOffset` must be a multiple of 8. */
export function columnsOver(memory: ArrayBufferLike, byteOffset: number, capacity: number): UsageColumns {
  const double = (index: number) => new Float64Array(memory, byteOffset + index * capacity * 8, capacity);
  const numbersAt = byteOffset + DOUBLES * capacity * 8;
  const number = (index: number) => new Uint32Array(memory, numbersAt + index * capacity * 4, capacity);
  return {
    capacity,
    seq: double(0),
    createdAt: double(1),
    cost: double(2),
    inputTokens: double(3),
    cachedTokens: double(4),
    outputTokens: double(5),
    segment: number(0),
    offset: number(1),
    bytes: number(2),
    workspace: number(3),
    key: number(4),
    model: number(5),
    virtualModel: number(6),
    task: number(7),
    status: new Uint16Array(memory, numbersAt + NUMBERS * capacity * 4, capacity),
  };
}

export function makeColumns(capacity: number): UsageColumns {
  return columnsOver(new ArrayBuffer(capacity * ROW_BYTES), 0, capacity);
}

/** Copies the first `rows` rows. */
export function copyColumns(from: UsageColumns, to: UsageColumns, rows: number): void {
  const targets = listOf(to);
  listOf(from).forEach((column, index) => {
    targets[index]?.set(column.subarray(0, rows));
  });
}

/** To each place named by `targets` (which has one for each row from `first` on) adds the row's amount; 1 without a column. */
export function addColumn(
  sums: Float64Array,
  targets: Uint32Array,
  column: Float64Array | undefined,
  { first, end }: { readonly first: number; readonly end: number },
): void {
  for (let row = first; row < end; row += 1) {
    const target = targets[row - first] ?? 0;
    sums[target] = (sums[target] ?? 0) + (column === undefined ? 1 : (column[row] ?? 0));
  }
}

/** How many of the first `rows` values of an ascending column are below `limit`. */
export function countBelow(ascending: Float64Array | Uint32Array, rows: number, limit: number): number {
  let low = 0;
  let high = rows;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ascending[middle] ?? 0) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

function listOf(columns: UsageColumns): readonly (Float64Array | Uint32Array | Uint16Array)[] {
  return Object.values(columns).filter((column) => typeof column !== 'number');
}

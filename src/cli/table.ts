// Renders rows as an aligned table that fits the terminal.

import { pad, printable, textWidth, truncate } from './text-width.ts';

export type Column = {
  readonly header: string;
  /** Numbers go right. */
  readonly align?: 'left' | 'right';
  /** May be cut to fit; the others are dropped whole, since half a number misleads. */
  readonly shrinks?: boolean;
  /** The least that cutting leaves, 8 by default: enough to tell names apart. */
  readonly widthMin?: number;
  /** Lower numbers are dropped sooner; columns without one after those, from the right. */
  readonly dropOrder?: number;
  /** Neither dropped nor cut, even where the table gets wider than the terminal: what people copy or came for. */
  readonly keep?: boolean;
  /** Colours a finished cell; must not change its width. */
  readonly paint?: (cell: string) => string;
};

export type TableStyle = {
  /** Columns of the terminal; `Infinity` where nothing is to be cut. */
  readonly width: number;
  readonly header?: (text: string) => string;
};

type Fitted = { readonly column: Column; readonly index: number; readonly width: number };

const GAP = '  ';
const SHRUNK_WIDTH_MIN = 8;

/** Header line, then one line a row, each ended by a line feed. Cells are cleaned of control characters. */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  style: TableStyle,
): string {
  const cells = rows.map((row) => columns.map((_, index) => printable(row[index] ?? '')));
  const fitted = fitColumns(columns, cells, style.width);
  const paintHeader = style.header ?? ((text: string): string => text);
  const header = joinCells(fitted, (column) => column.header, paintHeader);
  const lines = cells.map((row) => joinCells(fitted, (_, index) => row[index] ?? ''));
  return `${[header, ...lines].join('\n')}\n`;
}

function fitColumns(
  columns: readonly Column[],
  cells: readonly (readonly string[])[],
  width: number,
): readonly Fitted[] {
  const natural = columns.map((column, index) => ({
    column,
    index,
    width: cells.reduce((widest, row) => Math.max(widest, textWidth(row[index] ?? '')), textWidth(column.header)),
  }));
  let shown: readonly Fitted[] = natural;
  let missing = widthOf(shown) - width;
  while (missing > 0) {
    const shrunk = shrink(shown, missing);
    if (widthOf(shrunk) <= width) return shrunk;
    const least = shown.length > 1 ? leastImportant(shown) : undefined;
    if (least === undefined) break;
    shown = shown.filter((fitted) => fitted !== least);
    missing = widthOf(shown) - width;
  }
  const cut = missing > 0 && shown.every(({ column }) => !column.keep);
  return shown.map((fitted) => (cut ? { ...fitted, width: Math.max(0, width) } : fitted));
}

/** The column to drop next; undefined where all that are left must be kept. */
function leastImportant(shown: readonly Fitted[]): Fitted | undefined {
  const order = ({ column }: Fitted): number => column.dropOrder ?? Number.MAX_SAFE_INTEGER;
  return shown
    .filter(({ column }) => !column.keep)
    .reduce<Fitted | undefined>((least, fitted) => (least && order(least) < order(fitted) ? least : fitted), undefined);
}

/** Takes `missing` columns away, always from the widest that shrinks; equals take turns. */
function shrink(shown: readonly Fitted[], missing: number): readonly Fitted[] {
  let left = missing;
  let current = shown;
  while (left > 0) {
    const widths = current.map((fitted) => (canShrink(fitted) ? fitted.width : 0));
    const widest = Math.max(...widths);
    if (widest === 0) return current;
    const at = widths.indexOf(widest);
    const next = Math.max(widthMinOf(current[at]), ...widths.filter((_, index) => index !== at));
    const taken = Math.min(left, Math.max(1, widest - next));
    current = current.map((fitted, index) => (index === at ? { ...fitted, width: fitted.width - taken } : fitted));
    left -= taken;
  }
  return current;
}

function canShrink(fitted: Fitted): boolean {
  const { column, width } = fitted;
  return Boolean(column.shrinks && !column.keep) && width > widthMinOf(fitted);
}

function widthMinOf(fitted: Fitted | undefined): number {
  return fitted?.column.widthMin ?? SHRUNK_WIDTH_MIN;
}

function widthOf(shown: readonly Fitted[]): number {
  return shown.reduce((sum, { width }) => sum + width, 0) + GAP.length * Math.max(0, shown.length - 1);
}

function joinCells(
  fitted: readonly Fitted[],
  cellOf: (column: Column, index: number) => string,
  paintAll?: (text: string) => string,
): string {
  const parts = fitted.map(({ column, index, width }, position) => {
    const cut = truncate(cellOf(column, index), width);
    // Spaces after the last column would only make lines wrap.
    const last = position === fitted.length - 1 && column.align !== 'right';
    const cell = last ? cut : pad(cut, width, column.align ?? 'left');
    return (paintAll ?? column.paint ?? ((text: string): string => text))(cell);
  });
  return parts.join(GAP).replace(/ +$/, '');
}

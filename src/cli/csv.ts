// Renders rows as CSV (RFC 4180), safe to open in a spreadsheet.

export type CsvCell = string | number | boolean | null;

/** Header line and rows, each ended by CR LF; null is an empty field. */
export function renderCsv(header: readonly string[], rows: readonly (readonly CsvCell[])[]): string {
  return [header, ...rows].map((row) => `${row.map(renderCell).join(',')}\r\n`).join('');
}

function renderCell(cell: CsvCell): string {
  if (cell === null) return '';
  if (typeof cell !== 'string') return String(cell);
  const safe = isFormula(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Spreadsheets run text that begins so; a plain negative amount is left alone. */
function isFormula(text: string): boolean {
  return /^[=+\-@\t\r]/.test(text) && !/^-\d+(\.\d+)?$/.test(text);
}

// Medians, percentiles and Markdown tables of the ledger's benchmarks.

import { cpus, loadavg } from 'node:os';

export type Percentiles = { readonly p50: number; readonly p99: number; readonly max: number };

export function percentiles(samples: readonly number[]): Percentiles {
  const ascending = Float64Array.from(samples).sort();
  const at = (share: number): number => ascending[Math.max(0, Math.ceil(share * ascending.length) - 1)] ?? Number.NaN;
  return { p50: rounded(at(0.5)), p99: rounded(at(0.99)), max: rounded(at(1)) };
}

export function median(values: readonly number[]): number {
  const ascending = [...values].sort((a, b) => a - b);
  const middle = ascending.length >> 1;
  const high = ascending[middle] ?? Number.NaN;
  return ascending.length % 2 === 1 ? high : ((ascending[middle - 1] ?? Number.NaN) + high) / 2;
}

/** Three significant digits below a hundred, whole numbers above. */
export function rounded(value: number): number {
  return Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3));
}

export function markdownTable(head: readonly string[], rows: readonly (readonly (string | number | null)[])[]): string {
  const line = (cells: readonly (string | number | null)[]): string =>
    `| ${cells.map((cell) => (cell === null ? '' : cell)).join(' | ')} |\n`;
  const [, ...others] = head;
  return `${line(head)}|---|${others.map(() => '--:').join('|')}|\n${rows.map(line).join('')}`;
}

/** How busy the machine was with whatever else runs on it, for whoever reads the figures later. */
export function machineLoad(): string {
  return `load average ${loadavg()[0]?.toFixed(1)} on ${cpus().length} processors`;
}

/** Progress goes to standard error, so that standard output holds the result alone. */
export function note(text: string): void {
  process.stderr.write(`# ${text}\n`);
}

// The scale report as Markdown, with the targets it is held against.

import { markdownTable, rounded } from './ledger-figures.ts';
import type { QueryFigures } from './ledger-queries.ts';
import type { ScaleReport } from './ledger-scale.ts';

export type Target = {
  readonly name: string;
  readonly limit: number;
  readonly unit: 'ms' | 'MB';
  readonly found: number;
  readonly ok: boolean;
};

const START_MS_MAX = 2_000;
const ANSWER_MS_MAX = 50;
const RESIDENT_MB_MAX = 300;

/** The limits hold for a million entries; with fewer they say less. */
export function targetsOf(report: ScaleReport): readonly Target[] {
  const slowest = (kind: QueryFigures['kind']): number =>
    Math.max(...report.queries.filter((query) => query.kind === kind).map(({ ms }) => ms.p50));
  const resident = Math.max(report.memoryAfterStart.residentMb, report.memoryAfterQueries.residentMb);
  return [
    target('warm start, median', START_MS_MAX, 'ms', report.warmStartMs),
    target('page of 100, slowest median', ANSWER_MS_MAX, 'ms', slowest('page')),
    target('sums, slowest median', ANSWER_MS_MAX, 'ms', slowest('sums')),
    target('resident memory, start and after queries', RESIDENT_MB_MAX, 'MB', resident),
  ];
}

export function renderScale(report: ScaleReport): string {
  const targets = targetsOf(report).map(({ name, limit, unit, found, ok }) => [
    name,
    `< ${limit} ${unit}`,
    `${found} ${unit}`,
    ok ? 'ok' : 'missed',
  ]);
  const queries = report.queries.map(({ kind, name, times, ms, answerBytes }) => [
    `${kind}: ${name}`,
    ms.p50,
    ms.p99,
    ms.max,
    times,
    rounded(answerBytes / 1_024),
  ]);
  return [
    `## Ledger with ${report.entries} settled requests\n\n`,
    `At the beginning ${report.machine[0]}, at the end ${report.machine[1]}.\n\n`,
    markdownTable(['', 'figure'], startRows(report)),
    '\n',
    markdownTable(['usage over HTTP', 'p50 ms', 'p99 ms', 'max ms', 'times', 'answer KiB'], queries),
    '\n',
    markdownTable(['target', 'limit', 'found', ''], targets),
    `\nSums and balance are ${report.exact ? 'exactly what was written' : 'WRONG'}.\n`,
  ].join('');
}

function startRows(report: ScaleReport): readonly (readonly string[])[] {
  const megabytes = (bytes: number): string => `${rounded(bytes / 1e6)} MB`;
  const memory = ({ residentMb, peakMb }: ScaleReport['memoryAfterStart']): string =>
    `${residentMb} MB (peak ${peakMb})`;
  return [
    [
      'journal as written',
      `${megabytes(report.journalBytes)}, ${report.segments} segments, in ${seconds(report.generatedMs)} (CPU ${seconds(report.generatedCpuMs)})`,
    ],
    ['first start', `${seconds(report.firstStartMs)} (CPU ${seconds(report.firstStartCpuMs)})`],
    ['until files were quiet after it', seconds(report.settledAfterMs)],
    ['first stop', seconds(report.firstStopMs)],
    ['on disk then', `journal ${megabytes(report.diskBytes.journal)}, index ${megabytes(report.diskBytes.index)}`],
    [
      'warm start, median of 5',
      `${seconds(report.warmStartMs)} (CPU ${seconds(report.warmStartCpuMs)}; ${report.warmStartsMs.join(', ')} ms)`,
    ],
    ['start after SIGKILL', seconds(report.startAfterKillMs)],
    ['rebuild without index/', `${seconds(report.rebuildMs)} (CPU ${seconds(report.rebuildCpuMs)})`],
    ['resident after start', memory(report.memoryAfterStart)],
    ['resident after queries', memory(report.memoryAfterQueries)],
    ['resident after rebuild', memory(report.memoryAfterRebuild)],
  ];
}

function seconds(ms: number): string {
  return `${rounded(ms / 1_000)} s`;
}

function target(name: string, limit: number, unit: Target['unit'], found: number): Target {
  return { name, limit, unit, found, ok: found < limit };
}

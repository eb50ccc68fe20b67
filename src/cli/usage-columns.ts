// The columns of usage entries and sums, as table and as CSV.

import type { UsageEntryView, UsageSumView } from '../api/types.ts';
import type { CsvCell } from './csv.ts';
import type { Column } from './table.ts';
import { timeText } from './time-text.ts';
import { usdText } from './usd-text.ts';

export const ENTRY_COLUMNS: readonly Column[] = [
  { header: 'TIME (UTC)', dropOrder: 6 },
  { header: 'MODEL', shrinks: true, widthMin: 20 },
  { header: 'TASK', shrinks: true, dropOrder: 2 },
  // What is cut is the name of the error, behind the number.
  { header: 'STATUS', align: 'right', shrinks: true, dropOrder: 3 },
  { header: 'INPUT', align: 'right', dropOrder: 4 },
  { header: 'OUTPUT', align: 'right', dropOrder: 5 },
  { header: 'COST', align: 'right', keep: true },
  { header: 'LATENCY', align: 'right', dropOrder: 1 },
];

export function entryRow(entry: UsageEntryView): readonly string[] {
  return [
    timeText(entry.created_at),
    entry.model ?? entry.requested_model,
    entry.task_type ?? '',
    entry.error_code === null ? String(entry.status) : `${entry.status} ${entry.error_code}`,
    String(entry.input_tokens),
    String(entry.output_tokens),
    usdText(entry.cost),
    `${Math.round(entry.latency_ms)} ms`,
  ];
}

export function sumColumns(group: string): readonly Column[] {
  return [
    { header: group.toUpperCase().replace('_', ' '), shrinks: true, widthMin: 20 },
    { header: 'REQUESTS', align: 'right', dropOrder: 5 },
    { header: 'ERRORS', align: 'right', dropOrder: 2 },
    { header: 'INPUT', align: 'right', dropOrder: 3 },
    { header: 'CACHED', align: 'right', dropOrder: 1 },
    { header: 'OUTPUT', align: 'right', dropOrder: 4 },
    { header: 'COST', align: 'right', keep: true },
  ];
}

export function sumRow(sum: UsageSumView): readonly string[] {
  const numbers = [sum.requests, sum.errors, sum.input_tokens, sum.cached_tokens, sum.output_tokens];
  return [sum.group, ...numbers.map(String), usdText(sum.cost)];
}

/** Every field but the decision, which is no flat value; `--json` has it. */
const ENTRY_FIELDS = [
  'id',
  'request_id',
  'created_at',
  'api_key_id',
  'format',
  'source',
  'stream',
  'requested_model',
  'virtual_model',
  'model',
  'upstream',
  'task_type',
  'complexity',
  'classifier',
  'status',
  'error_code',
  'finish_reason',
  'input_tokens',
  'cached_tokens',
  'cache_write_tokens',
  'output_tokens',
  'reasoning_tokens',
  'tokens_saved',
  'cost',
  'cost_kind',
  'settle_reason',
  'latency_ms',
  'ttft_ms',
  'gateway_ms',
  'attempts',
  'upstream_cost',
] as const satisfies readonly (keyof UsageEntryView)[];

const SUM_FIELDS = [
  'group',
  'requests',
  'errors',
  'input_tokens',
  'cached_tokens',
  'output_tokens',
  'cost',
] as const satisfies readonly (keyof UsageSumView)[];

export type CsvTable = { readonly header: readonly string[]; readonly rows: readonly (readonly CsvCell[])[] };

export function entryCsv(entries: readonly UsageEntryView[]): CsvTable {
  return {
    header: [...ENTRY_FIELDS, 'anomalies'],
    rows: entries.map((entry) => [...ENTRY_FIELDS.map((field) => entry[field] ?? null), entry.anomalies.join(' ')]),
  };
}

export function sumCsv(sums: readonly UsageSumView[]): CsvTable {
  return { header: SUM_FIELDS, rows: sums.map((sum) => SUM_FIELDS.map((field) => sum[field] ?? null)) };
}

// `svc ledger reconcile`: what was charged beside what the upstream said it cost.

import { reconcileLedger } from '../../daemon/ledger-tools.ts';
import type { LedgerReconciliation, ReconciledSums } from '../../daemon/ledger-views.ts';
import { usageError } from '../cli-error.ts';
import type { CommandInput } from '../command.ts';
import { renderCsv } from '../csv.ts';
import { EXIT } from '../exit-codes.ts';
import { readLedger } from '../ledger-read.ts';
import { type Column, renderTable } from '../table.ts';
import { timeOption } from '../time-option.ts';
import { usdExact, usdText } from '../usd-text.ts';

const SUM_COLUMNS = (by: string): readonly Column[] => [
  { header: by.toUpperCase(), shrinks: true, widthMin: 20 },
  { header: 'REQUESTS', align: 'right', dropOrder: 4 },
  { header: 'COMPARED', align: 'right', dropOrder: 3 },
  { header: 'CHARGED', align: 'right', dropOrder: 7 },
  { header: 'UPSTREAM', align: 'right', dropOrder: 8 },
  { header: 'DIFFERENCE', align: 'right', keep: true },
  { header: '%', align: 'right', dropOrder: 9 },
  { header: 'UNCOMPARED', align: 'right', dropOrder: 5 },
  { header: 'CHARGED FOR THEM', align: 'right', dropOrder: 6 },
  { header: 'ESTIMATED', align: 'right', dropOrder: 2 },
  { header: 'ANOMALIES', shrinks: true, dropOrder: 1 },
];
const REQUEST_COLUMNS: readonly Column[] = [
  { header: 'REQUEST', keep: true },
  { header: 'MODEL', shrinks: true, dropOrder: 1 },
  { header: 'CHARGED', align: 'right', dropOrder: 2 },
  { header: 'UPSTREAM', align: 'right', dropOrder: 3 },
  { header: 'DIFFERENCE', align: 'right', keep: true },
];
const CSV_FIELDS = [
  'requests',
  'compared',
  'our_cost',
  'upstream_cost',
  'difference',
  'difference_percent',
  'without_upstream_cost',
  'our_cost_without',
  'estimated',
] as const satisfies readonly (keyof ReconciledSums)[];

/** Reports and does not judge: 0 however great the differences are. */
export async function runLedgerReconcile(input: CommandInput): Promise<number> {
  const { options, output } = input;
  if (options.isSet('csv') && options.isSet('json')) throw usageError('--csv and --json exclude each other');
  const given = options.text('by');
  const by = given === 'upstream' || given === 'day' ? given : 'model';
  const from = timeOption(input, 'since', '--since', 'past');
  const to = timeOption(input, 'until', '--until', 'past');
  if (from !== undefined && to !== undefined && from > to) {
    throw usageError(`--since (${from}) is after --until (${to})`);
  }
  const question = {
    by,
    ...(from !== undefined && { fromMs: Date.parse(from) }),
    ...(to !== undefined && { toMs: Date.parse(to) }),
  } as const;
  const found = await readLedger(input, (home, onProgress) => reconcileLedger(home, question, onProgress));
  if (options.isSet('csv')) output.raw(csvOf(found));
  else output.result(found, () => textOf(input, found));
  if (found.total.compared > 0 && !options.isSet('json')) {
    output.note("difference: what was charged less what the upstream said it cost; % is of the upstream's figure");
  }
  if (found.carried) output.note('note: older segments have expired; their requests are not in these sums');
  return EXIT.ok;
}

function csvOf({ groups, by }: LedgerReconciliation): string {
  const rows = groups.map((sums) => [
    sums.group,
    ...CSV_FIELDS.map((field) => sums[field]),
    anomaliesText(sums.anomalies),
  ]);
  return renderCsv([by, ...CSV_FIELDS, 'anomalies'], rows);
}

function textOf({ output }: CommandInput, { by, groups, total, requests }: LedgerReconciliation): string {
  if (total.requests === 0) return 'no requests\n';
  const style = { width: output.width, header: output.paint.dim };
  const rows = [...groups, { group: 'total', ...total }].map(rowOf);
  const sums = renderTable(SUM_COLUMNS(by), rows, style);
  if (requests.length === 0) return sums;
  const singles = requests.map(({ request_id, model, our_cost, upstream_cost, difference }) => [
    request_id,
    model ?? '',
    usdText(our_cost),
    usdText(upstream_cost),
    usdExact(difference),
  ]);
  return `${sums}\n${renderTable(REQUEST_COLUMNS, singles, style)}`;
}

function rowOf({ group, ...sums }: { readonly group: string } & ReconciledSums): readonly string[] {
  return [
    group,
    String(sums.requests),
    String(sums.compared),
    usdText(sums.our_cost),
    usdText(sums.upstream_cost),
    usdExact(sums.difference),
    sums.difference_percent ?? '',
    String(sums.without_upstream_cost),
    usdText(sums.our_cost_without),
    String(sums.estimated),
    anomaliesText(sums.anomalies),
  ];
}

function anomaliesText(anomalies: ReconciledSums['anomalies']): string {
  return Object.entries(anomalies)
    .map(([name, requests]) => `${name}: ${requests}`)
    .join(', ');
}

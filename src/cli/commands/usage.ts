// `svc usage`: requests and what they cost, one by one or summed, as table, CSV or JSON.

import type { ApiList, UsageEntryView, UsageGroup, UsageQuery, UsageSumView } from '../../api/types.ts';
import { readPages } from '../all-pages.ts';
import { findKey } from '../choose-key.ts';
import { usageError } from '../cli-error.ts';
import type { CommandInput } from '../command.ts';
import { connectSession } from '../connection.ts';
import { renderCsv } from '../csv.ts';
import { EXIT } from '../exit-codes.ts';
import { numberOption } from '../number-option.ts';
import { renderTable } from '../table.ts';
import { timeOption } from '../time-option.ts';
import { ENTRY_COLUMNS, entryCsv, entryRow, sumColumns, sumCsv, sumRow } from '../usage-columns.ts';
import { sumUsd, usdText } from '../usd-text.ts';

const LIMIT_DEFAULT = 100;
/** All of them are kept in memory until they are printed. */
const LIMIT_MAX = 100_000;
/** Groups are days, models, keys or tasks: more would be no overview. */
const SUMS_MAX = 10_000;

export async function runUsage(input: CommandInput): Promise<number> {
  const { options } = input;
  if (options.isSet('csv') && options.isSet('json')) throw usageError('--csv and --json exclude each other');
  const limit = numberOption(options, 'limit', '--limit', LIMIT_MAX);
  const group = options.text('by');
  const from = timeOption(input, 'since', '--since', 'past');
  const to = timeOption(input, 'until', '--until', 'past');
  if (from !== undefined && to !== undefined && from > to) {
    throw usageError(`--since (${from}) is after --until (${to})`);
  }
  const key = options.text('key');
  const { client, workspaceId } = await connectSession(input);
  const id = await workspaceId();
  const key_id = key === undefined ? undefined : (await findKey(client, id, key)).id;
  const query: UsageQuery = { from, to, model: options.text('model'), key_id };
  if (isGroup(group)) {
    const readPage = (page: UsageQuery) => client.usageSums(id, group, { ...query, ...page });
    printSums(input, group, await readPages(readPage, limit ?? SUMS_MAX));
    return EXIT.ok;
  }
  printEntries(input, await readPages((page) => client.usage(id, { ...query, ...page }), limit ?? LIMIT_DEFAULT));
  return EXIT.ok;
}

function printEntries(input: CommandInput, list: ApiList<UsageEntryView>): void {
  const { output, options } = input;
  if (options.isSet('csv')) {
    const { header, rows } = entryCsv(list.data);
    output.raw(renderCsv(header, rows));
  } else {
    output.result(list, () => tableOf(input, ENTRY_COLUMNS, list.data.map(entryRow)));
  }
  noteTotal(input, list, list.data.length);
}

function printSums(input: CommandInput, group: UsageGroup, list: ApiList<UsageSumView>): void {
  const { output, options } = input;
  if (options.isSet('csv')) {
    const { header, rows } = sumCsv(list.data);
    output.raw(renderCsv(header, rows));
  } else {
    output.result(list, () => tableOf(input, sumColumns(group), list.data.map(sumRow)));
  }
  const requests = list.data.reduce((sum, row) => sum + row.requests, 0);
  noteTotal(input, list, requests);
}

function tableOf(
  { output }: CommandInput,
  columns: Parameters<typeof renderTable>[0],
  rows: readonly (readonly string[])[],
): string {
  return rows.length === 0 ? '' : renderTable(columns, rows, { width: output.width, header: output.paint.dim });
}

function noteTotal({ output }: CommandInput, list: ApiList<{ readonly cost: string }>, requests: number): void {
  const cost = usdText(sumUsd(list.data.map((row) => row.cost)));
  output.note(requests === 0 ? 'no requests' : `${requests} ${requests === 1 ? 'request' : 'requests'}, ${cost}`);
  if (list.has_more) output.note('there are more; see them with a higher --limit or a narrower --since');
}

function isGroup(text: string | undefined): text is UsageGroup {
  return text !== undefined && ['model', 'virtual_model', 'key', 'day', 'task'].includes(text);
}

// `svc ledger verify`: proves the journal and every balance from the files of the data directory.

import { relative } from 'node:path';
import { verifyLedger } from '../../daemon/ledger-tools.ts';
import type { LedgerVerification, WorkspaceLine } from '../../daemon/ledger-views.ts';
import type { CommandInput } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { readLedger } from '../ledger-read.ts';
import { type Column, renderTable } from '../table.ts';
import { printable } from '../text-width.ts';
import { usdExact } from '../usd-text.ts';

const COLUMNS: readonly Column[] = [
  { header: 'WORKSPACE', keep: true },
  { header: 'NAME', shrinks: true, dropOrder: 1 },
  { header: 'GRANTED', align: 'right', dropOrder: 3 },
  { header: 'CHARGED', align: 'right', dropOrder: 4 },
  { header: 'BALANCE', align: 'right', keep: true },
  { header: 'HELD', align: 'right', dropOrder: 5 },
  { header: 'REQUESTS', align: 'right', dropOrder: 2 },
];

/** Exit code 78 for damage; a torn tail alone is none. */
export async function runLedgerVerify(input: CommandInput): Promise<number> {
  const { output } = input;
  const found = await readLedger(input, verifyLedger);
  output.result(found, () => textOf(input, found));
  if (found.running) output.note('note: a daemon has this data directory; what it wrote since may not be in this');
  if (found.ok) return EXIT.ok;
  // The first is what the result ends with.
  for (const problem of found.problems) output.note(problem);
  output.note(`hint: ${hintOf(found)}`);
  return EXIT.badState;
}

function textOf({ output }: CommandInput, found: LedgerVerification): string {
  const { workspaces, total } = found;
  const last = found.ok ? output.paint.green(wholeText(found)) : output.paint.red(damageText(found));
  // Balances of nothing would look like balances.
  if (found.partial && found.records === 0) return `${last}\n`;
  const rows = [...workspaces, { workspace_id: 'total', name: null, ...total }].map(rowOf);
  const table = renderTable(COLUMNS, rows, { width: output.width, header: output.paint.dim });
  const lines = [partialText(found), carriedText(found), tornText(found)].filter((line) => line !== '');
  return `${table}${[...lines, last].join('\n')}\n`;
}

function rowOf({ workspace_id, name, ...line }: WorkspaceLine): readonly string[] {
  const { granted, charged, balance, held, requests } = line;
  return [workspace_id, name ?? '', ...[granted, charged, balance, held].map(usdExact), String(requests)];
}

function wholeText({ records, segments, open_holds }: LedgerVerification): string {
  const counts = `${count(records, 'record')} in ${count(segments, 'segment')}, ${count(open_holds, 'open hold')}`;
  return `the journal is whole: ${counts}`;
}

function partialText({ partial, records }: LedgerVerification): string {
  return partial ? `these sums end at the damage, after ${count(records, 'record')}` : '';
}

function carriedText({ carried, first_segment }: LedgerVerification): string {
  return carried ? `segments before ${first_segment} have expired; the sums begin with what was carried over` : '';
}

function tornText({ torn, running, directory, lost_records: lost }: LedgerVerification): string {
  if (torn === null) return '';
  const place = `${relative(directory, torn.file)} byte ${torn.offset}`;
  if (running) return `${place}: a write is under way`;
  const cut = `${place}: an unfinished write of ${count(torn.bytes, 'byte')} will be cut at the next start`;
  return lost === 0 ? cut : `${cut}; ${count(lost, 'record')} that had been written before went with it`;
}

function damageText({ damage, directory, problems }: LedgerVerification): string {
  if (damage === null) return printable(problems[0] ?? 'the journal is damaged');
  const { file, offset, record, reason } = damage;
  const places = [offset === null ? '' : ` byte ${offset}`, record === null ? '' : ` record ${record}`];
  return printable(`${relative(directory, file)}${places.filter((place) => place !== '').join(',')}: ${reason}`);
}

function hintOf({ index_only, directory }: LedgerVerification): string {
  if (index_only) {
    return `the journal itself is whole: stop the daemon and remove ${directory}/index, and the next start makes it again`;
  }
  return `keep a copy of ${directory} as it is before anything else, and put the damaged file back from a backup`;
}

function count(number: number, thing: string): string {
  return `${number} ${thing}${number === 1 ? '' : 's'}`;
}

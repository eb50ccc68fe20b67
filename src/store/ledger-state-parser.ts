// JSON → the ledger state it holds. Files with one have a checksum: this guards against other versions and other hands.

import type { KeySpendState } from '../ledger/key-spend.ts';
import { LedgerFold, type LedgerState } from '../ledger/ledger-fold.ts';
import type { HoldRecord, ProgressRecord } from '../ledger/records.ts';
import { parseLedgerRecord } from './ledger-record-parser.ts';

type Fields = Readonly<Record<string, unknown>>;
type WorkspaceState = LedgerState['workspaces'][number];
type KeyState = LedgerState['keys'][number];

/** Throws an `Error` that says what is wrong, or a `LedgerRuleError` where more is held than there is. */
export function parseLedgerState(value: unknown): LedgerState {
  const fields = parseFields(value, 'the ledger state');
  const state: LedgerState = {
    workspaces: parseList(fields, 'workspaces', parseWorkspace),
    keys: parseList(fields, 'keys', parseKey),
    grantIds: parseList(fields, 'grantIds', parseText),
    holds: parseList(fields, 'holds', parseHold),
    progress: parseList(fields, 'progress', parseProgress),
    settledIds: parseList(fields, 'settledIds', parseText),
  };
  LedgerFold.restore(state);
  return state;
}

function parseWorkspace(value: unknown): WorkspaceState {
  const { id, grantedNano, chargedNano } = parseFields(value, 'a workspace');
  if (!isAmount(grantedNano) || !isAmount(chargedNano)) throw new Error('a workspace is malformed');
  return { id: parseText(id), grantedNano, chargedNano };
}

function parseKey(value: unknown): KeyState {
  const fields = parseFields(value, 'a key');
  const { totalNano } = fields;
  if (!isAmount(totalNano)) throw new Error('a key is malformed');
  return {
    id: parseText(fields['id']),
    totalNano,
    days: parseList(fields, 'days', parsePeriod),
    months: parseList(fields, 'months', parsePeriod),
  };
}

function parsePeriod(value: unknown): KeySpendState['days'][number] {
  const [period, nano] = Array.isArray(value) && value.length === 2 ? value : [];
  if (!Number.isSafeInteger(period) || !isAmount(nano)) throw new Error('a period is malformed');
  return [period, nano];
}

function parseHold(value: unknown): HoldRecord {
  const record = parseLedgerRecord(parseFields(value, 'a hold'));
  if (typeof record !== 'object' || record.type !== 'hold') throw new Error('a hold is malformed');
  return record;
}

function parseProgress(value: unknown): ProgressRecord {
  const record = parseLedgerRecord(parseFields(value, 'a progress record'));
  if (typeof record !== 'object' || record.type !== 'progress') throw new Error('a progress record is malformed');
  return record;
}

function parseText(value: unknown): string {
  if (typeof value !== 'string') throw new Error('an id is no text');
  return value;
}

function parseList<T>(fields: Fields, name: string, parse: (item: unknown) => T): readonly T[] {
  const list = fields[name];
  if (!Array.isArray(list)) throw new Error(`${name} is no list`);
  return list.map(parse);
}

function parseFields(value: unknown, what: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`${what} is no object`);
  return value as Fields;
}

function isAmount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

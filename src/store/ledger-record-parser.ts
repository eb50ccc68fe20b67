// A journal line's object → the ledger record it holds. The checksum has been checked: this guards against other versions.

import type {
  GrantRecord,
  HoldRecord,
  LedgerRecord,
  ProgressRecord,
  SettleRecord,
  UsageEntry,
} from '../ledger/records.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Undefined for a type this version does not know; a malformed record is answered as the reason. */
export function parseLedgerRecord(fields: Fields): LedgerRecord | string | undefined {
  switch (fields['type']) {
    case 'grant':
      return parseGrant(fields);
    case 'hold':
      return parseHold(fields);
    case 'progress':
      return parseEnding(fields, 'progress');
    case 'settle':
      return parseEnding(fields, 'settle');
    default:
      return undefined;
  }
}

function parseGrant(fields: Fields): GrantRecord | string {
  const { at, id, workspaceId, amountNano, note, by } = fields;
  if (!isTime(at) || !isText(id) || !isText(workspaceId) || !isAmount(amountNano)) return 'its grant is malformed';
  return {
    type: 'grant',
    at,
    id,
    workspaceId,
    amountNano,
    ...(isText(note) && { note }),
    ...(isText(by) && { by }),
  };
}

function parseHold(fields: Fields): HoldRecord | string {
  const { at, requestId, workspaceId, apiKeyId, amountNano, model } = fields;
  if (!isTime(at) || !isText(requestId) || !isText(workspaceId)) return 'its hold is malformed';
  if (!isText(apiKeyId) || !isAmount(amountNano) || !isText(model)) return 'its hold is malformed';
  return { type: 'hold', at, requestId, workspaceId, apiKeyId, amountNano, model, ...parseAbout(fields) };
}

function parseAbout({ format, stream, requestedModel, upstream }: Fields): Partial<HoldRecord> {
  return {
    ...(isText(format) && { format }),
    ...(typeof stream === 'boolean' && { stream }),
    ...(isText(requestedModel) && { requestedModel }),
    ...(isText(upstream) && { upstream }),
  };
}

function parseEnding(fields: Fields, type: 'progress' | 'settle'): ProgressRecord | SettleRecord | string {
  const { at, requestId, workspaceId, chargeNano, entry } = fields;
  if (!isTime(at) || !isText(requestId) || !isText(workspaceId)) return `its ${type} is malformed`;
  if (!isAmount(chargeNano) || !isUsageEntry(entry)) return `its ${type} is malformed`;
  return { type, at, requestId, workspaceId, chargeNano, entry };
}

/** Checks what sums and lists depend on; the rest is as this program wrote it. */
function isUsageEntry(value: unknown): value is UsageEntry {
  if (typeof value !== 'object' || value === null) return false;
  const entry = value as Fields;
  return (
    isText(entry['id']) &&
    isText(entry['request_id']) &&
    isText(entry['api_key_id']) &&
    isTime(entry['created_at']) &&
    isAmount(entry['cost']) &&
    isAmount(entry['input_tokens']) &&
    isAmount(entry['cached_tokens']) &&
    isAmount(entry['output_tokens']) &&
    isAmount(entry['status'])
  );
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isTime(value: unknown): value is number {
  return typeof value === 'number';
}

function isAmount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

// Reads a journal by means of its own and adds it up in double entry: nothing here is shared with what is being tested.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

export type Settled = {
  readonly workspaceId: string;
  readonly chargeNano: bigint;
  readonly reason: string;
  readonly entryId: string;
};
export type Sums = { granted: bigint; charged: bigint; held: bigint };

/** What a journal says, and what is wrong with it. */
export type Audit = {
  readonly problems: string[];
  readonly grants: Map<string, { readonly workspaceId: string; readonly amountNano: bigint }>;
  readonly holds: Map<string, { readonly workspaceId: string; readonly keyId: string; readonly amountNano: bigint }>;
  readonly settles: Map<string, Settled>;
  /** The latest of each request. */
  readonly progress: Map<string, bigint>;
  readonly workspaces: Map<string, Sums>;
  readonly open: Set<string>;
  lines: number;
  segments: number;
  tornBytes: number;
  /** The least that was available in any workspace after any record. */
  leastAvailable: bigint;
};

type Fields = Readonly<Record<string, unknown>>;
type Cursor = { seq: number; prev: string };

const FIRST_PREV = 'A'.repeat(22);
const SEGMENT = /^(\d{12})\.ndjson(\.gz)?$/;

/** Holds I1 to I4 and I7 against every record; a tail after the last whole line is counted, not judged. */
export function auditJournal(directory: string): Audit {
  const audit: Audit = {
    problems: [],
    grants: new Map(),
    holds: new Map(),
    settles: new Map(),
    progress: new Map(),
    workspaces: new Map(),
    open: new Set(),
    lines: 0,
    segments: 0,
    tornBytes: 0,
    leastAvailable: 0n,
  };
  const cursor: Cursor = { seq: 1, prev: FIRST_PREV };
  const numbers = segmentNumbers(directory);
  for (const [index, number] of numbers.entries()) {
    if (number !== index + 1) audit.problems.push(`I7: segment ${index + 1} is missing`);
    auditSegment(audit, cursor, segmentText(directory, number), { number, isLast: index === numbers.length - 1 });
    audit.segments += 1;
  }
  return audit;
}

function segmentNumbers(directory: string): number[] {
  const numbers = readdirSync(directory).flatMap((name) => {
    const digits = SEGMENT.exec(name)?.[1];
    return digits === undefined ? [] : [Number(digits)];
  });
  return [...new Set(numbers)].sort((a, b) => a - b);
}

function segmentText(directory: string, number: number): Buffer {
  const path = join(directory, `${String(number).padStart(12, '0')}.ndjson`);
  try {
    return readFileSync(path);
  } catch {
    return gunzipSync(readFileSync(`${path}.gz`));
  }
}

function auditSegment(audit: Audit, cursor: Cursor, text: Buffer, at: { number: number; isLast: boolean }): void {
  let start = 0;
  while (start < text.length) {
    const end = text.indexOf(10, start);
    const line = end === -1 ? null : readLine(text.subarray(start, end));
    if (line === null || end === -1) {
      audit.tornBytes = text.length - start;
      if (!at.isLast) audit.problems.push(`I7: segment ${at.number} is damaged at byte ${start}`);
      return;
    }
    if (line['seq'] !== cursor.seq) audit.problems.push(`I7: record ${cursor.seq} says it is ${String(line['seq'])}`);
    if (line['prev'] !== cursor.prev) audit.problems.push(`I7: record ${cursor.seq} does not follow the one before`);
    if ((start === 0) !== (line['type'] === 'segment'))
      audit.problems.push(`I7: record ${cursor.seq}: header misplaced`);
    cursor.seq += 1;
    cursor.prev = chainHash(text.subarray(start, end));
    audit.lines += 1;
    take(audit, line, cursor.seq - 1);
    start = end + 1;
  }
}

function readLine(bytes: Buffer): Fields | null {
  const text = bytes.toString('utf8');
  const match = /^\{"crc":"([0-9a-f]{8})",/.exec(text);
  if (match === null || !text.endsWith('}') || Number.parseInt(match[1] ?? '', 16) !== crc32(bytes.subarray(18)))
    return null;
  return JSON.parse(text) as Fields;
}

function chainHash(line: Buffer): string {
  return createHash('sha256').update(line).digest().subarray(0, 16).toString('base64url');
}

function take(audit: Audit, line: Fields, seq: number): void {
  if (line['type'] === 'grant') takeGrant(audit, line, seq);
  else if (line['type'] === 'hold') takeHold(audit, line, seq);
  else if (line['type'] === 'settle') takeSettle(audit, line, seq);
  else if (line['type'] === 'progress') audit.progress.set(String(line['requestId']), nano(line['chargeNano']));
  for (const [id, { granted, charged, held }] of audit.workspaces) {
    const available = granted - charged - held;
    if (available < audit.leastAvailable) audit.leastAvailable = available;
    if (available < 0n) audit.problems.push(`I3: ${id} has ${available} after record ${seq}`);
  }
}

function takeGrant(audit: Audit, line: Fields, seq: number): void {
  const id = String(line['id']);
  const workspaceId = String(line['workspaceId']);
  const amountNano = nano(line['amountNano']);
  if (audit.grants.has(id)) audit.problems.push(`I4: the grant ${id} is there twice, the second at record ${seq}`);
  audit.grants.set(id, { workspaceId, amountNano });
  sumsOf(audit, workspaceId).granted += amountNano;
}

function takeHold(audit: Audit, line: Fields, seq: number): void {
  const id = String(line['requestId']);
  const hold = {
    workspaceId: String(line['workspaceId']),
    keyId: String(line['apiKeyId']),
    amountNano: nano(line['amountNano']),
  };
  if (audit.holds.has(id) || audit.settles.has(id)) audit.problems.push(`I4: ${id} is held again at record ${seq}`);
  audit.holds.set(id, hold);
  audit.open.add(id);
  sumsOf(audit, hold.workspaceId).held += hold.amountNano;
}

function takeSettle(audit: Audit, line: Fields, seq: number): void {
  const id = String(line['requestId']);
  const workspaceId = String(line['workspaceId']);
  const chargeNano = nano(line['chargeNano']);
  const entry = line['entry'] as Fields;
  const held = audit.open.has(id) ? (audit.holds.get(id)?.amountNano ?? 0n) : 0n;
  if (audit.settles.has(id)) audit.problems.push(`I4: ${id} ends again at record ${seq}`);
  if (chargeNano > held) audit.problems.push(`I4: ${id} is charged ${chargeNano} of ${held} held`);
  // What leaves the hold goes to the charge and back to the workspace; the usage entry must name the same sum.
  const postings = [-held, chargeNano, held - nano(entry['cost'])];
  if (postings.reduce((sum, each) => sum + each, 0n) !== 0n) audit.problems.push(`I1: record ${seq} does not sum to 0`);
  if (audit.holds.get(id)?.workspaceId !== workspaceId && held > 0n) audit.problems.push(`I1: ${id} changes workspace`);
  audit.settles.set(id, {
    workspaceId,
    chargeNano,
    reason: String(entry['settle_reason']),
    entryId: String(entry['id']),
  });
  audit.open.delete(id);
  const sums = sumsOf(audit, workspaceId);
  sums.held -= held;
  sums.charged += chargeNano;
}

function sumsOf(audit: Audit, workspaceId: string): Sums {
  const known = audit.workspaces.get(workspaceId);
  if (known !== undefined) return known;
  const sums = { granted: 0n, charged: 0n, held: 0n };
  audit.workspaces.set(workspaceId, sums);
  return sums;
}

function nano(value: unknown): bigint {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw new Error(`no amount: ${String(value)}`);
  return BigInt(value);
}

/** The checksum by its definition, four bits at a time. */
function crc32(bytes: Buffer): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc = nibble(nibble(crc ^ byte));
  }
  return (crc ^ 0xffffffff) >>> 0;
}

function nibble(value: number): number {
  let crc = value;
  for (let bit = 0; bit < 4; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc;
}

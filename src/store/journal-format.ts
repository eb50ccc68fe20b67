// One journal line, to bytes and back: checksum, number, the previous line's hash, then the record.
//
//   {"crc":"1a2b3c4d","seq":7,"prev":"<22 characters>","back":2,"type":"hold",…}
//
// `back` says how many lines of the same write come before it; it is left out for the first.
// `crc` is the CRC-32, in lower-case hex, of the line's bytes from `"seq"` to the last `}`. `prev` is the base64url of the
// first 16 bytes of the SHA-256 of the whole previous line without its line feed. Both cover every byte there is.

import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { LedgerRecord } from '../ledger/records.ts';
import { parseLedgerRecord } from './ledger-record-parser.ts';

/** The first line of each segment file. Segments are numbered from 1; the numbers of lines run on across them. */
export type SegmentRecord = {
  readonly type: 'segment';
  readonly format: typeof JOURNAL_FORMAT;
  readonly segment: number;
  readonly at: number;
};

/**
 * The state at the start of `segment` is in its carry file, whose digest (lower-case hex SHA-256) this is: what comes before
 * that segment may be missing from here on.
 */
export type CarryRecord = {
  readonly type: 'carry';
  readonly at: number;
  readonly segment: number;
  readonly digest: string;
};

/** A record of a later version: its line is checked and counted, its meaning is left alone. */
export type ForeignRecord = { readonly type: 'foreign' };

/** What is written: everything a journal has that this version knows. */
export type WrittenRecord = LedgerRecord | SegmentRecord | CarryRecord;
export type JournalRecord = WrittenRecord | ForeignRecord;
/** `back`: lines before it that were written, and made durable, together with it. */
export type JournalLine = {
  readonly seq: number;
  readonly prev: string;
  readonly back: number;
  readonly record: JournalRecord;
};

/** Where a record is: `offset` and `bytes` (without the line feed) are of the segment's uncompressed text. */
export type RecordPlace = {
  readonly seq: number;
  readonly segment: number;
  readonly offset: number;
  readonly bytes: number;
};

export const JOURNAL_FORMAT = 1;
/** `prev` of the first line there is. */
export const FIRST_PREV = 'AAAAAAAAAAAAAAAAAAAAAA';
/** What every line begins with; the checksum follows. */
export const LINE_START = '{"crc":"';
/** A line longer than this is damage: no record comes near it, and the reader need not hold more. */
export const LINE_BYTES_MAX = 1_048_576;

const CRC_END = LINE_START.length + 8;
const BODY_START = CRC_END + 2;

/** The line of a record, without its line feed, and the `prev` of the line after it. `back` lines come before it in its write. */
export function encodeLine(
  record: WrittenRecord,
  seq: number,
  prev: string,
  back = 0,
): { readonly line: string; readonly hash: string } {
  const batch = back === 0 ? '' : `"back":${back},`;
  const body = `"seq":${seq},"prev":"${prev}",${batch}${JSON.stringify(record).slice(1)}`;
  const line = `${LINE_START}${hex32(crc32(body))}",${body}`;
  return { line, hash: hashLine(line) };
}

/** `prev` for the line that follows this one. */
export function hashLine(line: string | Buffer): string {
  // The 22nd character of 32 bytes carries two bits of byte 16 and four of byte 17; only the former belong to the hash.
  const whole = hash('sha256', line, 'base64url');
  return whole.slice(0, 21) + BASE64URL.charAt(BASE64URL.indexOf(whole.charAt(21)) & 48);
}

/** A checked line, or why it is none. `bytes` has no line feed. A wrong number or chain is for the reader to see. */
export function decodeLine(bytes: Buffer): JournalLine | string {
  if (!hasValidChecksum(bytes)) return 'the checksum is wrong';
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch {
    return 'it is not JSON';
  }
  if (!isObject(value)) return 'it is not an object';
  const seq = value['seq'];
  const prev = value['prev'];
  if (!Number.isSafeInteger(seq) || typeof seq !== 'number') return 'it has no number';
  if (typeof prev !== 'string') return 'it has no hash';
  const back = value['back'] ?? 0;
  if (typeof back !== 'number') return 'its place in its write is malformed';
  const record = parseRecord(value);
  return typeof record === 'string' ? record : { seq, prev, back, record };
}

export function hasValidChecksum(bytes: Buffer): boolean {
  if (bytes.length < BODY_START + 2 || bytes[bytes.length - 1] !== CLOSE_BRACE) return false;
  const body = bytes.subarray(BODY_START);
  return bytes.toString('latin1', 0, BODY_START) === `${LINE_START}${hex32(crc32(body))}",`;
}

const CLOSE_BRACE = 125;
const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

function parseRecord(value: Record<string, unknown>): JournalRecord | string {
  if (value['type'] === 'segment') return parseSegment(value);
  if (value['type'] === 'carry') return parseCarry(value);
  return parseLedgerRecord(value) ?? { type: 'foreign' };
}

function parseSegment(value: Record<string, unknown>): SegmentRecord | string {
  const { format, segment, at } = value;
  if (format !== JOURNAL_FORMAT) return `it is of format ${String(format)}, which this version does not read`;
  if (typeof segment !== 'number' || typeof at !== 'number') return 'its header is incomplete';
  return { type: 'segment', format, segment, at };
}

function parseCarry(value: Record<string, unknown>): CarryRecord | string {
  const { at, segment, digest } = value;
  if (typeof at !== 'number' || typeof segment !== 'number' || typeof digest !== 'string')
    return 'its carry is malformed';
  return { type: 'carry', at, segment, digest };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function hex32(value: number): string {
  return value.toString(16).padStart(8, '0');
}

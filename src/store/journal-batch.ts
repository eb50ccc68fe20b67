// The bytes of one batch of records, and where each of them will be.

import type { LedgerRecord } from '../ledger/records.ts';
import {
  type CarryRecord,
  encodeLine,
  JOURNAL_FORMAT,
  type RecordPlace,
  type WrittenRecord,
} from './journal-format.ts';
import type { JournalPosition } from './journal-reader.ts';

export type Batch = {
  readonly bytes: Buffer;
  /** Of the records, in their order. */
  readonly places: readonly RecordPlace[];
  readonly after: JournalPosition;
};

/** A segment that has nothing yet gets its header first, with `segmentAt` as its time. */
export function encodeBatch(
  records: readonly (LedgerRecord | CarryRecord)[],
  position: JournalPosition,
  segmentAt: number,
): Batch {
  let { nextSeq: seq, prev, offset } = position;
  const { segment } = position;
  const lines: string[] = [];
  const add = (record: WrittenRecord): RecordPlace => {
    const { line, hash } = encodeLine(record, seq, prev, seq - position.nextSeq);
    const place = { seq, segment, offset, bytes: Buffer.byteLength(line) };
    lines.push(line, '\n');
    prev = hash;
    seq += 1;
    offset += place.bytes + 1;
    return place;
  };
  if (offset === 0) add({ type: 'segment', format: JOURNAL_FORMAT, segment, at: segmentAt });
  const places = records.map(add);
  return { bytes: Buffer.from(lines.join(''), 'utf8'), places, after: { segment, offset, nextSeq: seq, prev } };
}

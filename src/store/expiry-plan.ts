// Which segments are old enough to go. Their order decides, never the clock alone.

import { decodeLine } from './journal-format.ts';
import { openSegmentFile } from './segment-file.ts';

export type ExpiryQuestion = {
  readonly directory: string;
  /** Those that count, ascending. */
  readonly segments: readonly number[];
  readonly keepDays: number;
  readonly nowMs: number;
};
export type SegmentHeader = { readonly at: number; readonly seq: number; readonly prev: string };

const MS_PER_DAY = 86_400_000;
/** A header line takes far less. */
const HEADER_BYTES_MAX = 1_024;

/**
 * The first segment to keep: the oldest there is when nothing has to go.
 *
 * A segment may go when the one after it was begun more than `keepDays` days ago. "Now" is the earlier of the clock and of
 * the beginning of the newest segment that is full: a clock that jumps ahead has to stay there, and the journal has to be
 * written for a day or a whole segment, before anything is taken for older than it is. A beginning counts as no earlier than
 * those before it, so a clock that ran behind makes nothing older. Both only ever keep entries for longer.
 */
export async function firstSegmentToKeep(question: ExpiryQuestion): Promise<number> {
  const { directory, segments, keepDays, nowMs } = question;
  const [oldest = 1] = segments;
  const newestFull = segments.at(-2);
  if (keepDays === 0 || newestFull === undefined) return oldest;
  const { at: newestAt } = await readSegmentHeader(directory, newestFull);
  const cutoff = Math.min(nowMs, newestAt) - keepDays * MS_PER_DAY;
  let { at: begunAt } = await readSegmentHeader(directory, oldest);
  let first = oldest;
  while (first < newestFull) {
    const next = await readSegmentHeader(directory, first + 1);
    begunAt = Math.max(begunAt, next.at);
    if (begunAt >= cutoff) break;
    first += 1;
  }
  return first;
}

/** Throws an `Error` for a segment that does not begin with its header. */
export async function readSegmentHeader(directory: string, segment: number): Promise<SegmentHeader> {
  const file = await openSegmentFile(directory, segment);
  try {
    const start = await file.read(0, HEADER_BYTES_MAX);
    const line = decodeLine(start.subarray(0, Math.max(0, start.indexOf(10))));
    if (typeof line === 'string' || line.record.type !== 'segment') throw new Error(`${file.path} has no header`);
    return { at: line.record.at, seq: line.seq, prev: line.prev };
  } finally {
    await file.close();
  }
}

// Reads a journal from first to last line, read-only, and checks number, checksum and chain of each.

import { crc32 } from 'node:zlib';
import { type Carry, CarryCheck, readJournalBase } from './carry.ts';
import { DamagedSegmentError } from './compressed-segment.ts';
import {
  decodeLine,
  FIRST_PREV,
  hashLine,
  hasValidChecksum,
  type JournalLine,
  LINE_BYTES_MAX,
  LINE_START,
  type RecordPlace,
} from './journal-format.ts';
import { openSegmentFile, type SegmentFile } from './segment-file.ts';
import { listSegments, segmentPath } from './segment-name.ts';
import { DamagedJournalError, DamagedStateError } from './store-errors.ts';

/** Where the next line goes: what a writer needs to go on, and a reader to begin in the middle. */
export type JournalPosition = {
  readonly segment: number;
  readonly offset: number;
  readonly nextSeq: number;
  readonly prev: string;
};

/** Bytes after the last whole record of the last segment: what a write left that never ended. */
export type TornTail = { readonly file: string; readonly offset: number; readonly bytes: number; readonly seq: number };

export type JournalReadReport = {
  /** Segment 0 means that there is none yet. */
  readonly position: JournalPosition;
  readonly lines: number;
  readonly segments: number;
  /** CRC-32 of the last segment's bytes that were read and are no torn tail. */
  readonly segmentCrc: number;
  readonly torn: TornTail | null;
};

export type JournalReadOptions = {
  readonly directory: string;
  /** Called in order with each line. What it throws is wrapped as damage at that line. */
  readonly onLine: (line: JournalLine, place: RecordPlace) => void;
  /** Where to begin, such as a snapshot's place; the first line otherwise. */
  readonly from?: JournalPosition;
  /** CRC-32 of that segment's bytes before `from`. */
  readonly fromCrc?: number;
  /** What `readJournalBase` answered for this directory; it is read where this is absent. */
  readonly base?: Carry | null;
  /** The first segment that is not read any more, although it is there. */
  readonly before?: number;
  /** For reading beside other work: what is done at once is a chunk, and `pause` is awaited between two chunks. */
  readonly pace?: ReadingPace;
};

export type ReadingPace = { readonly chunkBytes: number; readonly pause: () => Promise<void> };

const FULL_PACE: ReadingPace = { chunkBytes: 1_048_576, pause: async () => undefined };
const LINE_FEED = 10;

/** Throws `DamagedStateError`, and `DamagedJournalError` where a record is to blame, for anything but a torn tail. */
export async function readJournal(options: JournalReadOptions): Promise<JournalReadReport> {
  const { directory } = options;
  const base = options.base === undefined ? await readJournalBase(directory) : options.base;
  const all = await listSegments(directory);
  const last = all.at(-1) ?? 0;
  const from = options.from ?? base?.position ?? { segment: all[0] ?? 0, offset: 0, nextSeq: 1, prev: FIRST_PREV };
  const check = new CarryCheck(base);
  const onLine: JournalReadOptions['onLine'] = (line, place) => {
    check.take(line.record);
    options.onLine(line, place);
  };
  let report: JournalReadReport = { position: from, lines: 0, segments: 0, segmentCrc: 0, torn: null };
  for (const segment of all) {
    if (segment < from.segment || segment >= (options.before ?? Number.POSITIVE_INFINITY)) continue;
    const file = await openSegmentFile(directory, segment);
    try {
      if (file.compressed && segment === last) await checkGoesOn(directory, segment);
      report = await readSegment(file, { ...options, onLine }, report, segment, segment === last);
    } finally {
      await file.close();
    }
  }
  if (options.before === undefined) check.finish(options.from === undefined);
  return report;
}

async function readSegment(
  file: SegmentFile,
  options: JournalReadOptions,
  before: JournalReadReport,
  segment: number,
  isLast: boolean,
): Promise<JournalReadReport> {
  const inside = before.segments === 0 && before.position.segment === segment;
  const offset = inside ? before.position.offset : 0;
  const crc = offset === 0 ? 0 : (options.fromCrc ?? 0);
  const reading = new SegmentReading(file, { ...before.position, segment, offset }, crc);
  await reading.run(options.onLine, options.pace ?? FULL_PACE);
  return {
    position: reading.position,
    lines: before.lines + reading.lines,
    segments: before.segments + 1,
    segmentCrc: reading.crc,
    torn: reading.invalid === null ? null : await reading.tornTail(isLast && !file.compressed),
  };
}

/** Only what another segment follows is ever compressed; one may have been begun since the segments were listed. */
async function checkGoesOn(directory: string, segment: number): Promise<void> {
  if ((await listSegments(directory)).at(-1) !== segment) return;
  throw new DamagedStateError(segmentPath(directory, segment + 1), 'the segment is missing');
}

class SegmentReading {
  position: JournalPosition;
  lines = 0;
  /** Why the line at `position` is none; null once the whole file was read. */
  invalid: string | null = null;
  /** Of the lines taken. */
  crc: number;
  readonly #file: SegmentFile;

  constructor(file: SegmentFile, position: JournalPosition, crc: number) {
    this.#file = file;
    this.crc = crc;
    this.position = position;
  }

  async run(onLine: JournalReadOptions['onLine'], pace: ReadingPace): Promise<void> {
    let rest: Buffer = Buffer.alloc(0);
    const bytesLeft = (await this.#file.size()) - this.position.offset;
    if (bytesLeft < 0) throw this.#damage('the segment is shorter than it was');
    // One byte more than there is, so that a short file ends with its first chunk.
    const chunkBytes = Math.min(pace.chunkBytes, bytesLeft + 1);
    for (;;) {
      const chunk = await this.#readChunk(this.position.offset + rest.length, chunkBytes);
      if (chunk.length === 0) break;
      await pace.pause();
      rest = this.#takeLines(rest.length === 0 ? chunk : Buffer.concat([rest, chunk]), onLine);
      if (this.invalid === null && rest.length > LINE_BYTES_MAX) this.invalid = 'the line is too long';
      if (this.invalid !== null) return;
    }
    if (rest.length > 0) this.invalid = 'the line has no end';
  }

  /** Where a compressed block is damaged, the text before it comes first, so that the damage is named by its record. */
  async #readChunk(offset: number, length: number): Promise<Buffer> {
    try {
      return await this.#file.read(offset, length);
    } catch (error) {
      if (!(error instanceof DamagedSegmentError)) throw error;
      if (error.textOffset <= offset) throw this.#damage(error.reason, error);
      return await this.#readChunk(offset, error.textOffset - offset);
    }
  }

  /** Damage, unless this is the last segment and no later write comes after the invalid line. */
  async tornTail(isLast: boolean): Promise<TornTail> {
    const { offset, nextSeq } = this.position;
    if (!isLast) throw this.#damage(`${this.invalid}, and a segment follows`);
    const bytes = await this.#file.read(offset, (await this.#file.size()) - offset);
    if (hasLaterWrite(bytes, nextSeq)) throw this.#damage(`${this.invalid}, and whole records follow`);
    return { file: this.#file.path, offset, bytes: bytes.length, seq: nextSeq };
  }

  /** Hands on each whole valid line and answers what is left over. */
  #takeLines(bytes: Buffer, onLine: JournalReadOptions['onLine']): Buffer {
    let start = 0;
    for (;;) {
      const end = bytes.indexOf(LINE_FEED, start);
      if (end !== -1) this.#takeLine(bytes.subarray(start, end), onLine);
      if (end === -1 || this.invalid !== null) {
        this.crc = crc32(bytes.subarray(0, start), this.crc);
        return bytes.subarray(start);
      }
      start = end + 1;
    }
  }

  #takeLine(bytes: Buffer, onLine: JournalReadOptions['onLine']): void {
    const line = decodeLine(bytes);
    if (typeof line === 'string') {
      // A valid checksum over the wrong content is no accident of a crash.
      if (hasValidChecksum(bytes)) throw this.#damage(line);
      this.invalid = line;
      return;
    }
    const { segment, offset, nextSeq, prev } = this.position;
    if (line.seq !== nextSeq) throw this.#damage(`it says it is record ${line.seq}`);
    if (line.prev !== prev) throw this.#damage('it does not follow the record before it');
    this.#checkHeader(line);
    try {
      onLine(line, { seq: nextSeq, segment, offset, bytes: bytes.length });
    } catch (error) {
      throw this.#damage(error instanceof Error ? error.message : String(error), error);
    }
    this.lines += 1;
    this.position = { segment, offset: offset + bytes.length + 1, nextSeq: nextSeq + 1, prev: hashLine(bytes) };
  }

  #checkHeader(line: JournalLine): void {
    const { segment, offset } = this.position;
    const isHeader = line.record.type === 'segment';
    if (offset === 0 && !isHeader) throw this.#damage('the segment does not begin with its header');
    if (offset > 0 && isHeader) throw this.#damage('a header stands inside the segment');
    if (line.record.type === 'segment' && line.record.segment !== segment) {
      throw this.#damage(`its header says segment ${line.record.segment}`);
    }
  }

  #damage(reason: string, cause?: unknown): DamagedJournalError {
    const { offset, nextSeq } = this.position;
    return new DamagedJournalError({ file: this.#file.path, offset, seq: nextSeq }, reason, cause);
  }
}

/**
 * Whether a write that came after the one of record `seq` is there: nothing is written before what came earlier is durable, so
 * the bytes of that record were durable once. Whole lines of the same write prove nothing: after a power cut any part of
 * it may be missing. Looks for lines by how they begin, not by line feeds, which may be what was damaged. The first byte is
 * skipped: a line there is the invalid one.
 */
function hasLaterWrite(bytes: Buffer, seq: number): boolean {
  let start = bytes.indexOf(LINE_START, 1);
  while (start !== -1) {
    const end = bytes.indexOf(LINE_FEED, start);
    if (end === -1) return false;
    const line = bytes.subarray(start, end);
    if (hasValidChecksum(line)) {
      const decoded = decodeLine(line);
      if (typeof decoded === 'string' || decoded.seq - decoded.back > seq) return true;
    }
    start = bytes.indexOf(LINE_START, start + 1);
  }
  return false;
}

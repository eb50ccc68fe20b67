// Reads usage entries back from the journal, by the places the usage index gives.

import type { UsageEntry } from '../ledger/records.ts';
import { SvcError } from '../wire/svc-error.ts';
import { DamagedSegmentError } from './compressed-segment.ts';
import { decodeLine, type RecordPlace } from './journal-format.ts';
import { OpenSegments } from './open-segments.ts';
import type { SegmentFile } from './segment-file.ts';
import { listSegments, segmentPath } from './segment-name.ts';
import { DamagedJournalError, DamagedStateError, errorCode } from './store-errors.ts';

/** Lines this near to each other are read in one go: a second read would cost more than the bytes between. */
const GAP_BYTES_MAX = 65_536;
/** One read is at most this (or one line), so that checking what it brought takes a few milliseconds. */
const READ_BYTES_MAX = 262_144;

/** Segments read at the same time: few, since the journal's own writes wait for the same threads. */
const AT_ONCE = 2;

/** A wanted line and its position in the answer. */
type Wanted = { readonly place: RecordPlace; readonly position: number };
/** Lines of one segment that are read together, in the order of the file. */
type Span = { readonly offset: number; readonly end: number; readonly wanted: readonly Wanted[] };

/** Several may read at once. */
export class EntryReader {
  readonly #directory: string;
  readonly #segments: OpenSegments;
  readonly #reading = new Set<Promise<unknown>>();
  #closed = false;

  /** `directory` is the journal's; so many of its files are kept open. */
  constructor(options: { readonly directory: string; readonly openFilesMax?: number }) {
    this.#directory = options.directory;
    this.#segments = new OpenSegments(options.directory, options.openFilesMax);
  }

  /**
   * The entries in the order of their places. Those of a segment that is gone, because it has expired meanwhile, are left out.
   * Nobody may change an entry: they are frozen. Throws `DamagedJournalError` where a place does not hold its settlement.
   */
  async read(places: readonly RecordPlace[]): Promise<readonly UsageEntry[]> {
    if (this.#closed) throw new SvcError('SHUTTING_DOWN', 'the daemon is stopping');
    const reading = this.#readAll(places);
    this.#reading.add(reading);
    try {
      return await reading;
    } finally {
      this.#reading.delete(reading);
    }
  }

  /** Gives up a file that is open for reading, because it was deleted or replaced: its disk space comes free. */
  async release(segment: number): Promise<void> {
    await this.#segments.release(segment);
  }

  /** The same for all segments before this one. */
  async releaseBefore(segment: number): Promise<void> {
    await this.#segments.releaseBefore(segment);
  }

  /** Waits for what is being read. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#reading);
    await this.#segments.close();
  }

  async #readAll(places: readonly RecordPlace[]): Promise<readonly UsageEntry[]> {
    const found = new Map<number, UsageEntry>();
    const segments = bySegment(places).entries();
    const readRest = async (): Promise<void> => {
      for (const [segment, wanted] of segments) await this.#readSegment(segment, wanted, found);
    };
    // They share what is left to read.
    await Promise.all(Array.from({ length: AT_ONCE }, readRest));
    const entries: UsageEntry[] = [];
    for (const position of places.keys()) {
      const entry = found.get(position);
      if (entry !== undefined) entries.push(entry);
    }
    return entries;
  }

  /** Only what is older than all there is can have expired: anything else that is missing is a loss. */
  async #hasExpired(segment: number): Promise<boolean> {
    const [first] = await listSegments(this.#directory);
    return first !== undefined && segment < first;
  }

  async #readSegment(segment: number, wanted: readonly Wanted[], found: Map<number, UsageEntry>): Promise<void> {
    try {
      await this.#segments.use(segment, async (file) => {
        for (const span of toSpans(wanted)) await readSpan(file, span, found);
      });
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
      if (await this.#hasExpired(segment)) return;
      throw new DamagedStateError(segmentPath(this.#directory, segment), 'the segment is missing', error);
    }
  }
}

function bySegment(places: readonly RecordPlace[]): Map<number, Wanted[]> {
  const segments = new Map<number, Wanted[]>();
  places.forEach((place, position) => {
    const wanted = segments.get(place.segment);
    if (wanted === undefined) segments.set(place.segment, [{ place, position }]);
    else wanted.push({ place, position });
  });
  return segments;
}

function toSpans(wanted: readonly Wanted[]): readonly Span[] {
  const spans: { offset: number; end: number; wanted: Wanted[] }[] = [];
  for (const each of wanted.toSorted((a, b) => a.place.offset - b.place.offset)) {
    const { offset, bytes } = each.place;
    const span = spans.at(-1);
    if (span === undefined || offset > span.end + GAP_BYTES_MAX || offset + bytes > span.offset + READ_BYTES_MAX) {
      spans.push({ offset, end: offset + bytes, wanted: [each] });
    } else {
      span.end = offset + bytes;
      span.wanted.push(each);
    }
  }
  return spans;
}

async function readSpan(file: SegmentFile, span: Span, found: Map<number, UsageEntry>): Promise<void> {
  const bytes = await readBytes(file, span);
  for (const { place, position } of span.wanted) {
    const start = place.offset - span.offset;
    const entry = parseEntry(bytes.subarray(start, start + place.bytes), place);
    if (typeof entry === 'string') throw new DamagedJournalError({ file: file.path, ...place }, entry);
    found.set(position, deepFrozen(entry));
  }
}

async function readBytes(file: SegmentFile, { offset, end, wanted }: Span): Promise<Buffer> {
  try {
    return await file.read(offset, end - offset);
  } catch (error) {
    if (!(error instanceof DamagedSegmentError)) throw error;
    throw new DamagedJournalError({ file: file.path, offset, seq: wanted[0]?.place.seq ?? 0 }, error.message, error);
  }
}

/** The reason where the bytes are not what the place says. */
function parseEntry(bytes: Buffer, place: RecordPlace): UsageEntry | string {
  if (bytes.length < place.bytes) return 'the file ends before';
  const line = decodeLine(bytes);
  if (typeof line === 'string') return line;
  if (line.seq !== place.seq) return `it says it is record ${line.seq}`;
  if (line.record.type !== 'settle') return `it is no settlement but a ${line.record.type}`;
  return line.record.entry;
}

function deepFrozen<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  for (const part of Object.values(value)) deepFrozen(part);
  return Object.freeze(value);
}

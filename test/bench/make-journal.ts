// Writes journals of any size quickly: lines encoded directly, in segments, going on after the records that are there.

import { closeSync, fdatasyncSync, openSync, statSync, writeSync } from 'node:fs';
import type { LedgerRecord } from '../../src/ledger/records.ts';
import { encodeLine, JOURNAL_FORMAT, type SegmentRecord } from '../../src/store/journal-format.ts';
import { readJournal } from '../../src/store/journal-reader.ts';
import { segmentPath } from '../../src/store/segment-name.ts';
import { createRecordMaker, type Owner } from './ledger-records.ts';

export type MakeJournalOptions = {
  /** The `journal` directory of a data directory that no daemon holds. */
  readonly directory: string;
  /** Settled requests. */
  readonly entries: number;
  /** Each needs credits in the journal already. The first gets most of the requests, the others share the rest. */
  readonly owners: readonly [Owner, ...Owner[]];
  /** The requests are spread evenly over this many days before `endMs`. */
  readonly days: number;
  readonly endMs: number;
  readonly seed: number;
  readonly segmentBytesMax?: number;
};

export type MadeJournal = {
  readonly lines: number;
  readonly bytes: number;
  readonly segments: number;
  readonly rareModel: string;
  readonly models: readonly string[];
  /** What sums over the first owner's entries have to say. */
  readonly expected: { readonly requests: number; readonly costNano: number; readonly rareRequests: number };
};

const SEGMENT_BYTES_MAX = 64 * 1_048_576;
const WRITE_BYTES = 4 * 1_048_576;
const FIRST_OWNER_SHARE = 0.7;
const MS_PER_DAY = 86_400_000;
/** Requests under way at any moment: settlements come some holds after their own. */
const OPEN_REQUESTS = 16;

/** Throws `DamagedJournalError` where what is there is not whole. */
export async function makeJournal(options: MakeJournalOptions): Promise<MadeJournal> {
  const { entries, owners, days, endMs } = options;
  const { position } = await readJournal({ directory: options.directory, onLine: () => undefined });
  const maker = createRecordMaker(options.seed);
  const writer = new SegmentWriter(options, position);
  const expected = { requests: 0, costNano: 0, rareRequests: 0 };
  const open: LedgerRecord[] = [];
  const stepMs = (days * MS_PER_DAY) / entries;
  for (let index = 0; index < entries; index += 1) {
    const owner = ownerOf(owners, maker.random());
    // A day ends the newest at `endMs` at the latest, however long the last requests took.
    const { hold, settle } = maker.pair(owner, endMs - 60_000 - (entries - index) * stepMs);
    writer.add(hold);
    open.push(settle);
    if (open.length > OPEN_REQUESTS) writer.addAll(open.splice(0, 1));
    if (owner !== owners[0]) continue;
    expected.requests += 1;
    expected.costNano += settle.chargeNano;
    if (settle.entry.model === maker.rareModel) expected.rareRequests += 1;
  }
  writer.addAll(open);
  writer.close();
  const { lines, bytes, segments } = writer;
  return { lines, bytes, segments, rareModel: maker.rareModel, models: maker.models, expected };
}

function ownerOf(owners: MakeJournalOptions['owners'], random: number): Owner {
  const [first, ...others] = owners;
  if (random < FIRST_OWNER_SHARE) return first;
  const share = (random - FIRST_OWNER_SHARE) / (1 - FIRST_OWNER_SHARE);
  return others[Math.floor(share * others.length)] ?? first;
}

class SegmentWriter {
  lines = 0;
  bytes = 0;
  segments = 0;
  readonly #directory: string;
  readonly #bytesMax: number;
  #segment: number;
  #seq: number;
  #prev: string;
  #file: number | null = null;
  #segmentBytes = 0;
  #pending: string[] = [];
  #pendingBytes = 0;

  constructor(options: MakeJournalOptions, from: { segment: number; nextSeq: number; prev: string }) {
    this.#directory = options.directory;
    this.#bytesMax = options.segmentBytesMax ?? SEGMENT_BYTES_MAX;
    this.#segment = from.segment;
    this.#seq = from.nextSeq;
    this.#prev = from.prev;
  }

  addAll(records: readonly LedgerRecord[]): void {
    for (const record of records) this.add(record);
  }

  add(record: LedgerRecord): void {
    if (this.#file === null || this.#segmentBytes >= this.#bytesMax) this.#begin(record.at);
    this.#addLine(record);
  }

  close(): void {
    if (this.#file === null) return;
    this.#write();
    fdatasyncSync(this.#file);
    closeSync(this.#file);
    const { size } = statSync(segmentPath(this.#directory, this.#segment));
    if (size !== this.#segmentBytes) throw new Error('a segment is not as long as what was written');
    this.#file = null;
  }

  #begin(at: number): void {
    this.close();
    this.#segment += 1;
    this.#segmentBytes = 0;
    this.segments += 1;
    this.#file = openSync(segmentPath(this.#directory, this.#segment), 'wx', 0o600);
    this.#addLine({ type: 'segment', format: JOURNAL_FORMAT, segment: this.#segment, at });
  }

  #addLine(record: LedgerRecord | SegmentRecord): void {
    const { line, hash } = encodeLine(record, this.#seq, this.#prev);
    const bytes = Buffer.byteLength(line) + 1;
    this.#pending.push(line, '\n');
    this.#prev = hash;
    this.#seq += 1;
    this.#segmentBytes += bytes;
    this.#pendingBytes += bytes;
    this.bytes += bytes;
    this.lines += 1;
    if (this.#pendingBytes >= WRITE_BYTES) this.#write();
  }

  #write(): void {
    if (this.#file === null || this.#pending.length === 0) return;
    const bytes = Buffer.from(this.#pending.join(''), 'utf8');
    for (let done = 0; done < bytes.length; ) done += writeSync(this.#file, bytes, done);
    this.#pending = [];
    this.#pendingBytes = 0;
  }
}

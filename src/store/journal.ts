// The journal's one writer: everything that arrives while a batch is being made durable forms the next batch.

import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { utcDay } from '../ledger/key-spend.ts';
import type { LedgerRecord } from '../ledger/records.ts';
import { SvcError } from '../wire/svc-error.ts';
import { type Disk, type DiskFile, realDisk } from './disk.ts';
import { isDiskFull, storageUnavailable } from './disk-full.ts';
import { encodeBatch } from './journal-batch.ts';
import type { CarryRecord, RecordPlace } from './journal-format.ts';
import type { JournalPosition } from './journal-reader.ts';
import { segmentPath } from './segment-name.ts';
import { openSpaceReserve, type SpaceReserve } from './space-reserve.ts';
import { writeWhole } from './write-whole.ts';

export type JournalOptions = {
  readonly directory: string;
  /** Where reading ended; the bytes after it are already cut off. */
  readonly position: JournalPosition;
  /** When the segment of `position` was begun, for the daily change of segment. */
  readonly segmentAt: number;
  /** CRC-32 of what that segment holds so far. */
  readonly segmentCrc: number;
  readonly now: () => number;
  /** Called for each record of the ledger in the journal's order once it is durable, before its promise resolves. */
  readonly onCommitted: (record: LedgerRecord, place: RecordPlace) => void;
  /** Called after the last `onCommitted` of a batch, in the same turn: what was folded is what is before `position`. */
  readonly onBatch?: (position: JournalPosition) => void;
  /** The segment before this one will not be written any more. */
  readonly onSegment?: (segment: number) => void;
  /** The disk can't be trusted any more; the process has to end. Called once. */
  readonly onFatal: (error: Error) => void;
  /** The disk filled up, or has space again. */
  readonly onWritable?: (writable: boolean) => void;
  readonly disk?: Disk;
  readonly segmentBytesMax?: number;
  readonly probeIntervalMs?: number;
};

const SEGMENT_BYTES_MAX = 64 * 1_048_576;
/** One batch is at most some megabytes, so that its first record doesn't wait long for its last. */
const BATCH_RECORDS_MAX = 4_096;
/** More than any machine has requests in flight; beyond it the disk isn't keeping up. */
const QUEUE_RECORDS_MAX = 65_536;
const PROBE_INTERVAL_MS = 1_000;

type Pending = {
  readonly record: LedgerRecord | CarryRecord;
  readonly mayUseReserve: boolean;
  readonly resolve: (seq: number) => void;
  readonly reject: (error: Error) => void;
};

/** Throws what the disk throws. */
export async function openJournal(options: JournalOptions): Promise<Journal> {
  const disk = options.disk ?? realDisk;
  const isNew = options.position.segment === 0;
  const position = isNew ? { ...options.position, segment: 1, offset: 0 } : options.position;
  const reserve = await openSpaceReserve(disk, join(options.directory, 'reserve.bin'));
  const file = await disk.open(segmentPath(options.directory, position.segment), isNew ? 'create' : 'existing');
  await disk.syncDirectory(options.directory);
  const journal = new Journal({ ...options, position }, disk, reserve, file);
  await journal.probe();
  return journal;
}

export class Journal {
  readonly #options: JournalOptions;
  readonly #disk: Disk;
  readonly #reserve: SpaceReserve;
  #file: DiskFile;
  #position: JournalPosition;
  #segmentDay: number;
  #segmentAt: number;
  #segmentCrc: number;
  #queue: Pending[] = [];
  #draining: Promise<void> | null = null;
  #writable = true;
  #closed = false;
  #fatal: Error | null = null;
  #fullError: unknown = null;
  #probeTimer: NodeJS.Timeout | null = null;
  #probing: Promise<void> | null = null;

  constructor(options: JournalOptions, disk: Disk, reserve: SpaceReserve, file: DiskFile) {
    this.#options = options;
    this.#disk = disk;
    this.#reserve = reserve;
    this.#file = file;
    this.#position = options.position;
    this.#segmentAt = options.segmentAt;
    this.#segmentCrc = options.segmentCrc;
    this.#segmentDay = utcDay(options.position.offset === 0 ? options.now() : options.segmentAt);
  }

  get writable(): boolean {
    return this.#writable && this.#fatal === null && !this.#closed;
  }

  /** Where the next record goes. */
  get position(): JournalPosition {
    return this.#position;
  }

  /** When the running segment was begun. */
  get segmentAt(): number {
    return this.#segmentAt;
  }

  /** CRC-32 of the running segment's bytes before `position`. */
  get segmentCrc(): number {
    return this.#segmentCrc;
  }

  /**
   * Resolves with the record's number once it is durable. Rejects with `STORAGE_UNAVAILABLE`, and then the record is not
   * in the journal. `mayUseReserve` is for what must be written even when the disk has just filled up.
   */
  append(record: LedgerRecord | CarryRecord, mayUseReserve = false): Promise<number> {
    const refusal = this.#refusal(mayUseReserve);
    if (refusal !== null) return Promise.reject(refusal);
    return new Promise((resolve, reject) => {
      this.#queue.push({ record, mayUseReserve, resolve, reject });
      this.#draining ??= this.#drain();
    });
  }

  /** Writes what is pending and closes the files; nothing is taken any more. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#stopProbing();
    await this.#draining;
    await this.#probing;
    await this.#file.close();
    await this.#reserve.close();
  }

  /** Looks whether there is space to spare; says so to `onWritable` and tries again later where there is none. */
  probe(): Promise<void> {
    this.#probing ??= this.#fillReserve().finally(() => {
      this.#probing = null;
    });
    return this.#probing;
  }

  async #fillReserve(): Promise<void> {
    try {
      await this.#reserve.fill();
      this.#stopProbing();
      this.#setWritable(true);
    } catch (error) {
      if (!isDiskFull(error)) {
        this.#fail(error, []);
        return;
      }
      this.#markFull(error);
    }
  }

  #refusal(mayUseReserve: boolean): SvcError | null {
    if (this.#closed) return new SvcError('SHUTTING_DOWN', 'the daemon is stopping');
    if (this.#fatal !== null) return storageUnavailable(this.#fatal);
    if (!this.#writable && !mayUseReserve) return storageUnavailable(this.#fullError);
    if (this.#queue.length >= QUEUE_RECORDS_MAX) return new SvcError('OVERLOADED', 'the disk does not keep up');
    return null;
  }

  async #drain(): Promise<void> {
    // Whatever else this turn of the event loop appends belongs to the first batch.
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0, BATCH_RECORDS_MAX);
      try {
        await this.#writeBatch(batch);
      } catch (error) {
        this.#fail(error, batch);
      }
    }
    this.#draining = null;
  }

  async #writeBatch(batch: readonly Pending[]): Promise<void> {
    if (!(await this.#tryOrFull(batch, () => this.#changeSegmentWhenDue()))) return;
    const { offset } = this.#position;
    if (this.#file.size() !== offset) throw new Error('another process has written to the journal');
    if (offset === 0) this.#segmentAt = this.#options.now();
    const records = batch.map(({ record }) => record);
    const { bytes, places, after } = encodeBatch(records, this.#position, this.#segmentAt);
    if (!(await this.#tryOrFull(batch, () => writeWhole(this.#file, bytes, offset)))) return;
    await this.#file.datasync();
    this.#position = after;
    this.#segmentCrc = crc32(bytes, this.#segmentCrc);
    batch.forEach((pending, index) => {
      const place = places[index];
      if (place === undefined) return;
      if (pending.record.type !== 'carry') this.#options.onCommitted(pending.record, place);
      pending.resolve(place.seq);
    });
    this.#options.onBatch?.(after);
  }

  /** False when the disk was full; the batch has then been dealt with. */
  async #tryOrFull(batch: readonly Pending[], step: () => Promise<void>): Promise<boolean> {
    try {
      await step();
      return true;
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      await this.#onDiskFull(batch, error);
      return false;
    }
  }

  async #changeSegmentWhenDue(): Promise<void> {
    const { segment, offset } = this.#position;
    const day = utcDay(this.#options.now());
    const bytesMax = this.#options.segmentBytesMax ?? SEGMENT_BYTES_MAX;
    if (offset === 0 || (offset < bytesMax && day <= this.#segmentDay)) return;
    const next = await this.#disk.open(segmentPath(this.#options.directory, segment + 1), 'create');
    const previous = this.#file;
    this.#file = next;
    this.#segmentDay = day;
    this.#position = { ...this.#position, segment: segment + 1, offset: 0 };
    this.#segmentCrc = 0;
    await previous.close();
    await syncOrFatal(this.#disk, this.#options.directory);
    this.#options.onSegment?.(segment + 1);
  }

  /** Leaves the file as it was, frees the reserve for the settlements and refuses the rest. */
  async #onDiskFull(batch: readonly Pending[], error: unknown): Promise<void> {
    await this.#file.truncate(this.#position.offset);
    await this.#file.datasync();
    const freed = await this.#reserve.release();
    this.#markFull(error);
    const waiting = [...batch, ...this.#queue];
    this.#queue = waiting.filter((pending) => freed && pending.mayUseReserve);
    for (const pending of waiting) {
      if (!(freed && pending.mayUseReserve)) pending.reject(storageUnavailable(error));
    }
  }

  #fail(error: unknown, batch: readonly Pending[]): void {
    const first = this.#fatal === null;
    const fatal = error instanceof Error ? error : new Error(String(error));
    this.#fatal ??= fatal;
    this.#stopProbing();
    const waiting = [...batch, ...this.#queue];
    this.#queue = [];
    for (const pending of waiting) pending.reject(storageUnavailable(fatal));
    if (first) this.#options.onFatal(fatal);
  }

  #markFull(error: unknown): void {
    this.#fullError = error;
    this.#setWritable(false);
    this.#startProbing();
  }

  #setWritable(writable: boolean): void {
    if (this.#writable === writable) return;
    this.#writable = writable;
    this.#options.onWritable?.(writable);
  }

  #startProbing(): void {
    if (this.#probeTimer !== null || this.#closed) return;
    const interval = this.#options.probeIntervalMs ?? PROBE_INTERVAL_MS;
    this.#probeTimer = setInterval(() => void this.probe(), interval).unref();
  }

  #stopProbing(): void {
    if (this.#probeTimer !== null) clearInterval(this.#probeTimer);
    this.#probeTimer = null;
  }
}

/** A directory that can't be synced is never the passing kind of trouble, whatever the code says. */
async function syncOrFatal(disk: Disk, directory: string): Promise<void> {
  try {
    await disk.syncDirectory(directory);
  } catch (cause) {
    throw new Error('the journal directory cannot be synced', { cause });
  }
}

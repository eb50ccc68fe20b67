// Decides when a snapshot is due and writes it beside the running ledger, without holding anything up.

import { join } from 'node:path';
import type { LedgerState } from '../ledger/ledger-fold.ts';
import type { Disk } from './disk.ts';
import type { JournalPosition } from './journal-reader.ts';
import { replaceFile } from './replace-file.ts';
import { SegmentSums } from './segment-sums.ts';
import { chunkName, type Snapshot, writeSnapshot } from './snapshot.ts';
import type { UsageIndex } from './usage-index.ts';

/** The ledger as it is on disk at this moment. */
export type LedgerCapture = {
  readonly position: JournalPosition;
  readonly segmentAt: number;
  readonly segmentCrc: number;
  readonly ledger: LedgerState;
  readonly usage: UsageIndex;
};

export type SnapshotKeeperOptions = {
  readonly disk: Disk;
  readonly journalDirectory: string;
  readonly indexDirectory: string;
  /** Must answer the state of one moment between two batches. */
  readonly capture: () => LedgerCapture;
  /** The snapshot the ledger was started from; null when it was rebuilt. */
  readonly last: Snapshot | null;
  readonly onNotice: (notice: string) => void;
  readonly everyRecords?: number;
};

/** Reading this many records again takes about a quarter of a second on a slow machine. */
const EVERY_RECORDS = 16_384;

export class SnapshotKeeper {
  readonly #options: SnapshotKeeperOptions;
  readonly #sums: SegmentSums;
  /** Chunk files that are known to be on disk. */
  readonly #written: Set<string>;
  #lastSeq: number;
  #writing: Promise<void> | null = null;
  #failing = false;

  constructor(options: SnapshotKeeperOptions) {
    this.#options = options;
    this.#sums = new SegmentSums(options.journalDirectory, options.last?.segments);
    this.#written = new Set(options.last?.chunks);
    this.#lastSeq = options.last?.position.nextSeq ?? 0;
  }

  /** To be called after each batch. */
  onBatch(position: JournalPosition): void {
    if (position.nextSeq - this.#lastSeq < (this.#options.everyRecords ?? EVERY_RECORDS)) return;
    if (this.#writing === null) void this.write();
  }

  /** Resolves when a snapshot of now is on disk, or could not be written: that costs time at the next start, nothing else. */
  async write(): Promise<void> {
    await this.#writing;
    this.#writing = this.#tryWrite().finally(() => {
      this.#writing = null;
    });
    await this.#writing;
  }

  async #tryWrite(): Promise<void> {
    const capture = this.#options.capture();
    if (capture.position.nextSeq === this.#lastSeq) return;
    // Counted as done either way: a failing disk is asked again only after as many records.
    this.#lastSeq = capture.position.nextSeq;
    try {
      await this.#write(capture);
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) {
        const reason = error instanceof Error ? error.message : String(error);
        this.#options.onNotice(`no snapshot could be written, so the next start takes longer: ${reason}`);
      }
      this.#failing = true;
    }
  }

  async #write({ usage, ...capture }: LedgerCapture): Promise<void> {
    const { disk, indexDirectory } = this.#options;
    const strings = [...usage.strings()];
    const files = usage.chunks().map((chunk) => {
      const name = chunkName(chunk.number, chunk.rows);
      // The open chunk is encoded at once, since it grows while files are written.
      return { name, chunk, bytes: chunk.sealed ? null : chunk.encode() };
    });
    for (const { name, chunk, bytes } of files) {
      if (!this.#written.has(name)) await replaceFile(disk, join(indexDirectory, name), bytes ?? chunk.encode());
    }
    const segments = await this.#sums.before(capture.position.segment);
    const chunks = files.map(({ name }) => name);
    await writeSnapshot(disk, indexDirectory, { ...capture, segments, strings, chunks });
    this.#written.clear();
    for (const name of chunks) this.#written.add(name);
  }
}

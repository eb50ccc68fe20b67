// The store in a data directory: takes the lock, reads documents and journal, ends what a dead process left open.

import { relative } from 'node:path';
import type { LedgerRecord } from '../ledger/records.ts';
import { type DataPaths, hasHistory, isInitialized, markInitialized, prepareDataDirectory } from './data-directory.ts';
import { acquireDataLock, type DataLock } from './data-lock.ts';
import { type Disk, realDisk } from './disk.ts';
import type { EntryReader } from './entry-reader.ts';
import { type FileDocuments, openFileDocuments } from './file-documents.ts';
import type { FileLedger } from './file-ledger.ts';
import { type OpenHold, recoverHolds } from './hold-recovery.ts';
import { type Journal, openJournal } from './journal.ts';
import { JournalArchive } from './journal-archive.ts';
import type { RecordPlace } from './journal-format.ts';
import type { JournalReadReport } from './journal-reader.ts';
import { type OpenedLedger, openLedger } from './ledger-opening.ts';
import { removeTemporaries } from './replace-file.ts';
import { SnapshotKeeper } from './snapshot-keeper.ts';
import type { Documents, Ledger, Store } from './store.ts';
import { DamagedStateError, misplacedError } from './store-errors.ts';
import { cutTornTail } from './torn-tail.ts';

export type FileStoreOptions = {
  readonly directory: string;
  readonly now: () => number;
  /** The disk can't be trusted any more: the process has to end, and must not retry. Called once per cause. */
  readonly onFatal: (error: Error) => void;
  /** Sentences for the operator: what was mended at the start, a disk that filled up. */
  readonly onNotice?: (notice: string) => void;
  /** Ids of the usage entries made for recovered holds. */
  readonly randomId?: () => string;
  /** Tests put a faulty one here. */
  readonly disk?: Disk;
  readonly journalSegmentBytesMax?: number;
  readonly probeIntervalMs?: number;
  /** Whole segments older than this are given up, their sums carried over; 0 keeps all. */
  readonly journalKeepDays?: number;
  /** Records between two snapshots. */
  readonly snapshotEveryRecords?: number;
};

/** What opening found and did. */
export type StoreOpening = {
  /** Records that had to be read again. */
  readonly journalLines: number;
  /** The segments they are in. */
  readonly journalSegments: number;
  /** Whether a snapshot saved reading the rest. */
  readonly fromSnapshot: boolean;
  readonly tornBytes: number;
  readonly recoveredHolds: number;
  readonly lockEpoch: number;
};

export interface FileStore extends Store {
  /** True when the directory held nothing and has just been set up. */
  readonly firstStart: boolean;
  readonly opening: StoreOpening;
}

/** Reading this many records took a second or so. */
const LINES_WORTH_A_SNAPSHOT = 65_536;

/**
 * Throws `DataDirectoryInUseError` (exit 75), `FilePermissionError` (77), `DamagedStateError` and
 * `DamagedJournalError` (78), or what the disk throws.
 */
export async function openFileStore(options: FileStoreOptions): Promise<FileStore> {
  try {
    const paths = await prepareDataDirectory(options.directory, options.disk ?? realDisk);
    const lock = await acquireDataLock(paths.root);
    try {
      return await openLocked(options, paths, lock);
    } catch (error) {
      await lock.release();
      throw error;
    }
  } catch (error) {
    throw misplacedError(error);
  }
}

async function openLocked(options: FileStoreOptions, paths: DataPaths, lock: DataLock): Promise<FileStore> {
  const marked = await isInitialized(paths);
  const required = marked || (await hasHistory(paths));
  const { now, onFatal, disk = realDisk } = options;
  const documents = await openFileDocuments({ directory: paths.documents, required, now, onFatal, disk });
  await removeTemporaries(disk, paths.index);
  const opened = await openLedger(paths, disk, notify(options));
  const { report, ledger } = opened;
  const mayBeNew = !required && documents.empty;
  if (!mayBeNew && report.position.segment === 0) throw new DamagedStateError(paths.journal, 'the journal is missing');
  const firstStart = mayBeNew && report.position.nextSeq <= 2;
  if (!marked && !firstStart)
    options.onNotice?.(`the file "initialized" was missing in ${paths.root} and was put back`);
  await cutTail(options, report);
  const openHolds = ledger.openHolds();
  const recovery = new LaterRecovery(options, ledger);
  const background = await openJournalFor(options, paths, recovery, opened);
  ledger.writeTo(background.journal);
  await recovery.run(openHolds);
  if (!marked) await markInitialized(paths, disk);
  // What took long to read shall not be read again if this process is killed.
  if (report.lines > (options.snapshotEveryRecords ?? LINES_WORTH_A_SNAPSHOT)) void background.snapshots.write();
  const opening: StoreOpening = {
    journalLines: report.lines,
    journalSegments: report.segments,
    fromSnapshot: opened.snapshot !== null,
    tornBytes: report.torn?.bytes ?? 0,
    recoveredHolds: openHolds.length - recovery.left.length,
    lockEpoch: lock.epoch,
  };
  return new OpenFileStore({ documents, ledger, entries: opened.entries, ...background, lock, firstStart, opening });
}

async function cutTail(options: FileStoreOptions, report: JournalReadReport): Promise<void> {
  const { torn } = report;
  if (torn === null) return;
  const saved = await cutTornTail(torn, options.disk ?? realDisk);
  options.onNotice?.(
    `${relative(options.directory, torn.file)}: cut ${torn.bytes} bytes of an unfinished write at byte ${torn.offset} (record ${torn.seq}); they are in ${saved}`,
  );
}

type Writers = { readonly journal: Journal; readonly snapshots: SnapshotKeeper; readonly archive: JournalArchive };

/** The journal for writing, and what follows behind it: snapshots, and the care of old segments. */
async function openJournalFor(
  options: FileStoreOptions,
  paths: DataPaths,
  recovery: LaterRecovery,
  opened: OpenedLedger,
): Promise<Writers> {
  const { report, ledger, usage, entries } = opened;
  const { disk = realDisk, now } = options;
  const journal: Journal = await openJournal({
    directory: paths.journal,
    position: report.position,
    segmentAt: opened.segmentAt,
    segmentCrc: report.segmentCrc,
    now,
    onCommitted: (record: LedgerRecord, place: RecordPlace) => ledger.commit(record, place),
    onBatch: (position) => snapshots.onBatch(position),
    onSegment: (segment) => archive.onSegment(segment),
    onFatal: options.onFatal,
    onWritable: (writable) => recovery.onWritable(writable),
    disk,
    ...(options.journalSegmentBytesMax !== undefined && { segmentBytesMax: options.journalSegmentBytesMax }),
    ...(options.probeIntervalMs !== undefined && { probeIntervalMs: options.probeIntervalMs }),
  });
  const snapshots = new SnapshotKeeper({
    disk,
    journalDirectory: paths.journal,
    indexDirectory: paths.index,
    capture: () => ({
      position: journal.position,
      segmentAt: journal.segmentAt,
      segmentCrc: journal.segmentCrc,
      ledger: ledger.state(),
      usage,
    }),
    last: opened.snapshot,
    onNotice: notify(options),
    ...(options.snapshotEveryRecords !== undefined && { everyRecords: options.snapshotEveryRecords }),
  });
  const archive = new JournalArchive({
    directory: paths.journal,
    disk,
    now,
    keepDays: options.journalKeepDays ?? 0,
    append: (record) => journal.append(record),
    rollupBefore: (segment) => usage.rollupBefore(segment),
    onExpired: (firstSegment) => {
      usage.forgetBefore(firstSegment);
      entries.releaseBefore(firstSegment).catch(options.onFatal);
    },
    onReplaced: (segment) => void entries.release(segment).catch(options.onFatal),
    onNotice: notify(options),
  });
  archive.start();
  return { journal, snapshots, archive };
}

function notify(options: FileStoreOptions): (notice: string) => void {
  return (notice) => options.onNotice?.(notice);
}

/** Recovers open holds now, and those a full disk kept open as soon as there is space. */
class LaterRecovery {
  left: readonly OpenHold[] = [];
  readonly ledger: FileLedger;
  readonly #options: FileStoreOptions;

  constructor(options: FileStoreOptions, ledger: FileLedger) {
    this.#options = options;
    this.ledger = ledger;
  }

  async run(holds: readonly OpenHold[]): Promise<void> {
    this.left = await recoverHolds(this.ledger, holds, this.#options);
  }

  onWritable(writable: boolean): void {
    this.#options.onNotice?.(writable ? 'the disk has space again' : 'the disk is full: new requests are refused');
    if (writable && this.left.length > 0) this.run(this.left).catch(this.#options.onFatal);
  }
}

type OpenParts = Writers & {
  readonly documents: FileDocuments;
  readonly ledger: FileLedger;
  readonly entries: EntryReader;
  readonly lock: DataLock;
  readonly firstStart: boolean;
  readonly opening: StoreOpening;
};

class OpenFileStore implements FileStore {
  readonly firstStart: boolean;
  readonly opening: StoreOpening;
  readonly #parts: OpenParts;
  #closing: Promise<void> | null = null;

  constructor(parts: OpenParts) {
    this.#parts = parts;
    this.firstStart = parts.firstStart;
    this.opening = parts.opening;
  }

  get documents(): Documents {
    return this.#parts.documents;
  }

  get ledger(): Ledger {
    return this.#parts.ledger;
  }

  get writable(): boolean {
    return this.#parts.journal.writable;
  }

  close(): Promise<void> {
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  async #closeAll(): Promise<void> {
    const { documents, archive, journal, snapshots, entries, lock } = this.#parts;
    try {
      await documents.close();
      await archive.close();
      await journal.close();
      await snapshots.write();
      await entries.close();
    } finally {
      await lock.release();
    }
  }
}

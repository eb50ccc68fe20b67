// The store in a data directory: takes the lock, reads documents and journal, ends what a dead process left open.

import { relative } from 'node:path';
import type { HoldRecord, LedgerRecord } from '../ledger/records.ts';
import { type DataPaths, isInitialized, markInitialized, prepareDataDirectory } from './data-directory.ts';
import { acquireDataLock, type DataLock } from './data-lock.ts';
import { type Disk, realDisk } from './disk.ts';
import { type FileDocuments, openFileDocuments } from './file-documents.ts';
import { FileLedger } from './file-ledger.ts';
import { recoverHolds } from './hold-recovery.ts';
import { type Journal, openJournal } from './journal.ts';
import type { RecordPlace } from './journal-format.ts';
import { type JournalReadReport, readJournal } from './journal-reader.ts';
import type { Documents, Ledger, Store } from './store.ts';
import { DamagedStateError } from './store-errors.ts';
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
};

/** What opening found and did. */
export type StoreOpening = {
  readonly journalLines: number;
  readonly journalSegments: number;
  readonly tornBytes: number;
  readonly recoveredHolds: number;
  readonly lockEpoch: number;
};

export interface FileStore extends Store {
  /** True when the directory held nothing and has just been set up. */
  readonly firstStart: boolean;
  readonly opening: StoreOpening;
}

/**
 * Throws `DataDirectoryInUseError` (exit 75), `FilePermissionError` (77), `DamagedStateError` and
 * `DamagedJournalError` (78), or what the disk throws.
 */
export async function openFileStore(options: FileStoreOptions): Promise<FileStore> {
  const paths = await prepareDataDirectory(options.directory, options.disk ?? realDisk);
  const lock = await acquireDataLock(paths.root);
  try {
    return await openLocked(options, paths, lock);
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function openLocked(options: FileStoreOptions, paths: DataPaths, lock: DataLock): Promise<FileStore> {
  const required = await isInitialized(paths);
  const { now, onFatal, disk = realDisk } = options;
  const documents = await openFileDocuments({ directory: paths.documents, required, now, onFatal, disk });
  const ledger = new FileLedger();
  const replayed = await replay(paths, ledger);
  const { report } = replayed;
  if (required && report.segments === 0) throw new DamagedStateError(paths.journal, 'the journal is missing');
  const firstStart = !required && documents.empty && report.position.nextSeq <= 2;
  if (!required && !firstStart)
    options.onNotice?.(`the file "initialized" was missing in ${paths.root} and was put back`);
  await cutTail(options, report);
  const openHolds = ledger.openHolds();
  const recovery = new LaterRecovery(options, ledger);
  const journal = await openJournalFor(options, paths, recovery, replayed);
  ledger.writeTo(journal);
  await recovery.run(openHolds);
  if (!required) await markInitialized(paths, disk);
  const opening: StoreOpening = {
    journalLines: report.lines,
    journalSegments: report.segments,
    tornBytes: report.torn?.bytes ?? 0,
    recoveredHolds: openHolds.length - recovery.left.length,
    lockEpoch: lock.epoch,
  };
  return new OpenFileStore({ documents, ledger, journal, lock, firstStart, opening });
}

type Replayed = { readonly report: JournalReadReport; readonly segmentAt: number };

async function replay(paths: DataPaths, ledger: FileLedger): Promise<Replayed> {
  let segmentAt = 0;
  const report = await readJournal({
    directory: paths.journal,
    onLine: ({ record }, place) => {
      if (record.type === 'segment') segmentAt = record.at;
      else if (record.type !== 'foreign') ledger.replay(record, place);
    },
  });
  return { report, segmentAt };
}

async function cutTail(options: FileStoreOptions, report: JournalReadReport): Promise<void> {
  const { torn } = report;
  if (torn === null) return;
  const saved = await cutTornTail(torn, options.disk ?? realDisk);
  options.onNotice?.(
    `${relative(options.directory, torn.file)}: cut ${torn.bytes} bytes of an unfinished write at byte ${torn.offset} (record ${torn.seq}); they are in ${saved}`,
  );
}

function openJournalFor(
  options: FileStoreOptions,
  paths: DataPaths,
  recovery: LaterRecovery,
  { report, segmentAt }: Replayed,
): Promise<Journal> {
  return openJournal({
    directory: paths.journal,
    position: report.position,
    segmentAt,
    segmentCrc: report.segmentCrc,
    now: options.now,
    onCommitted: (record: LedgerRecord, place: RecordPlace) => recovery.ledger.commit(record, place),
    onFatal: options.onFatal,
    onWritable: (writable) => recovery.onWritable(writable),
    ...(options.disk !== undefined && { disk: options.disk }),
    ...(options.journalSegmentBytesMax !== undefined && { segmentBytesMax: options.journalSegmentBytesMax }),
    ...(options.probeIntervalMs !== undefined && { probeIntervalMs: options.probeIntervalMs }),
  });
}

/** Recovers open holds now, and those a full disk kept open as soon as there is space. */
class LaterRecovery {
  left: readonly HoldRecord[] = [];
  readonly ledger: FileLedger;
  readonly #options: FileStoreOptions;

  constructor(options: FileStoreOptions, ledger: FileLedger) {
    this.#options = options;
    this.ledger = ledger;
  }

  async run(holds: readonly HoldRecord[]): Promise<void> {
    this.left = await recoverHolds(this.ledger, holds, this.#options);
  }

  onWritable(writable: boolean): void {
    this.#options.onNotice?.(writable ? 'the disk has space again' : 'the disk is full: new requests are refused');
    if (writable && this.left.length > 0) this.run(this.left).catch(this.#options.onFatal);
  }
}

type OpenParts = {
  readonly documents: FileDocuments;
  readonly ledger: FileLedger;
  readonly journal: Journal;
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
    try {
      await this.#parts.documents.close();
      await this.#parts.journal.close();
    } finally {
      await this.#parts.lock.release();
    }
  }
}

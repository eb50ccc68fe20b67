// Builds the ledger from the snapshot and what the journal has after it, or, where there is none to use, from the whole journal.

import { LedgerFold } from '../ledger/ledger-fold.ts';
import { type Carry, readJournalBase } from './carry.ts';
import type { DataPaths } from './data-directory.ts';
import type { Disk } from './disk.ts';
import { EntryReader } from './entry-reader.ts';
import { FileLedger } from './file-ledger.ts';
import { type JournalPosition, type JournalReadReport, readJournal } from './journal-reader.ts';
import { listSegments } from './segment-name.ts';
import { lostSnapshotPath, readSnapshot, type Snapshot, snapshotPath } from './snapshot.ts';
import { type LoadedSnapshot, loadSnapshot } from './snapshot-loader.ts';
import { DamagedJournalError } from './store-errors.ts';
import { UsageIndex } from './usage-index.ts';

export type OpenedLedger = {
  readonly ledger: FileLedger;
  readonly usage: UsageIndex;
  readonly entries: EntryReader;
  readonly report: JournalReadReport;
  /** When the last segment was begun. */
  readonly segmentAt: number;
  /** What it was started from; null when the whole journal was read. */
  readonly snapshot: Snapshot | null;
};

/** Throws `DamagedStateError` and `DamagedJournalError`. */
export async function openLedger(
  paths: DataPaths,
  disk: Disk,
  onNotice: (notice: string) => void,
): Promise<OpenedLedger> {
  const base = await readJournalBase(paths.journal);
  try {
    const loaded = await loadSnapshot(paths);
    if (loaded !== null) return await openFrom(paths, base, loaded);
  } catch (error) {
    // Whether the snapshot or the journal is wrong shows when all of the journal is read.
    const reason = error instanceof Error ? error.message : String(error);
    onNotice(`the snapshot cannot be used and the whole journal is read: ${reason}`);
  }
  const opened = await openFrom(paths, base, null);
  await checkLoss(paths, disk, opened.report, onNotice);
  return opened;
}

/**
 * Only what was durable is in a snapshot: a journal that ends before it has lost records. Where the file is as long as it was,
 * its bytes have changed, and that is damage; a shorter one is cut like any torn tail, and the loss is said.
 */
async function checkLoss(
  paths: DataPaths,
  disk: Disk,
  { position, torn }: JournalReadReport,
  onNotice: (notice: string) => void,
): Promise<void> {
  const known = (await readSnapshot(paths.index).catch(() => null))?.position;
  if (known === undefined || known.nextSeq <= position.nextSeq) return;
  const lost = `the last ${known.nextSeq - position.nextSeq} records that were once in the journal, from record ${position.nextSeq} on`;
  if (torn !== null && known.segment === position.segment && torn.offset + torn.bytes >= known.offset) {
    const place = { file: torn.file, offset: torn.offset, seq: torn.seq };
    throw new DamagedJournalError(place, `the bytes have changed since they were written: ${lost}, are not readable`);
  }
  const proof = lostSnapshotPath(paths.index, position.nextSeq);
  await disk.rename(snapshotPath(paths.index), proof);
  onNotice(
    `${lost}, are gone: the disk has lost them, or an older journal was put back; what they added up to is in ${proof}`,
  );
}

async function openFrom(paths: DataPaths, base: Carry | null, loaded: LoadedSnapshot | null): Promise<OpenedLedger> {
  const start = startOf(base, loaded);
  const firstSegment = (await listSegments(paths.journal))[0] ?? 0;
  const usage = UsageIndex.restore({ ...start, carried: base?.rollup ?? null, firstSegment });
  const entries = new EntryReader({ directory: paths.journal });
  const ledger = new FileLedger({ fold: start.fold, usage, entries });
  let { segmentAt } = start;
  const report = await readJournal({
    directory: paths.journal,
    base,
    onLine: ({ record }, place) => {
      if (record.type === 'segment') segmentAt = record.at;
      else if (record.type !== 'foreign' && record.type !== 'carry') ledger.replay(record, place);
    },
    ...(start.from === null ? {} : { from: start.from, fromCrc: start.fromCrc }),
  });
  return { ledger, usage, entries, report, segmentAt, snapshot: loaded?.snapshot ?? null };
}

type Start = {
  readonly fold: LedgerFold;
  readonly strings: readonly string[];
  readonly chunks: LoadedSnapshot['chunks'];
  readonly from: JournalPosition | null;
  readonly fromCrc: number;
  readonly segmentAt: number;
};

function startOf(base: Carry | null, loaded: LoadedSnapshot | null): Start {
  if (loaded !== null) {
    const { ledger, strings, position, segmentAt, segmentCrc } = loaded.snapshot;
    const fold = LedgerFold.restore(ledger);
    return { fold, strings, chunks: loaded.chunks, from: position, fromCrc: segmentCrc, segmentAt };
  }
  const nothing = { strings: [], chunks: [], fromCrc: 0, segmentAt: 0 };
  if (base === null) return { fold: new LedgerFold(), from: null, ...nothing };
  return { fold: LedgerFold.restore(base.ledger), from: base.position, ...nothing };
}

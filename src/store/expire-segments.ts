// Deletes old segments after what they add up to is durable in a carry file and the journal says so.

import { setImmediate } from 'node:timers/promises';
import { LedgerFold } from '../ledger/ledger-fold.ts';
import { readJournalBase, writeCarry } from './carry.ts';
import type { Disk } from './disk.ts';
import { readSegmentHeader } from './expiry-plan.ts';
import type { CarryRecord } from './journal-format.ts';
import { type JournalPosition, type ReadingPace, readJournal } from './journal-reader.ts';
import { removeIfThere } from './replace-file.ts';
import { carryPath, compressedSegmentPath, listJournalFiles, segmentPath } from './segment-name.ts';
import type { UsageRollup } from './usage-rollup.ts';

export type ExpireOptions = {
  readonly disk: Disk;
  readonly directory: string;
  readonly now: () => number;
  /** Puts a record into the journal; resolves when it is durable. */
  readonly append: (record: CarryRecord) => Promise<unknown>;
  /** What all usage entries of the segments before this one add up to, those that expired earlier included. */
  readonly rollupBefore: (segment: number) => ReturnType<UsageRollup['state']>;
  /** The entries before this segment are about to go; balances and sums stay. May be called again with the same. */
  readonly onExpired: (firstSegment: number) => void;
  readonly signal: AbortSignal;
};

/** About a millisecond of records. */
const CHUNK_BYTES = 32_768;

/**
 * Makes `first` the segment the journal begins with, and deletes those before it. After a crash or an error of the disk the
 * journal begins where it did or with `first`; leftovers are for `finishExpiry`.
 */
export async function expireBefore(first: number, options: ExpireOptions): Promise<void> {
  const { disk, directory, now } = options;
  const pace = gentlePace(options.signal);
  const { position, fold } = await foldBefore(first, directory, pace);
  const state = { position, ledger: fold.state(), rollup: options.rollupBefore(first) };
  const record = (digest: string) => options.append({ type: 'carry', at: now(), segment: first, digest });
  await writeCarry(state, { disk, directory, pause: pace.pause, record });
  options.onExpired(first);
  await removeLeftovers(disk, directory);
}

/** Deletes what a crash or an error has left. Throws `DamagedStateError` where the journal does not know its carry file. */
export async function finishExpiry(options: ExpireOptions): Promise<void> {
  const { disk, directory, signal, onExpired } = options;
  const { segments, expired } = await listJournalFiles(directory);
  const [first] = segments;
  if (first !== undefined && expired.length > 0) {
    // Reading to the end proves that the journal has the record of the carry it begins with.
    await readJournal({ directory, onLine: () => undefined, pace: gentlePace(signal) });
    await disk.syncDirectory(directory);
    onExpired(first);
  }
  await removeLeftovers(disk, directory);
}

type FoldedStart = { readonly position: JournalPosition; readonly fold: LedgerFold };

async function foldBefore(first: number, directory: string, pace: ReadingPace): Promise<FoldedStart> {
  const base = await readJournalBase(directory);
  const fold = base === null ? new LedgerFold() : LedgerFold.restore(base.ledger);
  const { position } = await readJournal({
    directory,
    base,
    before: first,
    pace,
    onLine: ({ record }) => {
      if (record.type === 'segment' || record.type === 'carry' || record.type === 'foreign') return;
      fold.apply(record);
    },
  });
  const header = await readSegmentHeader(directory, first);
  if (header.seq !== position.nextSeq || header.prev !== position.prev) {
    throw new Error(`${segmentPath(directory, first)} does not follow the segment before it`);
  }
  return { position: { ...position, segment: first, offset: 0 }, fold };
}

/** Whatever a crash leaves of them is ignored. */
async function removeLeftovers(disk: Disk, directory: string): Promise<void> {
  const { segments, expired, carries } = await listJournalFiles(directory);
  const paths = [
    ...expired.flatMap((segment) => [segmentPath(directory, segment), compressedSegmentPath(directory, segment)]),
    ...carries.filter((carry) => carry !== segments[0]).map((carry) => carryPath(directory, carry)),
  ];
  for (const path of paths) await removeIfThere(disk, path);
  if (paths.length > 0) await disk.syncDirectory(directory);
}

function gentlePace(signal: AbortSignal): ReadingPace {
  return {
    chunkBytes: CHUNK_BYTES,
    pause: async () => {
      await setImmediate();
      signal.throwIfAborted();
    },
  };
}

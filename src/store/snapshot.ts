// The snapshot: what the journal adds up to at one place, so that a start needs to read only what came after.
//
// `index/snapshot.ndjson` has two lines: `{"format":1,"digest":"<SHA-256 of the second line>"}` and the snapshot itself. It
// names the chunk files it belongs with. All of it can be made again from the journal, so whatever is wrong with it is
// no more than a reason to do that.

import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LedgerState } from '../ledger/ledger-fold.ts';
import type { Disk } from './disk.ts';
import type { JournalPosition } from './journal-reader.ts';
import { removeIfThere, replaceFile } from './replace-file.ts';
import type { SegmentSum } from './segment-sums.ts';
import { errorCode } from './store-errors.ts';

export type Snapshot = {
  /** Every record before this place is in it, none after. */
  readonly position: JournalPosition;
  /** When the segment of `position` was begun. */
  readonly segmentAt: number;
  /** CRC-32 of that segment's text before `position`. */
  readonly segmentCrc: number;
  /** Of the segments before it, so that damage in them is seen without reading their records. */
  readonly segments: readonly SegmentSum[];
  readonly ledger: LedgerState;
  /** What the numbers in the chunks stand for. */
  readonly strings: readonly string[];
  /** File names in the index directory, oldest first. */
  readonly chunks: readonly string[];
};

const SNAPSHOT_FORMAT = 1;
const SNAPSHOT_NAME = 'snapshot.ndjson';
const CHUNK_NAME = /^usage-[0-9]{6}-[0-9]+\.bin$/;

export function snapshotPath(directory: string): string {
  return join(directory, SNAPSHOT_NAME);
}

/** Where a snapshot is kept aside that knows of records the journal has no more, from this one on. */
export function lostSnapshotPath(directory: string, seq: number): string {
  return join(directory, `lost-${seq}.ndjson`);
}

/** Null where there is none. Throws an `Error` for one that can't be used. */
export async function readSnapshot(directory: string): Promise<Snapshot | null> {
  const text = await readIfThere(snapshotPath(directory));
  if (text === null) return null;
  const end = text.indexOf('\n');
  const body = text.slice(end + 1);
  const header: unknown = JSON.parse(text.slice(0, end));
  if (typeof header !== 'object' || header === null) throw new Error('its first line is no object');
  const { format, digest } = header as { format?: unknown; digest?: unknown };
  if (format !== SNAPSHOT_FORMAT) throw new Error(`it is of format ${String(format)}`);
  if (digest !== digestOf(body)) throw new Error('its digest is wrong');
  // The digest says that it is as this program wrote it.
  return JSON.parse(body) as Snapshot;
}

/** The chunk files it names must be on disk already; those that no snapshot names any more are removed. */
export async function writeSnapshot(disk: Disk, directory: string, snapshot: Snapshot): Promise<void> {
  const body = JSON.stringify(snapshot);
  const header = JSON.stringify({ format: SNAPSHOT_FORMAT, digest: digestOf(body) });
  await replaceFile(disk, snapshotPath(directory), Buffer.from(`${header}\n${body}`, 'utf8'));
  const named = new Set(snapshot.chunks);
  for (const name of await readdir(directory)) {
    if (CHUNK_NAME.test(name) && !named.has(name)) await removeIfThere(disk, join(directory, name));
  }
}

/** The name of a chunk with this content: another one as soon as it has more rows. */
export function chunkName(number: number, rows: number): string {
  return `usage-${String(number).padStart(6, '0')}-${rows}.bin`;
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

// Loads the snapshot when it fits the journal that is there, byte for byte.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openSegmentFile } from './segment-file.ts';
import { listSegments } from './segment-name.ts';
import { segmentMismatch, textCrcOf } from './segment-sums.ts';
import { readSnapshot, type Snapshot } from './snapshot.ts';
import { UsageChunk } from './usage-chunk.ts';

export type LoadedSnapshot = { readonly snapshot: Snapshot; readonly chunks: readonly UsageChunk[] };
export type SnapshotPlaces = { readonly journal: string; readonly index: string };

/** Null where there is none. Throws an `Error` that says why the one there can't be used. */
export async function loadSnapshot(places: SnapshotPlaces): Promise<LoadedSnapshot | null> {
  const snapshot = await readSnapshot(places.index);
  if (snapshot === null) return null;
  // Reading is done by other threads while this one sums what was read.
  const [chunks] = await Promise.all([
    Promise.all(snapshot.chunks.map(async (name) => UsageChunk.decode(await readFile(join(places.index, name))))),
    checkJournal(places.journal, snapshot),
  ]);
  return { snapshot, chunks };
}

/** One is read while another is summed. */
const CHECKED_AT_ONCE = 3;

/** All that the snapshot covers must be as it was, or gone because it is too old. */
async function checkJournal(directory: string, snapshot: Snapshot): Promise<void> {
  const { position, segments: sums } = snapshot;
  const present = await listSegments(directory);
  if (!present.includes(position.segment)) throw new Error(`there is no segment ${position.segment}`);
  const known = new Map(sums.map((sum) => [sum.segment, sum]));
  const sealed = present.filter((segment) => segment < position.segment).values();
  const checkRest = async (): Promise<void> => {
    for (const segment of sealed) {
      const sum = known.get(segment);
      const mismatch = sum === undefined ? `it knows no segment ${segment}` : await segmentMismatch(directory, sum);
      if (mismatch !== null) throw new Error(mismatch);
    }
  };
  // They share what is left to check.
  await Promise.all(Array.from({ length: CHECKED_AT_ONCE }, checkRest));
  const running = await openSegmentFile(directory, position.segment);
  try {
    if ((await running.size()) < position.offset) throw new Error(`${running.path} is shorter than it was`);
    const crc = await textCrcOf(running, position.offset);
    if (crc !== snapshot.segmentCrc) throw new Error(`${running.path} has changed`);
  } finally {
    await running.close();
  }
}

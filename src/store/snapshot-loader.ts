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
  await checkJournal(places.journal, snapshot);
  const chunks: UsageChunk[] = [];
  for (const name of snapshot.chunks) chunks.push(UsageChunk.decode(await readFile(join(places.index, name))));
  return { snapshot, chunks };
}

/** All that the snapshot covers must be as it was, or gone because it is too old. */
async function checkJournal(directory: string, snapshot: Snapshot): Promise<void> {
  const { position, segments: sums } = snapshot;
  const present = await listSegments(directory);
  if (!present.includes(position.segment)) throw new Error(`there is no segment ${position.segment}`);
  const known = new Map(sums.map((sum) => [sum.segment, sum]));
  for (const segment of present) {
    if (segment >= position.segment) break;
    const sum = known.get(segment);
    const mismatch = sum === undefined ? `it knows no segment ${segment}` : await segmentMismatch(directory, sum);
    if (mismatch !== null) throw new Error(mismatch);
  }
  const running = await openSegmentFile(directory, position.segment);
  try {
    if ((await running.size()) < position.offset) throw new Error(`${running.path} is shorter than it was`);
    const crc = await textCrcOf(running, position.offset);
    if (crc !== snapshot.segmentCrc) throw new Error(`${running.path} has changed`);
  } finally {
    await running.close();
  }
}

// One recorded life of a store and the power cuts drawn from it.
import { FaultyDisk } from '../store/fixtures/faulty-disk.ts';
import { drawCrashes, scratchDirectory, surviveAll } from './crash-check.ts';
import { newReached } from './crash-image.ts';
import { type Lie, RecordingDisk } from './recording-disk.ts';
import { seededRandom } from './scale.ts';
import { newMet, runWorkload } from './workload.ts';

const ROUNDS = 12;

/** Leaves its directory, `root` of the disk, to the caller. */
export async function recordLife(seed: number, lie: Lie = null, met = newMet()): Promise<RecordingDisk> {
  const directory = await scratchDirectory();
  const full = new FaultyDisk();
  const disk = new RecordingDisk(directory, full, lie);
  await runWorkload({ disk, full, random: seededRandom(seed), met, rounds: ROUNDS });
  return disk;
}

export type CrashRun = {
  readonly failures: readonly string[];
  readonly states: number;
  readonly reached: Record<string, number>;
};

/** Draws states of one recorded life and starts on each. */
export async function crashAll(disk: RecordingDisk, seed: number, count: number, from = 0): Promise<CrashRun> {
  const reached = { ...newReached(), torn: 0, recovered: 0, holes: 0 };
  const failures: string[] = [];
  const crashes = drawCrashes(disk, { random: seededRandom(seed), reached, count, drawsPerPoint: 8, from });
  await surviveAll(crashes, ({ point, state }, aftermath) => {
    reached.torn += aftermath.tornBytes > 0 ? 1 : 0;
    reached.recovered += aftermath.recoveredHolds > 0 ? 1 : 0;
    reached.holes += state.hasHoles ? 1 : 0;
    for (const problem of aftermath.problems) failures.push(`seed ${seed}, point ${point}: ${problem}`);
  });
  return { failures, states: crashes.length, reached };
}

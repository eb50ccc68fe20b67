// Power cuts (F-03): whatever part of the unsynced writes a disk keeps, a start finds all that was acknowledged.
import { rm } from 'node:fs/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { openFileStore } from '../../src/store/file-store.ts';
import { NOON } from '../store/fixtures/records.ts';
import { drawCrashes, scratchDirectory } from './crash-check.ts';
import { materialise, newReached } from './crash-image.ts';
import { crashAll, recordLife } from './crash-run.ts';
import { RecordingDisk } from './recording-disk.ts';
import { scale, seededRandom } from './scale.ts';
import { newMet } from './workload.ts';

const FIRST_SEED = 1;
const LIVES = scale(3, 80);
const STATES = scale(240, 20_000);
/** Some more than their share, since short lives may not have theirs. */
const STATES_PER_LIFE = Math.ceil((STATES * 1.1) / LIVES);
const SECOND_CUTS = scale(6, 100);
const STATES_PER_SECOND_CUT = scale(15, 50);

const directories: string[] = [];
afterAll(async () => {
  for (const directory of directories) await rm(directory, { recursive: true, force: true });
});

async function recorded(...life: Parameters<typeof recordLife>): Promise<RecordingDisk> {
  const disk = await recordLife(...life);
  directories.push(disk.root);
  return disk;
}

function addUp(sums: Record<string, number>, counts: Readonly<Record<string, number>>): void {
  for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count;
}

describe('after a power cut', () => {
  it('a start finds everything that was acknowledged, nothing that was not asked for, and works on', async () => {
    const met = newMet();
    const sums: Record<string, number> = {};
    const failures: string[] = [];
    let states = 0;
    for (let seed = FIRST_SEED; seed < FIRST_SEED + LIVES && states < STATES; seed += 1) {
      const run = await crashAll(await recorded(seed, null, met), seed, STATES_PER_LIFE);
      states += run.states;
      failures.push(...run.failures);
      addUp(sums, run.reached);
    }
    expect(failures).toEqual([]);
    expect(states).toBeGreaterThanOrEqual(STATES);
    for (const [fault, times] of Object.entries({ ...sums, ...met })) expect(times, fault).toBeGreaterThan(0);
  });

  it('a second one during the start after the first loses nothing either', async () => {
    const sums: Record<string, number> = {};
    const failures: string[] = [];
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SECOND_CUTS; seed += 1) {
      const first = await recorded(seed);
      const options = { random: seededRandom(seed), reached: newReached(), count: 1, drawsPerPoint: 8 };
      // Late in the log, where there is something to recover.
      const [crash] = drawCrashes(first, { ...options, from: Math.floor(first.events.length * 0.6) });
      if (crash === undefined) throw new Error(`seed ${seed}: no state drawn`);
      const directory = await scratchDirectory();
      directories.push(directory);
      materialise(crash.state, directory);
      const disk = new RecordingDisk(directory);
      disk.resume(first.events.slice(0, crash.point + 1));
      const from = disk.events.length;
      await (await openFileStore({ directory, disk, now: () => NOON, onFatal: throwIt, probeIntervalMs: 2 })).close();
      const run = await crashAll(disk, seed, STATES_PER_SECOND_CUT, from);
      failures.push(...run.failures);
      addUp(sums, run.reached);
    }
    expect(failures).toEqual([]);
    for (const fault of ['recovered', 'nameLost', 'contentLost']) expect(sums[fault], fault).toBeGreaterThan(0);
  });
});

describe('a disk that lies is found out', () => {
  it.each(['datasync', 'syncDirectory'] as const)('when %s does nothing', async (lie) => {
    const failures: string[] = [];
    for (let seed = FIRST_SEED; seed < FIRST_SEED + 20 && failures.length === 0; seed += 1) {
      failures.push(...(await crashAll(await recorded(seed, lie), seed, 40)).failures);
    }
    expect(failures.length, `seeds from ${FIRST_SEED}`).toBeGreaterThan(0);
  });
});

function throwIt(error: Error): never {
  throw error;
}

// Draws crash states from a recorded life and starts a store on each: all that was acknowledged is there, and it works.
import { mkdtempSync } from 'node:fs';
import { access, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FileStore, openFileStore } from '../../src/store/file-store.ts';
import { makeGrant, makeHoldRequest, makeSettle, NOON } from '../store/fixtures/records.ts';
import { CrashImage, type CrashState, materialise, type Reached } from './crash-image.ts';
import { type Claim, findViolations, Model } from './invariants.ts';
import type { DiskEvent, RecordingDisk } from './recording-disk.ts';
import { SEGMENT_BYTES, versionIn } from './workload.ts';

/** A state and what was asked and acknowledged before the cut. */
export type Crash = { readonly point: number; readonly state: CrashState; readonly model: Model };

/** In memory where the system has such a directory: thousands of stores are opened and thrown away. */
export async function scratchDirectory(): Promise<string> {
  const base = await access('/dev/shm').then(
    () => '/dev/shm',
    () => tmpdir(),
  );
  return mkdtempSync(join(base, 'svc-crash-'));
}

export type DrawOptions = {
  readonly random: () => number;
  readonly reached: Reached;
  /** At most so many states. */
  readonly count: number;
  /** States drawn at one point of the log, beside the two where everything stays or is lost. */
  readonly drawsPerPoint: number;
  /** Begins no earlier in the log. */
  readonly from?: number;
};

/** No two with the same content and the same acknowledgements; fewer than asked for where there are no more. */
export function drawCrashes(disk: RecordingDisk, options: DrawOptions): readonly Crash[] {
  const { random, reached, count, drawsPerPoint, from = 0 } = options;
  const points = pickPoints(disk.events, from, Math.ceil((2 * count) / (drawsPerPoint + 2)), random);
  const image = new CrashImage(disk);
  const seen = new Set<string>();
  const crashes: Crash[] = [];
  for (const [index, event] of disk.events.entries()) {
    image.take(event);
    if (!points.has(index)) continue;
    const model = modelAt(disk.events, index);
    for (let draw = 0; draw < drawsPerPoint + 2; draw += 1) {
      const state = image.draw(draw === 0 ? 'kept' : draw === 1 ? 'lost' : 'drawn', random, reached);
      const id = `${state.hash} ${model.acknowledgements}`;
      if (seen.has(id)) continue;
      seen.add(id);
      crashes.push({ point: index, state, model });
    }
  }
  return sample(crashes, count, random);
}

function pickPoints(events: readonly DiskEvent[], from: number, count: number, random: () => number): Set<number> {
  const all = events.flatMap((event, index) => (event.kind === 'asked' || index < from ? [] : [index]));
  return new Set(sample(all, count, random));
}

function sample<T>(items: readonly T[], count: number, random: () => number): readonly T[] {
  const rest = [...items];
  const taken: T[] = [];
  while (taken.length < count && rest.length > 0) {
    const [item] = rest.splice(Math.floor(random() * rest.length), 1);
    if (item !== undefined) taken.push(item);
  }
  return taken;
}

function modelAt(events: readonly DiskEvent[], last: number, model = new Model()): Model {
  for (const event of events.slice(0, last + 1)) {
    if (event.kind === 'asked') model.asked(event.claim);
    else if (event.kind === 'acknowledged') model.acknowledged(event.claim);
  }
  return model;
}

/** What starting after the cut came to. */
export type Aftermath = {
  readonly problems: readonly string[];
  readonly recoveredHolds: number;
  readonly tornBytes: number;
  readonly notices: readonly string[];
};

/** Starts a store on the state, holds it against the model, and uses it. */
export async function survive({ state, model }: Crash): Promise<Aftermath> {
  const directory = await scratchDirectory();
  const notices: string[] = [];
  const fatal: string[] = [];
  let store: FileStore | null = null;
  try {
    materialise(state, directory);
    store = await openFileStore({
      directory,
      now: () => NOON,
      journalSegmentBytesMax: SEGMENT_BYTES,
      probeIntervalMs: 2,
      onFatal: (error) => fatal.push(String(error)),
      onNotice: (notice) => notices.push(notice),
    });
    const { ledger, documents, opening } = store;
    const lost = await useStore(store, model);
    const problems = await findViolations(directory, model, {
      ended: true,
      ledger,
      versionOf: (key) => versionIn(documents, key),
    });
    return {
      problems: [...lost, ...problems, ...fatal],
      recoveredHolds: opening.recoveredHolds,
      tornBytes: opening.tornBytes,
      notices,
    };
  } catch (error) {
    const problem = `it does not start: ${error instanceof Error ? error.message : String(error)}`;
    return { problems: [problem], recoveredHolds: 0, tornBytes: 0, notices };
  } finally {
    await store?.close();
    await rm(directory, { recursive: true, force: true });
  }
}

/** New work goes through, old work is not done again. */
async function useStore({ ledger }: FileStore, model: Model): Promise<readonly string[]> {
  const problems: string[] = [];
  const grant = makeGrant(100, { id: 'gr_after' });
  const { record } = makeHoldRequest('req_after', 100);
  const settle = makeSettle('req_after', 7);
  const claims: readonly Claim[] = [
    { kind: 'grant', record: grant },
    { kind: 'hold', record },
    { kind: 'settle', record: settle },
  ];
  for (const claim of claims) model.asked(claim);
  await ledger.grant(grant);
  const held = await ledger.hold({ record, budget: null, minimumNano: 100 });
  if (!held.ok) problems.push(`a new hold is refused: ${held.reason}`);
  else await ledger.settle(settle);
  for (const claim of claims) if (held.ok) model.acknowledged(claim);
  const [requestId] = model.settlesKept;
  if (requestId !== undefined && (await ledger.settle(makeSettle(requestId, 0))))
    problems.push(`${requestId} settles again`);
  const [grantId] = model.grantsKept;
  if (grantId !== undefined && (await ledger.grant(makeGrant(1, { id: grantId }))))
    problems.push(`${grantId} is granted again`);
  return problems;
}

/** Some at a time, since most of it is waiting for the disk. */
export async function surviveAll(
  crashes: readonly Crash[],
  onAftermath: (crash: Crash, aftermath: Aftermath) => void,
): Promise<void> {
  const waiting = [...crashes];
  const work = async () => {
    for (let crash = waiting.pop(); crash !== undefined; crash = waiting.pop()) {
      onAftermath(crash, await survive(crash));
    }
  };
  await Promise.all(Array.from({ length: 6 }, work));
}

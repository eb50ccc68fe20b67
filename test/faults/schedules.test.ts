// Interleavings (F-31): requests, repeated settlements, grants, revoked keys, changed prices and failing disks, in any order.
import { rm } from 'node:fs/promises';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type FileStore, openFileStore } from '../../src/store/file-store.ts';
import type { ApiKey } from '../../src/store/store.ts';
import { isSvcError } from '../../src/wire/svc-error.ts';
import { makeGrant, makeHold, makeSettle, NOON } from '../store/fixtures/records.ts';
import { scratchDirectory } from './crash-check.ts';
import { type Claim, checkInvariants, Model } from './invariants.ts';
import { LONG, scale } from './scale.ts';
import { ScheduledDisk } from './scheduled-disk.ts';

const SCHEDULES = scale(500, 100_000);
/** A store serves so many, each with a workspace of its own; then its journal is checked whole. */
const SCHEDULES_PER_STORE = LONG ? 250 : 100;

type Step =
  | {
      readonly kind: 'request';
      readonly key: number;
      readonly tokens: number;
      readonly used: number;
      readonly settles: number;
    }
  | { readonly kind: 'grant'; readonly id: number; readonly amount: number }
  | { readonly kind: 'revoke'; readonly key: number }
  | { readonly kind: 'price'; readonly nano: number }
  | { readonly kind: 'fault'; readonly fault: 'full' | 'broken' }
  | { readonly kind: 'mend' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant('request' as const),
      key: fc.nat(1),
      tokens: fc.integer({ min: 1, max: 30 }),
      used: fc.integer({ min: 0, max: 40 }),
      settles: fc.integer({ min: 0, max: 3 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('grant' as const),
      id: fc.nat(2),
      amount: fc.integer({ min: 1, max: 150 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('revoke' as const), key: fc.nat(1) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('price' as const), nano: fc.integer({ min: 1, max: 5 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('fault' as const),
      fault: fc.constantFrom('full' as const, 'full' as const, 'full' as const, 'broken' as const),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'mend' as const }) },
);

/** Sums a workspace must come to, from what was acknowledged alone. */
type Books = { granted: bigint; charged: bigint; held: bigint };

type World = {
  readonly directory: string;
  readonly disk: ScheduledDisk;
  readonly store: FileStore;
  readonly model: Model;
  broken: boolean;
};
type Run = {
  readonly world: World;
  readonly name: string;
  readonly books: Books;
  readonly keys: readonly ApiKey[];
  readonly point: (label: string) => Promise<void>;
  priceNano: number;
  made: number;
};

const met = {
  refused: 0,
  repeated: 0,
  full: 0,
  broken: 0,
  revoked: 0,
  revokedMeanwhile: 0,
  priceMeanwhile: 0,
  unsettled: 0,
};
let runs = 0;

async function openWorld(): Promise<World> {
  const directory = await scratchDirectory();
  const disk = new ScheduledDisk();
  const world = { broken: false };
  const store = await openFileStore({
    directory,
    disk,
    now: () => NOON,
    probeIntervalMs: 1,
    onFatal: () => {
      world.broken = true;
    },
  });
  return Object.assign(world, { directory, disk, store, model: new Model() });
}

/** The whole journal, and what a restart makes of it. */
async function closeWorld({ directory, disk, store, model }: World, what: string): Promise<void> {
  disk.fault = null;
  await store.close();
  const after = await openFileStore({ directory, now: () => NOON, onFatal: () => undefined });
  await checkInvariants(directory, model, what, { ledger: after.ledger, ended: true });
  await after.close();
  await rm(directory, { recursive: true, force: true });
}

async function startRun(world: World, point: Run['point']): Promise<Run> {
  runs += 1;
  const name = `ws_${runs}`;
  const keys = [0, 1].map((key) => makeKey(name, `${name}_${key}`));
  return { world, name, keys, point, books: { granted: 0n, charged: 0n, held: 0n }, priceNano: 2, made: 0 };
}

function makeKey(workspaceId: string, id: string): ApiKey {
  const limits = {
    models: null,
    requestsPerMinute: 1,
    tokensPerMinute: 1,
    budgetNano: null,
    budgetPeriod: 'total' as const,
  };
  const shown = { name: id, digest: id, prefix: 'p', last4: 'last' };
  return { id, workspaceId, ...shown, ...limits, createdAt: NOON, expiresAt: null, revokedAt: null };
}

/** Undefined where the disk refused; then nothing has happened, unless the disk is broken for good. */
async function claiming<T>({ world }: Run, claim: Claim, work: () => Promise<T>, isDone: (result: T) => boolean) {
  world.model.asked(claim);
  try {
    const result = await work();
    if (isDone(result)) world.model.acknowledged(claim);
    return result;
  } catch (error) {
    if (!isSvcError(error) || error.code !== 'STORAGE_UNAVAILABLE') throw error;
    return undefined;
  }
}

async function request(run: Run, wish: Extract<Step, { kind: 'request' }>): Promise<void> {
  const { world, name } = run;
  const key = run.keys[wish.key];
  if (key === undefined) return;
  run.made += 1;
  const requestId = `${name}_${run.made}`;
  await run.point('admission');
  const stored = world.store.documents.apiKeyByDigest(key.digest);
  if (stored !== undefined && stored.revokedAt !== null) {
    met.revoked += 1;
    return;
  }
  const priceNano = run.priceNano;
  const record = makeHold(requestId, wish.tokens * priceNano, { workspaceId: name, apiKeyId: key.id });
  const hold = () => world.store.ledger.hold({ record, budget: null, minimumNano: record.amountNano });
  const held = await claiming(run, { kind: 'hold', record }, hold, ({ ok }) => ok);
  if (held?.ok !== true) {
    met.refused += held === undefined ? 0 : 1;
    return;
  }
  run.books.held += BigInt(held.heldNano);
  await run.point('upstream');
  if (world.store.documents.apiKeyByDigest(key.digest)?.revokedAt === NOON) met.revokedMeanwhile += 1;
  if (run.priceNano !== priceNano) met.priceMeanwhile += 1;
  const chargeNano = wish.used * priceNano;
  await settleAtOnce(run, { requestId, keyId: key.id, heldNano: held.heldNano, chargeNano, times: wish.settles });
}

type Settling = {
  readonly requestId: string;
  readonly keyId: string;
  readonly heldNano: number;
  readonly chargeNano: number;
  readonly times: number;
};

/** Only one of several settlements counts. */
async function settleAtOnce(run: Run, settling: Settling): Promise<void> {
  const { requestId, heldNano, chargeNano, times } = settling;
  const charge = Math.min(chargeNano, heldNano);
  const record = { ...makeSettle(requestId, chargeNano, { api_key_id: settling.keyId }), workspaceId: run.name };
  const settle = async (index: number): Promise<boolean> => {
    await run.point(`settle ${index}`);
    const claim: Claim = { kind: 'settle', record };
    const done = await claiming(run, claim, () => run.world.store.ledger.settle(record), Boolean);
    if (done !== true) return false;
    run.books.held -= BigInt(heldNano);
    run.books.charged += BigInt(charge);
    return true;
  };
  const done = await Promise.all(Array.from({ length: times }, (_, index) => settle(index)));
  if (times > 1) met.repeated += 1;
  const effects = done.filter(Boolean).length;
  if (effects === 0) met.unsettled += 1;
  expect(effects).toBeLessThanOrEqual(1);
}

const PERFORM: { [Kind in Step['kind']]: (run: Run, step: Extract<Step, { kind: Kind }>) => Promise<void> } = {
  request,
  async grant(run, { id, amount }) {
    await run.point('grant');
    const record = makeGrant(amount + id, { id: `${run.name}_${id}_${amount}`, workspaceId: run.name });
    const done = await claiming(run, { kind: 'grant', record }, () => run.world.store.ledger.grant(record), Boolean);
    if (done === true) run.books.granted += BigInt(record.amountNano);
  },
  async revoke(run, { key }) {
    await run.point('revoke');
    const revoked = run.keys[key];
    if (revoked === undefined) return;
    await run.world.store.documents.putApiKey({ ...revoked, revokedAt: NOON }).catch((error) => {
      if (!isSvcError(error)) throw error;
    });
  },
  async price(run, { nano }) {
    await run.point('price');
    run.priceNano = nano;
  },
  async fault({ world, point }, { fault }) {
    await point('fault');
    world.disk.fault = fault;
  },
  async mend({ world, point }) {
    await point('mend');
    world.disk.fault = null;
  },
};

function perform<Kind extends Step['kind']>(run: Run, each: Extract<Step, { kind: Kind }>): Promise<void> {
  const work: (run: Run, step: Extract<Step, { kind: Kind }>) => Promise<void> = PERFORM[each.kind as Kind];
  return work(run, each);
}

async function runSchedule(world: World, scheduler: fc.Scheduler, steps: readonly Step[]): Promise<void> {
  const point = async (label: string) => {
    await scheduler.schedule(Promise.resolve(), label);
  };
  const run = await startRun(world, point);
  const { ledger } = world.store;
  const before = world.disk.faults;
  await PERFORM.grant({ ...run, point: async () => undefined }, { kind: 'grant', id: 0, amount: 100 });
  world.disk.gate = point;
  const check = async (act: () => Promise<void>) => {
    await act();
    // What the disk does takes no time of its own: only the scheduler decides what comes next.
    await world.disk.quiet();
    const { grantedNano, chargedNano, heldNano } = ledger.balance(run.name);
    expect(grantedNano - chargedNano - heldNano).toBeGreaterThanOrEqual(0);
  };
  await scheduler.waitFor(Promise.all(steps.map((each) => perform(run, each))), check);
  world.disk.gate = null;
  // A look for space may still be waiting at the gate.
  await scheduler.waitIdle();
  if (world.disk.faults > before) met[world.broken ? 'broken' : 'full'] += 1;
  world.disk.fault = null;
  if (world.broken) return;
  while (!world.store.writable) await new Promise((resolve) => setTimeout(resolve, 1));
  const { grantedNano, chargedNano, heldNano } = ledger.balance(run.name);
  expect([grantedNano, chargedNano, heldNano].map(BigInt)).toEqual([
    run.books.granted,
    run.books.charged,
    run.books.held,
  ]);
}

it('in any order of steps and disk operations the books balance', async () => {
  for (let seed = 1; seed <= SCHEDULES / SCHEDULES_PER_STORE; seed += 1) {
    let world = await openWorld();
    const property = fc.asyncProperty(
      fc.scheduler(),
      fc.array(step, { minLength: 2, maxLength: 9 }),
      async (scheduler, steps) => {
        if (world.broken) {
          await closeWorld(world, `seed ${seed}`);
          world = await openWorld();
        }
        await runSchedule(world, scheduler, steps);
      },
    );
    await fc.assert(property, { numRuns: SCHEDULES_PER_STORE, seed, endOnFailure: true });
    await closeWorld(world, `seed ${seed}`);
  }
  expect(runs).toBeGreaterThanOrEqual(SCHEDULES);
  for (const [fault, times] of Object.entries(met)) expect(times, fault).toBeGreaterThan(0);
});

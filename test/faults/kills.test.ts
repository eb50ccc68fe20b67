// kill -9 at any moment of mixed load and of the start: nothing acknowledged is lost, nothing is charged twice.

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { verifyJournal } from '../../src/store/verify-journal.ts';
import { type FakeUpstream, startFakeUpstream } from '../helpers/fake-upstream.ts';
import { gatewayOf, nanoOf } from '../helpers/gateway.ts';
import { type Asked, ask, billedAnswer, costNanoOf, numberOf, unlimit } from './asking.ts';
import { launch, listening, makeFaultHome, startUnder } from './daemon-under.ts';
import { type Audit, auditJournal } from './journal-audit.ts';
import { scale, seededRandom } from './scale.ts';

const CYCLES = scale(4, 200);
const SEED = Number(process.env['TEST_SEED'] ?? 20_261_121);
const REQUESTS_PER_SECOND = 200;
const IN_FLIGHT_MAX = 64;
/** A kill comes some time after so many whole answers, on machines of any speed. */
const WHOLE_MAX = 60;
const LATER_MS_MAX = 40;
const START_MS_MAX = 900;

it(`charges every whole answer once over ${CYCLES} kills under load and half as many at the start (seed ${SEED})`, async () => {
  const random = seededRandom(SEED);
  const upstream = await startFakeUpstream();
  // One in five answers is slow, so that kills meet requests in every state.
  upstream.respond((request) => billedAnswer(request, numberOf(request) % 5 === 0 ? 20 : 0));
  const home = await makeFaultHome();
  const env = { SVC_UPSTREAM_URL: upstream.url, SVC_STARTING_CREDITS: '1000' };
  const first = await startUnder({ home, env });
  await unlimit(first.url, await gatewayOf(first, upstream).operator());
  await first.kill();

  const tally = { whole: new Map<string, bigint>(), recovered: 0, duringStart: 0, torn: 0, readyMs: [] as number[] };
  let before = auditOf(home);
  let number = 0;
  for (let cycle = 0; cycle < CYCLES; cycle += 1) {
    const name = `seed ${SEED}, cycle ${cycle}`;
    if (cycle % 2 === 0) tally.duringStart += await killDuringStart(home, env, random() * START_MS_MAX);
    const startedAt = performance.now();
    const daemon = await startUnder({ home, env });
    tally.readyMs.push(performance.now() - startedAt);
    const after = auditOf(home);
    checkRecovered(before, after, name);
    tally.recovered = [...after.settles.values()].filter(({ reason }) => reason === 'recovered').length;

    const load = loadOf({ url: daemon.url, key: first.key, random, from: number });
    await load.answered(1 + Math.floor(random() * WHOLE_MAX));
    await wait(random() * LATER_MS_MAX);
    await daemon.kill();
    const asked = await load.stop();
    number += asked.length;
    for (const answer of asked) if (answer.whole) tally.whole.set(answer.requestId, BigInt(costNanoOf(answer.number)));

    const report = await verifyJournal(join(home, 'journal'));
    expect([name, report.ok, report.problems, report.damage]).toEqual([name, true, [], null]);
    before = auditOf(home);
    tally.torn += before.tornBytes > 0 ? 1 : 0;
    checkCharges(before, tally.whole, name);
  }

  await checkMoney(home, env, first.key, upstream, before);
  await upstream.close();
  const slowest = Math.round(Math.max(...tally.readyMs));
  process.stderr.write(
    `kills: ${number} requests, ${tally.whole.size} whole, ${tally.recovered} recovered, ${tally.duringStart} starts cut, ${tally.torn} torn tails, slowest start ${slowest} ms\n`,
  );
  expect(tally.whole.size).toBeGreaterThan(CYCLES);
  expect(tally.recovered).toBeGreaterThan(0);
  expect(tally.duringStart).toBeGreaterThan(0);
});

/** Answers 1 when the kill came before the daemon listened. */
async function killDuringStart(home: string, env: Record<string, string>, afterMs: number): Promise<number> {
  const launched = launch({ home, env });
  const ready = listening(launched, home).then(
    () => true,
    () => false,
  );
  await wait(afterMs);
  launched.child.kill('SIGKILL');
  return (await ready) ? 0 : 1;
}

/** The start has ended each hold that was open, once, at what was last known of it, and nothing else. */
function checkRecovered(before: Audit, after: Audit, name: string): void {
  expect([name, [...after.open]]).toEqual([name, []]);
  const added = [...after.settles.keys()].filter((id) => !before.settles.has(id));
  expect([name, new Set(added)]).toEqual([name, before.open]);
  for (const id of added) {
    const settle = after.settles.get(id);
    const known = before.progress.get(id) ?? 0n;
    expect([name, id, settle?.reason, settle?.chargeNano]).toEqual([name, id, 'recovered', known]);
  }
}

function checkCharges(audit: Audit, whole: ReadonlyMap<string, bigint>, name: string): void {
  const charged = [...whole.keys()].map((id) => [id, audit.settles.get(id)?.chargeNano]);
  expect([name, charged]).toEqual([name, [...whole]]);
}

/** What an independent reader makes of the journal; it fails the test for what it finds wrong. */
function auditOf(home: string): Audit {
  const audit = auditJournal(join(home, 'journal'));
  expect(audit.problems).toEqual([]);
  return audit;
}

/** The daemon's own sums after the last start are those of the journal's lines. */
async function checkMoney(
  home: string,
  env: Record<string, string>,
  key: string,
  upstream: FakeUpstream,
  before: Audit,
): Promise<void> {
  const daemon = await startUnder({ home, env });
  const audit = auditOf(home);
  checkRecovered(before, audit, 'last start');
  const sums = [...audit.workspaces.values()][0];
  const { balance, granted, charged, held } = await gatewayOf(daemon, upstream, key).balance();
  expect({ granted: nanoOf(granted), charged: nanoOf(charged), held }).toEqual({
    granted: sums?.granted,
    charged: sums?.charged,
    held: '0',
  });
  expect(nanoOf(balance)).toBe(nanoOf(granted) - nanoOf(charged));
  expect((await readdir(join(home, 'documents'))).filter((file) => file.endsWith('.tmp'))).toEqual([]);
  await daemon.stop();
}

type LoadOptions = {
  readonly url: string;
  readonly key: string;
  readonly random: () => number;
  readonly from: number;
};

type Load = {
  /** Resolves when so many answers have come back whole. */
  answered(count: number): Promise<void>;
  /** Sends no more and waits for what is under way. */
  stop(): Promise<readonly Asked[]>;
};

/** Sends requests at an even rate, 30 % of them streams, and leaves some in the middle. */
function loadOf(options: LoadOptions): Load {
  const asked: Promise<Asked>[] = [];
  let inFlight = 0;
  let whole = 0;
  const send = async (): Promise<Asked> => {
    const left = options.random() < 0.05 ? { signal: AbortSignal.timeout(5 + Math.round(options.random() * 60)) } : {};
    const stream = options.random() < 0.3;
    inFlight += 1;
    const answer = await ask(options.url, options.key, { number: options.from + asked.length, stream, ...left });
    inFlight -= 1;
    if (answer.whole) whole += 1;
    return answer;
  };
  const timer = setInterval(() => {
    if (inFlight < IN_FLIGHT_MAX) asked.push(send());
  }, 1_000 / REQUESTS_PER_SECOND);
  return {
    answered: (count) => expect.poll(() => whole, { interval: 5 }).toBeGreaterThanOrEqual(count),
    stop: () => {
      clearInterval(timer);
      return Promise.all(asked);
    },
  };
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

// One data directory, several daemons: exactly one runs, however they start, and the directory is free when it dies.

import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ask } from './asking.ts';
import { checkBooks } from './books.ts';
import { type Launched, launch, listening, startToEnd, startUnder } from './daemon-under.ts';
import { isRoot, lacks, works } from './needs.ts';
import { prepareOnce } from './prepared-home.ts';
import { scale } from './scale.ts';

const prepared = prepareOnce();
const STARTERS = scale(4, 20);
const ROUNDS = scale(1, 50);
const IN_USE = 75;
/** Another network: what a container has, where an abstract socket or a port is no lock. */
const OTHER_NETWORK = ['unshare', '-n'];
const NO_OTHER_NETWORK = !isRoot() || lacks('unshare', works('unshare', ['-n', 'true']));

it(`runs exactly one of ${STARTERS} daemons started at once, in each of ${ROUNDS} rounds`, async () => {
  const { env, copy } = prepared();
  const home = await copy();
  for (let round = 0; round < ROUNDS; round += 1) {
    const starters = Array.from({ length: STARTERS }, () => launch({ home, env }));
    const { owner, others } = await sortOut(starters, home);
    expect([round, others.length]).toEqual([round, STARTERS - 1]);
    for (const { code, stderr } of others)
      expect([round, code, stderr]).toEqual([round, IN_USE, expect.stringContaining(`pid ${owner.pid}`)]);
    // Half of the rounds leave the directory as a crash does.
    if (round % 2 === 0) await owner.kill();
    else expect(await owner.stop()).toBe(0);
  }
  await checkBooks(home, [], 'many starts');
});

it('a stopped owner owns the directory still, and goes on; a killed one leaves it at once', async () => {
  const { env, copy, key } = prepared();
  const home = await copy();
  const owner = await startUnder({ home, env });
  process.kill(owner.pid, 'SIGSTOP');
  const second = await startToEnd({ home, env });
  expect([second.code, second.stderr]).toEqual([IN_USE, expect.stringContaining('in use')]);
  process.kill(owner.pid, 'SIGCONT');
  const answer = await ask(owner.url, key, { number: 1 });
  expect(answer.whole).toBe(true);
  await owner.kill();
  const next = await startUnder({ home, env });
  const after = await ask(next.url, key, { number: 2 });
  expect(await next.stop()).toBe(0);
  await checkBooks(home, [answer, after], 'after SIGCONT and SIGKILL');
});

it.skipIf(NO_OTHER_NETWORK)('a daemon in another network namespace is kept out, and keeps others out', async () => {
  const { env, copy } = prepared();
  const home = await copy();
  const owner = await startUnder({ home, env });
  const outside = await startToEnd({ home, env, prefix: OTHER_NETWORK });
  expect([outside.code, outside.stderr]).toEqual([IN_USE, expect.stringContaining(`pid ${owner.pid}`)]);
  await owner.stop();
  const inOther = await startUnder({
    home,
    env,
    prefix: [...OTHER_NETWORK, 'sh', '-c', 'ip link set lo up; exec "$@"', 'sh'],
  });
  const second = await startToEnd({ home, env });
  expect([second.code, second.stderr]).toEqual([IN_USE, expect.stringContaining(`pid ${inOther.pid}`)]);
  expect(await inOther.stop()).toBe(0);
});

it('an owner whose journal another has written to ends with 74 and writes nothing more', async () => {
  const { env, copy, key } = prepared();
  const home = await copy();
  const owner = launch({ home, env });
  const { url } = await listening(owner, home);
  const before = await ask(url, key, { number: 1 });
  await appendFile(join(home, 'journal', '000000000001.ndjson'), 'by another');
  const refused = await ask(url, key, { number: 2 });
  expect([before.whole, refused.whole]).toEqual([true, false]);
  expect((await owner.ended).code).toBe(74);
  expect(owner.stderr()).toContain('another process has written to the journal');
  const next = await startUnder({ home, env });
  const after = await ask(next.url, key, { number: 3 });
  expect(await next.stop()).toBe(0);
  const audit = await checkBooks(home, [before, after], 'after another writer');
  expect(audit.settles.has(refused.requestId)).toBe(false);
});

type Sorted = {
  readonly owner: { readonly pid: number; kill(): Promise<void>; stop(): Promise<number | null> };
  readonly others: readonly { readonly code: number | null; readonly stderr: string }[];
};

async function sortOut(starters: readonly Launched[], home: string): Promise<Sorted> {
  const outcomes = await Promise.allSettled(starters.map((starter) => listening(starter, home)));
  const owners = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  expect(owners).toHaveLength(1);
  const losers = starters.filter((_, index) => outcomes[index]?.status === 'rejected');
  const others = await Promise.all(
    losers.map(async (loser) => ({ code: (await loser.ended).code, stderr: loser.stderr() })),
  );
  const [owner] = owners;
  if (owner === undefined) throw new Error('nobody runs');
  return { owner, others };
}

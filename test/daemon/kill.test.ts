// kill -9 in the middle of load, again and again: what was acknowledged is charged once, and the books balance.

import { expect, it } from 'vitest';
import { makeHome, removeHome, startDaemon, type TestDaemon } from '../helpers/daemon.ts';
import { startFakeUpstream } from '../helpers/fake-upstream.ts';
import { type Gateway, gatewayOf, nanoOf } from '../helpers/gateway.ts';

const ROUNDS = 4;
const IN_FLIGHT = 24;

it('keeps balance = grants − charges, and every answered request charged exactly once', async () => {
  const upstream = await startFakeUpstream();
  const home = await makeHome();
  const start = (): Promise<TestDaemon> => startDaemon({ home, env: { SVC_UPSTREAM_URL: upstream.url } });
  const answered = new Set<string>();
  let key = '';
  let cutOff = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const daemon = await start();
    key ||= daemon.key;
    const goal = answered.size + 20 + round * 7;
    const workers = Array.from({ length: IN_FLIGHT }, (_, index) =>
      askUntilCut(gatewayOf(daemon, upstream, key), index % 3 === 0, answered),
    );
    await expect.poll(() => answered.size).toBeGreaterThan(goal);
    await daemon.kill();
    cutOff += (await Promise.all(workers)).length;
  }
  expect(cutOff).toBe(ROUNDS * IN_FLIGHT);

  const daemon = await start();
  const gateway = gatewayOf(daemon, upstream, key);
  const entries = await gateway.usage();
  const { balance, granted, charged, held } = await gateway.balance();
  const ids = entries.map(({ request_id }) => request_id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toEqual(expect.arrayContaining([...answered]));
  for (const { request_id, cost } of entries) if (answered.has(request_id)) expect(nanoOf(cost)).toBe(3000n);
  expect(nanoOf(charged)).toBe(entries.reduce((sum, { cost }) => sum + nanoOf(cost), 0n));
  expect(nanoOf(balance)).toBe(nanoOf(granted) - nanoOf(charged));
  expect(held).toBe('0');
  await daemon.stop();
  await upstream.close();
  await removeHome(home);
}, 60_000);

/** Sends one request after another until the daemon is gone, noting those that came back whole. */
async function askUntilCut(gateway: Gateway, stream: boolean, answered: Set<string>): Promise<void> {
  const body = { model: 'test/cheap', messages: [{ role: 'user', content: 'Hi' }], stream };
  for (;;) {
    try {
      const answer = await gateway.post('/v1/chat/completions', body);
      const text = await answer.text();
      const whole = answer.status === 200 && text.endsWith(stream ? 'data: [DONE]\n\n' : '}');
      if (whole) answered.add(answer.headers.get('x-request-id') ?? '');
    } catch {
      // The connection broke: the daemon was killed.
      return;
    }
  }
}

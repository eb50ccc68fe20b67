// SIGTERM: new work is refused, open streams finish, what cannot finish ends with an error event and is settled.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { removeHome, startDaemon } from '../helpers/daemon.ts';
import { chatEvents, startFakeUpstream } from '../helpers/fake-upstream.ts';
import { gatewayOf, nanoOf } from '../helpers/gateway.ts';

const body = { model: 'test/cheap', messages: [{ role: 'user', content: 'Hi' }], stream: true };

it('lets open streams finish and exits with 0', async () => {
  const upstream = await startFakeUpstream();
  const daemon = await startDaemon({ env: { SVC_UPSTREAM_URL: upstream.url } });
  const gateway = gatewayOf(daemon, upstream);
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const events = chatEvents({ text: 'One two three four.' });
  upstream.queue({ sse: [...events.slice(0, 2), gate, ...events.slice(2)] });
  const answer = await gateway.post('/v1/chat/completions', body);
  const stopped = daemon.stop();
  await expect
    .poll(() =>
      fetch(`${daemon.url}/healthz`).then(
        () => 'open',
        () => 'closed',
      ),
    )
    .toBe('closed');
  open();
  expect(await answer.text()).toMatch(/four\.[\s\S]*data: \[DONE\]\n\n$/);
  expect(await stopped).toBe(0);
  expect(existsSync(join(daemon.home, 'daemon.json'))).toBe(false);
  await upstream.close();
  await removeHome(daemon.home);
});

it('ends what does not finish in time with an error event, settled', async () => {
  const upstream = await startFakeUpstream();
  const daemon = await startDaemon({ env: { SVC_UPSTREAM_URL: upstream.url, SVC_DRAIN_TIMEOUT_MS: '200' } });
  const gateway = gatewayOf(daemon, upstream);
  await gateway.operator();
  upstream.queue({ sse: [...chatEvents({ text: 'One two three four.' }).slice(0, 2)], ending: 'hang' });
  const answer = await gateway.post('/v1/chat/completions', body);
  const stopped = daemon.stop();
  const text = await answer.text();
  expect(text).toContain('SHUTTING_DOWN');
  expect(text).not.toContain('[DONE]');
  expect(await stopped).toBe(0);

  const again = await startDaemon({ home: daemon.home, env: { SVC_UPSTREAM_URL: upstream.url } });
  const after = gatewayOf(again, upstream, daemon.key);
  const [entry] = await after.usage();
  expect(entry).toMatchObject({ error_code: 'SHUTTING_DOWN', cost_kind: 'estimated' });
  const { held, charged } = await after.balance();
  expect([held, nanoOf(charged) > 0n]).toEqual(['0', true]);
  await again.stop();
  await upstream.close();
  await removeHome(daemon.home);
});

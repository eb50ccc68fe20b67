// A wall clock that jumps: durations, order, limits and money do not follow it, and nobody is logged out by an hour.

import { expect, it } from 'vitest';
import type { TestDaemon } from '../helpers/daemon.ts';
import { gatewayOf, type UsageRow } from '../helpers/gateway.ts';
import { type Asked, ask, billedAnswer } from './asking.ts';
import { checkBooks } from './books.ts';
import { startUnder } from './daemon-under.ts';
import { type FakeClock, makeFakeClock, NO_FAKETIME } from './faketime.ts';
import { type Prepared, prepareOnce } from './prepared-home.ts';

const prepared = prepareOnce();
const HOUR = 3_600;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;
const JUMPS = [HOUR, 0, -HOUR, YEAR, -YEAR, 0];

type Started = { readonly clock: FakeClock; readonly daemon: TestDaemon; readonly home: string };

async function start(): Promise<Started> {
  const clock = await makeFakeClock();
  const home = await prepared().copy();
  const daemon = await startUnder({ home, env: { ...prepared().env, ...clock.env } });
  return { clock, daemon, home };
}

it.skipIf(NO_FAKETIME)(
  'entries keep their order and have no negative durations over jumps of hours and years',
  async () => {
    const { clock, daemon, home } = await start();
    const { upstream, key } = prepared();
    const asked: Asked[] = [];
    const startedAt = Date.now();
    for (const seconds of JUMPS) {
      await clock.setOffsetSeconds(seconds);
      asked.push(await ask(daemon.url, key, { number: asked.length }));
      asked.push(await jumpWithin(daemon.url, clock, seconds, asked.length));
    }
    expect(asked.map(({ whole }) => whole)).toEqual(asked.map(() => true));

    const rows = await usageOf(daemon.url, prepared());
    const newestFirst = asked.map(({ requestId }) => requestId).reverse();
    expect(rows.map((row) => row.request_id).slice(0, newestFirst.length)).toEqual(newestFirst);
    expect(rows.filter(hasNegativeDuration)).toEqual([]);
    // The jumps did happen: each request has the hour of its own clock, the streams the one they ended in.
    const hours = rows
      .slice(0, newestFirst.length)
      .map((row) => Math.round((Date.parse(String(row['created_at'])) - startedAt) / 3_600_000));
    expect(hours.reverse()).toEqual(JUMPS.flatMap((seconds) => [seconds / HOUR, seconds / HOUR - 1]));
    expect(await daemon.stop()).toBe(0);
    await checkBooks(home, asked, 'jumps');

    const next = await startUnder({ home, env: prepared().env });
    const again = await ask(next.url, key, { number: 50 });
    const after = await usageOf(next.url, prepared());
    expect(after.map((row) => row.request_id)).toEqual([again.requestId, ...rows.map((row) => row.request_id)]);
    const { held } = await gatewayOf(next, upstream, key).balance();
    expect(held).toBe('0');
    expect(await next.stop()).toBe(0);
    await checkBooks(home, [...asked, again], 'after the jumps');
  },
);

/** A stream during which the clock goes back by an hour and then to where it was. */
async function jumpWithin(url: string, clock: FakeClock, seconds: number, number: number): Promise<Asked> {
  const { upstream, key } = prepared();
  const gate = (work: () => Promise<void>): { readonly promise: Promise<void>; open(): void } => {
    let open = (): void => undefined;
    const promise = new Promise<void>((resolve) => {
      open = resolve;
    }).then(work);
    return { promise, open: () => open() };
  };
  const back = gate(() => clock.setOffsetSeconds(seconds - HOUR));
  upstream.queue((request) => {
    const { sse = [] } = billedAnswer(request);
    setTimeout(back.open, 5);
    return { sse: [...sse.slice(0, 2), back.promise, 10, ...sse.slice(2)] };
  });
  const answer = await ask(url, key, { number, stream: true });
  await clock.setOffsetSeconds(seconds);
  return answer;
}

it.skipIf(NO_FAKETIME)('an hour either way ends no session, no key and no saved answer', async () => {
  const { clock, daemon } = await start();
  const { key, token } = prepared();
  const first = await grant(daemon.url, 'same');
  expect(first.status).toBe(201);
  for (const seconds of [HOUR, -HOUR]) {
    await clock.setOffsetSeconds(seconds);
    expect(await ask(daemon.url, key, { number: 1 })).toMatchObject({ whole: true });
    const me = await fetch(`${daemon.url}/auth/me`, { headers: { authorization: `Bearer ${token}` } });
    expect([seconds, me.status]).toEqual([seconds, 200]);
    expect([seconds, await grant(daemon.url, 'same')]).toEqual([seconds, first]);
  }
  // Sessions end after 30 days without use and keys only when they say so: a year ahead is a year ahead.
  await clock.setOffsetSeconds(YEAR);
  expect(await ask(daemon.url, key, { number: 2 })).toMatchObject({ whole: true });
  const later = await fetch(`${daemon.url}/auth/me`, { headers: { authorization: `Bearer ${token}` } });
  expect(later.status).toBe(401);
  expect(await daemon.stop()).toBe(0);
});

it.skipIf(NO_FAKETIME)('limits count real minutes, and say how much of one is left', async () => {
  const { clock, daemon } = await start();
  const key = await limitedKey(daemon.url, 3);
  for (let number = 0; number < 3; number += 1) {
    expect((await ask(daemon.url, key, { number })).status).toBe(200);
  }
  for (const seconds of [0, -HOUR, -YEAR]) {
    await clock.setOffsetSeconds(seconds);
    const refused = await ask(daemon.url, key, { number: 4 });
    expect([seconds, refused.status]).toEqual([seconds, 429]);
    expect([seconds, Number(refused.retryAfter) <= 60]).toEqual([seconds, true]);
  }
  expect(await daemon.stop()).toBe(0);
});

it.skipIf(NO_FAKETIME)('a limit that is used up stays so when the clock jumps ahead', async () => {
  const { clock, daemon } = await start();
  const key = await limitedKey(daemon.url, 3);
  const statuses: number[] = [];
  for (const seconds of [0, 0, 0, 0, HOUR, HOUR, HOUR, HOUR, YEAR, YEAR]) {
    await clock.setOffsetSeconds(seconds);
    statuses.push((await ask(daemon.url, key, { number: statuses.length })).status);
  }
  expect(statuses).toEqual([200, 200, 200, 429, 429, 429, 429, 429, 429, 429]);
  expect(await daemon.stop()).toBe(0);
});

async function usageOf(url: string, { token, workspaceId }: Prepared): Promise<readonly UsageRow[]> {
  const answer = await fetch(`${url}/workspaces/${workspaceId}/usage?limit=1000`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const page = (await answer.json()) as { data?: UsageRow[] };
  if (page.data === undefined) throw new Error(`no usage: ${answer.status} ${JSON.stringify(page)}`);
  return page.data;
}

function hasNegativeDuration(row: UsageRow): boolean {
  return ['latency_ms', 'ttft_ms', 'gateway_ms'].some((field) => row[field] !== null && Number(row[field]) < 0);
}

async function grant(
  url: string,
  idempotencyKey: string,
): Promise<{ readonly status: number; readonly body: unknown }> {
  const { token, workspaceId } = prepared();
  const answer = await fetch(`${url}/workspaces/${workspaceId}/credits`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${token}`,
      'idempotency-key': idempotencyKey,
    },
    body: JSON.stringify({ amount: '1' }),
  });
  return { status: answer.status, body: await answer.json() };
}

async function limitedKey(url: string, requestsPerMinute: number): Promise<string> {
  const { token, workspaceId } = prepared();
  const answer = await fetch(`${url}/workspaces/${workspaceId}/api-keys`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ name: 'limited', requests_per_minute: requestsPerMinute }),
  });
  return String(((await answer.json()) as { key: string }).key);
}

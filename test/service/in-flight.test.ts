// The requests in flight, and the drain at a stop.

import { expect, it } from 'vitest';
import { createInFlight } from '../../src/service/in-flight.ts';

const ignore = (): void => undefined;

it('counts those that entered and have not left', () => {
  const inFlight = createInFlight();
  const leave = [inFlight.enter(ignore), inFlight.enter(ignore)];
  expect(inFlight.count).toBe(2);
  for (const each of leave) each();
  expect(inFlight.count).toBe(0);
});

it('drains at once when nothing is open, and refuses from then on', async () => {
  const inFlight = createInFlight();
  await inFlight.drain(60_000);
  expect(inFlight.draining).toBe(true);
  expect(() => inFlight.enter(ignore)).toThrow('stopping');
});

it('waits for those that finish in time', async () => {
  const inFlight = createInFlight();
  const stopped: unknown[] = [];
  const leave = inFlight.enter((reason) => stopped.push(reason));
  const drained = inFlight.drain(60_000);
  leave();
  await drained;
  expect(stopped).toEqual([]);
});

it('stops those that do not, with a reason the client can retry on', async () => {
  const inFlight = createInFlight();
  const reasons: string[] = [];
  const leave = inFlight.enter((reason) => {
    reasons.push(reason.code);
    leave();
  });
  await inFlight.drain(1);
  expect(reasons).toEqual(['SHUTTING_DOWN']);
});

it('ends the first drain with the second, which leaves less time', async () => {
  const inFlight = createInFlight();
  const leave = inFlight.enter(() => leave());
  const first = inFlight.drain(60_000);
  await inFlight.drain(0);
  await first;
  expect(inFlight.count).toBe(0);
});

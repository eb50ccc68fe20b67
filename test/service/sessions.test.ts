// Sessions: tokens, lifetimes at their bounds, and how rarely a use is written down.

import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { checkSecret, digestOf, makeSecret } from '../../src/identity/secrets.ts';
import { createSessionService, type SessionService } from '../../src/service/sessions.ts';
import type { Store } from '../../src/store/store.ts';
import { type ControlFixture, openControl, START_MS } from '../helpers/control-fixture.ts';

const SECOND_MS = 1000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let fixture: ControlFixture;
let sessions: SessionService;

beforeAll(async () => {
  fixture = await openControl();
});
beforeEach(() => {
  fixture.clock.ms = START_MS;
  sessions = createSessionService({ store: fixture.store, now: () => fixture.clock.ms, randomBytes });
});
afterAll(() => fixture.close());

const stored = (token: string) => fixture.store.documents.sessionByDigest(digestOf(token));

describe('issue', () => {
  it('makes a token of which only the digest is kept', async () => {
    const { token, session } = await sessions.issue('acc_1', 'svc-cli/1.0');
    expect(checkSecret('svc_st_', token)).toBe(true);
    expect(session).toEqual({
      id: expect.stringMatching(/^ses_[0-9A-Za-z]+$/),
      digest: digestOf(token),
      accountId: 'acc_1',
      client: 'svc-cli/1.0',
      createdAt: START_MS,
      lastUsedAt: START_MS,
      expiresAt: START_MS + 90 * DAY_MS,
    });
    expect(stored(token)).toEqual(session);
    expect(JSON.stringify(session)).not.toContain(token);
  });

  it('makes another token each time and cuts a long client name', async () => {
    const first = await sessions.issue('acc_1', 'x'.repeat(10_000));
    const second = await sessions.issue('acc_1', '');
    expect(first.token).not.toBe(second.token);
    expect(first.session.client).toHaveLength(200);
  });
});

describe('authenticate', () => {
  it.each([
    ['no token', () => undefined],
    ['an empty token', () => ''],
    ['nonsense', () => 'nonsense'],
    ['a token nobody was given', () => makeSecret('svc_st_', randomBytes(32))],
    ['an API key', () => makeSecret('svc_sk_', randomBytes(32))],
    ['a device code', () => makeSecret('svc_dc_', randomBytes(32))],
    ['a digest', () => digestOf('x')],
    ['a prototype key', () => '__proto__'],
    ['a megabyte', () => 'x'.repeat(1_000_000)],
  ])('refuses %s with INVALID_SESSION', async (_name, make) => {
    await expect(sessions.authenticate(make())).rejects.toMatchObject({ code: 'INVALID_SESSION', status: 401 });
  });

  it('says so when an API key was sent', async () => {
    await expect(sessions.authenticate(makeSecret('svc_sk_', randomBytes(32)))).rejects.toThrow(/API key/);
  });

  it('looks nothing up for a token with a wrong checksum', async () => {
    let lookups = 0;
    const documents = new Proxy(fixture.store.documents, {
      get: (target, name) => {
        if (name === 'sessionByDigest') lookups += 1;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const store: Store = { documents, ledger: fixture.store.ledger, writable: true, close: async () => {} };
    const watched = createSessionService({ store, now: () => fixture.clock.ms, randomBytes });
    const { token } = await watched.issue('acc_1', '');
    const wrong = token.slice(0, -1) + (token.endsWith('0') ? '1' : '0');
    await expect(watched.authenticate(wrong)).rejects.toMatchObject({ code: 'INVALID_SESSION' });
    expect(lookups).toBe(0);
    await watched.authenticate(token);
    expect(lookups).toBe(1);
  });

  it.each([
    ['a second before 30 idle days', 30 * DAY_MS - SECOND_MS, true],
    ['at 30 idle days', 30 * DAY_MS, false],
    ['a second after', 30 * DAY_MS + SECOND_MS, false],
  ])('%s, a session lives: %#', async (_name, elapsedMs, lives) => {
    const { token } = await sessions.issue('acc_1', '');
    fixture.clock.ms += elapsedMs;
    const attempt = sessions.authenticate(token);
    if (lives) expect((await attempt).accountId).toBe('acc_1');
    else await expect(attempt).rejects.toMatchObject({ code: 'INVALID_SESSION' });
    expect(stored(token) !== undefined).toBe(lives);
  });

  it.each([
    ['a second before 90 days', 90 * DAY_MS - SECOND_MS, true],
    ['at 90 days', 90 * DAY_MS, false],
  ])('%s, a session in daily use lives: %#', async (_name, ageMs, lives) => {
    const { token } = await sessions.issue('acc_1', '');
    for (let day = 1; day < 90; day += 1) {
      fixture.clock.ms = START_MS + day * DAY_MS;
      await sessions.authenticate(token);
    }
    fixture.clock.ms = START_MS + ageMs;
    const attempt = sessions.authenticate(token);
    if (lives) expect((await attempt).accountId).toBe('acc_1');
    else await expect(attempt).rejects.toMatchObject({ code: 'INVALID_SESSION' });
  });

  it('writes a use down once an hour at most', async () => {
    const { token } = await sessions.issue('acc_1', '');
    fixture.clock.ms += HOUR_MS - 1;
    await sessions.authenticate(token);
    expect(stored(token)?.lastUsedAt).toBe(START_MS);
    fixture.clock.ms += 1;
    await sessions.authenticate(token);
    expect(stored(token)?.lastUsedAt).toBe(START_MS + HOUR_MS);
  });

  it('still works while the disk refuses the bookkeeping', async () => {
    const { token } = await sessions.issue('acc_1', '');
    const documents = new Proxy(fixture.store.documents, {
      get: (target, name) => {
        if (name === 'putSession') return () => Promise.reject(new Error('disk full'));
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const store: Store = { documents, ledger: fixture.store.ledger, writable: false, close: async () => {} };
    const full = createSessionService({ store, now: () => fixture.clock.ms + 2 * HOUR_MS, randomBytes });
    expect((await full.authenticate(token)).accountId).toBe('acc_1');
  });
});

describe('end', () => {
  it('ends this session from the next request on, and no other', async () => {
    const first = await sessions.issue('acc_1', '');
    const second = await sessions.issue('acc_1', '');
    await sessions.end(await sessions.authenticate(first.token));
    await expect(sessions.authenticate(first.token)).rejects.toMatchObject({ code: 'INVALID_SESSION' });
    expect((await sessions.authenticate(second.token)).id).toBe(second.session.id);
  });

  it('holds across a restart', async () => {
    const { token, session } = await sessions.issue('acc_1', '');
    const other = await sessions.issue('acc_1', '');
    await sessions.end(session);
    fixture = await fixture.reopen();
    const again = createSessionService({ store: fixture.store, now: () => fixture.clock.ms, randomBytes });
    await expect(again.authenticate(token)).rejects.toMatchObject({ code: 'INVALID_SESSION' });
    expect((await again.authenticate(other.token)).accountId).toBe('acc_1');
  });
});

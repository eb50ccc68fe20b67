// Idempotency keys over the real store: one effect, one answer, across failures, restarts and a day.

import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createIdempotency, type Idempotency, idFromSeed } from '../../src/service/idempotency.ts';
import { type ControlFixture, openControl } from '../helpers/control-fixture.ts';

const HOUR_MS = 3_600_000;
let fixture: ControlFixture;
let idempotency: Idempotency;
let effects: string[];
/** Scopes differ from test to test, since the tests share a store. */
let tests = 0;

const newIdempotency = (over: ControlFixture): Idempotency =>
  createIdempotency({ store: over.store, now: () => over.clock.ms, randomBytes });

const once = (key: string | undefined, body: unknown, scope = 'acc_1 POST /things') =>
  idempotency.once({ key, scope: `${scope} ${tests}`, body, status: 201 }, async (seed) => {
    effects.push(seed);
    return { number: effects.length };
  });

beforeAll(async () => {
  fixture = await openControl();
});
beforeEach(() => {
  tests += 1;
  idempotency = newIdempotency(fixture);
  effects = [];
});
afterAll(() => fixture.close());

describe('with the same key', () => {
  it('the same body gets the same answer, and the work runs once', async () => {
    const first = await once('k1', { a: 1 });
    expect(await once('k1', { a: 1 })).toEqual(first);
    expect(first).toEqual({ answer: { number: 1 }, seed: effects[0] });
    expect(effects).toHaveLength(1);
  });

  it('the same body with its fields in another order is the same request', async () => {
    await once('k1', { a: 1, b: { c: [1, 2], d: null } });
    await once('k1', { b: { d: null, c: [1, 2] }, a: 1 });
    expect(effects).toHaveLength(1);
  });

  it.each([
    ['a changed value', { a: 2, b: [1, 2] }],
    ['an added field', { a: 1, b: [1, 2], c: 1 }],
    ['a missing field', { a: 1 }],
    ['a list in another order', { a: 1, b: [2, 1] }],
    ['a number as text', { a: '1', b: [1, 2] }],
  ])('%s is refused with 422', async (_name, body) => {
    await once('k1', { a: 1, b: [1, 2] });
    await expect(once('k1', body)).rejects.toMatchObject({ code: 'IDEMPOTENCY_MISMATCH', status: 422 });
    expect(effects).toHaveLength(1);
  });

  it('a hundred at once have one effect and one answer', async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => once('k1', { a: 1 })));
    expect(new Set(answers.map(({ answer }) => answer.number))).toEqual(new Set([1]));
    expect(effects).toHaveLength(1);
  });

  it('another scope is another request', async () => {
    await once('k1', { a: 1 }, 'acc_1 POST /x');
    await once('k1', { a: 2 }, 'acc_2 POST /x');
    expect(effects).toHaveLength(2);
  });

  it('the answer survives a restart', async () => {
    const first = await once('k1', { a: 1 });
    fixture = await fixture.reopen();
    idempotency = newIdempotency(fixture);
    expect(await once('k1', { a: 1 })).toEqual(first);
    await expect(once('k1', { a: 2 })).rejects.toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' });
    expect(effects).toHaveLength(1);
  });

  it('it is forgotten after 24 hours and not before', async () => {
    await once('k1', { a: 1 });
    fixture.clock.ms += 24 * HOUR_MS - 1;
    await once('k1', { a: 1 });
    expect(effects).toHaveLength(1);
    fixture.clock.ms += 1;
    await once('k1', { a: 2 });
    expect(effects).toHaveLength(2);
    expect(effects[1]).not.toBe(effects[0]);
  });
});

describe('a work that failed', () => {
  const failOnce = (key: string) =>
    idempotency.once({ key, scope: `failing ${tests}`, body: {}, status: 201 }, async (seed) => {
      effects.push(seed);
      if (effects.length === 1) throw new Error('the power went');
      return effects.length;
    });

  it('runs again with the same seed, so that its effect can be recognised', async () => {
    await expect(failOnce('k1')).rejects.toThrow('the power went');
    expect((await failOnce('k1')).answer).toBe(2);
    expect(effects[1]).toBe(effects[0]);
  });

  it('does so after a restart too', async () => {
    await expect(failOnce('k1')).rejects.toThrow('the power went');
    fixture = await fixture.reopen();
    idempotency = newIdempotency(fixture);
    await failOnce('k1');
    expect(effects[1]).toBe(effects[0]);
  });
});

describe('the key', () => {
  it('may be missing: every request then works by itself', async () => {
    await once(undefined, { a: 1 });
    await once(undefined, { a: 1 });
    expect(new Set(effects).size).toBe(2);
  });

  it.each(['', ' ', 'a b', 'é', 'a\u0000', 'x'.repeat(256)])('must not be %j', async (key) => {
    await expect(once(key, {})).rejects.toMatchObject({ code: 'INVALID_REQUEST', param: 'Idempotency-Key' });
    expect(effects).toEqual([]);
  });

  it('is not stored as it is', async () => {
    await once('a-key-of-mine', {});
    const file = await findFile(fixture.directory, 'idempotency.json');
    expect(file).not.toContain('a-key-of-mine');
  });
});

describe('idFromSeed', () => {
  it('makes valid ids, the same for the same seed and kind only', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        fc.pre(a !== b);
        expect(idFromSeed('gr', a)).toMatch(/^gr_[0-9A-Za-z]{1,64}$/);
        expect(idFromSeed('gr', a)).toBe(idFromSeed('gr', a));
        expect(idFromSeed('gr', a)).not.toBe(idFromSeed('gr', b));
        expect(idFromSeed('gr', a).slice(3)).not.toBe(idFromSeed('key', a).slice(4));
      }),
    );
  });
});

async function findFile(directory: string, name: string): Promise<string> {
  const found = (await readdir(directory, { recursive: true })).find((path) => path.endsWith(name));
  return readFile(join(directory, found ?? name), 'utf8');
}

// Password hashes: both algorithms, the limit on work at once, and the time for nobody's password.

import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type Argon2, createPasswordHasher } from '../../src/service/password-hasher.ts';

const native = createPasswordHasher({ randomBytes });
const fallback = createPasswordHasher({ randomBytes, loadArgon2: async () => undefined });

/** An algorithm whose work lasts until the test ends it. */
function slowArgon2(): { readonly argon2: Argon2; readonly started: string[]; finish(): Promise<void> } {
  const started: string[] = [];
  const ends: (() => void)[] = [];
  const work = async (password: string): Promise<void> => {
    started.push(password);
    await new Promise<void>((resolve) => ends.push(resolve));
  };
  return {
    started,
    finish: async () => {
      ends.shift()?.();
      for (let turn = 0; turn < 5; turn += 1) await nextTurn();
    },
    argon2: {
      hash: async (password) => {
        await work(password);
        return `hash of ${password}`;
      },
      verify: async (_hash, password) => {
        await work(password);
        return true;
      },
    },
  };
}

describe.each([
  ['argon2id', native, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[^$]{22}\$[^$]{43}$/],
  ['scrypt', fallback, /^\$scrypt\$ln=15,r=8,p=3\$[^$]{22}\$[^$]{43}$/],
] as const)('with %s, the hasher', (_name, hasher, shape) => {
  it('hashes with the chosen cost and a salt of its own', async () => {
    const [first, second] = await Promise.all([hasher.hash('correct horse'), hasher.hash('correct horse')]);
    expect(first).toMatch(shape);
    expect(second).toMatch(shape);
    expect(first).not.toBe(second);
  });

  it('recognises the right password and no other', async () => {
    const hash = await hasher.hash('пароль 🔑 pässword');
    expect(await hasher.verify('пароль 🔑 pässword', hash)).toBe(true);
    expect(await hasher.verify('пароль 🔑 passwort', hash)).toBe(false);
    expect(await hasher.verify('', hash)).toBe(false);
  });

  it('does not take the hash for the password', async () => {
    const hash = await hasher.hash('correct horse');
    expect(await hasher.verify(hash, hash)).toBe(false);
  });

  it('has no password for nobody', async () => {
    expect(await hasher.verifyNobody('correct horse')).toBe(false);
    expect(await hasher.verifyNobody('')).toBe(false);
  });
});

describe('hashes of the other algorithm', () => {
  it('by scrypt are verified where argon2id has become available', async () => {
    const hash = await fallback.hash('correct horse');
    expect(await native.verify('correct horse', hash)).toBe(true);
    expect(await native.verify('wrong horse', hash)).toBe(false);
  });

  it('by argon2id are refused aloud where it no longer loads', async () => {
    const hash = await native.hash('correct horse');
    await expect(fallback.verify('correct horse', hash)).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
  });
});

describe('the limit', () => {
  it('lets two hash at once and the others wait in order', async () => {
    const slow = slowArgon2();
    const hasher = createPasswordHasher({ randomBytes, loadArgon2: async () => slow.argon2 });
    const all = Promise.all(['a', 'b', 'c', 'd'].map((password) => hasher.hash(password)));
    await nextTurn();
    expect(slow.started).toEqual(['a', 'b']);
    await slow.finish();
    expect(slow.started).toEqual(['a', 'b', 'c']);
    // Two are running, so one that comes now waits too.
    const late = hasher.hash('late');
    await nextTurn();
    expect(slow.started).toEqual(['a', 'b', 'c']);
    await slow.finish();
    expect(slow.started).toEqual(['a', 'b', 'c', 'd']);
    for (let i = 0; i < 3; i += 1) await slow.finish();
    expect(await late).toBe('hash of late');
    expect(await all).toEqual(['hash of a', 'hash of b', 'hash of c', 'hash of d']);
  });

  it('refuses the 23rd with OVERLOADED, whatever it asks for, and takes others when there is room again', async () => {
    const slow = slowArgon2();
    const hasher = createPasswordHasher({ randomBytes, loadArgon2: async () => slow.argon2 });
    const admitted = Array.from({ length: 22 }, (_, i) => hasher.hash(`p${i}`));
    await nextTurn();
    const refusal = { code: 'OVERLOADED', status: 503, retryAfterSeconds: 1 };
    await expect(hasher.hash('x')).rejects.toMatchObject(refusal);
    await expect(hasher.verify('x', '$argon2id$')).rejects.toMatchObject(refusal);
    await expect(hasher.verifyNobody('x')).rejects.toMatchObject(refusal);
    expect(slow.started).toHaveLength(2);
    await slow.finish();
    const late = hasher.hash('late');
    for (let i = 0; i < 23; i += 1) await slow.finish();
    expect(await late).toBe('hash of late');
    expect((await Promise.all(admitted)).at(-1)).toBe('hash of p21');
  });

  it('gives the place back when a hash fails', async () => {
    const failing: Argon2 = {
      hash: () => Promise.reject(new Error('no memory')),
      verify: () => Promise.reject(new Error('bad hash')),
    };
    const hasher = createPasswordHasher({ randomBytes, loadArgon2: async () => failing });
    for (let i = 0; i < 50; i += 1) await expect(hasher.hash('x')).rejects.toThrow('no memory');
  });

  it('loads the native module once, and only when it is needed', async () => {
    let loads = 0;
    const slow = slowArgon2();
    const load = async (): Promise<Argon2> => {
      loads += 1;
      return slow.argon2;
    };
    const hasher = createPasswordHasher({ randomBytes, loadArgon2: load });
    expect(loads).toBe(0);
    const both = Promise.all([hasher.hash('a'), hasher.hash('b')]);
    await nextTurn();
    await slow.finish();
    await slow.finish();
    await both;
    expect(loads).toBe(1);
  });
});

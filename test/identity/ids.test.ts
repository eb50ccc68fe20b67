// Ids: their shape, and what is refused as one.

import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ID_BYTES, isId, makeId } from '../../src/identity/ids.ts';

const PREFIXES = ['acc', 'ws', 'key', 'req', 'ue', 'gr', 'dec', 'ses'];

describe('makeId', () => {
  it.each(PREFIXES)('makes %s ids of the one shape', (prefix) => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 42 }), (random) => {
        const id = makeId(prefix, random);
        expect(id).toMatch(/^[a-z]+_[0-9A-Za-z]{1,64}$/);
        expect(id.startsWith(`${prefix}_`)).toBe(true);
        expect(isId(prefix, id)).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  it('makes the same id of the same bytes and another of others', () => {
    const bytes = randomBytes(ID_BYTES);
    expect(makeId('ws', bytes)).toBe(makeId('ws', bytes));
    expect(makeId('ws', bytes)).not.toBe(makeId('ws', randomBytes(ID_BYTES)));
  });

  it('makes ids that do not repeat', () => {
    const ids = new Set(Array.from({ length: 10_000 }, () => makeId('req', randomBytes(ID_BYTES))));
    expect(ids.size).toBe(10_000);
  });
});

describe('isId', () => {
  it.each([
    ['ws', 'ws_0', true],
    ['ws', `ws_${'a'.repeat(64)}`, true],
    ['ws', `ws_${'a'.repeat(65)}`, false],
    ['ws', 'ws_', false],
    ['ws', 'key_abc', false],
    ['ws', 'WS_abc', false],
    ['ws', 'ws-abc', false],
    ['ws', 'ws_../../etc/passwd', false],
    ['ws', 'ws_a%2fb', false],
    ['ws', 'ws_a b', false],
    ['ws', 'ws_abc\n', false],
    ['ws', 'ws_ä', false],
    ['ws', '', false],
    ['ws', '__proto__', false],
    ['ws', `ws_${'a'.repeat(1_000_000)}`, false],
  ])('as a %s id, %j is %s', (prefix, text, expected) => {
    expect(isId(prefix, text)).toBe(expected);
  });
});

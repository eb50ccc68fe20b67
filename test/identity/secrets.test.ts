// Secrets: their shape, their checksum, and that nothing else passes as one.

import { createHash, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  checkSecret,
  digestOf,
  makeSecret,
  previewOf,
  SECRET_BYTES,
  type SecretKind,
  sameDigest,
} from '../../src/identity/secrets.ts';

const KINDS: readonly SecretKind[] = ['svc_sk_', 'svc_st_', 'svc_dc_'];
const random32 = fc.uint8Array({ minLength: SECRET_BYTES, maxLength: SECRET_BYTES });

describe('makeSecret', () => {
  it.each(KINDS)('makes %s + 43 digits + 6 of checksum, which checkSecret accepts', (kind) => {
    fc.assert(
      fc.property(random32, (random) => {
        const secret = makeSecret(kind, random);
        expect(secret).toMatch(new RegExp(`^${kind}[0-9A-Za-z]{49}$`));
        expect(checkSecret(kind, secret)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it('keeps all 256 bits: the extremes fit and differ', () => {
    const low = makeSecret('svc_sk_', new Uint8Array(32));
    const high = makeSecret('svc_sk_', new Uint8Array(32).fill(255));
    expect(low.slice(7, 50)).toBe('0'.repeat(43));
    expect(high.slice(7, 50)).not.toContain('undefined');
    expect(checkSecret('svc_sk_', low) && checkSecret('svc_sk_', high)).toBe(true);
  });

  it.each([0, 16, 31, 33])('refuses %i random bytes', (count) => {
    expect(() => makeSecret('svc_sk_', new Uint8Array(count))).toThrow(RangeError);
  });
});

describe('checkSecret', () => {
  it('refuses the secret as another kind', () => {
    const secret = makeSecret('svc_sk_', randomBytes(32));
    expect(checkSecret('svc_st_', secret)).toBe(false);
    // The checksum covers the kind, so that exchanging the prefix does not help.
    expect(checkSecret('svc_st_', secret.replace('svc_sk_', 'svc_st_'))).toBe(false);
  });

  it('refuses every secret with one character changed', () => {
    fc.assert(
      fc.property(random32, fc.nat({ max: 55 }), fc.constantFrom(...'0Zz_-é'), (random, place, character) => {
        const secret = makeSecret('svc_sk_', random);
        fc.pre(secret[place] !== character);
        expect(checkSecret('svc_sk_', secret.slice(0, place) + character + secret.slice(place + 1))).toBe(false);
      }),
    );
  });

  it('refuses anything shorter, longer, or with two characters exchanged', () => {
    fc.assert(
      fc.property(random32, fc.integer({ min: 7, max: 54 }), (random, place) => {
        const secret = makeSecret('svc_sk_', random);
        expect(checkSecret('svc_sk_', secret.slice(0, place))).toBe(false);
        expect(checkSecret('svc_sk_', `${secret}0`)).toBe(false);
        const [a = '', b = ''] = [secret[place], secret[place + 1]];
        fc.pre(a !== b);
        expect(checkSecret('svc_sk_', secret.slice(0, place) + b + a + secret.slice(place + 2))).toBe(false);
      }),
    );
  });

  it('refuses any text, however strange', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 80 }), (text) => {
        expect(checkSecret('svc_sk_', text)).toBe(false);
        expect(checkSecret('svc_sk_', `svc_sk_${text}`)).toBe(false);
      }),
    );
  });

  it('lets next to no made-up key of the right shape through', () => {
    let passed = 0;
    for (let i = 0; i < 20_000; i += 1) {
      const body = makeSecret('svc_dc_', randomBytes(32)).slice(7);
      if (checkSecret('svc_sk_', `svc_sk_${body}`)) passed += 1;
    }
    expect(passed).toBe(0);
  });
});

describe('digests', () => {
  it('are SHA-256 in hex', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(digestOf(text)).toBe(createHash('sha256').update(text).digest('hex'));
      }),
    );
  });

  it('compare equal only when they are, whatever their lengths', () => {
    const digest = digestOf('a');
    expect(sameDigest(digest, digestOf('a'))).toBe(true);
    expect(sameDigest(digest, digestOf('b'))).toBe(false);
    expect(sameDigest(digest, digest.slice(1))).toBe(false);
    expect(sameDigest('', '')).toBe(true);
    expect(sameDigest('é', 'e')).toBe(false);
  });
});

describe('previewOf', () => {
  it('shows the kind, four characters, and the last four', () => {
    const secret = makeSecret('svc_sk_', randomBytes(32));
    const { prefix, last4 } = previewOf(secret);
    expect(prefix).toBe(secret.slice(0, 11));
    expect(last4).toBe(secret.slice(-4));
    expect(prefix).toMatch(/^svc_sk_.{4}$/);
  });
});

// Base62: exact, of fixed width, and reversible.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { base62Width, digitValue, encodeNumber, encodePairs, renderDigits } from '../../src/identity/base62.ts';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const bytes = fc.uint8Array({ minLength: 1, maxLength: 40 });

function decode(text: string): bigint {
  let value = 0n;
  for (const digit of text) value = value * 62n + BigInt(ALPHABET.indexOf(digit));
  return value;
}

function numberOf(given: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(given).toString('hex')}`);
}

describe('encodeNumber', () => {
  it.each([
    [[0], '00'],
    [[61], '0z'],
    [[62], '10'],
    [[255], '47'],
    [[0, 0], '000'],
    [[255, 255], 'H31'],
  ])('spells %j as %s', (given, text) => {
    expect(encodeNumber(Uint8Array.from(given))).toBe(text);
  });

  it('spells the same number as big integers do, in the fixed width', () => {
    fc.assert(
      fc.property(bytes, (given) => {
        const text = encodeNumber(given);
        expect(text).toHaveLength(base62Width(given.length));
        expect(decode(text)).toBe(numberOf(given));
      }),
    );
  });

  it('leaves its argument alone', () => {
    const given = Uint8Array.from([1, 2, 3]);
    encodeNumber(given);
    expect([...given]).toEqual([1, 2, 3]);
  });
});

describe('encodePairs', () => {
  it('gives three digits for two bytes, each pair by itself', () => {
    fc.assert(
      fc.property(bytes, (given) => {
        const text = encodePairs(given);
        expect(text).toHaveLength(Math.ceil(given.length / 2) * 3);
        for (let i = 0; i < given.length; i += 2) {
          const pair = (given[i] ?? 0) * 256 + (given[i + 1] ?? 0);
          expect(decode(text.slice((i / 2) * 3, (i / 2) * 3 + 3))).toBe(BigInt(pair));
        }
      }),
    );
  });

  it('gives different texts for different bytes of the same length', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 16, maxLength: 16 }),
        fc.uint8Array({ minLength: 16, maxLength: 16 }),
        (a, b) => {
          fc.pre(numberOf(a) !== numberOf(b));
          expect(encodePairs(a)).not.toBe(encodePairs(b));
        },
      ),
    );
  });
});

describe('base62Width', () => {
  it('is what the largest number needs, and no more', () => {
    for (let length = 1; length <= 40; length += 1) {
      const width = base62Width(length);
      expect(62n ** BigInt(width) >= 256n ** BigInt(length)).toBe(true);
      expect(62n ** BigInt(width - 1) < 256n ** BigInt(length)).toBe(true);
    }
  });

  it('is 43 for 256 bits', () => {
    expect(base62Width(32)).toBe(43);
  });
});

describe('single digits', () => {
  it('have the value of their place in the alphabet', () => {
    for (let code = 0; code < 300; code += 1) {
      expect(digitValue(code)).toBe(ALPHABET.indexOf(String.fromCharCode(code)));
    }
  });

  it('are rendered padded to the width', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 32 - 1 }), (value) => {
        expect(renderDigits(value, 6)).toHaveLength(6);
        expect(decode(renderDigits(value, 6))).toBe(BigInt(value));
      }),
    );
  });
});

// CRC-32 against published values and against zlib.

import zlib from 'node:zlib';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { crc32 } from '../../src/identity/crc32.ts';

it.each([
  ['', 0],
  ['a', 0xe8b7be43],
  ['abc', 0x352441c2],
  ['123456789', 0xcbf43926],
  ['The quick brown fox jumps over the lazy dog', 0x414fa339],
])('the checksum of %j is as published', (text, expected) => {
  expect(crc32(text)).toBe(expected);
});

it('agrees with zlib on any ASCII text and on the beginning of one', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary-ascii' }), fc.nat(), (text, cut) => {
      const length = cut % (text.length + 1);
      expect(crc32(text)).toBe(zlib.crc32(text));
      expect(crc32(text, length)).toBe(zlib.crc32(text.slice(0, length)));
    }),
  );
});

// One journal line, there and back.
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeLine, encodeLine, FIRST_PREV, hashLine, hasValidChecksum } from '../../src/store/journal-format.ts';
import { makeGrant, makeHold, makeSettle } from './fixtures/records.ts';

const encode = (text: string) => Buffer.from(text, 'utf8');

/** A line of any content with a right checksum. */
function sealed(body: string): Buffer {
  return encode(`{"crc":"${crc32(body).toString(16).padStart(8, '0')}",${body}`);
}

describe('encodeLine', () => {
  it('writes the documented form', () => {
    const { line } = encodeLine(makeGrant(5), 7, FIRST_PREV);
    expect(line).toMatch(/^\{"crc":"[0-9a-f]{8}","seq":7,"prev":"[\w-]{22}","type":"grant",.*\}$/);
    expect(JSON.parse(line)).toEqual({ crc: expect.any(String), seq: 7, prev: FIRST_PREV, ...makeGrant(5) });
  });

  it('chains by the first 16 bytes of SHA-256, as base64url', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const expected = createHash('sha256').update(text, 'utf8').digest().subarray(0, 16).toString('base64url');
        expect(hashLine(text)).toBe(expected);
        expect(hashLine(encode(text))).toBe(expected);
      }),
    );
  });

  it('hashes exactly the line it wrote', () => {
    const { line, hash } = encodeLine(makeHold('req_1', 5), 7, FIRST_PREV);
    expect(hash).toBe(hashLine(encode(line)));
  });
});

describe('decodeLine', () => {
  it.each([makeGrant(5, { note: 'for tests', by: 'acc_1' }), makeHold('req_1', 5), makeSettle('req_1', 5)])(
    'reads back a record of type $type',
    (record) => {
      const { line } = encodeLine(record, 7, FIRST_PREV);
      expect(decodeLine(encode(line))).toEqual({ seq: 7, prev: FIRST_PREV, back: 0, record });
    },
  );

  it('reads back what says that the past is in a carry file', () => {
    const record = { type: 'carry', at: 5, segment: 7, digest: 'ab'.repeat(32) } as const;
    expect(decodeLine(encode(encodeLine(record, 9, FIRST_PREV).line))).toEqual({
      seq: 9,
      prev: FIRST_PREV,
      back: 0,
      record,
    });
  });

  it('reads back any text there is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(), (note, amount) => {
        const record = makeGrant(amount, { note });
        const { line } = encodeLine(record, 1, FIRST_PREV);
        expect(line.includes('\n')).toBe(false);
        expect(decodeLine(encode(line))).toEqual({ seq: 1, prev: FIRST_PREV, back: 0, record });
      }),
    );
  });

  it('keeps its place for a record type of a later version', () => {
    const line = sealed(`"seq":3,"prev":"${FIRST_PREV}","type":"watermark","outputTokens":12}`);
    expect(decodeLine(line)).toEqual({ seq: 3, prev: FIRST_PREV, back: 0, record: { type: 'foreign' } });
  });

  it.each([
    [
      'a negative amount',
      `"seq":1,"prev":"x","type":"hold","at":1,"requestId":"r","workspaceId":"w","apiKeyId":"k","amountNano":-1,"model":"m"}`,
    ],
    ['a fractional amount', `"seq":1,"prev":"x","type":"grant","at":1,"id":"g","workspaceId":"w","amountNano":1.5}`],
    [
      'a settlement without its entry',
      `"seq":1,"prev":"x","type":"settle","at":1,"requestId":"r","workspaceId":"w","chargeNano":1}`,
    ],
    ['no number', `"prev":"x","type":"grant"}`],
    ['no hash', `"seq":1,"type":"grant"}`],
    ['a format from the future', `"seq":1,"prev":"x","type":"segment","format":2,"segment":1,"at":1}`],
    ['a carry without its digest', `"seq":1,"prev":"x","type":"carry","at":1,"segment":7}`],
    ['broken JSON', `"seq":1,,}`],
  ])('refuses %s even under a right checksum', (_name, body) => {
    expect(hasValidChecksum(sealed(body))).toBe(true);
    expect(decodeLine(sealed(body))).toBeTypeOf('string');
  });

  it('refuses every line with one bit changed', () => {
    const line = encode(encodeLine(makeHold('req_1', 5), 7, FIRST_PREV).line);
    for (let bit = 0; bit < line.length * 8; bit += 1) {
      const changed = Buffer.from(line);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(decodeLine(changed)).toBe('the checksum is wrong');
    }
  });

  it.each(['', '{}', '{"crc":"', '{"crc":"00000000",}', '\0'.repeat(64)])('refuses %j', (text) => {
    expect(decodeLine(encode(text))).toBe('the checksum is wrong');
  });
});

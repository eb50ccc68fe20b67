// Never fewer tokens held for than a request can have: bytes bound them, whatever the language and the tokenizer.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inputTokensBound } from '../../src/ledger/input-bound.ts';

/** Texts that tokenizers find hard: many tokens to few characters. */
const TEXTS: readonly (readonly [string, string])[] = [
  ['English', 'The quick brown fox jumps over the lazy dog. '],
  ['German', 'Donaudampfschifffahrtsgesellschaftskapitänsmütze. '],
  ['Thai', 'ฉันอยากเรียนรู้ภาษาไทยให้ดีขึ้นทุกวัน '],
  ['Tibetan', 'བོད་སྐད་ཀྱི་ཡི་གེ་ '],
  ['Arabic with its marks', 'بِسْمِ ٱللَّهِ ٱلرَّحْمَٰنِ ٱلرَّحِيمِ '],
  ['Chinese', '人工智能正在改变世界。'],
  ['rare ideographs', '𠮷𡈽𩸽𪚥'],
  ['families in emoji', '👩‍👩‍👧‍👦🏳️‍🌈🧑🏿‍🚀'],
  ['code', 'for(let i=0;i<n;++i){a[i]^=(b[i]<<3)|0x7f;}\t\t\r\n'],
  ['base64', 'q83vEjRWeJq83v/+AAECAwQFBgcICQoLDA0ODw=='],
  ['digits', '3141592653589793238462643383279502884197'],
  ['white space', ' \t\n\u00a0\u2003\u200b\ufeff'],
  ['controls', '\u0000\u0001\u001b\u007f\u0085'],
  ['letters under many marks', 'Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L̠ͨͧͩ͘G̴̻͈͍͔̹̑͗̎̅͛́Ǫ̵̹̻̝̳͂̌̌͘'],
];

const encoder = new TextEncoder();

/** A byte-level tokenizer starts with a token a byte and only ever joins two into one; here with any merges at all. */
function bytePairTokens(bytes: Uint8Array, merges: readonly (readonly [number, number])[]): number {
  let tokens = [...bytes];
  for (const [rank, [left, right]] of merges.entries()) {
    const joined: number[] = [];
    for (let index = 0; index < tokens.length; index += 1) {
      const pair = tokens[index] === left && tokens[index + 1] === right;
      joined.push(pair ? 256 + rank : (tokens[index] ?? 0));
      if (pair) index += 1;
    }
    tokens = joined;
  }
  return tokens.length;
}

/** A piece tokenizer that knows none of the text falls back to its bytes, after one mark for the beginning. */
const fallbackTokens = (text: string): number => 1 + encoder.encode(text).length;

const body = (text: string, isEscaped = false): Buffer => {
  const json = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: text }] });
  const ascii = json.replaceAll(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return Buffer.from(isEscaped ? ascii : json);
};

describe('the bound on input tokens', () => {
  it.each(TEXTS)('holds for %s, where a tokenizer knows nothing and takes every byte for a token', (_name, text) => {
    for (const isEscaped of [false, true]) {
      for (const times of [1, 10, 1000]) {
        const long = text.repeat(times);
        expect(inputTokensBound(body(long, isEscaped).length, 0, 0)).toBeGreaterThanOrEqual(fallbackTokens(long));
      }
    }
  });

  it('holds for any text and any merges', () => {
    const merge = fc.tuple(fc.nat(300), fc.nat(300));
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom(...TEXTS.map(([, each]) => each)),
    );
    fc.assert(
      fc.property(text, fc.array(merge, { maxLength: 20 }), fc.boolean(), (content, merges, isEscaped) => {
        const tokens = bytePairTokens(encoder.encode(content), merges);
        expect(tokens).toBeLessThanOrEqual(encoder.encode(content).length);
        expect(inputTokensBound(body(content, isEscaped).length, 0, 0)).toBeGreaterThanOrEqual(tokens);
      }),
      { numRuns: 300 },
    );
  });

  it('holds for random bytes sent as base64 text', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2_000 }), (bytes) => {
        const text = Buffer.from(bytes).toString('base64');
        expect(inputTokensBound(body(text).length, 0, 0)).toBeGreaterThanOrEqual(text.length);
      }),
    );
  });

  it('holds however JSON writes a text: no escape is shorter than what it stands for', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(body(text, true).length).toBeGreaterThanOrEqual(body(text).length);
        expect(body(text).length).toBeGreaterThan(encoder.encode(text).length);
      }),
    );
  });

  it.each([1, 10, 1000])('leaves room for the marks around each of %d short messages', (count) => {
    const messages = Array.from({ length: count }, () => ({ role: 'user', content: '' }));
    // A chat template writes up to a handful of tokens around each message: role, begin, end, line break.
    expect(inputTokensBound(Buffer.byteLength(JSON.stringify({ messages })), 0, 0)).toBeGreaterThan(8 * count);
  });
});

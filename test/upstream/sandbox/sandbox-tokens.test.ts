import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CACHE_STEP_TOKENS, createPrefixCache } from '../../../src/upstream/sandbox/prefix-cache.ts';
import { countTokens, splitTokens } from '../../../src/upstream/sandbox/sandbox-tokens.ts';

const TEXT = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), fc.lorem({ maxCount: 40 }));

describe('tokens', () => {
  it.each<[string, string[]]>([
    ['', []],
    ['Hello world', ['Hello', ' world']],
    ['internationalisation', ['internat', 'ionalisa', 'tion']],
    ['12345', ['123', '45']],
    ['{"a":1}', ['{"', 'a', '":', '1', '}']],
    ['a\n\n  b', ['a', '\n\n  ', 'b']],
    ['你好吗', ['你好', '吗']],
    ['😀😀', ['😀', '😀']],
    ['好😀', ['好', '😀']],
    ['naïve', ['naïve']],
    ['end ', ['end', ' ']],
  ])('of %j are %j', (text, tokens) => {
    expect(splitTokens(text)).toEqual(tokens);
  });

  it('joined are the text, counted are as many, never more than bytes, and never half a character', () => {
    fc.assert(
      fc.property(TEXT, (text) => {
        const tokens = splitTokens(text);
        expect(tokens.join('')).toBe(text);
        expect(countTokens(text)).toBe(tokens.length);
        expect(tokens.length).toBeLessThanOrEqual(Buffer.byteLength(text));
        expect(tokens.every((token) => token.length > 0)).toBe(true);
        if (Buffer.from(text).toString() === text) {
          for (const token of tokens) expect(Buffer.from(token).toString()).toBe(token);
        }
      }),
    );
  });

  it('of a large text are counted quickly', () => {
    const before = performance.now();
    expect(countTokens('some words, '.repeat(500_000))).toBe(1_500_001);
    expect(performance.now() - before).toBeLessThan(10_000);
  });
});

describe('the prefix cache', () => {
  it('finds exactly the full steps of the longest beginning seen before', () => {
    fc.assert(
      fc.property(fc.nat(400), fc.nat(400), (shared, rest) => {
        const cache = createPrefixCache();
        const beginning = 'w '.repeat(shared);
        cache.measure('m', [`${beginning}${'a '.repeat(rest)}`]);
        const again = cache.measure('m', [`${beginning}${'b '.repeat(rest)}`]);
        const same = rest === 0 ? shared : Math.max(0, shared);
        expect(again.cachedTokens % CACHE_STEP_TOKENS).toBe(0);
        expect(again.cachedTokens).toBeLessThanOrEqual(again.tokens);
        // The last word before the change may count with the space after it.
        expect(
          Math.abs(again.cachedTokens - Math.floor(same / CACHE_STEP_TOKENS) * CACHE_STEP_TOKENS),
        ).toBeLessThanOrEqual(rest === 0 ? CACHE_STEP_TOKENS : 0);
      }),
    );
  });

  it('keeps models and the borders of parts apart, and knows images by what they are', () => {
    const cache = createPrefixCache();
    const long = 'word '.repeat(100);
    cache.measure('one', [long, 'x']);
    expect(cache.measure('two', [long, 'x']).cachedTokens).toBe(0);
    expect(cache.measure('one', ['', long, 'x']).cachedTokens).toBe(0);
    const image = (known: string) => [{ tokens: 640, known }];
    expect(cache.measure('one', image('a'))).toEqual({ tokens: 640, cachedTokens: 0 });
    expect(cache.measure('one', image('a')).cachedTokens).toBe(640);
    expect(cache.measure('one', image('b')).cachedTokens).toBe(0);
  });

  it('forgets the oldest beginnings first', () => {
    const cache = createPrefixCache(2);
    const prompt = (word: string) => [`${word} `.repeat(CACHE_STEP_TOKENS)];
    cache.measure('m', prompt('a'));
    cache.measure('m', prompt('b'));
    cache.measure('m', prompt('a'));
    cache.measure('m', prompt('c'));
    expect(cache.measure('m', prompt('a')).cachedTokens).toBe(CACHE_STEP_TOKENS);
    expect(cache.measure('m', prompt('b')).cachedTokens).toBe(0);
  });
});

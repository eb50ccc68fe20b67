// Tokens and hashed features: equal for equal texts, bounded for any.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CHAR,
  createCharTable,
  createTokens,
  hashStem,
  hashWord,
  pairHash,
  type Tokens,
  tokenize,
} from '../../src/routing/classifier-tokens.ts';
import { BUCKETS, createFeatures, extractFeatures, GROUPS } from '../../src/routing/features.ts';
import type { CodeBuffer } from '../../src/routing/last-turn.ts';

const table = createCharTable();

function bufferOf(value: string): CodeBuffer {
  const codes = Uint16Array.from({ length: value.length }, (_, index) => value.charCodeAt(index));
  return { codes, length: value.length };
}

function tokensOf(value: string, capacity = 5000): Tokens {
  const tokens = createTokens(capacity);
  tokenize(bufferOf(value), table, tokens);
  return tokens;
}

function hashesOf(value: string): number[] {
  const tokens = tokensOf(value);
  return Array.from(tokens.hashes.subarray(0, tokens.count));
}

function featuresOf(value: string, more: { tools?: boolean; image?: boolean; previous?: string } = {}): number[][] {
  const features = createFeatures();
  const input = {
    text: bufferOf(value),
    tokens: tokensOf(value),
    previousUser: tokensOf(more.previous ?? ''),
    system: tokensOf(''),
    tools: more.tools ?? false,
    image: more.image ?? false,
    table,
    stopwords: new Set([hashWord('does')]),
  };
  extractFeatures(input, features);
  return GROUPS.map((_, group) =>
    Array.from(features.rows.subarray(group === 0 ? 0 : features.ends[group - 1], features.ends[group])),
  );
}

describe('tokens', () => {
  it.each<[string, string, number]>([
    ['words', 'the quick brown fox', 4],
    ['words between marks', "don't stop(now);", 4],
    ['Cyrillic words', 'привет, как дела', 3],
    ['each ideograph', '翻译成英文', 5],
    ['each syllable', '번역해 줘', 4],
    ['words with accents', 'où est l’été', 4],
    ['nothing in white space', ' \n\t ', 0],
    ['nothing in an empty text', '', 0],
  ])('are %s', (_name, value, count) => {
    expect(tokensOf(value).count).toBe(count);
  });

  it.each([
    ['Hello', 'hello'],
    ['ПЕРЕВЕДИ', 'переведи'],
    ['ÜBERSETZE', 'übersetze'],
    ['ΜΕΤΑ', 'μετα'],
    ['room 101', 'room 999'],
  ])('are the same for %s and %s', (left, right) => {
    expect(hashesOf(left)).toEqual(hashesOf(right));
  });

  it('agree with the hashes that the lexicon is made of', () => {
    const tokens = tokensOf('translate 翻译');
    expect(tokens.hashes[0]).toBe(hashWord('translate'));
    expect(tokens.stems[0]).toBe(hashStem('translation'));
    expect(pairHash(tokens.hashes[1] ?? 0, tokens.hashes[2] ?? 0)).toBe(hashWord('翻译'));
  });

  it('keep the stem of a long word apart from the short word', () => {
    expect(tokensOf('understand').stems[0]).not.toBe(hashWord('under'));
    expect(tokensOf('under').stems[0]).toBe(0);
  });

  it('count what the text is made of', () => {
    const tokens = tokensOf('Is x = 3?\n```js\nlet a = [1];\n```\n- one\n2. two\nhttps://a.b\nYes?');
    expect(tokens).toMatchObject({ fences: 2, backticks: 6, bullets: 2, urls: 1, endsWithQuestion: true });
    expect(tokens.codeLines).toBeGreaterThan(0);
    expect(tokens.chars[CHAR.question]).toBe(2);
    expect(tokens.chars[CHAR.newline]).toBe(7);
  });

  it('stop at their capacity', () => {
    expect(tokensOf('a '.repeat(100), 10).count).toBe(10);
  });

  it('carry nothing over from the text before', () => {
    const tokens = createTokens(100);
    tokenize(bufferOf('```code {} [] ?'), table, tokens);
    tokenize(bufferOf('plain'), table, tokens);
    expect(tokens).toMatchObject({ count: 1, fences: 0, backticks: 0, endsWithQuestion: false, length: 5 });
    expect(tokens.chars[CHAR.code]).toBe(0);
  });
});

describe('features', () => {
  it('are rows of the table, in order of their groups, for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 4000 }), fc.boolean(), (value, tools) => {
        const groups = featuresOf(value, { tools, image: true });
        expect(groups).toHaveLength(GROUPS.length);
        for (const row of groups.flat()) expect(row >= 0 && row < BUCKETS).toBe(true);
        expect(groups.flat().length).toBeLessThanOrEqual(6000);
      }),
      { numRuns: 50 },
    );
  });

  it('are the same each time', () => {
    const value = 'Summarize the following contract, then list every date.';
    expect(featuresOf(value)).toEqual(featuresOf(value));
  });

  it('differ with the order of words only where order is looked at', () => {
    const [lead, , body] = featuresOf('dog bites man');
    const [otherLead, , otherBody] = featuresOf('man bites dog');
    expect(body?.toSorted()).toEqual(otherBody?.toSorted());
    expect(lead?.toSorted()).not.toEqual(otherLead?.toSorted());
  });

  it('of the circumstances are there only with tools or an image, and differ between the two', () => {
    const value = 'what is the weather';
    expect(featuresOf(value)[3]).toEqual([]);
    const withTools = featuresOf(value, { tools: true })[3];
    const withImage = featuresOf(value, { image: true })[3];
    expect(withTools).toHaveLength(7);
    expect(withTools).not.toEqual(withImage);
  });

  it('take the previous turn along for short prompts only', () => {
    expect(featuresOf('and in french?', { previous: 'write a poem' })[4]?.length).toBeGreaterThan(0);
    expect(featuresOf('word '.repeat(60), { previous: 'write a poem' })[4]).toEqual([]);
  });

  it('fold digits and white space in character n-grams', () => {
    expect(featuresOf('room 12  at   9')[1]).toEqual(featuresOf('room 77 at 3')[1]);
  });

  it('spread words over the table', () => {
    const rows = new Set(
      Array.from(
        { length: 1000 },
        (_, index) =>
          featuresOf(
            `w${String.fromCharCode(97 + (index % 26))}${'abcdefghij'[Math.floor(index / 100)]}${'klmnopqrst'[Math.floor(index / 10) % 10]}`,
          )[2]?.[0],
      ),
    );
    expect(rows.size).toBeGreaterThan(900);
  });
});

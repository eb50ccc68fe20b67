import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchesAny } from '../../src/routing/eligible.ts';
import { matchesGlob, parseGlob } from '../../src/routing/glob.ts';

const matches = (text: string, pattern: string): boolean => matchesGlob(text, parseGlob(pattern));

describe('a pattern', () => {
  it.each([
    ['openai/gpt-4o', 'openai/gpt-4o', true],
    ['openai/gpt-4o', 'openai/gpt-4', false],
    ['openai/gpt-4o', 'openai/*', true],
    ['openai/gpt-4o', '*/gpt-4o', true],
    ['openai/gpt-4o', '*', true],
    ['', '*', true],
    ['', '', true],
    ['a', '', false],
    ['openai/gpt-4o:free', '*:free', true],
    ['openai/gpt-4o', '*:free', false],
    ['openai/gpt-4o-mini', 'openai/*-mini', true],
    ['openai/gpt-4o-mini', '*gpt*mini*', true],
    ['openai/gpt-4o-mini', '*mini*gpt*', false],
    ['ab', 'a*b', true],
    ['a', 'a*a', false],
    ['aba', 'a*a', true],
    ['abcab', 'ab*ab', true],
    ['ab', 'ab*ab', false],
    ['a.b', 'a?b', false],
    ['a.b', 'a.*', true],
    ['axb', 'a.*', false],
    ['aXbXc', 'a**X***c', true],
    ['ab-c', 'a*b*b*c', false],
  ])('%s against %s: %s', (text, pattern, expected) => {
    expect(matches(text, pattern)).toBe(expected);
  });

  it('agrees with the regular expression it stands for', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 8 });
    const texts = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 10 });
    fc.assert(
      fc.property(texts, letters, (text, pattern) => {
        const regex = new RegExp(`^${pattern.split('*').join('.*')}$`);
        expect(matches(text, pattern)).toBe(regex.test(text));
      }),
      { numRuns: 500 },
    );
  });

  it('stays linear where a backtracking matcher would not', () => {
    // With k stars, backtracking takes about n^k steps on this text; this would then never end.
    expect(matches('a'.repeat(50_000), `${'a*'.repeat(200)}b`)).toBe(false);
    expect(matches('a'.repeat(50_000), `${'*a'.repeat(200)}*`)).toBe(true);
  });
});

describe('a list of patterns', () => {
  it.each([
    [[], false],
    [['b/*', 'a/*'], true],
    [['b/*'], false],
  ] as const)('%j matches a/x: %s', (patterns, expected) => {
    expect(matchesAny('a/x', patterns)).toBe(expected);
  });
});

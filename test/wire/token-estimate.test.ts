// The estimate of a text's tokens against counts of a real vocabulary.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { textTokens } from '../../src/wire/token-estimate.ts';
import { TOKEN_SAMPLES } from './token-samples.ts';

const SAMPLES = Object.entries(TOKEN_SAMPLES);
const off = (text: string, tokens: number): number => Math.abs(textTokens(text) - tokens) / tokens;

describe('the tokens of a text', () => {
  it('has a sample of many kinds', () => {
    expect(SAMPLES.length).toBeGreaterThanOrEqual(30);
  });

  it.each(SAMPLES)('are estimated within 10 %% for %s', (_name, { text, tokens }) => {
    expect(off(text, tokens)).toBeLessThanOrEqual(0.1);
  });

  it('are nearer still on the whole', () => {
    const mean = SAMPLES.reduce((sum, [, { text, tokens }]) => sum + off(text, tokens), 0) / SAMPLES.length;
    expect(mean).toBeLessThan(0.05);
  });

  it.each([
    ['', 0],
    ['Hello', 1.04],
    ['123456', 2],
    ['\n', 0.9],
  ])('of %j are %d', (text, tokens) => {
    expect(textTokens(text)).toBeCloseTo(tokens, 0);
  });

  it('of a long text are told by parts of it, in bounded time', () => {
    const { text, tokens } = TOKEN_SAMPLES.technical;
    const times = 20_000;
    const long = `${text}\n`.repeat(times);
    const started = performance.now();
    const estimate = textTokens(long);
    expect(performance.now() - started).toBeLessThan(500);
    expect(estimate / ((tokens + 1) * times)).toBeGreaterThan(0.9);
    expect(estimate / ((tokens + 1) * times)).toBeLessThan(1.1);
  });

  it('are a number for anything, and grow with what is added', () => {
    const anything = fc.string({ unit: 'binary', maxLength: 200 });
    fc.assert(
      fc.property(anything, fc.constantFrom(2000, 48_000, 10), (text, lookMax) => {
        const tokens = textTokens(text, lookMax);
        expect(tokens).toBeGreaterThanOrEqual(0);
        expect(Number.isFinite(tokens)).toBe(true);
        expect(textTokens(`${text}\n1234567`)).toBeGreaterThan(textTokens(text) - 0.5);
      }),
    );
  });
});

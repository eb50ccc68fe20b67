import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NANO_DIGITS, PER_TOKEN_DIGITS, parseScaledDecimal, renderNanoUsd } from '../../src/routing/decimal-price.ts';

describe('parseScaledDecimal', () => {
  it.each([
    ['0.00000015', 150_000_000],
    ['0', 0],
    ['0.0', 0],
    ['.5', 500_000_000_000_000],
    ['1', 1_000_000_000_000_000],
    ['1.', 1_000_000_000_000_000],
    ['0.0000000826', 82_600_000],
    ['0.000000000000001', 1],
    ['0.0000000000000001', 1],
    ['0.0000000000000010000001', 2],
    ['1.5e-7', 150_000_000],
    ['2.5E-07', 250_000_000],
    ['007', 7_000_000_000_000_000],
  ])('reads %s USD per token as %i nano-dollars per million tokens', (text, nano) => {
    expect(parseScaledDecimal(text, PER_TOKEN_DIGITS)).toBe(nano);
  });

  it.each([
    '',
    '.',
    '-1',
    '+1',
    '1,5',
    '0x10',
    'NaN',
    'Infinity',
    ' 1',
    '1 ',
    '1e',
    '1e999',
    '1.2.3',
    '10',
    '1e5',
    `0.${'1'.repeat(60)}`,
  ])('refuses %j', (text) => {
    expect(parseScaledDecimal(text, PER_TOKEN_DIGITS)).toBeUndefined();
  });

  it('is exact for every integer of nano-dollars per million tokens', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }), (nano) => {
        const digits = String(nano).padStart(PER_TOKEN_DIGITS + 1, '0');
        const text = `${digits.slice(0, -PER_TOKEN_DIGITS)}.${digits.slice(-PER_TOKEN_DIGITS)}`;
        expect(parseScaledDecimal(text, PER_TOKEN_DIGITS)).toBe(nano);
      }),
    );
  });

  it('never throws, whatever it is given', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const value = parseScaledDecimal(text, NANO_DIGITS);
        expect(value === undefined || (Number.isSafeInteger(value) && value >= 0)).toBe(true);
      }),
    );
  });
});

describe('renderNanoUsd', () => {
  it.each([
    [0, '0'],
    [1, '0.000000001'],
    [123_450, '0.00012345'],
    [1_000_000_000, '1'],
    [12_500_000_000, '12.5'],
    [0.2, '0.000000001'],
  ])('writes %d nano-dollars as %s', (nano, text) => {
    expect(renderNanoUsd(nano)).toBe(text);
  });

  it('gives back what the parser reads', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }), (nano) => {
        expect(parseScaledDecimal(renderNanoUsd(nano), NANO_DIGITS)).toBe(nano);
      }),
    );
  });
});

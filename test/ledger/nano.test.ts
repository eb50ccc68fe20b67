// Decimal USD strings and nano-dollars.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseUsd, renderUsd } from '../../src/ledger/nano.ts';

describe('parseUsd', () => {
  it.each([
    ['0', 0],
    ['0.000000001', 1],
    ['0.000123450', 123_450],
    ['0.00012345', 123_450],
    ['1', 1_000_000_000],
    ['10.5', 10_500_000_000],
    ['007', 7_000_000_000],
    ['9007199.254740991', Number.MAX_SAFE_INTEGER],
  ])('reads %s', (text, nano) => {
    expect(parseUsd(text)).toBe(nano);
  });

  it.each([
    '',
    '.',
    '.5',
    '5.',
    '-1',
    '+1',
    ' 1',
    '1 ',
    '1e3',
    '0x1',
    '1,5',
    '1_0',
    '0.0000000001',
    'NaN',
    'Infinity',
    '９',
    '9007199.254740992',
    '9999999999',
    '99999999999',
    1,
    null,
    undefined,
    {},
    ['1'],
  ])('refuses %j', (text) => {
    expect(parseUsd(text)).toBeUndefined();
  });
});

describe('renderUsd', () => {
  it.each([
    [0, '0'],
    [-0, '0'],
    [1, '0.000000001'],
    [123_450, '0.00012345'],
    [10_500_000_000, '10.5'],
    [-3_500_000_000, '-3.5'],
    [-1, '-0.000000001'],
    [Number.MAX_SAFE_INTEGER, '9007199.254740991'],
  ])('writes %d in its shortest form', (nano, text) => {
    expect(renderUsd(nano)).toBe(text);
  });

  it('is undone by parseUsd for every amount', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (nano) => {
        const text = renderUsd(nano);
        expect(parseUsd(text)).toBe(nano);
        expect(renderUsd(-nano)).toBe(nano === 0 ? '0' : `-${text}`);
        if (text.includes('.')) expect(text.endsWith('0')).toBe(false);
      }),
    );
  });
});

// USD amounts as people read them.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPositiveUsd, sumUsd, usdExact, usdText } from '../../src/cli/usd-text.ts';

describe('usdText', () => {
  it.each([
    ['0', '$0.00'],
    ['0.000', '$0.00'],
    ['10', '$10.00'],
    ['12.345', '$12.35'],
    ['12.344', '$12.34'],
    ['999999999.999', '$1000000000.00'],
    ['0.5', '$0.50'],
    ['0.25', '$0.25'],
    ['0.125', '$0.125'],
    ['0.0123456', '$0.0123'],
    ['0.000123450', '$0.000123'],
    ['0.0001235', '$0.000124'],
    ['0.9996', '$1.00'],
    ['0.000000001', '$0.000000001'],
    ['-0.5', '-$0.50'],
    ['-0', '$0.00'],
    ['0.0000000375', '$0.0000000375'],
    ['not money', 'not money'],
    ['', ''],
    ['1e3', '1e3'],
  ])('shows %j as %j', (amount, expected) => {
    expect(usdText(amount)).toBe(expected);
  });

  it('stays within half a unit of its last digit, and within 0.5 % or half a cent', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 15n), (nano) => {
        const amount = `${nano / 10n ** 9n}.${String(nano % 10n ** 9n).padStart(9, '0')}`;
        const shown = Number(usdText(amount).slice(1));
        const exact = Number(amount);
        expect(Math.abs(shown - exact)).toBeLessThanOrEqual(Math.max(exact >= 1 ? 0.005_000_01 : 0, exact * 0.005_01));
      }),
    );
  });
});

describe('usdExact', () => {
  it.each([
    ['10', '$10.00'],
    ['9.99987655', '$9.99987655'],
    ['0.000000001', '$0.000000001'],
    ['2.500', '$2.50'],
    ['-1.5', '-$1.50'],
    ['?', '?'],
  ])('shows every digit of %j', (amount, expected) => {
    expect(usdExact(amount)).toBe(expected);
  });
});

describe('sumUsd', () => {
  it.each([
    [[], '0'],
    [['0.1', '0.2'], '0.3'],
    [['10', '0.000000001'], '10.000000001'],
    [['1', '-1.5'], '-0.5'],
    [['5', 'not money'], '5'],
    [['100', '200'], '300'],
  ])('adds up %j exactly', (amounts, expected) => {
    expect(sumUsd(amounts)).toBe(expected);
  });

  it('is the sum of the nano-dollars', () => {
    const decimal = (nano: bigint): string => `${nano / 10n ** 9n}.${String(nano % 10n ** 9n).padStart(9, '0')}`;
    fc.assert(
      fc.property(fc.array(fc.bigInt(0n, 10n ** 12n)), (nanos) => {
        const total = nanos.reduce((sum, nano) => sum + nano, 0n);
        expect(usdExact(sumUsd(nanos.map(decimal)))).toBe(usdExact(decimal(total)));
      }),
    );
  });
});

describe('isPositiveUsd', () => {
  it.each(['1', '10', '2.50', '0.000000001', '999999999'])('takes %j', (text) => {
    expect(isPositiveUsd(text)).toBe(true);
  });
  it.each(['', '0', '0.00', '-1', '+1', '1.', '.5', '1e3', '1,5', ' 1', '$5', '1.0000000001', '1234567890', 'NaN'])(
    'refuses %j',
    (text) => {
      expect(isPositiveUsd(text)).toBe(false);
    },
  );
});

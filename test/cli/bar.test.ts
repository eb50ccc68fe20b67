// Bars of block characters.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { renderBar } from '../../src/cli/bar.ts';

it.each([
  [0, '░░░░'],
  [0.5, '██░░'],
  [1, '████'],
  [-3, '░░░░'],
  [7, '████'],
  [Number.NaN, '░░░░'],
])('shows %d', (value, expected) => {
  expect(renderBar(value, 4)).toBe(expected);
});

it('always takes its width', () => {
  fc.assert(
    fc.property(fc.double(), fc.nat(40), (value, width) => {
      expect(renderBar(value, width)).toHaveLength(width);
    }),
  );
});

// Text as a terminal shows it.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pad, printable, textWidth, truncate } from '../../src/cli/text-width.ts';

describe('textWidth', () => {
  it.each([
    ['', 0],
    ['plain', 5],
    ['naïve', 5],
    ['e\u0301', 1],
    ['模型', 4],
    ['한글', 4],
    ['ｆｕｌｌ', 8],
    ['🚀', 2],
    ['█░', 2],
    ['a\u200bb', 2],
  ])('of %j is %i', (text, width) => {
    expect(textWidth(text)).toBe(width);
  });
});

describe('truncate', () => {
  it.each([
    ['short', 10, 'short'],
    ['exactly', 7, 'exactly'],
    ['too long', 5, 'too …'],
    ['模型模型', 5, '模型…'],
    ['模型模型', 4, '模…'],
    ['anything', 1, '…'],
    ['anything', 0, ''],
  ])('cuts %j to %i columns', (text, width, expected) => {
    expect(truncate(text, width)).toBe(expected);
  });

  it('never exceeds the width', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(30), (text, width) => {
        expect(textWidth(truncate(text, width))).toBeLessThanOrEqual(width);
      }),
    );
  });
});

describe('pad', () => {
  it('fills on the side away from the text', () => {
    expect(pad('模', 4, 'left')).toBe('模  ');
    expect(pad('7', 3, 'right')).toBe('  7');
    expect(pad('wide', 2, 'left')).toBe('wide');
  });
});

describe('printable', () => {
  it.each(['\u001b', '\u0007', '\r', '\n', '\t', '\u0085', '\u009b', '\u202e', '\u2066'])(
    'replaces %j',
    (character) => {
      expect(printable(`a${character}b`)).toBe('a\ufffdb');
    },
  );

  it('leaves ordinary text of any script alone', () => {
    expect(printable('Ünïcode 模型 🚀 – ok')).toBe('Ünïcode 模型 🚀 – ok');
  });
});

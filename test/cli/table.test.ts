// The table renderer: alignment, cutting, dropping columns, and never more than the width.

import { stripVTControlCharacters, styleText } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Column, renderTable } from '../../src/cli/table.ts';
import { printable, textWidth } from '../../src/cli/text-width.ts';

const COLUMNS: readonly Column[] = [
  { header: 'NAME', shrinks: true },
  { header: 'COUNT', align: 'right' },
  { header: 'NOTE', shrinks: true },
];
const ROWS = [
  ['a-rather-long-name', '7', 'fine'],
  ['b', '12345', 'something to say'],
];
const linesOf = (text: string): readonly string[] => text.trimEnd().split('\n');

describe('renderTable', () => {
  it('aligns text to the left and numbers to the right', () => {
    expect(renderTable(COLUMNS, ROWS, { width: Number.POSITIVE_INFINITY })).toBe(
      [
        'NAME                COUNT  NOTE\n',
        'a-rather-long-name      7  fine\n',
        'b                   12345  something to say\n',
      ].join(''),
    );
  });

  it('cuts the widest column that may shrink, and shows it', () => {
    expect(linesOf(renderTable(COLUMNS, ROWS, { width: 36 }))).toEqual([
      'NAME           COUNT  NOTE',
      'a-rather-lon…      7  fine',
      'b              12345  something to …',
    ]);
  });

  it('drops columns from the right rather than cut a number', () => {
    expect(linesOf(renderTable(COLUMNS, ROWS, { width: 20 }))).toEqual([
      'NAME           COUNT',
      'a-rather-lon…      7',
      'b              12345',
    ]);
    expect(linesOf(renderTable(COLUMNS, ROWS, { width: 12 }))).toEqual(['NAME', 'a-rather-lo…', 'b']);
  });

  it('drops by order first, cuts no further than the least width, and keeps what must be kept', () => {
    const columns: readonly Column[] = [
      { header: 'NAME', shrinks: true, widthMin: 12 },
      { header: 'TASK', dropOrder: 2 },
      { header: 'ID', keep: true },
      { header: 'WHEN', dropOrder: 1 },
    ];
    const rows = [['a-rather-long-name', 'coding', 'key_123456', 'today']];
    const at = (width: number): readonly string[] => linesOf(renderTable(columns, rows, { width }));
    expect(at(39)[1]).toBe('a-rather-lo…  coding  key_123456  today');
    expect(at(38)[1]).toBe('a-rather-long-name  coding  key_123456');
    expect(at(24)[1]).toBe('a-rather-lo…  key_123456');
    expect(at(20)).toEqual(['ID', 'key_123456']);
    expect(at(5)).toEqual(['ID', 'key_123456']);
  });

  it('cuts the last column left to the width, whatever it is', () => {
    expect(linesOf(renderTable([{ header: 'NUMBER' }], [['1234567890']], { width: 4 }))).toEqual(['NUM…', '123…']);
  });

  it('renders a header without rows, and missing cells as empty', () => {
    expect(renderTable(COLUMNS, [], { width: 80 })).toBe('NAME  COUNT  NOTE\n');
    expect(renderTable(COLUMNS, [['x']], { width: 80 })).toBe('NAME  COUNT  NOTE\nx\n');
  });

  it('lets nobody drive the terminal through a cell', () => {
    const table = renderTable([{ header: 'A' }], [['\u001b[2Jx\r\ny\u202e']], { width: 80 });
    expect(table).toBe('A\n\ufffd[2Jx\ufffd\ufffdy\ufffd\n');
  });

  it('counts wide and combining characters by the columns they take', () => {
    const rows = [
      ['模型', '1'],
      ['e\u0301a', '2'],
      ['🚀', '3'],
    ];
    const table = renderTable([{ header: 'N' }, { header: 'C', align: 'right' }], rows, { width: 80 });
    expect(linesOf(table)).toEqual(['N     C', '模型  1', 'e\u0301a    2', '🚀    3']);
  });

  it('colours without moving anything', () => {
    const red = (text: string): string => styleText('red', text, { validateStream: false });
    const painted = COLUMNS.map((column) => ({ ...column, paint: red }));
    const coloured = renderTable(painted, ROWS, { width: 36, header: red });
    expect(coloured).toContain('\u001b[31m');
    const bare = linesOf(stripVTControlCharacters(coloured)).map((line) => line.trimEnd());
    expect(bare).toEqual(linesOf(renderTable(COLUMNS, ROWS, { width: 36 })));
  });
});

const cell = fc.oneof(fc.string({ maxLength: 40 }), fc.string({ unit: 'grapheme', maxLength: 20 }));
const column = fc.record({
  header: fc.string({ maxLength: 12 }).map((text) => text.replace(/[^ -~]/g, '')),
  align: fc.constantFrom<'left' | 'right'>('left', 'right'),
  shrinks: fc.boolean(),
});

describe('for all tables', () => {
  it('no line is wider than the width', () => {
    fc.assert(
      fc.property(
        fc.array(column, { minLength: 1, maxLength: 7 }),
        fc.array(fc.array(cell, { maxLength: 7 }), { maxLength: 6 }),
        fc.integer({ min: 0, max: 120 }),
        (columns, rows, width) => {
          const text = renderTable(columns, rows, { width });
          expect(text.endsWith('\n')).toBe(true);
          const lines = text.slice(0, -1).split('\n');
          expect(lines).toHaveLength(rows.length + 1);
          for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(width);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('nothing is lost where there is room', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(cell, cell), { maxLength: 6 }), (rows) => {
        const columns: readonly Column[] = [
          { header: 'A', shrinks: true },
          { header: 'B', align: 'right' },
        ];
        const text = renderTable(columns, rows, { width: Number.POSITIVE_INFINITY });
        for (const given of rows.flat()) expect(text).toContain(printable(given).trimEnd());
      }),
    );
  });
});

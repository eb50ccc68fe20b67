// CSV that other programs read back, and that runs nothing.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderCsv } from '../../src/cli/csv.ts';

describe('renderCsv', () => {
  it.each([
    ['plain', 'plain'],
    [12.5, '12.5'],
    [true, 'true'],
    [null, ''],
    ['', ''],
    ['a,b', '"a,b"'],
    ['say "hi"', '"say ""hi"""'],
    ['two\nlines', '"two\nlines"'],
    ['=1+1', "'=1+1"],
    ['@sum', "'@sum"],
    ['+49', "'+49"],
    ['-cmd', "'-cmd"],
    ['-1.5', '-1.5'],
    [-3, '-3'],
    ['=a,"b"', `"'=a,""b"""`],
  ])('renders %j', (cell, expected) => {
    expect(renderCsv(['h'], [[cell]])).toBe(`h\r\n${expected}\r\n`);
  });

  it('can be read back, cell by cell', () => {
    const cell = fc.string().filter((text) => !/^[=+\-@\t\r]/.test(text));
    fc.assert(
      fc.property(fc.array(fc.tuple(cell, cell), { maxLength: 5 }), (rows) => {
        expect(parseCsv(renderCsv(['a', 'b'], rows))).toEqual([['a', 'b'], ...rows]);
      }),
    );
  });
});

/** As RFC 4180 says, for the test only. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  const pattern = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    row.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '');
    if (match[3] === ',') continue;
    rows.push(row);
    row = [];
  }
  return rows;
}

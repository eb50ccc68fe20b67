import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  MAX_DEPTH,
  MAX_TOP_LEVEL_FIELDS,
  parseJsonBody,
  scanJsonObject,
  spliceFields,
} from '../../src/wire/json-scan.ts';
import type { SvcError } from '../../src/wire/svc-error.ts';

function body(text: string) {
  return parseJsonBody(Buffer.from(text));
}

function codeFrom(bytes: Uint8Array): string {
  try {
    parseJsonBody(bytes);
  } catch (error) {
    return (error as SvcError).code;
  }
  return 'none';
}

function splice(text: string, set: Record<string, string>, remove: string[] = []): string {
  return Buffer.from(spliceFields(body(text), set, remove)).toString();
}

describe('parseJsonBody', () => {
  const refused: readonly (readonly [string, string | Buffer, string])[] = [
    ['an empty body', '', 'INVALID_JSON'],
    ['white space only', ' \n', 'INVALID_JSON'],
    ['broken JSON', '{"a":1', 'INVALID_JSON'],
    ['a trailing comma', '{"a":1,}', 'INVALID_JSON'],
    ['two values', '{}{}', 'INVALID_JSON'],
    ['an unfinished string', '{"a":"b', 'INVALID_JSON'],
    ['a string ending in a backslash', '{"a":"b\\', 'INVALID_JSON'],
    ['bare words', '{a:1}', 'INVALID_JSON'],
    ['a BOM', '\u{feff}{}', 'INVALID_JSON'],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), 'INVALID_JSON'],
    ['a cut surrogate in bytes', Buffer.from([0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d]), 'INVALID_JSON'],
    ['an array', '[1]', 'INVALID_REQUEST'],
    ['a string', '"x"', 'INVALID_REQUEST'],
    ['null', 'null', 'INVALID_REQUEST'],
    ['a number', '1', 'INVALID_REQUEST'],
  ];
  it.each(refused)('refuses %s', (_name, text, code) => {
    expect(codeFrom(Buffer.from(text))).toBe(code);
  });

  it('takes nesting up to the limit and says what the limit is beyond it', () => {
    const nested = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
    expect(codeFrom(Buffer.from(nested(MAX_DEPTH)))).toBe('none');
    expect(() => body(nested(MAX_DEPTH + 1))).toThrow('64');
  });

  function withKeys(count: number): string {
    return `{${Array.from({ length: count }, (_, index) => `"k${index}":0`).join(',')}}`;
  }

  it('takes top-level fields up to the limit and says what the limit is beyond it', () => {
    expect(body(withKeys(MAX_TOP_LEVEL_FIELDS)).fields).toHaveLength(MAX_TOP_LEVEL_FIELDS);
    expect(codeFrom(Buffer.from(withKeys(MAX_TOP_LEVEL_FIELDS + 1)))).toBe('INVALID_REQUEST');
    expect(() => body(withKeys(MAX_TOP_LEVEL_FIELDS + 1))).toThrow('more than 1000 top-level fields');
  });

  it('refuses a bomb of keys before parsing it', () => {
    // The end is broken: had JSON.parse seen it, the code would be another.
    expect(codeFrom(Buffer.from(`{${'"a":1,'.repeat(200_000)}`))).toBe('INVALID_REQUEST');
  });

  it('counts duplicate keys, and neither keys within values nor the fields of answers', () => {
    expect(codeFrom(Buffer.from(`{${'"a":1,'.repeat(MAX_TOP_LEVEL_FIELDS)}"a":1}`))).toBe('INVALID_REQUEST');
    expect(codeFrom(Buffer.from(`{"a":${withKeys(2000)}}`))).toBe('none');
    expect(scanJsonObject(Buffer.from(withKeys(1500))).fields).toHaveLength(1500);
  });

  it('calls a long array no object, whatever its length', () => {
    expect(() => body(` [${'1,'.repeat(5000)}1]`)).toThrow('must be a JSON object');
  });

  it('does not count brackets inside strings', () => {
    expect(body(JSON.stringify({ a: '[{"'.repeat(500) })).fields).toHaveLength(1);
  });

  it('refuses a bomb of brackets before parsing it', () => {
    expect(() => parseJsonBody(Buffer.alloc(1 << 20, '['))).toThrow('64');
  });

  it('never quotes the body in its message', () => {
    expect(() => body('{"secret prompt": oops}')).toThrow(/^(?!.*(secret|oops)).*$/);
  });

  it('finds the fields with duplicates, unescaped keys and exact places', () => {
    const text = ' { "a" : [1, {"x":2}] ,"\\u0062":"q\\"}" , "a":-1.5e3 }\n';
    const { fields, value } = body(text);
    expect(fields.map(({ key, valueStart, valueEnd }) => [key, text.slice(valueStart, valueEnd)])).toEqual([
      ['a', '[1, {"x":2}]'],
      ['b', '"q\\"}"'],
      ['a', '-1.5e3'],
    ]);
    expect(value['a']).toBe(-1500);
  });

  it('keeps __proto__ an ordinary key', () => {
    const { value } = body('{"__proto__":{"polluted":1},"constructor":2}');
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor']);
  });

  it('finds every top-level field of any JSON object, however it is spaced', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })),
        fc.constantFrom(0, 1, '\t', ' \n'),
        (object, space) => {
          const text = JSON.stringify(object, null, space);
          const bytes = Buffer.from(text);
          const { fields } = parseJsonBody(bytes);
          expect(fields.map((field) => field.key)).toEqual(Object.keys(object));
          for (const field of fields) {
            const raw = bytes.toString('utf8', field.valueStart, field.valueEnd);
            expect(JSON.parse(raw)).toEqual(JSON.parse(JSON.stringify(object[field.key])));
            expect(bytes[field.keyStart]).toBe(0x22);
          }
        },
      ),
    );
  });

  it('agrees with JSON.parse on what is JSON', () => {
    const alphabet = fc.constantFrom('{', '}', '[', ']', '"', ':', ',', '\\', 'a', '1', ' ', 'null', '"k":', '{}');
    fc.assert(
      fc.property(fc.array(alphabet, { maxLength: 12 }), (parts) => {
        const text = `{${parts.join('')}}`;
        let isObject = false;
        try {
          isObject = typeof JSON.parse(text) === 'object';
        } catch {
          // Not JSON.
        }
        expect(codeFrom(Buffer.from(text)) === 'none').toBe(isObject);
      }),
      { numRuns: 500 },
    );
  });
});

describe('spliceFields', () => {
  const rows: readonly (readonly [string, string, Record<string, string>, string[], string])[] = [
    ['replaces a value', '{"model":"a","n":1}', { model: '"b/c"' }, [], '{"model":"b/c","n":1}'],
    ['replaces every duplicate', '{"m":1, "x":2,"m" : [3] }', { m: '9' }, [], '{"m":9, "x":2,"m" : 9 }'],
    ['appends what is missing', '{"a":1 }', { b: '{"c":true}' }, [], '{"a":1,"b":{"c":true} }'],
    ['appends into an empty object', ' { } ', { a: '1', b: '2' }, [], ' { "a":1,"b":2} '],
    ['removes the first', '{"a":1, "b":2}', {}, ['a'], '{"b":2}'],
    ['removes the last', '{"a":1 , "b":2 }', {}, ['b'], '{"a":1 }'],
    ['removes one between', '{"a":1,"b":2,"c":3}', {}, ['b'], '{"a":1,"c":3}'],
    ['removes all', '{ "a":1,"b":2 }', {}, ['a', 'b'], '{  }'],
    ['removes duplicates', '{"s":1,"a":0,"s":2,"s":3}', {}, ['s'], '{"a":0}'],
    ['removes all and appends', '{"a":1}', { b: '2' }, ['a'], '{"b":2}'],
    ['removes the last and appends', '{"a":1,"s":2}', { b: '2' }, ['s'], '{"a":1,"b":2}'],
    ['sets a key that is also to be removed', '{"a":1}', { a: '2' }, ['a'], '{"a":2}'],
    ['knows an escaped key', '{"mo\\u0064el":1}', { model: '2' }, [], '{"mo\\u0064el":2}'],
    [
      'leaves a nested key of the same name',
      '{"a":{"model":1},"model":2}',
      { model: '3' },
      [],
      '{"a":{"model":1},"model":3}',
    ],
    [
      'keeps big integers and escapes',
      '{"m":1,"i":12345678901234567890,"s":"\\u00e9"}',
      { m: '2' },
      [],
      '{"m":2,"i":12345678901234567890,"s":"\\u00e9"}',
    ],
    ['writes text beyond ASCII as UTF-8', '{"m":"a"}', { m: '"é😀"' }, [], '{"m":"é😀"}'],
    ['replaces bytes that only look alike in Latin-1', '{"m":"é"}', { m: '"Ã©"' }, [], '{"m":"Ã©"}'],
  ];
  it.each(rows)('%s', (_name, text, set, remove, expected) => {
    expect(splice(text, set, remove)).toBe(expected);
  });

  it('gives the same object back when nothing changes', () => {
    const parsed = body('{"model":"é","x":1}');
    expect(spliceFields(parsed, {}, [])).toBe(parsed.bytes);
    expect(spliceFields(parsed, { model: '"é"' }, ['absent'])).toBe(parsed.bytes);
  });

  it('treats keys of Object.prototype like any other', () => {
    expect(splice('{"constructor":1,"toString":2}', { model: '"m"' })).toBe(
      '{"constructor":1,"toString":2,"model":"m"}',
    );
  });

  it('changes exactly what it was told to, in any object', () => {
    const key = fc.constantFrom('a', 'b', 'c', 'd', 'é"\\');
    const entry = fc.tuple(key, fc.jsonValue({ maxDepth: 3 }), fc.constantFrom('', ' ', '\n\t'));
    fc.assert(
      fc.property(
        fc.array(entry, { maxLength: 7 }),
        fc.dictionary(key, fc.jsonValue({ maxDepth: 1 })),
        fc.array(key),
        (entries, set, remove) => {
          const text = `{${entries.map(([name, value, gap]) => `${gap}${JSON.stringify(name)}${gap}:${gap}${JSON.stringify(value)}${gap}`).join(',')}}`;
          const raw = Object.fromEntries(Object.entries(set).map(([name, value]) => [name, JSON.stringify(value)]));
          const expected = {
            ...(JSON.parse(text) as object),
            ...(JSON.parse(JSON.stringify(set)) as object),
          } as Record<string, unknown>;
          for (const name of remove) if (!Object.hasOwn(set, name)) delete expected[name];
          expect(JSON.parse(splice(text, raw, remove))).toEqual(expected);
        },
      ),
    );
  });

  it('stays linear on strings made of escaped quotes', () => {
    const text = JSON.stringify({ a: '"'.repeat(2_000_000), b: '\\'.repeat(2_000_000), model: 'x' });
    expect(splice(text, { model: '"y"' }).endsWith('"model":"y"}')).toBe(true);
  });
});

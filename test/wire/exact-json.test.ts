import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseExactObject, renderExactJson } from '../../src/wire/exact-json.ts';
import { parseJsonBody } from '../../src/wire/json-scan.ts';

/** What `renderExactJson` makes of the field `a` of a body. */
function through(body: string): string {
  return renderExactJson(parseJsonBody(Buffer.from(body)).value['a']);
}

describe('a JSON body', () => {
  const exact: readonly (readonly [string, string])[] = [
    ['short decimals', '{"a":[1.5,100.25,12345678901.123,10]}'],
    ['words and short numbers', '{"a":[0,1,-1,0.5,123456789012345,true,false,null,"x"]}'],
    ['the largest safe integer', '{"a":9007199254740991}'],
    ['digits in strings', '{"a":"1.0 12345678901234567890"}'],
    ['a key that has a digit in it', '{"a1":1}'],
  ];
  it.each(exact)('is exact with %s', (_name, text) => {
    expect(parseJsonBody(Buffer.from(text)).isExact).toBe(true);
  });

  const altered: readonly (readonly [string, string])[] = [
    ['an integer beyond 2^53', '{"id":12345678901234567890}'],
    ['the first integer that has no double', '{"id":9007199254740993}'],
    ['1.0', '{"x":1.0}'],
    ['100.50', '{"x":100.50}'],
    ['1e3', '{"x":1e3}'],
    ['1E+3', '{"x":1E+3}'],
    ['-0', '{"x":-0}'],
    ['more digits than a double has', '{"x":0.1234567890123456789}'],
    ['a number beyond all doubles', '{"x":1e999}'],
    ['white space within', '{ "x" : [ 1.0 , {"y":2} ] }'],
    ['keys like indexes, in their order', '{"b":1,"10":2,"2":3}'],
    ['an escaped key beside one', '{"\\u0062":{"x":1.0},"c":"\\"1.0"}'],
    ['a key given twice', '{"x":1,"x":1.0}'],
    ['an array', '[1.0,[2.50],"]"]'],
    ['__proto__', '{"__proto__":{"x":1.0}}'],
  ];
  it.each(altered)('keeps the text of %s', (_name, text) => {
    expect(parseJsonBody(Buffer.from(`{"a":${text}}`)).isExact).toBe(false);
    expect(through(` { "z" : "\\\\" , "a" : ${text} } `)).toBe(text);
    expect(renderExactJson({ copied: [parseJsonBody(Buffer.from(`{"a":${text}}`)).value['a']] })).toBe(
      `{"copied":[${text}]}`,
    );
  });

  it('keeps the text of the last of two equal keys', () => {
    expect(through('{"a":{"x":1.0},"a":{"x":2}}')).toBe('{"x":2}');
    expect(through('{"a":{"x":2},"a":{"x":1.0}}')).toBe('{"x":1.0}');
    expect(through('{"a":{"x":{"y":1.0}},"a":{"x":{"y":3},"z":4}}')).toBe('{"x":{"y":3},"z":4}');
    expect(through('{"a":[{"y":1.0}],"a":{"0":"s"}}')).toBe('{"0":"s"}');
  });

  it('hides the text from copies and comparisons', () => {
    const { value } = parseJsonBody(Buffer.from('{"a":{"x":1.0}}'));
    expect(value).toEqual({ a: { x: 1 } });
    expect(JSON.stringify(value)).toBe('{"a":{"x":1}}');
    expect(Reflect.ownKeys({ ...(value['a'] as object) })).toEqual(['x']);
  });

  it('comes out as it came in, whatever numbers it has', () => {
    const digits = fc
      .integer({ min: 1, max: 25 })
      .chain((length) => fc.stringMatching(new RegExp(`^[1-9][0-9]{${length}}$`)));
    const token = fc.oneof(
      digits,
      fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
      fc.tuple(fc.integer(), fc.constantFrom('.0', '.50', 'e2', 'E-7')).map((parts) => parts.join('')),
    );
    const { tree } = fc.letrec<{ tree: string; leaf: string }>((tie) => ({
      leaf: fc.oneof(
        token,
        fc.string().map((text) => JSON.stringify(text)),
        fc.constantFrom('true', 'null'),
      ),
      tree: fc.oneof(
        { depthSize: 'small' },
        tie('leaf'),
        fc.array(tie('tree'), { maxLength: 4 }).map((items) => `[${items.join(', ')}]`),
        fc
          .uniqueArray(fc.string({ maxLength: 3 }), { maxLength: 4 })
          .chain((keys) =>
            fc.tuple(...keys.map((key) => tie('tree').map((inner) => `${JSON.stringify(key)} :${inner}`))),
          )
          .map((fields) => `{${fields.join(',')}}`),
      ),
    }));
    fc.assert(
      fc.property(tree, (text) => {
        const out = through(`{"n":1.0,"a":[${text}]}`);
        // Same numbers, same order; only white space around what is exact anyway may go.
        expect(tokens(out)).toEqual(tokens(`[${text}]`));
      }),
      { numRuns: 300 },
    );
  });

  it('takes megabytes of odd numbers in linear time', () => {
    const text = `[${'1.0,'.repeat(1_000_000)}1.0]`;
    expect(through(`{"a":${text}}`)).toBe(text);
  });
});

describe('a JSON object in a text', () => {
  it.each([
    ['{"a":1}', '{"a":1}'],
    ['{"id":12345678901234567890}', '{"id":12345678901234567890}'],
    ['{ "x": 1.0 }', '{ "x": 1.0 }'],
    ['{"é":"\\ud800"}', '{"é":"\\ud800"}'],
  ])('%s keeps its text', (text, expected) => {
    expect(renderExactJson({ input: parseExactObject(text) })).toBe(`{"input":${expected}}`);
  });

  it.each([['[1]'], ['"x"'], ['1'], ['null'], ['{"a":'], [''], [`{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`]])(
    'is none in %.20s',
    (text) => {
      expect(parseExactObject(text)).toBeUndefined();
    },
  );

  it('leaves out what is undefined, as JSON.stringify does', () => {
    const value = { a: undefined, b: [undefined, 1], c: 'x' };
    expect(renderExactJson(value)).toBe(JSON.stringify(value));
  });
});

/** Strings unescaped, numbers as written, all else by byte. */
function tokens(text: string): string[] {
  const found = text.match(/"(?:[^"\\]|\\.)*"|[-+.\w]+|[^\s]/g) ?? [];
  return found.map((token) => (token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : token));
}

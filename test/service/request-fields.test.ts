// Field readers: what each takes, and that a refusal names its field and quotes no value.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  orNull,
  readBoolean,
  readChoice,
  readFields,
  readInteger,
  readLabel,
  readPatterns,
  readText,
  readTimestamp,
  readUsd,
  renderTimestamp,
  required,
} from '../../src/service/request-fields.ts';

const invalid = (param: string) => expect.objectContaining({ code: 'INVALID_REQUEST', param });

describe('readFields', () => {
  it('gives the fields of an object', () => {
    expect(readFields({ a: 1, b: null }, ['a', 'b', 'c'])).toEqual({ a: 1, b: null });
  });

  it.each([null, undefined, 1, 'x', true, [], [{ a: 1 }]])('refuses %j', (body) => {
    expect(() => readFields(body, ['a'])).toThrow(invalid('body'));
    expect(() => readFields(body, ['a'], 'models.')).toThrow(invalid('models'));
  });

  it('names the field that it does not know, with its place, and cuts it when it is long', () => {
    expect(() => readFields({ b: 1 }, ['a'])).toThrow(invalid('b'));
    expect(() => readFields({ b: 1 }, ['a'], 'models.')).toThrow(invalid('models.b'));
    expect(() => readFields({ ['x'.repeat(10_000)]: 1 }, ['a'])).toThrow(invalid('x'.repeat(60)));
    expect(() => readFields({ b: 1 }, [])).toThrow('there are none here');
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])('knows no field %s', (name) => {
    const body: unknown = JSON.parse(`{"${name}": {"polluted": true}}`);
    expect(() => readFields(body, ['a'])).toThrow(invalid(name));
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

describe('the readers', () => {
  const readers = {
    text: (value: unknown) => readText({ f: value }, 'f'),
    label: (value: unknown) => readLabel({ f: value }, 'f', 5),
    integer: (value: unknown) => readInteger({ f: value }, 'f', { min: 1, max: 10 }),
    boolean: (value: unknown) => readBoolean({ f: value }, 'f'),
    choice: (value: unknown) => readChoice({ f: value }, 'f', ['a', 'b']),
    usd: (value: unknown) => readUsd({ f: value }, 'f'),
    timestamp: (value: unknown) => readTimestamp({ f: value }, 'f'),
    patterns: (value: unknown) => readPatterns({ f: value }, 'f', 2, 5),
  } as const;

  it.each([
    ['text', '', ''],
    ['text', ' a\n', ' a\n'],
    ['label', ' ab ', 'ab'],
    ['label', 'é🔑', 'é🔑'],
    ['integer', 1, 1],
    ['integer', 10, 10],
    ['boolean', false, false],
    ['choice', 'b', 'b'],
    ['usd', '1.5', 1_500_000_000],
    ['usd', '0', 0],
    ['timestamp', '1970-01-01T00:00:01Z', 1000],
    ['timestamp', '1970-01-01t01:00:00.5+01:00', 500],
    ['timestamp', '2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29)],
    ['patterns', ['a/*'], ['a/*']],
    ['patterns', [], []],
  ] as const)('%s takes %j', (reader, value, expected) => {
    expect(readers[reader](value)).toEqual(expected);
  });

  it.each([
    ['text', 1],
    ['text', null],
    ['label', ''],
    ['label', '  '],
    ['label', 'abcdef'],
    ['label', 'a\u0000'],
    ['label', 'a\u202eb'],
    ['integer', 0],
    ['integer', 11],
    ['integer', 1.5],
    ['integer', '1'],
    ['integer', Number.NaN],
    ['integer', true],
    ['boolean', 'true'],
    ['boolean', 0],
    ['choice', 'c'],
    ['choice', ['a']],
    ['usd', 1],
    ['usd', '-1'],
    ['usd', 'one'],
    ['timestamp', '2026-01-15 12:00:00Z'],
    ['timestamp', '2026-01-15T12:00Z'],
    ['timestamp', '2026-01-15T25:00:00Z'],
    ['timestamp', '2026-02-29T00:00:00Z'],
    ['timestamp', '2026-04-31T00:00:00Z'],
    ['timestamp', '2026-00-10T00:00:00Z'],
    ['timestamp', '2026-01-15T12:00:00'],
    ['timestamp', 'Thu, 15 Jan 2026 12:00:00 GMT'],
    ['timestamp', 0],
    ['patterns', 'a'],
    ['patterns', ['a', 'b', 'c']],
    ['patterns', ['abcdef']],
    ['patterns', ['a\nb']],
    ['patterns', [null]],
    ['patterns', { 0: 'a', length: 1 }],
  ] as const)('%s refuses %j', (reader, value) => {
    expect(() => readers[reader](value)).toThrow(invalid('f'));
  });

  it('give undefined for a missing field', () => {
    for (const reader of Object.values(readers)) expect(reader(undefined)).toBeUndefined();
  });

  it('either return or throw INVALID_REQUEST, on any JSON, and never quote the value', () => {
    const canary = 'canary-of-a-secret';
    fc.assert(
      fc.property(
        fc.oneof(fc.jsonValue(), fc.constant(canary), fc.constant([canary]), fc.constant({ canary })),
        (value) => {
          for (const reader of Object.values(readers)) {
            try {
              reader(value);
            } catch (error) {
              expect(error).toEqual(invalid('f'));
              expect(String(error)).not.toContain(canary);
            }
          }
        },
      ),
    );
  });
});

describe('the small ones', () => {
  it('required passes on what is there and names what is not', () => {
    expect(required(0, 'f')).toBe(0);
    expect(required(null, 'f')).toBeNull();
    expect(() => required(undefined, 'f')).toThrow(invalid('f'));
  });

  it('orNull tells null from missing', () => {
    const read = (fields: Record<string, unknown>) => orNull(fields, 'f', () => readText(fields, 'f'));
    expect([read({ f: null }), read({}), read({ f: 'a' })]).toEqual([null, undefined, 'a']);
  });

  it('timestamps come back as they went', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: Date.UTC(9999, 0) }), (ms) => {
        expect(readTimestamp({ f: renderTimestamp(ms) }, 'f')).toBe(ms);
      }),
    );
  });
});

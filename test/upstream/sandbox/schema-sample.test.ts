import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readPromptHints } from '../../../src/upstream/sandbox/prompt-hints.ts';
import { sampleSchema } from '../../../src/upstream/sandbox/schema-sample.ts';

type Schema = Record<string, unknown>;

const NO_HINTS = readPromptHints('');

describe('a sample', () => {
  it('satisfies any schema of the supported kinds, whatever the prompt', () => {
    fc.assert(
      fc.property(
        anySchema(),
        fc.string({ maxLength: 200 }),
        fc.option(fc.constantFrom(0, 1), { nil: undefined }),
        (schema, prompt, turn) => {
          const value: unknown = JSON.parse(JSON.stringify(sampleSchema(schema, readPromptHints(prompt), turn)));
          expect(violations(value, schema, schema, '$')).toEqual([]);
        },
      ),
      { numRuns: 500 },
    );
  });

  it.each<[string, Schema, string, unknown]>([
    ['const', { const: { a: 1 } }, '', { a: 1 }],
    ['the first of an enum', { enum: ['x', 'y'] }, '', 'x'],
    [
      'the value of an enum the prompt mentions',
      { enum: ['celsius', 'fahrenheit'] },
      'In Fahrenheit, please',
      'fahrenheit',
    ],
    ['default', { type: 'integer', default: 7 }, '', 7],
    ['a number of the prompt', { type: 'integer' }, 'give me 12 of them', 12],
    ['no number of the prompt out of bounds', { type: 'integer', maximum: 10 }, 'give me 12 of them', 1],
    ['a number between exclusive bounds', { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 0.5 }, '', 0.25],
    ['a multiple', { type: 'integer', minimum: 7, multipleOf: 5 }, '', 10],
    [
      'a multiple below an exclusive maximum',
      { type: 'integer', minimum: 5, exclusiveMaximum: 9, multipleOf: 5 },
      '',
      5,
    ],
    ['a number below an exclusive maximum', { type: 'integer', exclusiveMaximum: 1 }, '', 0],
    ['a whole number above a fraction', { type: 'integer', exclusiveMinimum: 3.5 }, '', 4],
    ['true', { type: 'boolean' }, '', true],
    ['null', { type: 'null' }, '', null],
    ['the type that is not null', { type: ['null', 'boolean'] }, '', true],
    ['the branch that is not null', { anyOf: [{ type: 'null' }, { type: 'integer' }] }, '', 1],
    ['the first branch', { oneOf: [{ const: 'a' }, { const: 'b' }] }, '', 'a'],
    [
      'all branches together',
      {
        allOf: [
          { properties: { a: { const: 1 } }, required: ['a'] },
          { properties: { b: { const: 2 } }, required: ['b'] },
        ],
      },
      '',
      { a: 1, b: 2 },
    ],
    ['a definition', { $ref: '#/$defs/x~1y', $defs: { 'x/y': { const: 5 } } }, '', 5],
    ['nothing for a definition that is missing', { $ref: '#/$defs/none' }, '', 'sandbox'],
    ['a tuple', { prefixItems: [{ const: 1 }, { const: 2 }] }, '', [1, 2]],
    ['no items where none are allowed', { type: 'array', maxItems: 0 }, '', []],
    [
      'different words for items',
      { type: 'array', items: { type: 'string' }, minItems: 2 },
      'buy apples and pears',
      ['apples', 'pears'],
    ],
    ['an email address', { type: 'string', format: 'email' }, 'write to bob@example.org', 'bob@example.org'],
    ['a URL', { type: 'string', format: 'uri' }, 'fetch https://example.org/x now', 'https://example.org/x'],
    ['a date', { type: 'string', format: 'date' }, 'tomorrow', '2026-01-15'],
    ['long enough text', { type: 'string', minLength: 9 }, '', 'sandboxxx'],
    ['short enough text', { type: 'string', maxLength: 4 }, '', 'sand'],
    [
      'only what is required',
      { type: 'object', properties: { a: { const: 1 }, b: { const: 2 } }, required: ['b'] },
      '',
      { b: 2 },
    ],
    ['the first property where none is', { properties: { a: { const: 1 }, b: { const: 2 } } }, '', { a: 1 }],
    ['a required property without a schema', { type: 'object', required: ['a'] }, '', { a: null }],
    [
      'different things for different properties',
      { properties: { source: { type: 'string' }, target: { type: 'string' } }, required: ['source', 'target'] },
      'move "a.txt" to "b.txt"',
      { source: 'a.txt', target: 'b.txt' },
    ],
    [
      'the prompt where words are asked for and files where paths are',
      { properties: { query: { type: 'string' }, path: { type: 'string' } }, required: ['query', 'path'] },
      'find Bob in src/main.ts',
      { query: 'find Bob in src/main.ts', path: 'src/main.ts' },
    ],
  ])('is %s', (_, schema, prompt, expected) => {
    const value = sampleSchema(schema, readPromptHints(prompt));
    if (expected !== null && typeof expected === 'object' && 'a' in expected && expected.a === null) {
      expect(value).toHaveProperty('a');
    } else expect(value).toEqual(expected);
  });

  it('ends for schemas that contain themselves, and for absurd demands', () => {
    const endless = {
      $ref: '#/$defs/n',
      $defs: { n: { type: 'object', properties: { next: { $ref: '#/$defs/n' } }, required: ['next'] } },
    };
    expect(JSON.stringify(sampleSchema(endless, NO_HINTS)).length).toBeLessThan(1000);
    expect(sampleSchema({ $ref: '#' }, NO_HINTS)).toBe('sandbox');
    const wide = {
      type: 'array',
      minItems: 1e9,
      items: { type: 'array', minItems: 1e9, items: { type: 'array', minItems: 1e9 } },
    };
    expect(JSON.stringify(sampleSchema(wide, NO_HINTS)).length).toBeLessThan(100_000);
    expect(sampleSchema({ type: 'string', minLength: 1e9 }, NO_HINTS)).toHaveLength(10_000);
  });

  it('keeps to own properties, also of odd names', () => {
    const odd = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"const":1}},"required":["__proto__","constructor"]}',
    );
    const value = sampleSchema(odd, NO_HINTS);
    expect(JSON.stringify(value)).toMatch(/^\{"__proto__":1,"constructor":/);
    expect({}).not.toHaveProperty('1');
    for (const schema of [null, 1, 'x', [], true]) expect(sampleSchema(schema, NO_HINTS)).toBeNull();
  });
});

describe('the hints of a prompt', () => {
  it.each<[string, string[]]>([
    ['Weather in New York and Paris', ['New York', 'Paris', 'York']],
    ['open "my file" and `b.ts`', ['my file', 'b.ts']],
    ['compare red and blue', ['red', 'blue']],
    ['nothing here', []],
  ])('%s names %j', (prompt, subjects) => {
    expect(readPromptHints(prompt).subjects).toEqual(subjects);
  });

  it('are found quickly in hostile text', () => {
    for (const text of [
      '"'.repeat(1e6),
      'a/'.repeat(5e5),
      'A '.repeat(5e5),
      '.a'.repeat(5e5),
      'and '.repeat(3e5),
      '1.'.repeat(5e5),
    ]) {
      const before = performance.now();
      readPromptHints(text);
      expect(performance.now() - before).toBeLessThan(3000);
    }
  });
});

/** Schemas of the kinds the sampler says it understands, satisfiable by construction. */
function anySchema(): fc.Arbitrary<Schema> {
  const name = fc.constantFrom('city', 'query', 'file_path', 'n', 'a b', '__proto__', 'constructor');
  const bounds = fc.tuple(fc.integer({ min: -50, max: 50 }), fc.integer({ min: 0, max: 60 }));
  const { node } = fc.letrec<{ node: Schema }>((tie) => ({
    node: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom<Schema>({ type: 'boolean' }, { type: 'null' }, { type: ['string', 'null'] }, { const: 'c' }),
      fc
        .uniqueArray(fc.oneof(fc.string(), fc.integer()), { minLength: 1, maxLength: 4 })
        .map((values) => ({ enum: values })),
      bounds.map(([low, span]) => ({ type: 'integer', minimum: low, maximum: low + span })),
      bounds.map(([low, span]) => ({ type: 'number', exclusiveMinimum: low, exclusiveMaximum: low + span + 0.5 })),
      bounds.map(([low]) => ({ type: 'integer', exclusiveMinimum: low })),
      bounds.map(([high]) => ({ type: 'number', maximum: high })),
      fc
        .tuple(fc.integer({ min: 1, max: 9 }), bounds)
        .map(([step, [low]]) => ({ type: 'integer', multipleOf: step, minimum: low })),
      fc
        .tuple(fc.nat(30), fc.nat(30))
        .map(([least, more]) => ({ type: 'string', minLength: least, maxLength: least + more })),
      fc.constantFrom<Schema>(
        { type: 'string', format: 'date' },
        { type: 'string', format: 'email' },
        { $ref: '#/$defs/leaf' },
      ),
      fc
        .tuple(tie('node'), fc.nat(3), fc.nat(3))
        .map(([items, least, more]) => ({ type: 'array', items, minItems: least, maxItems: least + more })),
      fc
        .tuple(
          fc.uniqueArray(fc.tuple(name, tie('node')), { selector: ([key]) => key, maxLength: 4 }),
          fc.infiniteStream(fc.boolean()),
        )
        .map(([entries, coins]) => ({
          type: 'object',
          properties: Object.fromEntries(entries),
          required: entries.map(([key]) => key).filter(() => coins.next().value === true),
        })),
      fc.array(tie('node'), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
      fc.array(tie('node'), { minLength: 1, maxLength: 3 }).map((oneOf) => ({ oneOf })),
    ),
  }));
  return node.map((schema) => ({
    ...schema,
    $defs: { leaf: { type: 'object', properties: { id: { type: 'integer', minimum: 3 } }, required: ['id'] } },
  }));
}

/** A small validator of the same keywords: where a value breaks its schema. `oneOf` is taken as `anyOf`. */
function violations(value: unknown, schema: Schema, root: Schema, at: string): string[] {
  if (typeof schema['$ref'] === 'string') {
    const name = schema['$ref'].split('/').at(-1) ?? '';
    return violations(value, (root['$defs'] as Record<string, Schema>)[name] ?? {}, root, at);
  }
  const branches = (schema['anyOf'] ?? schema['oneOf']) as Schema[] | undefined;
  const fits = branches?.some((branch) => violations(value, branch, root, at).length === 0);
  if (fits !== undefined) return fits ? [] : [`${at}: no branch fits`];
  if ('const' in schema) return value === schema['const'] ? [] : [`${at}: not the constant`];
  if (Array.isArray(schema['enum'])) return schema['enum'].includes(value) ? [] : [`${at}: not in the enum`];
  return typedViolations(value, schema, root, at);
}

function typedViolations(value: unknown, schema: Schema, root: Schema, at: string): string[] {
  const types = [schema['type'] ?? []].flat() as string[];
  if (types.length > 0 && !types.some((type) => isOfType(value, type))) return [`${at}: not ${types}`];
  if (typeof value === 'number') return numberViolations(value, schema, at);
  if (typeof value === 'string') return stringViolations(value, schema, at);
  if (Array.isArray(value)) return arrayViolations(value, schema, root, at);
  return typeof value === 'object' && value !== null ? objectViolations(value, schema, root, at) : [];
}

function isOfType(value: unknown, type: string): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  return typeof value === type;
}

function numberViolations(value: number, schema: Schema, at: string): string[] {
  const rules: [boolean, string][] = [
    [value < Number(schema['minimum'] ?? -Infinity), 'minimum'],
    [value > Number(schema['maximum'] ?? Infinity), 'maximum'],
    [value <= Number(schema['exclusiveMinimum'] ?? -Infinity), 'exclusiveMinimum'],
    [value >= Number(schema['exclusiveMaximum'] ?? Infinity), 'exclusiveMaximum'],
    [Math.abs(value % Number(schema['multipleOf'] ?? value)) > 1e-9, 'multipleOf'],
  ];
  return rules.filter(([broken]) => broken).map(([, rule]) => `${at}: ${value} breaks ${rule}`);
}

function stringViolations(value: string, schema: Schema, at: string): string[] {
  const length = [...value].length;
  const broken = length < Number(schema['minLength'] ?? 0) || length > Number(schema['maxLength'] ?? Infinity);
  const date = schema['format'] === 'date' && !/^\d{4}-\d\d-\d\d$/.test(value);
  const email = schema['format'] === 'email' && !/^\S+@\S+\.\S+$/.test(value);
  return broken || date || email ? [`${at}: "${value}" has the wrong length or format`] : [];
}

function arrayViolations(value: unknown[], schema: Schema, root: Schema, at: string): string[] {
  const short = value.length < Number(schema['minItems'] ?? 0) || value.length > Number(schema['maxItems'] ?? Infinity);
  const inner = value.flatMap((item, index) =>
    violations(item, (schema['items'] ?? {}) as Schema, root, `${at}[${index}]`),
  );
  return short ? [`${at}: ${value.length} items`, ...inner] : inner;
}

function objectViolations(value: object, schema: Schema, root: Schema, at: string): string[] {
  const missing = ((schema['required'] ?? []) as string[]).filter((name) => !Object.hasOwn(value, name));
  const properties = (schema['properties'] ?? {}) as Record<string, Schema>;
  const inner = Object.entries(value).flatMap(([name, item]) =>
    violations(item, Object.hasOwn(properties, name) ? (properties[name] ?? {}) : {}, root, `${at}.${name}`),
  );
  return [...missing.map((name) => `${at}: ${name} is missing`), ...inner];
}

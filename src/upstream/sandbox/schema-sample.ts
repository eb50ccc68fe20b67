// A value that satisfies a JSON Schema, filled with words and numbers of the prompt.

import { isJsonRecord, type JsonRecord } from './json-record.ts';
import type { PromptHints } from './prompt-hints.ts';

/** How deep a recursive schema is followed, and how many values one sample may have. */
const MAX_DEPTH = 12;
const MAX_VALUES = 2000;
/** Bounds what `minItems` and `minLength` can ask for. */
const MAX_ITEMS = 64;
const MAX_LENGTH = 10_000;

type Sampler = {
  readonly root: unknown;
  readonly hints: PromptHints;
  /** For one of several calls, which of the prompt's subjects is its own; undefined where one call is for all of it. */
  readonly turn: number | undefined;
  values: number;
};
/** `order` is a property's place in its object, `index` an item's in its array. */
type Place = { readonly name: string; readonly order: number; readonly index: number; readonly depth: number };

/**
 * Understands const, enum, default, type, properties and required, items, prefixItems and their counts, numeric bounds,
 * multipleOf, lengths, common formats, $ref into the same document, allOf, and the first branch of anyOf and oneOf.
 * `pattern`, `not` and conditions are not looked at. Optional properties are left out, except that an object without required
 * ones gets its first.
 */
export function sampleSchema(schema: unknown, hints: PromptHints, turn?: number): unknown {
  const sampler: Sampler = { root: schema, hints, turn, values: 0 };
  return sample(sampler, schema, { name: '', order: 0, index: 0, depth: 0 });
}

function sample(sampler: Sampler, schema: unknown, place: Place): unknown {
  sampler.values += 1;
  if (!isJsonRecord(schema) || place.depth > MAX_DEPTH || sampler.values > MAX_VALUES) return null;
  const resolved = resolve(sampler.root, schema, 0);
  if ('const' in resolved) return resolved['const'];
  if (Array.isArray(resolved['enum'])) return pickEnum(resolved['enum'], sampler.hints, place.index);
  if ('default' in resolved && resolved['default'] !== null) return resolved['default'];
  const kind = kindOf(resolved);
  if (kind === 'object') return sampleObject(sampler, resolved, place);
  if (kind === 'array') return sampleArray(sampler, resolved, place);
  if (kind === 'integer' || kind === 'number')
    return sampleNumber(resolved, kind === 'integer', sampler.hints, place.index + (sampler.turn ?? 0));
  if (kind === 'boolean') return true;
  if (kind === 'null') return null;
  return sampleString(resolved, sampler, place);
}

/** Follows $ref and takes allOf and the first anyOf/oneOf branch in, until the schema says itself what it wants. */
function resolve(root: unknown, schema: JsonRecord, steps: number): JsonRecord {
  if (steps > MAX_DEPTH) return {};
  const { $ref, allOf, anyOf, oneOf, ...own } = schema;
  const branches: unknown[] = [];
  if (typeof $ref === 'string') branches.push(lookUp(root, $ref));
  if (Array.isArray(allOf)) branches.push(...allOf);
  if (Array.isArray(anyOf)) branches.push(firstBranch(anyOf));
  if (Array.isArray(oneOf)) branches.push(firstBranch(oneOf));
  return branches
    .filter(isJsonRecord)
    .reduce((sum: JsonRecord, branch) => merge(sum, resolve(root, branch, steps + 1)), own);
}

/** "Or null" is not worth taking where there is anything else. */
function firstBranch(branches: readonly unknown[]): unknown {
  return branches.find((branch) => isJsonRecord(branch) && branch['type'] !== 'null') ?? branches[0];
}

function merge(one: JsonRecord, other: JsonRecord): JsonRecord {
  const properties = { ...asRecord(one['properties']), ...asRecord(other['properties']) };
  const required = [...asArray(one['required']), ...asArray(other['required'])];
  return {
    ...other,
    ...one,
    ...(Object.keys(properties).length > 0 ? { properties } : {}),
    ...(required.length > 0 ? { required } : {}),
  };
}

function lookUp(root: unknown, ref: string): unknown {
  if (!ref.startsWith('#')) return undefined;
  let at = root;
  for (const step of ref.slice(1).split('/').slice(1)) {
    const name = decodePointer(step);
    at = isJsonRecord(at) && Object.hasOwn(at, name) ? at[name] : undefined;
  }
  return at;
}

function decodePointer(step: string): string {
  const plain = step.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(plain);
  } catch {
    // A bare "%" is part of the name.
    return plain;
  }
}

function kindOf(schema: JsonRecord): unknown {
  const type = schema['type'];
  if (Array.isArray(type)) return type.find((one) => one !== 'null') ?? 'null';
  if (type !== undefined) return type;
  if ('properties' in schema || 'required' in schema) return 'object';
  if ('items' in schema || 'prefixItems' in schema) return 'array';
  return 'minimum' in schema || 'maximum' in schema ? 'number' : 'string';
}

/** The value the prompt mentions, else the one for this place. */
function pickEnum(values: readonly unknown[], hints: PromptHints, index: number): unknown {
  const phrase = hints.phrase.toLowerCase();
  const mentioned = values.find(
    (value) => typeof value === 'string' && value !== '' && phrase.includes(value.toLowerCase()),
  );
  return index === 0 && mentioned !== undefined ? mentioned : values[index % Math.max(1, values.length)];
}

function sampleObject(sampler: Sampler, schema: JsonRecord, place: Place): unknown {
  const properties = asRecord(schema['properties']);
  const required = asArray(schema['required']).filter((name) => typeof name === 'string');
  const names = required.length > 0 ? required : Object.keys(properties).slice(0, place.depth === 0 ? 1 : 0);
  // fromEntries defines each property, so that one named "__proto__" is a property like any other.
  return Object.fromEntries(
    names.map((name, order) => {
      const inner = Object.hasOwn(properties, name) ? properties[name] : {};
      return [name, sample(sampler, inner, { name, order, index: place.index, depth: place.depth + 1 })];
    }),
  );
}

function sampleArray(sampler: Sampler, schema: JsonRecord, place: Place): unknown {
  const tuple = asArray(schema['prefixItems']);
  const most = asNumber(schema['maxItems']) ?? MAX_ITEMS;
  const least = Math.max(asNumber(schema['minItems']) ?? 0, tuple.length, 1);
  const count = Math.min(least, most, MAX_ITEMS);
  const items = isJsonRecord(schema['items']) ? schema['items'] : { type: 'string' };
  return Array.from({ length: count }, (_, at) =>
    sample(sampler, tuple[at] ?? items, { ...place, index: place.index + at, depth: place.depth + 1 }),
  );
}

function sampleNumber(schema: JsonRecord, whole: boolean, hints: PromptHints, index: number): number {
  const step = asNumber(schema['multipleOf']) ?? (whole ? 1 : 0);
  const range = rangeOf(schema);
  const { low, high } = range;
  const named = hints.numbers[index];
  const start = Number.isFinite(low) ? low : Math.min(high, 0);
  const up = step > 0 ? Math.ceil(start / step - 1e-9) * step : start;
  const middle = Number.isFinite(low) && Number.isFinite(high) ? (low + high) / 2 : start;
  const candidates = [named ?? 1 + index, 1 + index, 1, 0, up, up + step, up - step, middle, start + 1, start - 1];
  return candidates.find((value) => fits(value, range, step)) ?? start;
}

type Range = { readonly low: number; readonly high: number; readonly openLow: boolean; readonly openHigh: boolean };

function rangeOf(schema: JsonRecord): Range {
  const minimum = asNumber(schema['minimum']) ?? Number.NEGATIVE_INFINITY;
  const maximum = asNumber(schema['maximum']) ?? Number.POSITIVE_INFINITY;
  const over = asNumber(schema['exclusiveMinimum']) ?? Number.NEGATIVE_INFINITY;
  const under = asNumber(schema['exclusiveMaximum']) ?? Number.POSITIVE_INFINITY;
  return {
    low: Math.max(minimum, over),
    high: Math.min(maximum, under),
    openLow: over >= minimum && Number.isFinite(over),
    openHigh: under <= maximum && Number.isFinite(under),
  };
}

function fits(value: number, { low, high, openLow, openHigh }: Range, step: number): boolean {
  if (openLow ? value <= low : value < low) return false;
  if (openHigh ? value >= high : value > high) return false;
  return step <= 0 || Math.abs(value / step - Math.round(value / step)) < 1e-9;
}

function sampleString(schema: JsonRecord, sampler: Sampler, place: Place): string {
  const format = schema['format'];
  const known = typeof format === 'string' ? FORMATS[format] : undefined;
  const matching = sampler.hints.subjects.find((subject) => known?.pattern.test(subject));
  const text = known === undefined ? plainString(sampler, place) : (matching ?? known.sample);
  const characters = [...text];
  const least = Math.min(asNumber(schema['minLength']) ?? 0, MAX_LENGTH);
  const most = asNumber(schema['maxLength']) ?? Number.POSITIVE_INFINITY;
  if (characters.length < least) return text + 'x'.repeat(least - characters.length);
  return characters.length > most ? characters.slice(0, most).join('') : text;
}

const WHOLE_PROMPT = /query|prompt|text|message|content|question|description|instruction|summary|task|body/i;
const PATH = /path|file|dir/i;

/** The prompt where the name asks for words, what the prompt names where it asks for a thing. */
function plainString({ hints, turn }: Sampler, place: Place): string {
  const { subjects, words, phrase } = hints;
  if (turn === undefined && place.index === 0 && phrase !== '' && WHOLE_PROMPT.test(place.name)) return phrase;
  const files = PATH.test(place.name) ? subjects.filter((subject) => /[/.]/.test(subject)) : [];
  const things = files.length > 0 ? files : [...new Set([...subjects, ...words])];
  const count = Math.max(1, things.length);
  const thing = things[(place.index + (turn ?? place.order)) % count] ?? 'sandbox';
  return place.index < count ? thing : `${thing} ${Math.floor(place.index / count) + 1}`;
}

const FORMATS: Readonly<Record<string, { readonly sample: string; readonly pattern: RegExp }>> = {
  date: { sample: '2026-01-15', pattern: /^\d{4}-\d{2}-\d{2}$/ },
  'date-time': { sample: '2026-01-15T12:00:00Z', pattern: /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/ },
  time: { sample: '12:00:00Z', pattern: /^\d{2}:\d{2}:\d{2}Z$/ },
  email: { sample: 'sandbox@example.com', pattern: /^[\w.-]+@[\w-]+\.\w+$/ },
  uri: { sample: 'https://example.com/', pattern: /^https?:\/\// },
  url: { sample: 'https://example.com/', pattern: /^https?:\/\// },
  hostname: { sample: 'example.com', pattern: /^[a-z-]+\.[a-z]+$/ },
  ipv4: { sample: '127.0.0.1', pattern: /^\d+\.\d+\.\d+\.\d+$/ },
  uuid: { sample: '00000000-0000-4000-8000-000000000000', pattern: /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/ },
};

function asRecord(value: unknown): JsonRecord {
  return isJsonRecord(value) ? value : {};
}

function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function asNumber(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

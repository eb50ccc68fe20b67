// Where the members of nested JSON values lie in a body's bytes. The bytes are known to be JSON: they have been parsed.

import { depthChange, skipString } from './json-scan.ts';

/** Byte offsets of one value; `end` is the first byte after it. */
export type Span = { readonly start: number; readonly end: number };

/** Messages, blocks and tools have a handful. */
const MAX_FIELDS = 1000;

const QUOTE = 0x22;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const COMMA = 0x2c;
const COLON = 0x3a;
const SPACE = 0x20;

/** The items of an array, in order, at most `max`; none where the value is no array. */
export function arrayItems(bytes: Buffer, value: Span, max: number = Number.POSITIVE_INFINITY): readonly Span[] {
  if (bytes[value.start] !== OPEN_BRACKET) return [];
  const items: Span[] = [];
  let at = skipBetween(bytes, value.start + 1, value.end);
  while (at < value.end - 1 && items.length < max) {
    const end = skipValue(bytes, at, value.end - 1);
    items.push({ start: at, end });
    at = skipBetween(bytes, end, value.end);
  }
  return items;
}

/** The values of an object by key; undefined where the value is no object, names a key twice, or has over 1,000 keys. */
export function objectFields(bytes: Buffer, value: Span): ReadonlyMap<string, Span> | undefined {
  if (bytes[value.start] !== OPEN_BRACE) return undefined;
  const fields = new Map<string, Span>();
  let at = skipBetween(bytes, value.start + 1, value.end);
  while (at < value.end - 1) {
    const keyEnd = skipString(bytes, at, value.end);
    const key = textAt(bytes, { start: at, end: keyEnd }) ?? '';
    if (fields.has(key) || fields.size === MAX_FIELDS) return undefined;
    const start = skipBetween(bytes, keyEnd, value.end);
    const end = skipValue(bytes, start, value.end - 1);
    fields.set(key, { start, end });
    at = skipBetween(bytes, end, value.end);
  }
  return fields;
}

/** The text of a string; undefined for any other value, and where there is none. */
export function textAt(bytes: Buffer, value: Span | undefined): string | undefined {
  if (value === undefined || bytes[value.start] !== QUOTE) return undefined;
  const raw = bytes.toString('utf8', value.start, value.end);
  return raw.includes('\\') ? String(JSON.parse(raw)) : raw.slice(1, -1);
}

/** Over white space, commas and colons. */
function skipBetween(bytes: Buffer, from: number, end: number): number {
  let at = from;
  while (at < end && isBetween(bytes[at] ?? 0)) at += 1;
  return at;
}

function isBetween(byte: number): boolean {
  return byte <= SPACE || byte === COMMA || byte === COLON;
}

function skipValue(bytes: Buffer, start: number, end: number): number {
  if (bytes[start] === QUOTE) return skipString(bytes, start, end);
  let depth = 0;
  let at = start;
  while (at < end) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) {
      at = skipString(bytes, at, end);
      continue;
    }
    const change = depthChange(byte);
    depth += change;
    if (depth === 0 && (change < 0 || isBetween(byte))) return change < 0 ? at + 1 : at;
    at += 1;
  }
  return at;
}

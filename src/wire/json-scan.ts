// Reads a JSON body once, remembering where its top-level fields lie, so that few of them can be changed in the bytes.

import { isUtf8 } from 'node:buffer';
import { keepExactTexts } from './exact-json.ts';
import { isObject } from './field-checks.ts';
import { isExactToken, skipNumber } from './json-numbers.ts';
import { SvcError } from './svc-error.ts';

/** Byte offsets into the body. `keyStart` is the key's opening quote, `valueEnd` the first byte after the value. */
export type TopLevelField = {
  readonly key: string;
  readonly keyStart: number;
  readonly valueStart: number;
  readonly valueEnd: number;
};

/**
 * `fields` are in the order of the bytes, duplicates included; in `value` the last duplicate won. Where not `isExact`,
 * `JSON.stringify` would alter numbers or the order of keys.
 */
export type JsonBody = {
  readonly value: Readonly<Record<string, unknown>>;
  readonly isExact: boolean;
  readonly bytes: Uint8Array;
  readonly fields: readonly TopLevelField[];
};

/** Levels of nesting, the body's own object counted: real requests stay below 20, stringify overflows at 20,000. */
export const MAX_DEPTH = 64;

/** Fields of a request body's own object: real requests have some dozens, and each costs time. */
export const MAX_TOP_LEVEL_FIELDS = 1000;

/** Bytes of a string looked at one by one before the native search is worth its call. */
const SHORT_STRING = 32;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;
const SPACE = 0x20;

/**
 * Throws INVALID_JSON (not UTF-8, broken, nested too deep) or INVALID_REQUEST (not an object, too many fields). What
 * `JSON.stringify` would alter keeps its own text inside `value`, for `renderExactJson`.
 */
export function parseJsonBody(bytes: Uint8Array): JsonBody {
  if (!isUtf8(bytes)) throw new SvcError('INVALID_JSON', 'The body is not UTF-8 text; send JSON encoded as UTF-8.');
  const body = scanObject(bytes, MAX_TOP_LEVEL_FIELDS);
  if (!body.isExact) keepExactTexts(toBuffer(bytes), body.value);
  return body;
}

/**
 * As `parseJsonBody`, but bytes that are not UTF-8 are read as U+FFFD and fields are not counted: for answers, whose
 * bytes pass through anyway.
 */
export function scanJsonObject(bytes: Uint8Array): JsonBody {
  return scanObject(bytes, Number.POSITIVE_INFINITY);
}

/**
 * `set` maps a top-level key to raw JSON text: every duplicate of it is replaced, a missing key is appended. `remove`
 * takes fields off with their comma. A key in both is set. Without a change the same bytes object comes back.
 */
export function spliceFields(
  body: JsonBody,
  set: Readonly<Record<string, string>>,
  remove: readonly string[],
): Uint8Array {
  const bytes = toBuffer(body.bytes);
  const edits: Edit[] = [];
  const missing = { ...set };
  let anyKept = false;
  for (let index = 0; index < body.fields.length; index += 1) {
    const field = body.fields[index];
    if (field === undefined) continue;
    const text = Object.hasOwn(set, field.key) ? set[field.key] : undefined;
    if (text === undefined && remove.includes(field.key)) {
      edits.push(removal(body.fields, index, field, anyKept));
      continue;
    }
    anyKept = true;
    if (text === undefined) continue;
    delete missing[field.key];
    if (!isSame(bytes, field, text)) edits.push({ start: field.valueStart, end: field.valueEnd, text });
  }
  if (Object.keys(missing).length > 0) edits.push(addition(bytes, body.fields, missing, anyKept));
  return edits.length === 0 ? body.bytes : applyEdits(bytes, edits);
}

/** The index after the string whose opening quote is at `open`, or `end` where it is not closed before. */
export function skipString(bytes: Buffer, open: number, end: number): number {
  let at = open + 1;
  while (at < end) {
    const near = Math.min(at + SHORT_STRING, end);
    for (; at < near; at += bytes[at] === BACKSLASH ? 2 : 1) {
      if (bytes[at] === QUOTE) return at + 1;
    }
    const quote = findQuote(bytes, at, end);
    if (quote === end) return end;
    if (!isEscaped(bytes, quote, at)) return quote + 1;
    at = quote + 1;
  }
  return end;
}

/** A view of the same memory with Buffer's native searches. */
export function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

type Span = Omit<TopLevelField, 'key'>;

function scanObject(bytes: Uint8Array, maxFields: number): JsonBody {
  const buffer = toBuffer(bytes);
  const { spans, isExact } = scanSpans(buffer, maxFields);
  const value = parseText(buffer.toString('utf8'));
  if (!isObject(value)) throw notAnObject();
  const fields: TopLevelField[] = [];
  for (const span of spans) {
    const { keyStart, valueStart, valueEnd } = span;
    fields.push({ key: readKey(buffer, span), keyStart, valueStart, valueEnd });
  }
  return { value, isExact, bytes, fields };
}

/** Before JSON.parse, so that a bomb of brackets or keys never reaches it; what it finds in broken JSON is never used. */
function scanSpans(bytes: Buffer, maxFields: number): { readonly spans: Span[]; readonly isExact: boolean } {
  const spans: Span[] = [];
  let isExact = true;
  const open = { keyStart: -1, valueStart: -1 };
  let depth = 0;
  let contentEnd = 0;
  let at = 0;
  while (at < bytes.length) {
    const byte = bytes[at] ?? 0;
    if (byte <= SPACE) {
      at += 1;
      continue;
    }
    if (depth === 1) noteTopLevel(open, spans, byte, at, contentEnd);
    if (spans.length > maxFields) throw tooManyFields(bytes, maxFields);
    depth += depthChange(byte);
    if (depth > MAX_DEPTH) throw tooDeep();
    const next = skipToken(bytes, byte, at);
    isExact &&= next === at + 1 || isExactToken(bytes, at, next);
    at = next;
    contentEnd = at;
  }
  return { spans, isExact };
}

/** The index after the string or number at `at`, or after the one byte that is neither. */
function skipToken(bytes: Buffer, byte: number, at: number): number {
  if (byte === QUOTE) return skipString(bytes, at, bytes.length);
  // Between the two lie the digits and the signs of numbers, and nothing else that is JSON.
  return byte > COMMA && byte < COLON ? skipNumber(bytes, at) : at + 1;
}

/** Follows one byte of the body's own object (no white space, no inside of a string): key, colon, value, end of value. */
function noteTopLevel(
  open: { keyStart: number; valueStart: number },
  spans: Span[],
  byte: number,
  at: number,
  contentEnd: number,
): void {
  if (open.keyStart === -1) {
    open.keyStart = at;
  } else if (open.valueStart === -1) {
    if (byte !== COLON) open.valueStart = at;
  } else if (byte === COMMA || byte === CLOSE_BRACE) {
    spans.push({ keyStart: open.keyStart, valueStart: open.valueStart, valueEnd: contentEnd });
    open.keyStart = -1;
    open.valueStart = -1;
  }
}

/** Of one byte outside strings. */
export function depthChange(byte: number): number {
  if (byte === OPEN_BRACE || byte === OPEN_BRACKET) return 1;
  return byte === CLOSE_BRACE || byte === CLOSE_BRACKET ? -1 : 0;
}

function notAnObject(): SvcError {
  return new SvcError('INVALID_REQUEST', 'The body must be a JSON object, like {"model": …}.');
}

/** The items of an array look like fields to the scan. */
function tooManyFields(bytes: Buffer, maxFields: number): SvcError {
  let start = 0;
  while ((bytes[start] ?? CLOSE_BRACE) <= SPACE) start += 1;
  if (bytes[start] === OPEN_BRACKET) return notAnObject();
  return new SvcError('INVALID_REQUEST', `The body has more than ${maxFields} top-level fields; send fewer.`);
}

function tooDeep(): SvcError {
  return new SvcError('INVALID_JSON', `The body is nested deeper than ${MAX_DEPTH} levels; flatten it.`);
}

function findQuote(bytes: Buffer, from: number, end: number): number {
  const quote = from < end ? bytes.indexOf(QUOTE, from) : -1;
  return quote === -1 || quote >= end ? end : quote;
}

function isEscaped(bytes: Buffer, quote: number, from: number): boolean {
  let at = quote;
  while (at > from && bytes[at - 1] === BACKSLASH) at -= 1;
  return (quote - at) % 2 === 1;
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    // The parser's message quotes the body, which is the prompt: only the place is passed on, and not the cause.
    const place = /position \d+/.exec(String(cause))?.[0];
    const where = text.trim() === '' ? 'it is empty' : (place ?? 'it breaks off or has a stray character');
    throw new SvcError('INVALID_JSON', `The body is not valid JSON: ${where}.`);
  }
}

function readKey(bytes: Buffer, span: Span): string {
  const raw = bytes.toString('utf8', span.keyStart, skipString(bytes, span.keyStart, span.valueStart));
  return raw.includes('\\') ? String(JSON.parse(raw)) : raw.slice(1, -1);
}

/** Replaces the bytes from `start` to before `end`. */
export type Edit = { readonly start: number; readonly end: number; readonly text: string };

/** With a field left before it, a removed one takes the comma before it along, otherwise the comma after it. */
function removal(fields: readonly TopLevelField[], index: number, field: TopLevelField, anyKept: boolean): Edit {
  const before = fields[index - 1];
  if (anyKept && before !== undefined) return { start: before.valueEnd, end: field.valueEnd, text: '' };
  return { start: field.keyStart, end: fields[index + 1]?.keyStart ?? field.valueEnd, text: '' };
}

function addition(
  bytes: Buffer,
  fields: readonly TopLevelField[],
  missing: Readonly<Record<string, string>>,
  anyKept: boolean,
): Edit {
  const text = Object.entries(missing)
    .map(([key, value]) => `${JSON.stringify(key)}:${value}`)
    .join(',');
  const at = fields.at(-1)?.valueEnd ?? bytes.lastIndexOf('}');
  return { start: at, end: at, text: anyKept ? `,${text}` : text };
}

function isSame(bytes: Buffer, field: TopLevelField, text: string): boolean {
  if (Buffer.byteLength(text) !== field.valueEnd - field.valueStart) return false;
  return bytes.toString('utf8', field.valueStart, field.valueEnd) === text;
}

/** `edits` are in the order of the bytes and do not overlap. */
export function applyEdits(bytes: Buffer, edits: readonly Edit[]): Buffer {
  const pieces: Uint8Array[] = [];
  let from = 0;
  for (const edit of edits) {
    if (edit.start > from) pieces.push(bytes.subarray(from, edit.start));
    if (edit.text !== '') pieces.push(Buffer.from(edit.text));
    from = edit.end;
  }
  pieces.push(bytes.subarray(from));
  return Buffer.concat(pieces);
}

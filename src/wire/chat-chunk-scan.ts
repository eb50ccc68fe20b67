// One look over the bytes of a Chat stream chunk: is it a plain piece of text, or does it have to be parsed?

import { depthChange, skipString } from './json-scan.ts';

export type ChunkSight = {
  /** True for all but a complete, ordinary piece of text of choice 0: what else a delta holds has to be weighed. */
  readonly needsParse: boolean;
  /** Bytes of the generated strings as JSON text; never fewer than in UTF-8. */
  readonly textBytes: number;
};

const QUOTE = 0x22;
const COLON = 0x3a;
const SPACE = 0x20;
const ZERO = 0x30;
const LETTER_N = 0x6e;
const NINE = 0x39;
const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const CLOSE_BRACE = 0x7d;

/** Of the keys inside `delta`: body, choices, choice, delta. */
const DELTA_DEPTH = 4;

/** Seen without anything to do about it. */
const KNOWN = 0;
/** What a key means here. The ones from ID to DELTA are bits: an ordinary chunk has them all. */
const ID = 1;
const OBJECT = 2;
const CREATED = 4;
const MODEL = 8;
const CHOICES = 16;
const INDEX = 32;
const DELTA = 64;
const ORDINARY = 127;
const SPECIAL = 128;
const TEXT = 256;
const DETAIL = 512;
const REASONING = 1024;

/** The keys an ordinary chunk has, to be told from strangers of the same length, beginning and end. */
const REQUIRED_KEYS: ReadonlyMap<number, Buffer> = new Map([
  [ID, Buffer.from('id')],
  [OBJECT, Buffer.from('object')],
  [CREATED, Buffer.from('created')],
  [MODEL, Buffer.from('model')],
  [CHOICES, Buffer.from('choices')],
  [INDEX, Buffer.from('index')],
  [DELTA, Buffer.from('delta')],
]);

/** A key's length with its first and last byte tells ours apart; a stranger that looks alike only costs a parse. */
const MEANINGS: ReadonlyMap<number, number> = new Map(
  [
    ['id', ID],
    ['object', OBJECT],
    ['created', CREATED],
    ['model', MODEL],
    ['choices', CHOICES],
    ['index', INDEX],
    ['delta', DELTA],
    ['role', KNOWN],
    ['reasoning_details', KNOWN],
    ['error', SPECIAL],
    ['usage', SPECIAL],
    ['finish_reason', SPECIAL],
    ['tool_calls', SPECIAL],
    ['function_call', SPECIAL],
    ['content', TEXT],
    ['refusal', TEXT],
    ['arguments', TEXT],
    ['name', TEXT],
    ['text', DETAIL],
    ['summary', DETAIL],
    ['data', DETAIL],
    ['reasoning', REASONING],
    ['reasoning_content', REASONING],
  ].map(([key, meaning]) => [codeOf(Buffer.from(String(key)), 0, String(key).length), Number(meaning)]),
);

/** Looks at the chunks of one stream; the JSON of a chunk lies in `bytes` from `start` to `end`. */
export type ChunkScanner = (bytes: Buffer, start: number, end: number) => ChunkSight;

/**
 * Most chunks of a stream differ in one string only. What stood around it in the last ordinary chunk is the mold: where
 * it stands again, two native comparisons tell as much as a look at every byte.
 */
export function createChunkScanner(): ChunkScanner {
  let before = NOTHING;
  let after = NOTHING;

  return (bytes, start, end) => {
    const textStart = start + before.length;
    if (before.length > 0 && isAt(bytes, start, end, before)) {
      const close = skipString(bytes, textStart - 1, end);
      if (end - close === after.length && isAt(bytes, close, end, after)) {
        return { needsParse: false, textBytes: close - 1 - textStart };
      }
    }
    const found: Found = {
      bits: 0,
      isSpecial: false,
      keyAt: 0,
      text: 0,
      detail: 0,
      reasoning: 0,
      strings: 0,
      valueAt: 0,
    };
    const sight = scanWhole(found, bytes, start, end);
    if (!sight.needsParse && found.strings === 1) {
      before = Buffer.from(bytes.subarray(start, found.valueAt + 1));
      after = Buffer.from(bytes.subarray(skipString(bytes, found.valueAt, end), end));
    }
    return sight;
  };
}

const NOTHING = Buffer.alloc(0);

function isAt(bytes: Buffer, at: number, end: number, expected: Buffer): boolean {
  const length = expected.length;
  return at + length <= end && bytes.compare(expected, 0, length, at, at + length) === 0;
}

function scanWhole(found: Found, bytes: Buffer, start: number, end: number): ChunkSight {
  let depth = 0;
  let at = start;
  while (at < end) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) {
      at = passString(found, depth, bytes, at, end);
    } else {
      depth += depthChange(byte);
      at += 1;
    }
  }
  const isWhole = depth === 0 && found.bits === ORDINARY;
  return { needsParse: found.isSpecial || !isWhole, textBytes: found.text + Math.max(found.detail, found.reasoning) };
}

type Found = {
  bits: number;
  isSpecial: boolean;
  /** Where the key in hand begins. */
  keyAt: number;
  text: number;
  detail: number;
  reasoning: number;
  /** How many strings of generated text there were, and where the last one begins. */
  strings: number;
  valueAt: number;
};

/** The index after the string, or of the value where the string is a key. */
function passString(found: Found, depth: number, bytes: Buffer, open: number, end: number): number {
  const close = skipString(bytes, open, end);
  const colon = skipSpace(bytes, close, end);
  if (colon >= end || bytes[colon] !== COLON) return close;
  const valueAt = skipSpace(bytes, colon + 1, end);
  const meaning = MEANINGS.get(codeOf(bytes, open + 1, close - 1));
  found.keyAt = open + 1;
  if (meaning !== undefined) noteKey(found, meaning, depth, bytes, valueAt, end);
  else if (depth === DELTA_DEPTH && bytes[valueAt] !== LETTER_N) found.isSpecial = true;
  else if (hasEscape(bytes, open, close)) found.isSpecial = true;
  return valueAt;
}

function noteKey(found: Found, meaning: number, depth: number, bytes: Buffer, valueAt: number, end: number): void {
  const first = bytes[valueAt];
  if (meaning >= TEXT) {
    noteText(found, meaning, bytes, valueAt, end);
  } else if (meaning === SPECIAL || (depth === DELTA_DEPTH && meaning !== KNOWN)) {
    if (first !== LETTER_N) found.isSpecial = true;
  } else if (meaning === INDEX || meaning === DELTA) {
    if (depth === 3) noteRequired(found, meaning, bytes, valueAt);
  } else if (depth === 1 && meaning !== KNOWN) {
    noteRequired(found, meaning, bytes, valueAt);
  }
}

/** A second one makes the chunk special: another choice, or a repeated key. One of another type leaves its bit unset. */
function noteRequired(found: Found, meaning: number, bytes: Buffer, valueAt: number): void {
  if (!isSameKey(REQUIRED_KEYS.get(meaning), bytes, found.keyAt)) return;
  if ((found.bits & meaning) !== 0) found.isSpecial = true;
  else if (isAsExpected(meaning, bytes, valueAt)) found.bits |= meaning;
}

function isSameKey(key: Buffer | undefined, bytes: Buffer, at: number): boolean {
  if (key === undefined) return false;
  for (let index = 0; index < key.length; index += 1) if (bytes[at + index] !== key[index]) return false;
  return true;
}

function isAsExpected(meaning: number, bytes: Buffer, valueAt: number): boolean {
  const first = bytes[valueAt] ?? 0;
  if (meaning === CHOICES) return first === OPEN_BRACKET;
  if (meaning === DELTA) return first === OPEN_BRACE;
  if (meaning === CREATED) return first >= ZERO && first <= NINE;
  if (meaning === INDEX) return first === ZERO && isAfterNumber(bytes[valueAt + 1] ?? 0);
  return first === QUOTE;
}

function isAfterNumber(byte: number): boolean {
  return byte === COMMA || byte === CLOSE_BRACE || byte <= SPACE;
}

/** A key that is spelled with escapes may be any of ours. */
function hasEscape(bytes: Buffer, open: number, close: number): boolean {
  for (let at = open + 1; at < close - 1; at += 1) if (bytes[at] === BACKSLASH) return true;
  return false;
}

/** `reasoning` and the details repeat each other: the larger counts. */
function noteText(found: Found, meaning: number, bytes: Buffer, valueAt: number, end: number): void {
  const first = bytes[valueAt];
  if (first === LETTER_N) return;
  // Parts may be more than text.
  if (first === OPEN_BRACKET && meaning === TEXT) found.isSpecial = true;
  const isString = first === QUOTE;
  // Arguments sent as an object have no end in sight here: the rest of the chunk is an upper bound.
  const isObject = first === OPEN_BRACE && meaning === TEXT;
  if (!isString && !isObject) return;
  found.strings += 1;
  found.valueAt = valueAt;
  const length = isString ? skipString(bytes, valueAt, end) - valueAt - 2 : end - valueAt;
  if (meaning === TEXT) found.text += length;
  else if (meaning === DETAIL) found.detail += length;
  else found.reasoning += length;
}

function codeOf(bytes: Buffer, from: number, to: number): number {
  return ((to - from) << 16) | ((bytes[from] ?? 0) << 8) | (bytes[to - 1] ?? 0);
}

function skipSpace(bytes: Buffer, from: number, end: number): number {
  let at = from;
  while (at < end && (bytes[at] ?? 0) <= SPACE) at += 1;
  return at;
}

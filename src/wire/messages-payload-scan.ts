// How much a model said in one event of a Messages stream, read off the bytes where the event is an ordinary one.

import { isObject, type JsonObject } from './field-checks.ts';
import { skipString } from './json-scan.ts';

const HEAD = Buffer.from('{"type":"content_block_delta","index":');
const PLAIN_DELTAS = [
  ['text_delta', 'text'],
  ['input_json_delta', 'partial_json'],
  ['thinking_delta', 'thinking'],
].map(([type, key]) => Buffer.from(`"delta":{"type":"${type}","${key}":"`));

const SPACE = 0x20;
const COMMA = 0x2c;
const ZERO = 0x30;
const NINE = 0x39;
const CLOSE_BRACE = 0x7d;
const MAX_DIGITS = 6;

/**
 * Bytes of the generated string as JSON text (never fewer than in UTF-8), where the JSON from `start` to `end` is a
 * `content_block_delta` as Anthropic writes it; undefined for anything else, which has to be parsed.
 */
export function plainDeltaBytes(bytes: Buffer, start: number, end: number): number | undefined {
  if (!isAt(bytes, start, end, HEAD)) return undefined;
  let at = start + HEAD.length;
  const digitsEnd = Math.min(end, at + MAX_DIGITS);
  while (at < digitsEnd && isDigit(bytes[at])) at += 1;
  if (bytes[at] !== COMMA) return undefined;
  for (const delta of PLAIN_DELTAS) {
    if (!isAt(bytes, at + 1, end, delta)) continue;
    const open = at + delta.length;
    const close = skipString(bytes, open, end);
    return closesBoth(bytes, close, end) ? close - open - 2 : undefined;
  }
  return undefined;
}

/** UTF-8 bytes of what the model made in a parsed event: text, thinking, arguments. Results of tools are not its words. */
export function eventPayloadBytes(event: JsonObject): number {
  if (event['type'] === 'content_block_delta') return stringBytes(event['delta'], NOT_GENERATED);
  if (event['type'] !== 'content_block_start') return 0;
  return blockPayloadBytes(event['content_block']);
}

/** Of a content block of an answer. */
export function blockPayloadBytes(block: unknown): number {
  if (!isObject(block) || String(block['type']).endsWith('_result')) return 0;
  const input = block['input'];
  const isEmpty = !isObject(input) || Object.keys(input).length === 0;
  return stringBytes(block, NOT_GENERATED) + (isEmpty ? 0 : Buffer.byteLength(JSON.stringify(input)));
}

const NOT_GENERATED: ReadonlySet<string> = new Set(['type', 'id', 'tool_use_id', 'signature', 'citation']);

function stringBytes(object: unknown, except: ReadonlySet<string>): number {
  if (!isObject(object)) return 0;
  let bytes = 0;
  for (const [key, value] of Object.entries(object)) {
    if (typeof value === 'string' && !except.has(key)) bytes += Buffer.byteLength(value);
  }
  return bytes;
}

/** Both objects end here; Anthropic pads its events with spaces. */
function closesBoth(bytes: Buffer, from: number, end: number): boolean {
  let braces = 0;
  for (let at = from; at < end; at += 1) {
    if (bytes[at] === CLOSE_BRACE) braces += 1;
    else if (bytes[at] !== SPACE) return false;
  }
  return braces === 2;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= NINE;
}

function isAt(bytes: Buffer, at: number, end: number, expected: Buffer): boolean {
  return at + expected.length <= end && bytes.compare(expected, 0, expected.length, at, at + expected.length) === 0;
}

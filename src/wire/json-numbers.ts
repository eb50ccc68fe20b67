// The bytes of numbers and number-like keys in JSON: which of them JavaScript gives back as they came.

import { isExactNumber } from './exact-json.ts';

/** Longest run of digits that is an integer JavaScript has exactly, whatever the digits are. */
const SAFE_DIGITS = 15;

const SPACE = 0x20;
const QUOTE = 0x22;
const PLUS = 0x2b;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const UPPER_E = 0x45;
const LOWER_E = 0x65;

/** The index after the number, or whatever else begins with a digit or one of `-./`, at `at`. */
export function skipNumber(bytes: Buffer, at: number): number {
  let end = at + 1;
  while (isNumberPart(bytes[end] ?? 0)) end += 1;
  return end;
}

/** True for a string or a number of more than one byte that `JSON.stringify` would leave as it is, and where it is. */
export function isExactToken(bytes: Buffer, start: number, end: number): boolean {
  return bytes[start] === QUOTE ? !isIndexKey(bytes, start, end) : isPlainNumber(bytes, start, end);
}

function isPlainNumber(bytes: Buffer, start: number, end: number): boolean {
  return isShortDecimal(bytes, start, end) || isExactNumber(bytes.toString('latin1', start, end));
}

/** From 1 up, of few digits, without a zero to be cut off: looked at without making a string of it. */
function isShortDecimal(bytes: Buffer, start: number, end: number): boolean {
  if (end - start > SAFE_DIGITS || !isDigit(bytes[start] ?? 0) || bytes[start] === ZERO) return false;
  let dots = 0;
  for (let at = start + 1; at < end; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === DOT) dots += 1;
    else if (!isDigit(byte)) return false;
  }
  const last = bytes[end - 1];
  return dots === 0 || (dots === 1 && last !== ZERO && last !== DOT);
}

/** True where the string from `start` to `end` is a key that begins like an array's index: JavaScript puts those first. */
function isIndexKey(bytes: Buffer, start: number, end: number): boolean {
  if (!isDigit(bytes[start + 1] ?? 0)) return false;
  let at = end;
  while (at < bytes.length && (bytes[at] ?? 0) <= SPACE) at += 1;
  return bytes[at] === COLON;
}

function isNumberPart(byte: number): boolean {
  if (byte >= ZERO) return byte <= NINE || byte === LOWER_E || byte === UPPER_E;
  return byte === DOT || byte === MINUS || byte === PLUS;
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}

// Base62: bytes as digits and letters, so that a double click selects a whole id or secret.

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BITS_PER_DIGIT = Math.log2(62);
/** Four digits are divided off at once: every step then stays within 31-bit integers. */
const CHUNK_DIGITS = 4;
const CHUNK = 62 ** CHUNK_DIGITS;
const DIGITS_PER_PAIR = 3;

/** How many digits hold any number of that many bytes. */
export function base62Width(byteLength: number): number {
  return Math.ceil((byteLength * 8) / BITS_PER_DIGIT);
}

/** The bytes as one big-endian number, padded with zeros to `base62Width`: the shortest text, for secrets. */
export function encodeNumber(bytes: Uint8Array): string {
  const width = base62Width(bytes.length);
  const number = Array.from(bytes);
  let text = '';
  while (text.length < width) text = renderDigits(divideInPlace(number), CHUNK_DIGITS) + text;
  return text.slice(text.length - width);
}

/** Three digits for every two bytes: slightly longer and several times as fast, for the ids made on each request. */
export function encodePairs(bytes: Uint8Array): string {
  let text = '';
  for (let i = 0; i < bytes.length; i += 2) {
    text += renderDigits(((bytes[i] ?? 0) << 8) | (bytes[i + 1] ?? 0), DIGITS_PER_PAIR);
  }
  return text;
}

/** A whole number below 62^`width`, padded with zeros. */
export function renderDigits(value: number, width: number): string {
  let rest = value;
  let text = '';
  for (let i = 0; i < width; i += 1) {
    const next = Math.floor(rest / 62);
    text = DIGITS.charAt(rest - next * 62) + text;
    rest = next;
  }
  return text;
}

/** The digit with that character code as its value; -1 for any other character. */
export function digitValue(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  if (code >= 65 && code <= 90) return code - 55;
  return code >= 97 && code <= 122 ? code - 61 : -1;
}

/** Divides the big-endian number by `CHUNK` where it stands and returns the remainder. */
function divideInPlace(number: number[]): number {
  let remainder = 0;
  for (let i = 0; i < number.length; i += 1) {
    const value = remainder * 256 + (number[i] ?? 0);
    number[i] = Math.floor(value / CHUNK);
    remainder = value % CHUNK;
  }
  return remainder;
}

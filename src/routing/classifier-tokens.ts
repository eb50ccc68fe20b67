// Turns code units into word hashes and character counts in one pass, without a single substring.
import type { CodeBuffer } from './last-turn.ts';

const FNV_OFFSET = 0x811c9dc5 | 0;
const FNV_PRIME = 0x01000193;
/** Words longer than this also get a hash of their first letters, which stands in for a stem in many languages. */
export const STEM_CHARS = 5;
/** Keeps the stem of a long word apart from the short word that looks the same. */
const STEM_SALT = 0x5f356495;

/** What a character can be; the counts are kept under these numbers. */
export const CHAR = {
  space: 0,
  newline: 1,
  letter: 2,
  upper: 3,
  digit: 4,
  code: 5,
  math: 6,
  question: 7,
  quote: 8,
  mark: 9,
  latinExt: 10,
  cyrillic: 11,
  arabic: 12,
  otherScript: 13,
  han: 14,
  kana: 15,
  hangul: 16,
} as const;
const CHAR_KINDS = 17;

/** Tokens and counts of one text. Arrays are reused; only the first `count` tokens are valid. */
export type Tokens = {
  count: number;
  readonly hashes: Int32Array;
  /** Hash of the first letters of a long word; 0 for short words, numbers and single ideographs. */
  readonly stems: Int32Array;
  /** Letters of each token; 0 for an ideograph or syllable that stands alone. */
  readonly sizes: Uint8Array;
  /** Characters by kind, see `CHAR`. */
  readonly chars: Int32Array;
  length: number;
  letters: number;
  fences: number;
  backticks: number;
  latex: number;
  bullets: number;
  urls: number;
  /** Lines that end in `;`, `{`, `}`, `)` or `:`, or begin indented: what code looks like without fences. */
  codeLines: number;
  endsWithQuestion: boolean;
  /** The word being read. */
  readonly word: { hash: number; size: number; stem: number };
};

export function createTokens(capacity: number): Tokens {
  return {
    count: 0,
    hashes: new Int32Array(capacity),
    stems: new Int32Array(capacity),
    sizes: new Uint8Array(capacity),
    chars: new Int32Array(CHAR_KINDS),
    length: 0,
    letters: 0,
    fences: 0,
    backticks: 0,
    latex: 0,
    bullets: 0,
    urls: 0,
    codeLines: 0,
    endsWithQuestion: false,
    word: { hash: FNV_OFFSET, size: 0, stem: 0 },
  };
}

/** Kinds of the characters below U+0100; made once per classifier, since modules hold no state. */
export function createCharTable(): Uint8Array {
  const table = new Uint8Array(256).fill(CHAR.mark);
  const put = (chars: string, kind: number): void => {
    for (const char of chars) table[char.charCodeAt(0)] = kind;
  };
  put(' \t\r\f\v\u00a0', CHAR.space);
  put('\n', CHAR.newline);
  put('abcdefghijklmnopqrstuvwxyz', CHAR.letter);
  put('ABCDEFGHIJKLMNOPQRSTUVWXYZ', CHAR.upper);
  put('0123456789', CHAR.digit);
  put('{}[]();<>/\\_|&#@`', CHAR.code);
  put('=+*^%$±×÷²³¹', CHAR.math);
  put('?¿', CHAR.question);
  put('"«»', CHAR.quote);
  for (let code = 0xc0; code < 0x100; code++) if (code !== 0xd7 && code !== 0xf7) table[code] = CHAR.latinExt;
  return table;
}

/** Reads the buffer's text into `tokens`, whose former contents are lost. */
export function tokenize(buffer: CodeBuffer, table: Uint8Array, tokens: Tokens): void {
  const { codes, length } = buffer;
  const { chars, word } = tokens;
  reset(tokens, length);
  for (let index = 0; index < length; index++) {
    const code = codes[index] ?? 0;
    const kind = code < 256 ? (table[code] ?? CHAR.mark) : wideKind(code);
    chars[kind] = (chars[kind] ?? 0) + 1;
    if (isWordKind(kind)) addLetter(word, kind === CHAR.digit ? 48 : lower(code, kind));
    else readMark(tokens, codes, index, kind);
  }
  endWord(tokens);
  finish(tokens, codes, length);
}

function addLetter(word: Tokens['word'], code: number): void {
  word.hash = Math.imul(word.hash ^ code, FNV_PRIME);
  if (++word.size === STEM_CHARS) word.stem = word.hash ^ STEM_SALT;
}

/** Whatever is no letter ends a word; ideographs and syllables are words of their own. */
function readMark(tokens: Tokens, codes: Uint16Array, index: number, kind: number): void {
  endWord(tokens);
  if (kind >= CHAR.han) push(tokens, Math.imul(FNV_OFFSET ^ (codes[index] ?? 0), FNV_PRIME), 0, 0);
  else if (kind === CHAR.newline || kind === CHAR.code || kind === CHAR.math) countMark(tokens, codes, index);
}

function endWord(tokens: Tokens): void {
  const { word } = tokens;
  if (word.size === 0) return;
  push(tokens, word.hash, word.size > STEM_CHARS ? word.stem : 0, Math.min(word.size, 255));
  word.hash = FNV_OFFSET;
  word.size = 0;
}

/** The hash `tokenize` gives a word; two ideographs or syllables hash as the pair they form. */
export function hashWord(word: string): number {
  if (word.length === 2 && wideKind(word.charCodeAt(0)) >= CHAR.han) {
    return pairHash(hashUnits(word[0] ?? ''), hashUnits(word[1] ?? ''));
  }
  return hashUnits(word);
}

/** The stem hash that `tokenize` gives words longer than `STEM_CHARS` which begin like `word`. */
export function hashStem(word: string): number {
  return hashUnits(word.slice(0, STEM_CHARS)) ^ STEM_SALT;
}

export function pairHash(left: number, right: number): number {
  return Math.imul((left ^ (right >>> 15)) + Math.imul(right, 0x2c1b3c6d), 0x297a2d39);
}

function hashUnits(word: string): number {
  let hash = FNV_OFFSET;
  for (let index = 0; index < word.length; index++) hash = Math.imul(hash ^ word.charCodeAt(index), FNV_PRIME);
  return hash;
}

function reset(tokens: Tokens, length: number): void {
  tokens.count = 0;
  tokens.chars.fill(0);
  tokens.length = length;
  tokens.letters = 0;
  tokens.fences = 0;
  tokens.backticks = 0;
  tokens.latex = 0;
  tokens.bullets = 0;
  tokens.urls = 0;
  tokens.codeLines = 0;
}

function push(tokens: Tokens, hash: number, stem: number, size: number): void {
  if (tokens.count >= tokens.hashes.length) return;
  tokens.hashes[tokens.count] = hash;
  tokens.stems[tokens.count] = stem;
  tokens.sizes[tokens.count] = size;
  tokens.count++;
}

function isWordKind(kind: number): boolean {
  return kind >= CHAR.letter && (kind <= CHAR.digit || (kind >= CHAR.latinExt && kind <= CHAR.otherScript));
}

/** Simple case folding where it is one addition: ASCII, Latin-1, Greek, Cyrillic. */
export function lower(code: number, kind: number): number {
  if (kind === CHAR.upper) return code + 32;
  if (code < 0xc0) return code;
  if (code <= 0xde) return code + 32;
  if (code >= 0x391 && code <= 0x3a9) return code + 32;
  if (code >= 0x410 && code <= 0x42f) return code + 32;
  if (code >= 0x400 && code <= 0x40f) return code + 80;
  // Latin Extended-A pairs capitals (even) with small letters (odd) nearly throughout.
  if (code >= 0x100 && code <= 0x137) return code | 1;
  return code;
}

function wideKind(code: number): number {
  if (code < 0x250) return CHAR.latinExt;
  if (code < 0x370) return CHAR.mark;
  if (code < 0x400) return CHAR.otherScript;
  if (code < 0x530) return CHAR.cyrillic;
  if (code < 0x600) return CHAR.otherScript;
  if (code < 0x780) return code === 0x61f ? CHAR.question : CHAR.arabic;
  if (code < 0x1e00) return code >= 0x1100 && code < 0x1200 ? CHAR.hangul : CHAR.otherScript;
  if (code < 0x2000) return CHAR.latinExt;
  return farKind(code);
}

function farKind(code: number): number {
  if (code < 0x2e80) return symbolKind(code);
  if (code >= 0x3040 && code <= 0x30ff) return CHAR.kana;
  if (code >= 0x3400 && code <= 0x9fff) return CHAR.han;
  if (code >= 0xac00 && code <= 0xd7a3) return CHAR.hangul;
  if (code === 0xff1f) return CHAR.question;
  if (code >= 0x300c && code <= 0x300f) return CHAR.quote;
  return CHAR.mark;
}

function symbolKind(code: number): number {
  if ((code >= 0x2200 && code <= 0x22ff) || (code >= 0x2070 && code <= 0x209f)) return CHAR.math;
  if (code >= 0x201c && code <= 0x201e) return CHAR.quote;
  return CHAR.mark;
}

function countMark(tokens: Tokens, codes: Uint16Array, index: number): void {
  const code = codes[index];
  if (code === 10) countLine(tokens, codes, index);
  else if (code === 96) countBacktick(tokens, codes, index);
  else if (code === 92 || code === 36) tokens.latex++;
  else if (code === 47 && codes[index - 1] === 58 && codes[index + 1] === 47) tokens.urls++;
}

function countBacktick(tokens: Tokens, codes: Uint16Array, index: number): void {
  tokens.backticks++;
  if (codes[index - 1] === 96 && codes[index - 2] === 96) tokens.fences++;
}

function countLine(tokens: Tokens, codes: Uint16Array, index: number): void {
  const before = index > 0 ? codes[index - 1] : 0;
  const next = index + 1 < tokens.length ? codes[index + 1] : 0;
  const after = index + 2 < tokens.length ? codes[index + 2] : 0;
  // ; { } ) : at the end of a line, or two spaces or a tab at the beginning of the next.
  const closes = before === 59 || before === 123 || before === 125 || before === 41;
  if (closes || next === 9 || (next === 32 && after === 32)) tokens.codeLines++;
  const numbered = next !== undefined && next >= 48 && next <= 57 && (after === 46 || after === 41);
  if (numbered || ((next === 45 || next === 42 || next === 0x2022) && after === 32)) tokens.bullets++;
}

function finish(tokens: Tokens, codes: Uint16Array, length: number): void {
  let words = 0;
  for (let kind = 0; kind < CHAR_KINDS; kind++) {
    if ((isWordKind(kind) && kind !== CHAR.digit) || kind >= CHAR.han) words += tokens.chars[kind] ?? 0;
  }
  tokens.letters = words;
  let end = length - 1;
  while (end >= 0 && (codes[end] ?? 0) <= 32) end--;
  const code = end >= 0 ? codes[end] : 0;
  tokens.endsWithQuestion = code === 63 || code === 0xff1f || code === 0x61f;
}

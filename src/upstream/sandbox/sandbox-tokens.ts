// The sandbox's tokenizer: short words, digits by three, runs of signs. Simple, fast, and never more tokens than bytes.

const MAX_WORD = 8;
const MAX_DIGITS = 3;
const MAX_SIGNS = 4;
const MAX_SPACES = 16;
/** From here on come scripts whose tokens are a character or two. */
const FIRST_DENSE = 0x2e80;

type Kind = 'space' | 'letter' | 'digit' | 'sign' | 'dense';

export function countTokens(text: string): number {
  let tokens = 0;
  for (let at = 0; at < text.length; at = endOfToken(text, at)) tokens += 1;
  return tokens;
}

/** The tokens of a text; joined, they are the text. */
export function splitTokens(text: string): string[] {
  const tokens: string[] = [];
  for (let at = 0; at < text.length; ) {
    const end = endOfToken(text, at);
    tokens.push(text.slice(at, end));
    at = end;
  }
  return tokens;
}

/** Where the token that starts at `at` ends. A single space belongs to the word after it; a surrogate pair stays whole. */
export function endOfToken(text: string, at: number): number {
  const first = kindAt(text, at);
  if (first !== 'space') return endOfRun(text, at, first);
  if (text.charCodeAt(at) === 32 && at + 1 < text.length) {
    const next = kindAt(text, at + 1);
    if (next !== 'space') return endOfRun(text, at + 1, next);
  }
  return endOfRun(text, at, 'space');
}

function endOfRun(text: string, at: number, kind: Kind): number {
  if (kind === 'dense') return endOfDense(text, at);
  const limit = Math.min(text.length, at + LIMITS[kind]);
  let end = at + 1;
  while (end < limit && kindAt(text, end) === kind) end += 1;
  return end;
}

const LIMITS = { space: MAX_SPACES, letter: MAX_WORD, digit: MAX_DIGITS, sign: MAX_SIGNS } as const;

/** Two characters, or one that takes two code units. */
function endOfDense(text: string, at: number): number {
  if (at + 1 >= text.length || isHighSurrogate(text.charCodeAt(at))) return Math.min(at + 2, text.length);
  const next = text.charCodeAt(at + 1);
  return next < FIRST_DENSE || isHighSurrogate(next) ? at + 1 : at + 2;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00;
}

function kindAt(text: string, at: number): Kind {
  const code = text.charCodeAt(at);
  if (code <= 32) return 'space';
  if (code >= FIRST_DENSE) return 'dense';
  if (code >= 48 && code <= 57) return 'digit';
  const lower = code | 32;
  return (lower >= 97 && lower <= 122) || code >= 0xc0 ? 'letter' : 'sign';
}

// How many tokens a text is likely to be, by the scripts it is written in; long texts are sampled, never scanned whole.

/**
 * Tokens per character, fitted by eye to what common byte-pair vocabularies do: prose at a bit over 4 characters a
 * token, code and JSON (much punctuation) at 3 to 3.5, Cyrillic or Arabic at about 2.5, CJK at 1.5.
 */
const LETTER = 0.22;
const MARK = 0.5;
const OTHER_ALPHABET = 0.4;
const INDIC = 0.6;
const CJK = 0.67;

/** Looks at no more than about `lookMax` characters: of longer texts a part at the head, in the middle and at the tail. */
export function estimateTextTokens(text: string, lookMax: number): number {
  const { length } = text;
  if (length <= lookMax) return weigh(text, 0, length);
  const part = Math.max(1, Math.floor(lookMax / 3));
  const middle = (length - part) >> 1;
  const sampled = weigh(text, 0, part) + weigh(text, middle, middle + part) + weigh(text, length - part, length);
  return (sampled / (3 * part)) * length;
}

function weigh(text: string, from: number, to: number): number {
  let tokens = 0;
  for (let index = from; index < to; index += 1) tokens += tokensOf(text.charCodeAt(index));
  return tokens;
}

function tokensOf(code: number): number {
  if (code < 0x80) {
    const letter = (code | 0x20) - 0x61;
    return code === 0x20 || (letter >= 0 && letter < 26) ? LETTER : MARK;
  }
  if (code < 0x900) return OTHER_ALPHABET;
  if (code < 0x1100) return INDIC;
  if (code >= 0x2e80 && code < 0xd800) return CJK;
  // Half of a surrogate pair: an emoji is two to three tokens.
  if (code >= 0xd800 && code < 0xe000) return 1;
  return code >= 0xf900 && code < 0xfb00 ? CJK : MARK;
}

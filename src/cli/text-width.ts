// Text as a terminal shows it: how many columns it takes, cut to a width, and free of control characters.

/** C0, C1 and the bidirectional overrides: names come from other people and must not drive the terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the job.
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
const PLAIN_ASCII = /^[\x20-\x7e]*$/;
const ZERO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]$/u;
const EMOJI = /^\p{Emoji_Presentation}$/u;

/** East Asian wide and fullwidth blocks; each pair is the first and last code point. */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0xa4cf],
  [0xa960, 0xa97c],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x20000, 0x3fffd],
];

const ELLIPSIS = '…';

/** One line of visible characters. */
export function printable(text: string): string {
  return text.replace(UNSAFE, '\ufffd');
}

/** Columns that `text`, free of control characters, takes. */
export function textWidth(text: string): number {
  if (PLAIN_ASCII.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

/** `text` in at most `width` columns; what was cut is shown by an ellipsis. */
export function truncate(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  if (width <= 0) return '';
  let kept = '';
  let used = 0;
  for (const character of text) {
    used += characterWidth(character);
    if (used > width - 1) break;
    kept += character;
  }
  return kept + ELLIPSIS;
}

/** `text` as lines of at most `width` columns, broken at spaces; a longer word gets a line of its own, whole. */
export function wrap(text: string, width: number): readonly string[] {
  if (textWidth(text) <= width) return [text];
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && textWidth(last) + 1 + textWidth(word) <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** `text` filled up with spaces to `width` columns. */
export function pad(text: string, width: number, align: 'left' | 'right'): string {
  const space = ' '.repeat(Math.max(0, width - textWidth(text)));
  return align === 'left' ? text + space : space + text;
}

function characterWidth(character: string): number {
  if (ZERO_WIDTH.test(character)) return 0;
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x1100) return 1;
  return WIDE.some(([first, last]) => code >= first && code <= last) || EMOJI.test(character) ? 2 : 1;
}

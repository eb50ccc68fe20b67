// About how many tokens a text is, without a vocabulary: it is cut into the pieces that byte-pair tokenizers start from,
// and each piece is counted by its script, its length and what stands before it.

/**
 * Tokens of a Latin word by its length, from 1 to 14 letters; the last entry is for each letter more. Fitted to o200k
 * counts of prose, code and markup. What stands before a word tells how well a vocabulary knows it.
 */
type ByLength = readonly number[];
const AFTER_SPACE: ByLength = [1.04, 0.92, 0.96, 0.91, 1.08, 0.95, 0.95, 1.1, 1.13, 1.35, 1.51, 1.65, 1.86, 2, 0.26];
const CAPITALISED: ByLength = [0.88, 1.03, 0.99, 0.9, 1.05, 1.01, 1.03, 1.31, 1.47, 1.6, 1.85, 2.01, 2.17, 2.32, 0.34];
const AFTER_MARK: ByLength = [1.24, 1.23, 1.7, 1.3, 1.38, 1.25, 1.6, 1.74, 1.87, 1.9, 2.25, 2.42, 2.62, 2.82, 0.3];
const WITHIN: ByLength = [1.34, 1.02, 1.16, 0.94, 1.04, 1.22, 1.24, 1.53, 1.55, 1.78, 1.99, 2.42, 2.53, 2.88, 0.3];
const UPPER_CASE: ByLength = [1, 0.2, 0.6, 1.41, 1.63, 1.81, 1.85, 2.3, 2.69, 2.97, 3.59, 3.95, 4.28, 4.57, 0.18];
/** The first two again, in languages other than English. */
const FOREIGN: ByLength = [1.21, 0.05, 0.32, 0.86, 1.21, 1.34, 1.46, 1.9, 2.45, 2.6, 2.98, 3.29, 3.51, 3.97, 0.34];
const FOREIGN_CAPITALISED: ByLength = [0.77, 1, 0.7, 0.97, 1.3, 1.73, 2, 2.4, 2.69, 3, 3.2, 3.52, 3.82, 4.1, 0.3];
/** For a word with letters such as é or ß: a part for the word, a part for each letter. */
const ACCENTED_WORD = 0.97;
const ACCENTED_LETTER = 0.23;

const DIGITS_IN_TOKEN = 3;
const MARKS = 0.88;
const MARK_MORE = 0.19;
const LINE_END = 0.9;
const LINE_END_AFTER_MARKS = 0.19;
const INDENT = 1.02;
const SPACE_ALONE = 1.19;

const CYRILLIC = 0x400;
/** A letter that Russian does not have, and what words cost there against Russian ones. */
const UKRAINIAN_LETTER = '\u0456';
const UKRAINIAN_FACTOR = 1.2;
/** Scripts beyond Latin: where they begin, and tokens for a run and for each character of it. In order; the rest is other. */
type Script = { readonly from: number; readonly run: number; readonly character: number };
const SCRIPTS: readonly Script[] = [
  { from: 0x80, run: 0, character: 0.93 },
  { from: 0x370, run: 0, character: 0.42 },
  { from: CYRILLIC, run: 0.39, character: 0.2 },
  { from: 0x530, run: 0, character: 0.93 },
  { from: 0x590, run: 0.35, character: 0.37 },
  { from: 0x600, run: 0.2, character: 0.3 },
  { from: 0x780, run: 0, character: 0.93 },
  { from: 0x900, run: 0.3, character: 0.3 },
  { from: 0xe00, run: 0, character: 0.46 },
  { from: 0x1100, run: 0, character: 0.7 },
  { from: 0x1200, run: 0, character: 0.93 },
  { from: 0x2e80, run: 0, character: 0.9 },
  { from: 0x3000, run: 0, character: 1 },
  { from: 0x3040, run: 0, character: 0.64 },
  { from: 0x3100, run: 0, character: 0.78 },
  { from: 0xac00, run: 0.1, character: 0.72 },
  { from: 0xd7b0, run: 0, character: 0.93 },
  { from: 0xd800, run: 0, character: 1.03 },
  { from: 0xe000, run: 0, character: 0.93 },
  { from: 0xff00, run: 0, character: 1 },
  { from: 0xfff0, run: 0, character: 0.93 },
];

type Language = 'english' | 'wellKnown' | 'portuguese' | 'lessKnown';
/** Short words by which a language is known; a text is taken for English by its share of these. */
const WORDS_OF: Readonly<Record<Language, string>> = {
  english: 'the of and to is for that with are this you it be not from have was can will or an by on as at',
  wellKnown:
    'der die und das den dem mit von ein eine auf le la les des une dans est pour qui sur pas los las para del el',
  portuguese: 'uma com dos do da os em ao foi vai',
  lessKnown: 'het een van niet zijn il di che per yang dan się jest oraz ve bir och att som det',
};
const LANGUAGE_BY_WORD: ReadonlyMap<string, Language> = new Map(
  (['english', 'wellKnown', 'portuguese', 'lessKnown'] as const).flatMap((language) =>
    WORDS_OF[language].split(' ').map((word) => [word, language] as const),
  ),
);
/** What words cost against the mean of all languages but English. */
const FACTORS = { english: 1, wellKnown: 0.9, portuguese: 0.82, lessKnown: 1.12 } as const;
/** Fewer of a language's words than this do not make it that one. */
const LANGUAGE_SHARE = 0.04;
/** Vietnamese words are short, and mostly whole tokens. */
const VIETNAMESE_SHARE = 0.15;
const VIETNAMESE_FACTOR = 0.7;
const ENGLISH_SHARE = 0.16;
const FOREIGN_SHARE = 0.02;
/** Too few words say nothing of a language. */
const WORDS_MIN = 8;

/** Of longer texts evenly spaced parts of this length are looked at. */
const PART = 4000;
const LOOK_MAX = 48_000;

/** Tokens, not rounded; 0 for an empty text. Looks at about `lookMax` characters, so that its time is bounded. */
export function textTokens(text: string, lookMax: number = LOOK_MAX): number {
  if (text.length <= lookMax) return new TextScan(text).run();
  const parts = Math.max(1, Math.floor(lookMax / PART));
  const length = Math.min(PART, lookMax);
  const step = Math.floor((text.length - length) / Math.max(1, parts - 1));
  let tokens = 0;
  for (let part = 0; part < parts; part += 1) {
    tokens += new TextScan(text.slice(part * step, part * step + length)).run();
  }
  return (tokens / (parts * length)) * text.length;
}

/** What the next piece may take in with it, as tokenizers do: one space, or one mark. */
type Before = 'nothing' | 'space' | 'mark';

class TextScan {
  readonly #text: string;
  readonly #cyrillicFactor: number;
  #at = 0;
  #before: Before = 'nothing';
  #tokens = 0;
  /** The same words counted both ways, until the language is known. */
  #english = 0;
  #foreign = 0;
  /** Words with letters that English does not have. */
  #accented = 0;
  #words = 0;
  readonly #wordsOf: Record<Language, number> = { english: 0, wellKnown: 0, portuguese: 0, lessKnown: 0 };
  #vietnameseWords = 0;

  constructor(text: string) {
    this.#text = text;
    this.#cyrillicFactor = text.includes(UKRAINIAN_LETTER) ? UKRAINIAN_FACTOR : 1;
  }

  run(): number {
    while (this.#at < this.#text.length) this.#takePiece(this.#text.charCodeAt(this.#at));
    if (this.#words < WORDS_MIN) return this.#tokens + this.#accented + this.#english;
    const share = this.#wordsOf.english / this.#words;
    const isForeign = Math.min(1, Math.max(0, (ENGLISH_SHARE - share) / (ENGLISH_SHARE - FOREIGN_SHARE)));
    const foreign = (this.#accented + this.#foreign * isForeign) * (1 + (this.#factor() - 1) * isForeign);
    return this.#tokens + this.#english * (1 - isForeign) + foreign;
  }

  /** How far the language is from the mean of those that are not English. */
  #factor(): number {
    if (this.#vietnameseWords > VIETNAMESE_SHARE * this.#words) return VIETNAMESE_FACTOR;
    const { wellKnown, portuguese, lessKnown } = this.#wordsOf;
    const most = Math.max(wellKnown + portuguese, lessKnown);
    if (most > LANGUAGE_SHARE * this.#words) {
      if (lessKnown === most) return FACTORS.lessKnown;
      return portuguese >= wellKnown ? FACTORS.portuguese : FACTORS.wellKnown;
    }
    // Without a single accent it is more likely code, or a list of names.
    return this.#accented === 0 ? 1 : FACTORS.lessKnown;
  }

  #takePiece(code: number): void {
    if (isSpace(code)) this.#takeSpace();
    else if (isLatin(code)) this.#takeWord();
    else if (isDigit(code)) this.#takeDigits();
    else if (code < 0x80) this.#takeMarks();
    else this.#takeScript(code);
  }

  #takeWord(): void {
    const start = this.#at;
    let upper = 0;
    let accented = 0;
    let seenLower = false;
    for (; this.#at < this.#text.length; this.#at += 1) {
      const code = this.#text.charCodeAt(this.#at);
      if (isUpper(code)) {
        if (seenLower) break;
        upper += 1;
        continue;
      }
      if (!isLatin(code)) break;
      seenLower = true;
      if (code >= 0x80) accented += 1;
    }
    const length = this.#at - start;
    if (accented > 0) this.#addAccented(start, length);
    else if (upper >= 2) this.#tokens += byLength(UPPER_CASE, length);
    else if (this.#before === 'mark') this.#tokens += byLength(AFTER_MARK, length);
    else if (this.#before === 'nothing') this.#tokens += byLength(WITHIN, length);
    else this.#addPlain(start, length, upper > 0);
    this.#before = 'nothing';
  }

  #addAccented(start: number, length: number): void {
    this.#words += 1;
    if (/[\u1ea0-\u1eff\u01a1\u01b0]/.test(this.#text.slice(start, this.#at))) this.#vietnameseWords += 1;
    this.#accented += ACCENTED_WORD + ACCENTED_LETTER * length;
  }

  #addPlain(start: number, length: number, isCapitalised: boolean): void {
    this.#words += 1;
    if (!isCapitalised && length <= 4) this.#noteLanguage(this.#text.slice(start, this.#at));
    this.#english += byLength(isCapitalised ? CAPITALISED : AFTER_SPACE, length);
    this.#foreign += byLength(isCapitalised ? FOREIGN_CAPITALISED : FOREIGN, length);
  }

  #noteLanguage(word: string): void {
    const language = LANGUAGE_BY_WORD.get(word);
    if (language !== undefined) this.#wordsOf[language] += 1;
  }

  #takeDigits(): void {
    const length = this.#skipWhile(isDigit);
    this.#tokens += Math.ceil(length / DIGITS_IN_TOKEN);
    if (this.#before === 'space') this.#tokens += SPACE_ALONE;
    this.#countMarkBefore();
    this.#before = 'nothing';
  }

  #takeMarks(): void {
    const start = this.#at;
    const length = this.#skipWhile(isMark);
    const next = this.#at < this.#text.length ? this.#text.charCodeAt(this.#at) : 0;
    if (length === 1 && this.#before !== 'space' && isLatin(next)) {
      this.#before = 'mark';
      return;
    }
    let kinds = 1;
    for (let at = start + 1; at < this.#at; at += 1) {
      if (this.#text.charCodeAt(at) !== this.#text.charCodeAt(at - 1)) kinds += 1;
    }
    this.#tokens += (isDigit(next) ? 1 : MARKS) + MARK_MORE * (kinds - 1);
    this.#before = 'nothing';
    if (this.#skipWhile(isLineEnd) > 0) this.#tokens += LINE_END_AFTER_MARKS;
  }

  #takeSpace(): void {
    const start = this.#at;
    let afterLine = -1;
    for (; this.#at < this.#text.length && isSpace(this.#text.charCodeAt(this.#at)); this.#at += 1) {
      if (isLineEnd(this.#text.charCodeAt(this.#at))) afterLine = this.#at + 1;
    }
    if (afterLine !== -1) this.#tokens += LINE_END;
    const blanks = this.#at - (afterLine === -1 ? start : afterLine);
    if (blanks > 1) this.#tokens += INDENT;
    this.#before = blanks > 0 ? 'space' : 'nothing';
  }

  #takeScript(code: number): void {
    const script = scriptOf(code);
    const length = this.#skipWhile((each) => each >= 0x80 && !isLatin(each) && scriptOf(each) === script);
    this.#tokens += (script.run + script.character * length) * (script.from === CYRILLIC ? this.#cyrillicFactor : 1);
    this.#countMarkBefore();
    this.#before = 'nothing';
  }

  #countMarkBefore(): void {
    if (this.#before === 'mark') this.#tokens += MARKS;
  }

  /** The length of the run that `belongs`. */
  #skipWhile(belongs: (code: number) => boolean): number {
    const start = this.#at;
    while (this.#at < this.#text.length && belongs(this.#text.charCodeAt(this.#at))) this.#at += 1;
    return this.#at - start;
  }
}

function byLength(weights: ByLength, length: number): number {
  const last = weights.length - 1;
  if (length <= last) return weights[length - 1] ?? 0;
  return (weights[last - 1] ?? 0) + (length - last) * (weights[last] ?? 0);
}

function scriptOf(code: number): Script {
  let found: Script = { from: 0, run: 0, character: 1 };
  for (const script of SCRIPTS) {
    if (script.from > code) break;
    found = script;
  }
  return found;
}

/** Control characters count as white space here. */
function isSpace(code: number): boolean {
  return code <= 0x20 || code === 0xa0;
}

function isLineEnd(code: number): boolean {
  return code === 0x0a || code === 0x0d;
}

function isUpper(code: number): boolean {
  return code >= 0x41 && code <= 0x5a;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** Letters of the Latin script, the accented and Vietnamese ones too. */
function isLatin(code: number): boolean {
  if (code < 0x80) return isUpper(code & 0xdf) && code >= 0x41;
  return (code >= 0xc0 && code < 0x370) || (code >= 0x1e00 && code < 0x1f00);
}

function isMark(code: number): boolean {
  return code < 0x80 && !isSpace(code) && !isDigit(code) && !isLatin(code);
}

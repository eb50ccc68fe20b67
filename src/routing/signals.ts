// Hand-made signals of one turn: numbers between 0 and 1 that say what hashed words cannot.
import { LEXICON_CLASSES, type Lexicon } from './classifier-lexicon.ts';
import type { Subjects } from './classifier-subjects.ts';
import { CHAR, pairHash, type Tokens } from './classifier-tokens.ts';
import { DOMAINS } from './decision.ts';
import type { LastTurn, PreviousTurn } from './last-turn.ts';

/** How many tokens at the beginning and at the end are taken for the person's own words. */
export const LEAD_TOKENS = 40;
export const CLOSE_TOKENS = 24;
/** The very first words, where a request mostly names its verb. */
const FIRST_TOKENS = 4;
/** Texts up to this many characters are hardly ever a paste. */
const PASTE_CHARS = 600;
/** Words looked at for the subject. */
const SUBJECT_TOKENS = 200;
/** Hits of one word class beyond these say nothing new. */
const HITS_MAX = 4;

const SHAPE_NAMES = [
  'length',
  'tokens',
  'lines',
  'fenced',
  'backticks',
  'code_symbols',
  'code_lines',
  'math_symbols',
  'latex',
  'digits',
  'upper',
  'questions',
  'ends_with_question',
  'quotes',
  'bullets',
  'urls',
  'latin_ext',
  'cyrillic',
  'arabic',
  'other_script',
  'han',
  'kana',
  'hangul',
  'word_length',
  'tiny',
  'short',
  'paste',
  'paste_ratio',
  'sampled',
  'turns',
  'follow_up',
  'after_text',
  'after_code',
  'after_question',
  'after_tool_call',
  'after_tool',
  'tool_loop',
  'tools',
  'many_tools',
  'tool_match',
  'tool_forced',
  'tools_and_act',
  'image_in_last',
  'image_before',
  'image_and_see',
  'file',
  'json_asked',
  'system',
] as const;
type ShapeName = (typeof SHAPE_NAMES)[number];

/** Every signal by position; the trained weights refer to these. */
export const SIGNAL_NAMES: readonly string[] = [
  ...SHAPE_NAMES,
  ...LEXICON_CLASSES.map((name) => `first_${name}`),
  ...LEXICON_CLASSES.map((name) => `says_${name}`),
  ...DOMAINS.map((name) => `about_${name}`),
];
/** From here on signals are about the subject and speak for domains only; those before speak for tasks and difficulty. */
export const SUBJECT_SIGNALS_START = SHAPE_NAMES.length + 2 * LEXICON_CLASSES.length;
const LEXICON_START = SHAPE_NAMES.length;
const SHAPE_INDEX: Readonly<Record<ShapeName, number>> = indexOfNames();
const PREVIOUS_SIGNALS: Readonly<Record<Exclude<PreviousTurn, 'none'>, ShapeName>> = {
  text: 'after_text',
  code: 'after_code',
  question: 'after_question',
  tool_call: 'after_tool_call',
};

export type SignalInput = {
  readonly turn: LastTurn;
  readonly tokens: Tokens;
  /** Tokens of the tools' names and descriptions; empty without tools. */
  readonly toolTokens: Tokens;
  readonly lexicon: Lexicon;
  readonly subjects: Subjects;
};

/** Fills `out` (as long as `SIGNAL_NAMES`). */
export function readSignals(input: SignalInput, out: Float32Array): void {
  out.fill(0);
  readShape(input.tokens, input.turn, out);
  readScripts(input.tokens, out);
  readWords(input.tokens, input.lexicon, out);
  readSubjects(input.tokens, input.subjects, out);
  readConversation(input, out);
}

/** The position of a signal, for rules that look at one. */
export function signalIndex(name: ShapeName): number {
  return SHAPE_INDEX[name];
}

function indexOfNames(): Record<ShapeName, number> {
  const entries = SHAPE_NAMES.map((name, index) => [name, index] as const);
  return Object.fromEntries(entries) as Record<ShapeName, number>;
}

function set(out: Float32Array, name: ShapeName, value: number | boolean): void {
  out[SHAPE_INDEX[name]] = Math.min(1, Number(value));
}

function readShape(tokens: Tokens, turn: LastTurn, out: Float32Array): void {
  const { chars } = tokens;
  const per = (kind: number, factor: number): number => ((chars[kind] ?? 0) * factor) / Math.max(20, tokens.length);
  const lines = chars[CHAR.newline] ?? 0;
  set(out, 'length', Math.log2(1 + turn.textLength) / 18);
  set(out, 'tokens', Math.log2(1 + tokens.count) / 12);
  set(out, 'lines', Math.log2(1 + lines) / 8);
  set(out, 'fenced', tokens.fences > 0);
  set(out, 'backticks', tokens.backticks > 0 && tokens.fences === 0);
  set(out, 'code_symbols', per(CHAR.code, 8));
  set(out, 'code_lines', tokens.codeLines / (lines + 4));
  set(out, 'math_symbols', per(CHAR.math, 10));
  set(out, 'latex', tokens.latex / 12);
  set(out, 'digits', per(CHAR.digit, 5));
  set(out, 'upper', per(CHAR.upper, 5));
  set(out, 'questions', (chars[CHAR.question] ?? 0) / 3);
  set(out, 'ends_with_question', tokens.endsWithQuestion);
  set(out, 'quotes', (chars[CHAR.quote] ?? 0) / 6);
  set(out, 'bullets', tokens.bullets / 6);
  set(out, 'urls', tokens.urls / 2);
  set(out, 'word_length', tokens.letters / Math.max(1, tokens.count) / 12);
  set(out, 'tiny', tokens.count <= 3);
  set(out, 'short', tokens.count <= 9);
  set(out, 'paste', Math.max(0, turn.textLength - PASTE_CHARS) / 3000);
  set(out, 'paste_ratio', 1 - Math.min(1, (LEAD_TOKENS + CLOSE_TOKENS) / Math.max(1, tokens.count)));
  set(out, 'sampled', turn.textLength > tokens.length);
}

function readScripts(tokens: Tokens, out: Float32Array): void {
  const { chars } = tokens;
  const share = (kind: number, factor: number): number => ((chars[kind] ?? 0) * factor) / Math.max(1, tokens.letters);
  set(out, 'latin_ext', share(CHAR.latinExt, 8));
  set(out, 'cyrillic', share(CHAR.cyrillic, 1));
  set(out, 'arabic', share(CHAR.arabic, 1));
  set(out, 'other_script', share(CHAR.otherScript, 1));
  set(out, 'han', share(CHAR.han, 1));
  set(out, 'kana', share(CHAR.kana, 1));
  set(out, 'hangul', share(CHAR.hangul, 1));
}

function readWords(tokens: Tokens, lexicon: Lexicon, out: Float32Array): void {
  const closeFrom = Math.max(LEAD_TOKENS, tokens.count - CLOSE_TOKENS);
  for (let index = 0; index < tokens.count; index++) {
    if (index === LEAD_TOKENS) index = closeFrom;
    const classes = classesAt(tokens, index, lexicon);
    if (classes !== 0) countClasses(classes, index < FIRST_TOKENS, out);
  }
}

/** Words of a subject anywhere near the beginning; each counts less the more there are. */
function readSubjects(tokens: Tokens, subjects: Subjects, out: Float32Array): void {
  const count = Math.min(tokens.count, SUBJECT_TOKENS);
  for (let index = 0; index < count; index++) {
    const hash = tokens.hashes[index] ?? 0;
    const stem = tokens.stems[index] ?? 0;
    let domain = subjects.get(stem === 0 ? hash : stem);
    if (domain === undefined && tokens.sizes[index] === 0)
      domain = subjects.get(pairHash(hash, tokens.hashes[index + 1] ?? 0));
    if (domain === undefined) continue;
    const at = SUBJECT_SIGNALS_START + domain;
    const value = out[at] ?? 0;
    out[at] = value + (1 - value) / 2;
  }
}

function classesAt(tokens: Tokens, index: number, lexicon: Lexicon): number {
  const hash = tokens.hashes[index] ?? 0;
  const stem = tokens.stems[index] ?? 0;
  let classes = lexicon.get(hash) ?? 0;
  if (stem !== 0) classes |= lexicon.get(stem) ?? 0;
  if (index + 1 < tokens.count) classes |= lexicon.get(pairHash(hash, tokens.hashes[index + 1] ?? 0)) ?? 0;
  return classes;
}

function countClasses(classes: number, first: boolean, out: Float32Array): void {
  for (let index = 0; index < LEXICON_CLASSES.length; index++) {
    if ((classes & (1 << index)) === 0) continue;
    const says = LEXICON_START + LEXICON_CLASSES.length + index;
    out[says] = Math.min(1, (out[says] ?? 0) + 1 / HITS_MAX);
    if (first) out[LEXICON_START + index] = 1;
  }
}

function readConversation(input: SignalInput, out: Float32Array): void {
  const { turn, tokens } = input;
  const says = (name: (typeof LEXICON_CLASSES)[number]): number =>
    out[LEXICON_START + LEXICON_CLASSES.length + LEXICON_CLASSES.indexOf(name)] ?? 0;
  set(out, 'turns', Math.log2(Math.max(1, turn.turns)) / 5);
  set(out, 'follow_up', turn.turns > 1);
  if (turn.previous !== 'none') set(out, PREVIOUS_SIGNALS[turn.previous], 1);
  set(out, 'after_tool', turn.afterTool);
  set(out, 'tool_loop', turn.toolLoop);
  set(out, 'tools', turn.toolCount > 0);
  set(out, 'many_tools', turn.toolCount / 12);
  set(out, 'tool_match', toolMatch(tokens, input.toolTokens));
  set(out, 'tool_forced', turn.toolForced && turn.toolCount > 0);
  set(out, 'tools_and_act', turn.toolCount > 0 ? says('act') * 2 : 0);
  set(out, 'image_in_last', turn.imageInLast);
  set(out, 'image_before', turn.imageAnywhere && !turn.imageInLast);
  set(out, 'image_and_see', turn.imageAnywhere ? says('see') * 2 : 0);
  set(out, 'file', turn.fileInLast);
  set(out, 'json_asked', turn.jsonAsked);
  set(out, 'system', turn.system.length > 0);
}

/** How many of the longer words the person used are words of the tools' names or descriptions. */
function toolMatch(tokens: Tokens, toolTokens: Tokens): number {
  if (toolTokens.count === 0) return 0;
  let hits = 0;
  const count = Math.min(tokens.count, LEAD_TOKENS);
  for (let index = 0; index < count; index++) {
    const stem = tokens.stems[index] ?? 0;
    if (stem !== 0 && hasStem(toolTokens, stem)) hits++;
  }
  return hits / 3;
}

function hasStem(tokens: Tokens, stem: number): boolean {
  for (let index = 0; index < tokens.count; index++) if (tokens.stems[index] === stem) return true;
  return false;
}

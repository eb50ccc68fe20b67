// Hashed features of one turn: word uni- and bigrams and character n-grams, as rows of the weight table.
import { CHAR, lower, pairHash, type Tokens } from './classifier-tokens.ts';
import type { CodeBuffer } from './last-turn.ts';
import { CLOSE_TOKENS, LEAD_TOKENS } from './signals.ts';

/** The table has 2^16 rows: with 26 one-byte outputs that stays under 2 MB. */
export const BUCKET_BITS = 16;
export const BUCKETS = 1 << BUCKET_BITS;
/** Weights made for another set of features are refused by this number; count it up with every change here. */
export const FEATURE_VERSION = 2;

/** Each group is summed by itself and divided by the root of its size, so that a long paste can't drown the request. */
export const GROUPS = ['lead', 'chars', 'body', 'circumstances', 'context'] as const;

/** Where the character n-grams are taken: the beginning and the end of the sample. */
const GRAM_HEAD_CHARS = 224;
const GRAM_TAIL_CHARS = 96;
/** Words of the whole text that count towards its subject. */
const BODY_HEAD_TOKENS = 700;
const BODY_TAIL_TOKENS = 150;
/** Shorter words are mostly grammar. */
const SUBJECT_LETTERS = 3;
const CONTEXT_TOKENS = 40;
const CIRCUMSTANCE_TOKENS = 16;

const CAPACITY = 6000;
const SEEDS = { word: 0x1b56c4e9, pair: 0x7feb352d, gram: 0x2545f491, body: 0x68e31da4, first: 0x3c6ef372 } as const;
const SEED_TOOLS = 0x51ab3c1d;
const SEED_IMAGE = 0x2f9be6cc;
const SEED_PREVIOUS = 0x5bd1e995;
const SEED_SYSTEM = 0x4cf5ad43;

/** Rows by group: group g holds `rows[ends[g - 1] .. ends[g])`. Reused; only what `ends` covers is valid. */
export type Features = { count: number; readonly rows: Uint16Array; readonly ends: Int32Array };

export type FeatureInput = {
  readonly text: CodeBuffer;
  readonly tokens: Tokens;
  readonly previousUser: Tokens;
  readonly system: Tokens;
  /** Tools are offered; an image is somewhere in the conversation: words mean other things then. */
  readonly tools: boolean;
  readonly image: boolean;
  readonly table: Uint8Array;
  /** Hashes of words that carry no subject. */
  readonly stopwords: ReadonlySet<number>;
};

export function createFeatures(): Features {
  return { count: 0, rows: new Uint16Array(CAPACITY), ends: new Int32Array(GROUPS.length) };
}

/** Fills `features`, whose former contents are lost. */
export function extractFeatures(input: FeatureInput, features: Features): void {
  const { tokens } = input;
  features.count = 0;
  addLead(tokens, features);
  features.ends[0] = features.count;
  addGrams(input.text, input.table, features);
  features.ends[1] = features.count;
  addBody(tokens, input.stopwords, features);
  features.ends[2] = features.count;
  if (input.tools) addWords(tokens, CIRCUMSTANCE_TOKENS, SEED_TOOLS, features);
  if (input.image) addWords(tokens, CIRCUMSTANCE_TOKENS, SEED_IMAGE, features);
  features.ends[3] = features.count;
  if (tokens.count < LEAD_TOKENS) addWords(input.previousUser, CONTEXT_TOKENS, SEED_PREVIOUS, features);
  addWords(input.system, CONTEXT_TOKENS, SEED_SYSTEM, features);
  features.ends[4] = features.count;
}

function add(features: Features, hash: number, seed: number): void {
  if (features.count >= CAPACITY) return;
  const mixed = Math.imul(hash ^ seed ^ (hash >>> 13), 0x9e3779b1 | 0);
  features.rows[features.count++] = (mixed ^ (mixed >>> 11)) >>> (32 - BUCKET_BITS);
}

/** The person's own words: single, in pairs, by stem; the first three also by place. */
function addLead(tokens: Tokens, features: Features): void {
  const closeFrom = Math.max(LEAD_TOKENS, tokens.count - CLOSE_TOKENS);
  for (let index = 0; index < tokens.count; index++) {
    if (index === LEAD_TOKENS) index = closeFrom;
    const hash = tokens.hashes[index] ?? 0;
    const stem = tokens.stems[index] ?? 0;
    const next = tokens.hashes[index + 1] ?? 0;
    add(features, hash, SEEDS.word);
    if (stem !== 0) add(features, stem, SEEDS.word);
    if (index + 1 < tokens.count) add(features, pairHash(hash, next), SEEDS.pair);
    if (index < 3) add(features, Math.imul(hash, index + 3), SEEDS.first);
  }
}

function addGrams(text: CodeBuffer, table: Uint8Array, features: Features): void {
  const head = Math.min(text.length, GRAM_HEAD_CHARS);
  addGramsBetween(text.codes, 0, head, table, features);
  const tailFrom = Math.max(head, text.length - GRAM_TAIL_CHARS);
  addGramsBetween(text.codes, tailFrom, text.length, table, features);
}

/** Four characters at a time, folded; digits are one digit, any run of white space is one space. */
function addGramsBetween(codes: Uint16Array, from: number, to: number, table: Uint8Array, features: Features): void {
  let window = 0;
  let older = 0;
  let filled = 0;
  let wasSpace = false;
  for (let index = from; index < to; index++) {
    const code = fold(codes[index] ?? 32, table);
    if (code === 32 && wasSpace) continue;
    wasSpace = code === 32;
    older = (older << 16) | (window >>> 16);
    window = (window << 16) | code;
    if (++filled >= 4) add(features, Math.imul(older, 0x85ebca6b | 0) ^ Math.imul(window, 0x01000193), SEEDS.gram);
  }
}

function fold(code: number, table: Uint8Array): number {
  if (code >= 256) return lower(code, CHAR.latinExt);
  const kind = table[code] ?? CHAR.mark;
  if (kind === CHAR.space || kind === CHAR.newline) return 32;
  return kind === CHAR.digit ? 48 : lower(code, kind);
}

/** What the text is about: its longer words and pairs of ideographs, since "why does" is no subject but benchmarks think so. */
function addBody(tokens: Tokens, stopwords: ReadonlySet<number>, features: Features): void {
  const tailFrom = Math.max(BODY_HEAD_TOKENS, tokens.count - BODY_TAIL_TOKENS);
  for (let index = 0; index < tokens.count; index++) {
    if (index === BODY_HEAD_TOKENS) index = tailFrom;
    const hash = tokens.hashes[index] ?? 0;
    const size = tokens.sizes[index] ?? 0;
    if (size === 0) addIdeograph(tokens, index, features);
    if (size < SUBJECT_LETTERS || stopwords.has(hash)) continue;
    const stem = tokens.stems[index] ?? 0;
    add(features, hash, SEEDS.body);
    if (stem !== 0) add(features, stem, SEEDS.body);
  }
}

function addIdeograph(tokens: Tokens, index: number, features: Features): void {
  const hash = tokens.hashes[index] ?? 0;
  add(features, hash, SEEDS.body);
  const paired = index + 1 < tokens.count && tokens.sizes[index + 1] === 0;
  if (paired) add(features, pairHash(hash, tokens.hashes[index + 1] ?? 0), SEEDS.body);
}

function addWords(tokens: Tokens, limit: number, seed: number, features: Features): void {
  const count = Math.min(tokens.count, limit);
  for (let index = 0; index < count; index++) {
    const hash = tokens.hashes[index] ?? 0;
    add(features, hash, seed);
    if (index + 1 < count) add(features, pairHash(hash, tokens.hashes[index + 1] ?? 0), seed);
  }
}

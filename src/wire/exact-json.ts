// JSON that a JavaScript value cannot give back as it was (1.0, 1e3, integers above 2^53, keys like "10") keeps its own text.

import { isObject } from './field-checks.ts';

/** Where the text of an object or array lies. Never enumerable, so that copies and comparisons do not see it. */
const TEXT = Symbol('exact JSON text');

type Span = { readonly bytes: Buffer; readonly start: number; readonly end: number };

/** Keys that JavaScript puts before all others, whatever their order was. */
const INDEX_KEY = /^(?:0|[1-9]\d{0,9})$/;

const QUOTE = 0x22;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;
const SPACE = 0x20;
const BACKSLASH = 0x5c;

/** `JSON.stringify` for values of JSON alone, with the text that was kept wherever there is one. */
export function renderExactJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const text = exactTextOf(value);
  if (text !== undefined) return text;
  if (Array.isArray(value)) return `[${value.map((item) => renderExactJson(item ?? null)).join(',')}]`;
  const fields: string[] = [];
  for (const [key, inner] of Object.entries(value)) {
    if (inner !== undefined) fields.push(`${JSON.stringify(key)}:${renderExactJson(inner)}`);
  }
  return `{${fields.join(',')}}`;
}

/** The object a JSON text holds, its text kept; undefined where it holds anything else. */
export function parseExactObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value)) return undefined;
    if (JSON.stringify(value) !== text)
      keep(value, { bytes: Buffer.from(text), start: 0, end: Buffer.byteLength(text) });
    return value;
  } catch {
    // No JSON, or nested too deep to be written again.
    return undefined;
  }
}

/** Notes in `value`, which `bytes` were parsed to, the text of all objects and arrays that would come out different. */
export function keepExactTexts(bytes: Buffer, value: unknown): void {
  new Walk(bytes).visit(value);
}

/** True for a number that comes out of JavaScript as it went in. */
export function isExactNumber(token: string): boolean {
  return String(Number(token)) === token;
}

function exactTextOf(value: object): string | undefined {
  const span = (value as { readonly [TEXT]?: Span })[TEXT];
  return span?.bytes.toString('utf8', span.start, span.end);
}

function keep(value: object, span: Span): void {
  Object.defineProperty(value, TEXT, { value: span, configurable: true });
}

/** Goes through valid JSON and what it was parsed to side by side. The depth is bounded by the body's own limit. */
class Walk {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Whether the value at the current place is exact; goes behind it. */
  visit(value: unknown): boolean {
    const first = this.#peek();
    if (first === QUOTE) {
      this.#skipString();
      return true;
    }
    if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return this.#visitScalar();
    const start = this.#at;
    this.#at += 1;
    const isExact = first === OPEN_BRACE ? this.#visitFields(value) : this.#visitItems(value);
    if (typeof value === 'object' && value !== null) {
      if (!isExact) keep(value, { bytes: this.#bytes, start, end: this.#at });
      // Of a key given twice only the last value counts, and this one may be of the first.
      else if (TEXT in value) Reflect.deleteProperty(value, TEXT);
    }
    return isExact;
  }

  #visitFields(value: unknown): boolean {
    let isExact = true;
    while (this.#peek() !== CLOSE_BRACE) {
      if (this.#peek() === COMMA) this.#at += 1;
      this.#peek();
      const key = this.#readKey();
      if (INDEX_KEY.test(key)) isExact = false;
      if (this.#peek() === COLON) this.#at += 1;
      const inner = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
      isExact = this.visit(inner) && isExact;
    }
    this.#at += 1;
    return isExact;
  }

  #visitItems(value: unknown): boolean {
    const items: readonly unknown[] = Array.isArray(value) ? value : [];
    let isExact = true;
    for (let index = 0; this.#peek() !== CLOSE_BRACKET; index += 1) {
      if (this.#peek() === COMMA) this.#at += 1;
      isExact = this.visit(items[index]) && isExact;
    }
    this.#at += 1;
    return isExact;
  }

  /** A number, `true`, `false` or `null`: none of their bytes ends a container. */
  #visitScalar(): boolean {
    const start = this.#at;
    while (this.#at < this.#bytes.length && !ENDS.has(this.#bytes[this.#at] ?? 0)) this.#at += 1;
    const token = this.#bytes.toString('latin1', start, this.#at);
    return WORDS.has(token) || isExactNumber(token);
  }

  /** The next byte that is not white space. */
  #peek(): number {
    while (this.#at < this.#bytes.length && (this.#bytes[this.#at] ?? 0) <= SPACE) this.#at += 1;
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new Error('the JSON ended before its value did');
    return byte;
  }

  #readKey(): string {
    const start = this.#at;
    this.#skipString();
    const raw = this.#bytes.toString('utf8', start, this.#at);
    return raw.includes('\\') ? String(JSON.parse(raw)) : raw.slice(1, -1);
  }

  #skipString(): void {
    let quote = this.#at;
    let isEscaped = true;
    while (isEscaped) {
      quote = this.#bytes.indexOf(QUOTE, quote + 1);
      if (quote === -1) throw new Error('the JSON ended within a string');
      let slashes = 0;
      while (this.#bytes[quote - 1 - slashes] === BACKSLASH) slashes += 1;
      isEscaped = slashes % 2 === 1;
    }
    this.#at = quote + 1;
  }
}

const ENDS: ReadonlySet<number> = new Set([COMMA, CLOSE_BRACE, CLOSE_BRACKET, SPACE, 0x09, 0x0a, 0x0d]);
const WORDS: ReadonlySet<string> = new Set(['true', 'false', 'null']);

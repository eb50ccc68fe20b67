// Lossless prompt optimisation: takes out of a request's bytes what costs tokens and means nothing, and nothing else.

import { applyEdits, type Edit, type JsonBody, parseJsonBody, toBuffer } from './json-scan.ts';
import { arrayItems, objectFields, type Span, textAt } from './json-spans.ts';
import { dropJsonSpace, minifyJsonText, trimLineEnds } from './lossless-text.ts';
import type { Dialect } from './neutral.ts';
import { textTokens } from './token-estimate.ts';

export type OptimizedRequest = { readonly body: JsonBody; readonly tokensSaved: number };

/**
 * JSON in tool results and tool schemas loses the white space between its marks, texts of system and user the white
 * space at line ends (see `trimLineEnds`), and a system block that repeats an earlier one goes. The model's own words,
 * calls and thinking, media and every cache mark stay. The same request always gives the same bytes, and twice gives
 * what once gave. Without a change the same body comes back. `tokensSaved` is an estimate; schemas are not counted in
 * it, since upstreams write them anew for the model.
 */
export function optimizeRequest(body: JsonBody, dialect: Dialect): OptimizedRequest {
  const work: Work = { bytes: toBuffer(body.bytes), edits: [], tokens: 0 };
  const visit = TOP_LEVEL[dialect];
  for (const { key, valueStart, valueEnd } of body.fields) {
    visit(work, key, { start: valueStart, end: valueEnd });
  }
  if (work.edits.length === 0) return { body, tokensSaved: 0 };
  work.edits.sort((a, b) => a.start - b.start);
  return { body: parseJsonBody(applyEdits(work.bytes, work.edits)), tokensSaved: Math.max(0, Math.round(work.tokens)) };
}

/** `tokens` is about what the edits take out. */
type Work = { readonly bytes: Buffer; readonly edits: Edit[]; tokens: number };
type Fields = ReadonlyMap<string, Span>;
type TextChange = (text: string) => string;

const TOP_LEVEL: Readonly<Record<Dialect, (work: Work, key: string, value: Span) => void>> = {
  chat(work, key, value) {
    if (key === 'messages') visitChatMessages(work, value);
    else if (key === 'tools') visitTools(work, value);
  },
  messages(work, key, value) {
    if (key === 'system') visitSystem(work, value);
    else if (key === 'messages') visitMessages(work, arrayItems(work.bytes, value));
    else if (key === 'tools') visitTools(work, value);
  },
  responses(work, key, value) {
    if (key === 'instructions') changeText(work, value, trimLineEnds);
    else if (key === 'input') visitResponsesInput(work, value);
    else if (key === 'tools') visitTools(work, value);
  },
};

const READ_ROLES = new Set(['system', 'developer', 'user']);

function visitChatMessages(work: Work, value: Span): void {
  const items = arrayItems(work.bytes, value);
  const roles = items.map((item) => roleOf(work, item));
  const firstOther = roles.findIndex((role) => role !== 'system' && role !== 'developer');
  const leading = firstOther === -1 ? items.length : firstOther;
  visitMessages(work, [...withoutRepeats(work, items.slice(0, leading)), ...items.slice(leading)]);
}

function visitMessages(work: Work, items: readonly Span[]): void {
  for (const item of items) {
    const fields = objectFields(work.bytes, item);
    const role = textAt(work.bytes, fields?.get('role')) ?? '';
    if (fields === undefined) continue;
    if (READ_ROLES.has(role)) visitContent(work, fields.get('content'), trimLineEnds);
    else if (role === 'tool' || role === 'function') visitContent(work, fields.get('content'), minifyJsonText);
  }
}

function visitSystem(work: Work, value: Span): void {
  changeText(work, value, trimLineEnds);
  for (const block of withoutRepeats(work, arrayItems(work.bytes, value))) visitBlock(work, block, trimLineEnds);
}

function visitResponsesInput(work: Work, value: Span): void {
  changeText(work, value, trimLineEnds);
  const items = arrayItems(work.bytes, value);
  visitMessages(work, items);
  for (const item of items) {
    const fields = objectFields(work.bytes, item);
    if (fields !== undefined && textAt(work.bytes, fields.get('type')) === 'function_call_output') {
      visitContent(work, fields.get('output'), minifyJsonText);
    }
  }
}

/** A string, or an array of parts; anything else is left alone. */
function visitContent(work: Work, value: Span | undefined, change: TextChange): void {
  if (value === undefined) return;
  changeText(work, value, change);
  for (const item of arrayItems(work.bytes, value)) visitBlock(work, item, change);
}

function visitBlock(work: Work, item: Span, change: TextChange): void {
  const fields = objectFields(work.bytes, item);
  if (fields === undefined) return;
  const type = textAt(work.bytes, fields.get('type'));
  if (type === 'text' || type === 'input_text') changeText(work, fields.get('text'), change);
  else if (type === 'tool_result') visitContent(work, fields.get('content'), minifyJsonText);
}

function visitTools(work: Work, value: Span): void {
  for (const tool of arrayItems(work.bytes, value)) {
    const fields = objectFields(work.bytes, tool);
    if (fields === undefined) continue;
    const named = fields.get('function');
    const inner: Fields | undefined = named === undefined ? undefined : objectFields(work.bytes, named);
    const schema = fields.get('input_schema') ?? inner?.get('parameters') ?? fields.get('parameters');
    if (schema !== undefined) changeSchema(work, schema);
  }
}

function changeSchema(work: Work, { start, end }: Span): void {
  const json = work.bytes.toString('utf8', start, end);
  const text = dropJsonSpace(json);
  if (text.length < json.length) work.edits.push({ start, end, text });
}

function changeText(work: Work, value: Span | undefined, change: TextChange): void {
  const text = textAt(work.bytes, value);
  if (value === undefined || text === undefined) return;
  const changed = change(text);
  if (changed === text) return;
  work.edits.push({ start: value.start, end: value.end, text: JSON.stringify(changed) });
  work.tokens += textTokens(text) - textTokens(changed);
}

/** Those to keep: the first of equal ones, and each that carries a cache mark. */
function withoutRepeats(work: Work, items: readonly Span[]): readonly Span[] {
  const seen = new Set<string>();
  let before: Span | undefined;
  return items.filter((item) => {
    const key = comparable(work, item);
    const repeats = key !== undefined && seen.has(key) && !key.includes('"cache_control"');
    if (key !== undefined) seen.add(key);
    if (repeats && before !== undefined) {
      work.edits.push({ start: before.end, end: item.end, text: '' });
      work.tokens += textTokens(key);
    }
    before = item;
    return !repeats;
  });
}

/**
 * A block by its value, with its texts as they will go upstream, so that a second pass finds nothing new. Undefined for
 * what is no object or names a key twice: nobody can say what that is equal to.
 */
function comparable(work: Work, item: Span): string | undefined {
  if (objectFields(work.bytes, item) === undefined) return undefined;
  const value: unknown = JSON.parse(work.bytes.toString('utf8', item.start, item.end));
  return JSON.stringify(value, (key, each: unknown) =>
    typeof each === 'string' && (key === 'text' || key === 'content') ? trimLineEnds(each) : each,
  );
}

function roleOf(work: Work, item: Span): string | undefined {
  return textAt(work.bytes, objectFields(work.bytes, item)?.get('role'));
}

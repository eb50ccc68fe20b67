// Lossless prompt optimisation: takes out of a request's bytes what costs tokens and means nothing, and nothing else.

import { applyEdits, type Edit, type JsonBody, parseJsonBody, toBuffer } from './json-scan.ts';
import { arrayItems, objectFields, type Span, textAt } from './json-spans.ts';
import { dropJsonSpace, minifyJsonText } from './lossless-text.ts';
import type { Dialect } from './neutral.ts';
import { textTokens } from './token-estimate.ts';

export type OptimizedRequest = { readonly body: JsonBody; readonly tokensSaved: number };

/** Longer bodies go as they came: the work is done between other requests' chunks. */
export const OPTIMIZE_MAX_BYTES = 4 * 1024 * 1024;

/** So do bodies with more messages, parts, blocks and tools than this, each counted as often as it is looked into. */
export const OPTIMIZE_MAX_SPANS = 10_000;

/**
 * JSON in tool results and tool schemas loses the white space between its marks, and a system block that repeats an
 * earlier one goes. What system and user say, the model's own words, calls and thinking, media and every cache mark
 * stay to the byte. The same request always gives the same bytes, and twice gives what once gave. Without a change the
 * same body comes back, and so it does for bodies over the two limits. Linear in the body. `tokensSaved` is an
 * estimate; schemas are not counted in it, since upstreams write them anew for the model.
 */
export function optimizeRequest(body: JsonBody, dialect: Dialect): OptimizedRequest {
  if (body.bytes.length > OPTIMIZE_MAX_BYTES) return { body, tokensSaved: 0 };
  const work: Work = { bytes: toBuffer(body.bytes), edits: [], tokens: 0, spans: 0 };
  const visit = TOP_LEVEL[dialect];
  for (const { key, valueStart, valueEnd } of body.fields) {
    visit(work, key, { start: valueStart, end: valueEnd });
  }
  if (work.edits.length === 0 || work.spans > OPTIMIZE_MAX_SPANS) return { body, tokensSaved: 0 };
  work.edits.sort((a, b) => a.start - b.start);
  return { body: parseJsonBody(applyEdits(work.bytes, work.edits)), tokensSaved: Math.max(0, Math.round(work.tokens)) };
}

/** `tokens` is about what the edits take out; `spans` counts what was looked into. */
type Work = { readonly bytes: Buffer; readonly edits: Edit[]; tokens: number; spans: number };
type Fields = ReadonlyMap<string, Span>;

const TOP_LEVEL: Readonly<Record<Dialect, (work: Work, key: string, value: Span) => void>> = {
  chat(work, key, value) {
    if (key === 'messages') visitChatMessages(work, value);
    else if (key === 'tools') visitTools(work, value);
  },
  messages(work, key, value) {
    if (key === 'system') dropRepeats(work, itemsOf(work, value));
    else if (key === 'messages') visitMessages(work, itemsOf(work, value));
    else if (key === 'tools') visitTools(work, value);
  },
  responses(work, key, value) {
    if (key === 'input') visitResponsesInput(work, value);
    else if (key === 'tools') visitTools(work, value);
  },
};

function visitChatMessages(work: Work, value: Span): void {
  const items = itemsOf(work, value);
  const roles = items.map((item) => roleOf(work, item));
  const firstOther = roles.findIndex((role) => role !== 'system' && role !== 'developer');
  const leading = firstOther === -1 ? items.length : firstOther;
  dropRepeats(work, items.slice(0, leading));
  visitMessages(work, items.slice(leading));
}

function visitMessages(work: Work, items: readonly Span[]): void {
  for (const item of items) {
    const fields = fieldsOf(work, item);
    const role = textAt(work.bytes, fields?.get('role')) ?? '';
    if (fields === undefined) continue;
    if (role === 'user') visitToolResults(work, fields.get('content'));
    else if (role === 'tool' || role === 'function') visitResult(work, fields.get('content'));
  }
}

function visitResponsesInput(work: Work, value: Span): void {
  for (const item of itemsOf(work, value)) {
    const fields = fieldsOf(work, item);
    if (fields !== undefined && textAt(work.bytes, fields.get('type')) === 'function_call_output') {
      visitResult(work, fields.get('output'));
    }
  }
}

/** A tool's answer: a string, or an array of parts; anything else is left alone. */
function visitResult(work: Work, value: Span | undefined): void {
  if (value === undefined) return;
  changeText(work, value);
  for (const item of itemsOf(work, value)) {
    const fields = fieldsOf(work, item);
    const type = textAt(work.bytes, fields?.get('type'));
    if (type === 'text' || type === 'input_text') changeText(work, fields?.get('text'));
  }
}

/** What a user's message of Messages brings back from tools, among what the user says. */
function visitToolResults(work: Work, value: Span | undefined): void {
  if (value === undefined) return;
  for (const item of itemsOf(work, value)) {
    const fields = fieldsOf(work, item);
    if (textAt(work.bytes, fields?.get('type')) === 'tool_result') visitResult(work, fields?.get('content'));
  }
}

function visitTools(work: Work, value: Span): void {
  for (const tool of itemsOf(work, value)) {
    const fields = fieldsOf(work, tool);
    if (fields === undefined) continue;
    const named = fields.get('function');
    const inner: Fields | undefined = named === undefined ? undefined : fieldsOf(work, named);
    const schema = fields.get('input_schema') ?? inner?.get('parameters') ?? fields.get('parameters');
    if (schema !== undefined) changeSchema(work, schema);
  }
}

function changeSchema(work: Work, { start, end }: Span): void {
  const json = work.bytes.toString('utf8', start, end);
  const text = dropJsonSpace(json);
  if (text.length < json.length) work.edits.push({ start, end, text });
}

function changeText(work: Work, value: Span | undefined): void {
  const text = textAt(work.bytes, value);
  if (value === undefined || text === undefined) return;
  const changed = minifyJsonText(text);
  if (changed === text) return;
  work.edits.push({ start: value.start, end: value.end, text: JSON.stringify(changed) });
  work.tokens += textTokens(text) - textTokens(changed);
}

/** Stay: the first of equal ones, and each that carries a cache mark. */
function dropRepeats(work: Work, items: readonly Span[]): void {
  const seen = new Set<string>();
  let before: Span | undefined;
  for (const item of items) {
    const key = comparable(work, item);
    if (key !== undefined && seen.has(key) && before !== undefined && !key.includes('"cache_control"')) {
      work.edits.push({ start: before.end, end: item.end, text: '' });
      work.tokens += textTokens(key);
    }
    if (key !== undefined) seen.add(key);
    before = item;
  }
}

/** A block by its value. Undefined for what is no object or names a key twice: nobody can say what that is equal to. */
function comparable(work: Work, item: Span): string | undefined {
  if (fieldsOf(work, item) === undefined) return undefined;
  const value: unknown = JSON.parse(work.bytes.toString('utf8', item.start, item.end));
  return JSON.stringify(value);
}

function roleOf(work: Work, item: Span): string | undefined {
  return textAt(work.bytes, fieldsOf(work, item)?.get('role'));
}

/** The items of an array, none once the limit is passed. */
function itemsOf(work: Work, value: Span): readonly Span[] {
  const items = arrayItems(work.bytes, value, Math.max(0, OPTIMIZE_MAX_SPANS + 1 - work.spans));
  work.spans += items.length;
  return items;
}

/** The fields of an object, none once the limit is passed. */
function fieldsOf(work: Work, value: Span): Fields | undefined {
  work.spans += 1;
  return work.spans > OPTIMIZE_MAX_SPANS ? undefined : objectFields(work.bytes, value);
}

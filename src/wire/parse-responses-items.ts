// The input of a Responses request: a flat list of items, made the turns of a conversation.

import {
  checkLength,
  invalidField,
  isObject,
  type JsonObject,
  optionalArray,
  optionalString,
  requiredString,
} from './field-checks.ts';
import type { ContentPart, NeutralMessage, ThinkingPart, ToolCall } from './neutral.ts';
import { sealReasoning, unsealReasoning } from './parse-reasoning.ts';
import { parseResponsesContent } from './parse-responses-parts.ts';
import { toNeutralToolName } from './parse-responses-tools.ts';
import { MAX_MESSAGES } from './request-limits.ts';
import { SvcError } from './svc-error.ts';

export function parseResponsesInput(value: unknown): readonly NeutralMessage[] {
  if (typeof value === 'string') return [{ role: 'user', content: [{ type: 'text', text: value }] }];
  if (value === undefined || value === null) throw invalidField('input', 'is required: a string or an array of items');
  if (!Array.isArray(value)) throw invalidField('input', 'must be a string or an array of items');
  if (value.length === 0) throw invalidField('input', 'must have at least one item');
  checkLength(value, MAX_MESSAGES, 'input');
  const draft: Draft = { turns: [], open: undefined, callers: new Map() };
  for (const [index, item] of value.entries()) {
    const path = `input[${index}]`;
    if (!isObject(item)) throw invalidField(path, 'must be an object with a type');
    addItem(draft, item, path);
  }
  return draft.turns.flatMap(({ message, results }) => [message, ...results]);
}

/** Results stand right after the turn that called for them: Chat allows nothing in between. */
type Turn = { readonly message: NeutralMessage; readonly results: NeutralMessage[] };
type AssistantPart = ContentPart | ThinkingPart | ToolCall;
type Draft = {
  readonly turns: Turn[];
  /** The content of the assistant's turn under way: items of one answer belong together. */
  open: AssistantPart[] | undefined;
  /** Turns by the ids of their calls. */
  readonly callers: Map<string, Turn>;
};

function addItem(draft: Draft, item: JsonObject, path: string): void {
  // Messages may come without a type.
  const type = item['type'] ?? (item['role'] === undefined ? undefined : 'message');
  switch (type) {
    case 'message':
      addMessage(draft, item, path);
      return;
    case 'reasoning':
      addToAssistant(draft, parseReasoningItem(item, path));
      return;
    case 'function_call':
      addCall(draft, item, path, requiredString(item, 'arguments', path, true));
      return;
    case 'custom_tool_call':
      addCall(draft, item, path, JSON.stringify({ input: requiredString(item, 'input', path, true) }));
      return;
    case 'function_call_output':
    case 'custom_tool_call_output':
      addResult(draft, item, path);
      return;
    default:
      addOther(draft, type, item, path);
  }
}

function addMessage(draft: Draft, item: JsonObject, path: string): void {
  const content = parseResponsesContent(item['content'], `${path}.content`);
  switch (item['role']) {
    case 'assistant':
      // Another message is another turn; thinking before it is its own.
      if (draft.open?.some((part) => part.type !== 'thinking')) draft.open = undefined;
      addToAssistant(draft, content);
      return;
    case 'user':
      addTurn(draft, { role: 'user', content });
      return;
    case 'system':
    case 'developer':
      addTurn(draft, { role: 'system', content });
      return;
    default:
      throw invalidField(`${path}.role`, 'must be user, assistant, system or developer');
  }
}

function addTurn(draft: Draft, message: NeutralMessage): void {
  draft.open = undefined;
  draft.turns.push({ message, results: [] });
}

function addToAssistant(draft: Draft, parts: readonly AssistantPart[]): void {
  if (parts.length === 0) return;
  if (draft.open === undefined) {
    draft.open = [];
    draft.turns.push({ message: { role: 'assistant', content: draft.open }, results: [] });
  }
  for (const part of parts) draft.open.push(part);
}

function addCall(draft: Draft, item: JsonObject, path: string, text: string): void {
  const id = requiredString(item, 'call_id', path);
  const name = toNeutralToolName(optionalString(item, 'namespace', path), requiredString(item, 'name', path));
  addToAssistant(draft, [{ type: 'tool_call', id, name, arguments: text }]);
  const turn = draft.turns.at(-1);
  if (turn !== undefined) draft.callers.set(id, turn);
}

function addResult(draft: Draft, item: JsonObject, path: string): void {
  const toolCallId = requiredString(item, 'call_id', path);
  const content = parseResponsesContent(item['output'], `${path}.output`);
  const result: NeutralMessage = { role: 'tool', toolCallId, isError: false, content };
  const caller = draft.callers.get(toolCallId);
  // A result nobody called for stays where it is; the upstream says what it makes of it.
  if (caller === undefined) addTurn(draft, result);
  else caller.results.push(result);
  draft.open = undefined;
}

/** Calls of tools that ran elsewhere stay in the history as what they were, for the model to read. */
const SHOWN_AS_TEXT =
  /^(?:web_search|file_search|image_generation|code_interpreter|computer|mcp|tool_search|local_shell|shell|apply_patch)_\w+$/;

function addOther(draft: Draft, type: unknown, item: JsonObject, path: string): void {
  if (type === 'item_reference') {
    const message = `${path} refers to a stored item, and nothing is stored here: send the item itself.`;
    throw new SvcError('UNSUPPORTED_FEATURE', message, { param: path });
  }
  if (typeof type !== 'string') throw invalidField(`${path}.type`, 'is required and must be a string');
  if (SHOWN_AS_TEXT.test(type)) {
    addToAssistant(draft, [{ type: 'text', text: JSON.stringify(item) }]);
    return;
  }
  const message = `${path} is of the type ${JSON.stringify(type.slice(0, 60))}, which is not available here.`;
  throw new SvcError('UNSUPPORTED_FEATURE', message, { param: `${path}.type` });
}

/** Encrypted reasoning that is no seal of ours came from OpenAI itself, and only its models can read it. */
function parseReasoningItem(item: JsonObject, path: string): readonly ThinkingPart[] {
  const encrypted = optionalString(item, 'encrypted_content', path) ?? '';
  const text = textsOf(item, 'content', path) || textsOf(item, 'summary', path);
  if (encrypted === '') return text === '' ? [] : [{ type: 'thinking', text }];
  const seal = unsealReasoning(encrypted) === undefined ? sealForeign(item['id'], encrypted) : encrypted;
  return [text === '' ? { type: 'thinking', text, encrypted: seal } : { type: 'thinking', text, signature: seal }];
}

function sealForeign(id: unknown, data: string): string {
  const named = typeof id === 'string' ? { id } : {};
  return sealReasoning([{ type: 'reasoning.encrypted', data, ...named, format: 'openai-responses-v1', index: 0 }]);
}

function textsOf(item: JsonObject, key: string, path: string): string {
  const parts = optionalArray(item, key, path) ?? [];
  const texts = parseResponsesContent(parts, `${path}.${key}`).map((part) => (part.type === 'text' ? part.text : ''));
  return texts.filter((text) => text !== '').join('\n\n');
}

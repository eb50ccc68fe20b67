// The system prompt and the turns of a Messages request, checked and made neutral.

import { renderExactJson } from './exact-json.ts';
import {
  checkLength,
  invalidField,
  isObject,
  type JsonObject,
  optionalBoolean,
  requiredString,
} from './field-checks.ts';
import type { ContentPart, NeutralMessage, ThinkingPart, ToolCall } from './neutral.ts';
import { parseContentBlock } from './parse-messages-blocks.ts';
import { MAX_CONTENT_PARTS, MAX_MESSAGES } from './request-limits.ts';

/** One system message, or none where the prompt is empty or absent. */
export function parseSystem(system: unknown): readonly NeutralMessage[] {
  if (system === undefined || system === null || system === '') return [];
  const content = parseTexts(system, 'system');
  return content.length === 0 ? [] : [{ role: 'system', content }];
}

/** Tool results come out as messages of their own, before the rest of their turn, in their order. */
export function parseMessagesTurns(value: unknown): readonly NeutralMessage[] {
  if (value === undefined || value === null) throw invalidField('messages', 'is required and must be an array');
  if (!Array.isArray(value)) throw invalidField('messages', 'must be an array of message objects');
  if (value.length === 0) throw invalidField('messages', 'must have at least one message');
  checkLength(value, MAX_MESSAGES, 'messages');
  return value.flatMap((message: unknown, index) => parseTurn(message, `messages[${index}]`));
}

function parseTurn(message: unknown, path: string): readonly NeutralMessage[] {
  if (!isObject(message)) throw invalidField(path, 'must be an object with role and content');
  switch (message['role']) {
    case 'system':
      return [{ role: 'system', content: parseTexts(message['content'], `${path}.content`) }];
    case 'user':
      return parseUserTurn(message['content'], `${path}.content`);
    case 'assistant':
      return [{ role: 'assistant', content: parseAssistantTurn(message['content'], `${path}.content`) }];
    default:
      throw invalidField(`${path}.role`, 'must be "user", "assistant" or "system"');
  }
}

function parseTexts(content: unknown, path: string): readonly ContentPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return blocksOf(content, path).flatMap((block, index) => {
    if (block['type'] !== 'text') throw invalidField(`${path}[${index}].type`, 'must be "text" in a system prompt');
    return parseContentBlock(block, `${path}[${index}]`);
  });
}

function parseUserTurn(content: unknown, path: string): readonly NeutralMessage[] {
  if (typeof content === 'string') return [{ role: 'user', content: [{ type: 'text', text: content }] }];
  const results: NeutralMessage[] = [];
  const rest: ContentPart[] = [];
  for (const [index, block] of blocksOf(content, path).entries()) {
    const at = `${path}[${index}]`;
    if (block['type'] === 'tool_result') results.push(parseToolResult(block, at));
    else if (ASSISTANT_ONLY.has(block['type'])) throw misplaced(block, at, 'an assistant');
    else rest.push(...parseContentBlock(block, at));
  }
  return results.length > 0 && rest.length === 0 ? results : [...results, { role: 'user', content: rest }];
}

const ASSISTANT_ONLY: ReadonlySet<unknown> = new Set(['tool_use', 'thinking', 'redacted_thinking']);

function parseToolResult(block: JsonObject, path: string): NeutralMessage {
  const parts = parseResultContent(block['content'], `${path}.content`);
  const mark = block['cache_control'];
  return {
    role: 'tool',
    toolCallId: requiredString(block, 'tool_use_id', path),
    isError: optionalBoolean(block, 'is_error', path) ?? false,
    content: isObject(mark) ? markLast(parts, mark) : parts,
  };
}

function parseResultContent(content: unknown, path: string): readonly ContentPart[] {
  if (content === undefined || content === null) return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return blocksOf(content, path).flatMap((block, index) => parseContentBlock(block, `${path}[${index}]`));
}

function parseAssistantTurn(content: unknown, path: string): readonly (ContentPart | ThinkingPart | ToolCall)[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return blocksOf(content, path).flatMap((block, index) => parseAssistantBlock(block, `${path}[${index}]`));
}

function parseAssistantBlock(block: JsonObject, path: string): readonly (ContentPart | ThinkingPart | ToolCall)[] {
  switch (block['type']) {
    case 'tool_use':
      return [parseToolUse(block, path)];
    case 'thinking':
      return [parseThinkingBlock(block, path)];
    case 'redacted_thinking':
      return [{ type: 'thinking', text: '', encrypted: requiredString(block, 'data', path) }];
    case 'tool_result':
      throw misplaced(block, path, 'a user');
    default:
      return parseContentBlock(block, path);
  }
}

/** The signature is kept as it came, `''` for thinking nobody signed. */
function parseThinkingBlock(block: JsonObject, path: string): ThinkingPart {
  const text = requiredString(block, 'thinking', path, true);
  const signature = block['signature'];
  return { type: 'thinking', text, signature: typeof signature === 'string' ? signature : '' };
}

function parseToolUse(block: JsonObject, path: string): ToolCall {
  const input = block['input'] ?? {};
  if (!isObject(input)) throw invalidField(`${path}.input`, 'must be an object');
  const id = requiredString(block, 'id', path);
  const call = {
    type: 'tool_call',
    id,
    name: requiredString(block, 'name', path),
    arguments: renderExactJson(input),
  } as const;
  const mark = block['cache_control'];
  return isObject(mark) ? { ...call, cacheControl: mark } : call;
}

function markLast(parts: readonly ContentPart[], mark: JsonObject): readonly ContentPart[] {
  const index = parts.findLastIndex((part) => part.type !== 'opaque');
  const part = parts[index];
  return part === undefined ? parts : parts.with(index, { ...part, cacheControl: mark } as ContentPart);
}

function blocksOf(content: unknown, path: string): readonly JsonObject[] {
  if (!Array.isArray(content)) throw invalidField(path, 'is required and must be a string or an array of blocks');
  checkLength(content, MAX_CONTENT_PARTS, path);
  const blocks: readonly unknown[] = content;
  for (const [index, block] of blocks.entries()) {
    if (!isObject(block) || typeof block['type'] !== 'string') {
      throw invalidField(`${path}[${index}]`, 'must be an object with a type, like {"type": "text", "text": …}');
    }
  }
  return blocks as readonly JsonObject[];
}

function misplaced(block: JsonObject, path: string, owner: string): Error {
  return invalidField(`${path}.type`, `"${String(block['type'])}" belongs into ${owner} message`);
}

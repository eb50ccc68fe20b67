// The messages of a Chat request, checked and made neutral. On the path of every request: no big string is copied.

import { parseDataUrl } from './data-url.ts';
import {
  checkLength,
  invalidField,
  isObject,
  type JsonObject,
  optionalArray,
  optionalString,
  requiredString,
} from './field-checks.ts';
import type { CacheControl, ContentPart, NeutralMessage, ThinkingPart, ToolCall } from './neutral.ts';
import { parseReasoning } from './parse-reasoning.ts';
import { MAX_CONTENT_PARTS, MAX_MESSAGES } from './request-limits.ts';

/** Calls of the older `function_call` have no id; their results refer to the latest one. */
type Legacy = { calls: number };

type AssistantPart = ContentPart | ThinkingPart | ToolCall;

const ROLES = 'system, developer, user, assistant, tool or function';

export function parseChatMessages(value: unknown): readonly NeutralMessage[] {
  if (value === undefined || value === null) throw invalidField('messages', 'is required and must be an array');
  if (!Array.isArray(value)) throw invalidField('messages', 'must be an array of message objects');
  if (value.length === 0) throw invalidField('messages', 'must have at least one message');
  checkLength(value, MAX_MESSAGES, 'messages');
  const legacy: Legacy = { calls: 0 };
  return value.map((message: unknown, index) => {
    const path = `messages[${index}]`;
    if (!isObject(message)) throw invalidField(path, 'must be an object with role and content');
    return parseMessage(message, path, legacy);
  });
}

function parseMessage(message: JsonObject, path: string, legacy: Legacy): NeutralMessage {
  switch (message['role']) {
    case 'system':
    case 'developer':
      return named({ role: 'system', content: parseContent(message, path) }, message, path);
    case 'user':
      return named({ role: 'user', content: parseContent(message, path) }, message, path);
    case 'assistant':
      return named({ role: 'assistant', content: parseAssistant(message, path, legacy) }, message, path);
    case 'tool':
      return {
        role: 'tool',
        toolCallId: requiredString(message, 'tool_call_id', path),
        isError: false,
        content: parseContent(message, path),
      };
    case 'function':
      return {
        role: 'tool',
        toolCallId: legacyId(legacy),
        isError: false,
        content: parseFunctionResult(message, path),
      };
    default:
      throw invalidField(`${path}.role`, `must be ${ROLES}`);
  }
}

function named<T extends NeutralMessage>(parsed: T, message: JsonObject, path: string): T {
  const name = optionalString(message, 'name', path);
  return name === undefined ? parsed : { ...parsed, name };
}

function parseContent(message: JsonObject, path: string): readonly ContentPart[] {
  const content = message['content'];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content)) {
    const found = content === undefined || content === null ? 'is required and ' : '';
    throw invalidField(`${path}.content`, `${found}must be a string or an array of parts`);
  }
  checkLength(content, MAX_CONTENT_PARTS, `${path}.content`);
  return content.map((part: unknown, index) => parsePart(part, path, index));
}

/** Null was legal for a function without a result. */
function parseFunctionResult(message: JsonObject, path: string): readonly ContentPart[] {
  requiredString(message, 'name', path);
  return message['content'] === null ? [] : parseContent(message, path);
}

function parsePart(part: unknown, parent: string, index: number): ContentPart {
  const type = isObject(part) ? part['type'] : undefined;
  if (!isObject(part) || typeof type !== 'string') {
    throw invalidField(
      `${parent}.content[${index}]`,
      'must be an object with a type, like {"type": "text", "text": …}',
    );
  }
  switch (type) {
    case 'text':
      return parseText(part, parent, index);
    case 'image_url':
      return parseImage(part, `${parent}.content[${index}]`);
    case 'file':
      return parseFile(part, `${parent}.content[${index}]`);
    default:
      return { type: 'opaque', dialect: 'chat', value: part };
  }
}

function parseText(part: JsonObject, parent: string, index: number): ContentPart {
  const text = part['text'];
  if (typeof text !== 'string') throw invalidField(`${parent}.content[${index}].text`, 'must be a string');
  return withCacheControl({ type: 'text', text }, part);
}

function parseImage(part: JsonObject, path: string): ContentPart {
  const image = part['image_url'];
  if (!isObject(image)) throw invalidField(`${path}.image_url`, 'must be an object with a url');
  const url = requiredString(image, 'url', `${path}.image_url`);
  const detail = optionalString(image, 'detail', `${path}.image_url`);
  const source = parseDataUrl(url) ?? { url };
  return withCacheControl({ type: 'image', ...source, ...(detail === undefined ? {} : { detail }) }, part);
}

/** A file known to the upstream only by its id stays as it came. */
function parseFile(part: JsonObject, path: string): ContentPart {
  const file = part['file'];
  if (!isObject(file)) throw invalidField(`${path}.file`, 'must be an object with file_data or file_id');
  const url = optionalString(file, 'file_data', `${path}.file`);
  const filename = optionalString(file, 'filename', `${path}.file`);
  if (url === undefined) return { type: 'opaque', dialect: 'chat', value: part };
  const source = parseDataUrl(url) ?? { url };
  return withCacheControl({ type: 'file', ...source, ...(filename === undefined ? {} : { filename }) }, part);
}

function withCacheControl<T extends ContentPart>(parsed: T, part: JsonObject): T {
  const mark = part['cache_control'];
  return isObject(mark) ? { ...parsed, cacheControl: mark as CacheControl } : parsed;
}

function parseAssistant(message: JsonObject, path: string, legacy: Legacy): readonly AssistantPart[] {
  const hasContent = message['content'] !== undefined && message['content'] !== null;
  const content: AssistantPart[] = [...parseReasoning(message), ...(hasContent ? parseContent(message, path) : [])];
  const calls = optionalArray(message, 'tool_calls', path);
  for (const [index, call] of calls?.entries() ?? []) content.push(parseToolCall(call, `${path}.tool_calls[${index}]`));
  const older = message['function_call'];
  if (older !== undefined && older !== null) {
    legacy.calls += 1;
    content.push(parseFunctionCall(older, legacyId(legacy), `${path}.function_call`));
  }
  return content;
}

function parseToolCall(call: unknown, path: string): ToolCall {
  if (!isObject(call)) throw invalidField(path, 'must be an object with id, type and function');
  const id = requiredString(call, 'id', path);
  const custom = call['type'] === 'custom' ? call['custom'] : undefined;
  if (!isObject(custom)) return parseFunctionCall(call['function'], id, `${path}.function`);
  const input = JSON.stringify({ input: custom['input'] });
  return { type: 'tool_call', id, name: requiredString(custom, 'name', `${path}.custom`), arguments: input };
}

function parseFunctionCall(value: unknown, id: string, path: string): ToolCall {
  if (!isObject(value)) throw invalidField(path, 'must be an object with name and arguments');
  return {
    type: 'tool_call',
    id,
    name: requiredString(value, 'name', path),
    arguments: requiredString(value, 'arguments', path, true),
  };
}

function legacyId(legacy: Legacy): string {
  return `function_call_${legacy.calls}`;
}

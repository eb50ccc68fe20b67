// Reads a Chat Completions body as the sandbox needs it; what is missing or wrong is a 400 that names it.

import { isJsonRecord, type JsonRecord } from './json-record.ts';
import { parseSandboxControls, type SandboxControls } from './sandbox-faults.ts';
import { SandboxRefusal } from './sandbox-http.ts';

export type SandboxMessage = {
  readonly role: string;
  /** All text parts, one after the other. */
  readonly text: string;
  /** The last text part that is not empty: where clients put what the person typed. */
  readonly lastText: string;
  readonly images: readonly { readonly url: string; readonly detail: string | undefined }[];
  /** Names of attached files. */
  readonly files: readonly string[];
  /** Name and arguments of the assistant's calls, as text. */
  readonly calls: string;
  readonly toolCallId: string | undefined;
};

export type SandboxTool = {
  readonly name: string;
  readonly description: string;
  readonly parameters: unknown;
};

type SandboxToolChoice = 'auto' | 'none' | 'required' | { readonly name: string };

type SandboxFormat =
  | { readonly type: 'text' }
  | { readonly type: 'json_object' }
  | { readonly type: 'json_schema'; readonly schema: unknown };

export type SandboxRequest = {
  readonly model: string;
  readonly messages: readonly SandboxMessage[];
  readonly tools: readonly SandboxTool[];
  readonly toolChoice: SandboxToolChoice;
  readonly parallelToolCalls: boolean;
  readonly maxTokens: number | undefined;
  readonly stop: readonly string[];
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly format: SandboxFormat;
  readonly controls: SandboxControls;
  /** What the answer is seeded with. */
  readonly rawMessages: unknown;
};

export function parseSandboxRequest(body: unknown): SandboxRequest {
  if (!isJsonRecord(body)) throw new SandboxRefusal(400, 'The body must be a JSON object.');
  const model = body['model'];
  if (typeof model !== 'string' || model === '') throw new SandboxRefusal(400, '`model` is required.');
  const options = body['stream_options'];
  return {
    model,
    messages: parseMessages(body['messages']),
    tools: parseTools(body['tools']),
    toolChoice: parseToolChoice(body['tool_choice']),
    parallelToolCalls: body['parallel_tool_calls'] !== false,
    maxTokens: parseMaxTokens(body['max_completion_tokens'] ?? body['max_tokens']),
    stop: parseStop(body['stop']),
    stream: parseStream(body['stream']),
    includeUsage: isJsonRecord(options) && options['include_usage'] === true,
    format: parseFormat(body['response_format']),
    controls: parseSandboxControls(body['sandbox']),
    rawMessages: body['messages'],
  };
}

function parseMessages(value: unknown): SandboxMessage[] {
  if (!Array.isArray(value) || value.length === 0) {
    throw new SandboxRefusal(400, '`messages` is required and must have at least one message.');
  }
  return value.map((message: unknown, at) => {
    if (!isJsonRecord(message) || typeof message['role'] !== 'string') {
      throw new SandboxRefusal(400, `\`messages[${at}].role\` is required.`);
    }
    return parseMessage(message, message['role']);
  });
}

function parseMessage(message: JsonRecord, role: string): SandboxMessage {
  const content = message['content'];
  const parts = Array.isArray(content) ? content.filter(isJsonRecord) : [];
  const texts = typeof content === 'string' ? [content] : parts.flatMap((part) => textOf(part) ?? []);
  const calls = Array.isArray(message['tool_calls']) ? message['tool_calls'].filter(isJsonRecord) : [];
  const toolCallId = message['tool_call_id'];
  return {
    role,
    text: texts.length === 1 ? (texts[0] ?? '') : texts.join('\n'),
    lastText: texts.findLast((text) => text.trim() !== '') ?? '',
    images: parts.flatMap((part) => imageOf(part) ?? []),
    files: parts.flatMap((part) => fileNameOf(part) ?? []),
    calls: calls.map((call) => callText(call['function'])).join('\n'),
    toolCallId: typeof toolCallId === 'string' ? toolCallId : undefined,
  };
}

function textOf(part: JsonRecord): string | undefined {
  return part['type'] === 'text' && typeof part['text'] === 'string' ? part['text'] : undefined;
}

function imageOf(part: JsonRecord): SandboxMessage['images'][number] | undefined {
  if (part['type'] !== 'image_url') return undefined;
  const image = part['image_url'];
  const url = isJsonRecord(image) ? image['url'] : image;
  if (typeof url !== 'string') throw new SandboxRefusal(400, '`image_url.url` is required.');
  const detail = isJsonRecord(image) ? image['detail'] : undefined;
  return { url, detail: typeof detail === 'string' ? detail : undefined };
}

function fileNameOf(part: JsonRecord): string | undefined {
  if (part['type'] !== 'file') return undefined;
  const file = part['file'];
  return isJsonRecord(file) && typeof file['filename'] === 'string' ? file['filename'] : 'unnamed';
}

function callText(call: unknown): string {
  if (!isJsonRecord(call)) return '';
  return `${String(call['name'])} ${typeof call['arguments'] === 'string' ? call['arguments'] : ''}`;
}

function parseTools(value: unknown): SandboxTool[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new SandboxRefusal(400, '`tools` must be an array.');
  return value.map((tool: unknown, at) => {
    const definition = isJsonRecord(tool) ? tool['function'] : undefined;
    if (!isJsonRecord(definition) || typeof definition['name'] !== 'string') {
      throw new SandboxRefusal(400, `\`tools[${at}].function.name\` is required.`);
    }
    const description = definition['description'];
    return {
      name: definition['name'],
      description: typeof description === 'string' ? description : '',
      parameters: definition['parameters'],
    };
  });
}

function parseToolChoice(value: unknown): SandboxToolChoice {
  if (value === undefined || value === null || value === 'auto') return 'auto';
  if (value === 'none' || value === 'required') return value;
  const named = isJsonRecord(value) ? value['function'] : undefined;
  if (isJsonRecord(named) && typeof named['name'] === 'string') return { name: named['name'] };
  throw new SandboxRefusal(400, '`tool_choice` must be "auto", "none", "required" or name a function.');
}

function parseMaxTokens(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1) return value;
  throw new SandboxRefusal(400, '`max_tokens` must be a whole number of at least 1.');
}

function parseStop(value: unknown): string[] {
  if (value === undefined || value === null) return [];
  if (typeof value === 'string') return value === '' ? [] : [value];
  if (Array.isArray(value) && value.every((item) => typeof item === 'string'))
    return value.filter((item) => item !== '');
  throw new SandboxRefusal(400, '`stop` must be a text or an array of texts.');
}

function parseStream(value: unknown): boolean {
  if (value === undefined || value === null || typeof value === 'boolean') return value === true;
  throw new SandboxRefusal(400, '`stream` must be true or false.');
}

function parseFormat(value: unknown): SandboxFormat {
  if (value === undefined || value === null) return { type: 'text' };
  const type = isJsonRecord(value) ? value['type'] : undefined;
  if (type === 'text' || type === 'json_object') return { type };
  const schema = isJsonRecord(value) ? value['json_schema'] : undefined;
  if (type === 'json_schema' && isJsonRecord(schema) && isJsonRecord(schema['schema'])) {
    return { type, schema: schema['schema'] };
  }
  throw new SandboxRefusal(400, '`response_format` must be text, json_object, or json_schema with a schema.');
}

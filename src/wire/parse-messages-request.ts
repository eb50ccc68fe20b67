// A Messages request, checked and made neutral.

import {
  invalidField,
  isObject,
  type JsonObject,
  optionalBoolean,
  optionalInteger,
  optionalNumber,
  optionalObject,
  optionalString,
  optionalStrings,
  requiredString,
  withoutUndefined,
} from './field-checks.ts';
import type { CacheControl, NeutralMessage, NeutralRequest, Reasoning, ResponseFormat } from './neutral.ts';
import { parseSvcField } from './parse-chat-request.ts';
import { parseMessagesToolChoice, parseMessagesTools } from './parse-messages-tools.ts';
import { parseMessagesTurns, parseSystem } from './parse-messages-turns.ts';
import { MAX_TOKENS_RANGE, TOP_K_RANGE } from './request-limits.ts';

/**
 * Throws INVALID_REQUEST naming the first field that is missing or wrong, UNSUPPORTED_FEATURE for server tools and file
 * ids. Unknown top-level fields are ignored. `max_tokens: 0` (a cache warm-up) is legal here, not at every upstream.
 */
export function parseMessagesRequest(value: unknown): NeutralRequest {
  if (!isObject(value)) throw invalidField('body', 'must be a JSON object');
  const model = requiredString(value, 'model');
  const maxTokens = optionalInteger(value, 'max_tokens', { ...MAX_TOKENS_RANGE, min: 0 });
  if (maxTokens === undefined) throw invalidField('max_tokens', 'is required and must be a positive integer');
  const turns = [...parseSystem(value['system']), ...parseMessagesTurns(value['messages'])];
  const mark = optionalObject(value, 'cache_control');
  const outputConfig = optionalObject(value, 'output_config') ?? {};
  return withoutUndefined<NeutralRequest>({
    dialect: 'messages',
    model,
    messages: mark === undefined ? turns : markLastPart(turns, mark),
    tools: parseMessagesTools(value),
    ...parseMessagesToolChoice(value),
    maxTokens,
    stream: optionalBoolean(value, 'stream') ?? false,
    includeUsage: true,
    temperature: optionalNumber(value, 'temperature', 0, 1),
    topP: optionalNumber(value, 'top_p', 0, 1),
    topK: optionalInteger(value, 'top_k', TOP_K_RANGE),
    stop: optionalStrings(value, 'stop_sequences'),
    responseFormat: parseOutputFormat(outputConfig['format'] ?? value['output_format']),
    reasoning: parseThinking(value, optionalString(outputConfig, 'effort', 'output_config')),
    user: parseUser(value),
    serviceTier: optionalString(value, 'service_tier'),
    session: optionalString(value, 'session_id') ?? optionalString(value, 'prompt_cache_key'),
    choices: 1,
    svc: parseSvcField(value),
    sandbox: value['sandbox'],
  });
}

/** A mark on the whole request stands for one on its last part that can carry it. */
function markLastPart(messages: readonly NeutralMessage[], mark: JsonObject): readonly NeutralMessage[] {
  const at = messages.findLastIndex(({ content }) => content.some(takesMark));
  const message = messages[at];
  const content = message?.content ?? [];
  const index = content.findLastIndex(takesMark);
  const part = content[index];
  if (message === undefined || part === undefined || 'cacheControl' in part) return messages;
  const marked = content.with(index, { ...part, cacheControl: mark as CacheControl } as typeof part);
  return messages.with(at, { ...message, content: marked } as NeutralMessage);
}

/** Empty texts are left out of what is sent, so a mark on one would be lost. */
function takesMark(part: NeutralMessage['content'][number]): boolean {
  return part.type === 'text' ? part.text !== '' : part.type !== 'thinking' && part.type !== 'opaque';
}

function parseUser(value: JsonObject): string | undefined {
  const metadata = optionalObject(value, 'metadata');
  return metadata === undefined ? undefined : optionalString(metadata, 'user_id', 'metadata');
}

function parseOutputFormat(format: unknown): ResponseFormat | undefined {
  if (format === undefined || format === null) return undefined;
  if (!isObject(format)) throw invalidField('output_config.format', 'must be an object with type and schema');
  if (format['type'] !== 'json_schema') throw invalidField('output_config.format.type', 'must be "json_schema"');
  if (!isObject(format['schema'])) throw invalidField('output_config.format.schema', 'must be a JSON Schema object');
  return { type: 'json_schema', name: 'response', schema: format['schema'] };
}

function parseThinking(value: JsonObject, effort: string | undefined): Reasoning | undefined {
  const thinking = optionalObject(value, 'thinking');
  if (thinking === undefined) return effort === undefined ? undefined : { effort };
  const type = requiredString(thinking, 'type', 'thinking');
  if (type === 'disabled') return { enabled: false };
  const budget = optionalInteger(thinking, 'budget_tokens', MAX_TOKENS_RANGE, 'thinking');
  if (type === 'enabled' && budget === undefined) {
    throw invalidField('thinking.budget_tokens', 'is required when thinking is enabled and must be a positive integer');
  }
  return withoutUndefined<Reasoning>({ enabled: true, effort, maxTokens: type === 'enabled' ? budget : undefined });
}

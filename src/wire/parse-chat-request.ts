// A Chat Completions request, checked and made neutral.

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
import type { NeutralRequest, Reasoning, ResponseFormat } from './neutral.ts';
import { parseChatMessages } from './parse-chat-messages.ts';
import { parseChatToolChoice, parseChatTools } from './parse-chat-tools.ts';
import { isEffortNone, MAX_TOKENS_RANGE, TOP_K_RANGE } from './request-limits.ts';

const CHOICES_RANGE = { min: 1, max: 128 } as const;
const TOP_LOGPROBS_RANGE = { min: 0, max: 20 } as const;
/** Seeds of 64 bits lose digits in a JavaScript number; the bytes that go upstream keep them. */
const SEED_RANGE = { min: -(2 ** 64), max: 2 ** 64 } as const;

/** Throws INVALID_REQUEST naming the first field that is missing or wrong. Unknown top-level fields are ignored. */
export function parseChatRequest(value: unknown): NeutralRequest {
  if (!isObject(value)) throw invalidField('body', 'must be a JSON object');
  const model = requiredString(value, 'model');
  const messages = parseChatMessages(value['messages']);
  checkPassedFields(value);
  return withoutUndefined<NeutralRequest>({
    dialect: 'chat',
    model,
    messages,
    tools: parseChatTools(value),
    toolChoice: parseChatToolChoice(value),
    parallelToolCalls: optionalBoolean(value, 'parallel_tool_calls'),
    maxTokens: parseMaxTokens(value),
    stream: optionalBoolean(value, 'stream') ?? false,
    includeUsage: parseIncludeUsage(value),
    temperature: optionalNumber(value, 'temperature', 0, 2),
    topP: optionalNumber(value, 'top_p', 0, 1),
    topK: optionalInteger(value, 'top_k', TOP_K_RANGE),
    stop: parseStop(value),
    responseFormat: parseResponseFormat(value),
    reasoning: parseReasoning(value),
    user: optionalString(value, 'user'),
    serviceTier: optionalString(value, 'service_tier'),
    session: optionalString(value, 'session_id') ?? optionalString(value, 'prompt_cache_key'),
    choices: optionalInteger(value, 'n', CHOICES_RANGE) ?? 1,
    svc: parseSvcField(value),
    sandbox: value['sandbox'],
  });
}

/** The `svc` field of either dialect's body. */
export function parseSvcField(value: JsonObject): JsonObject | undefined {
  const field = value['svc'];
  if (field === undefined || isObject(field)) return field;
  throw invalidField('svc', 'must be an object with weights, models or max_cost');
}

/** Known fields that the neutral form has no use for: they go upstream as they came, if they make sense. */
function checkPassedFields(value: JsonObject): void {
  optionalNumber(value, 'presence_penalty', -2, 2);
  optionalNumber(value, 'frequency_penalty', -2, 2);
  optionalInteger(value, 'seed', SEED_RANGE);
  optionalBoolean(value, 'logprobs');
  optionalInteger(value, 'top_logprobs', TOP_LOGPROBS_RANGE);
  optionalObject(value, 'logit_bias');
  optionalObject(value, 'metadata');
}

/** Given both, the larger counts: which of them the upstream obeys is not known, and credits are held for the worst. */
function parseMaxTokens(value: JsonObject): number | undefined {
  const older = optionalInteger(value, 'max_tokens', MAX_TOKENS_RANGE);
  const newer = optionalInteger(value, 'max_completion_tokens', MAX_TOKENS_RANGE);
  return older !== undefined && newer !== undefined ? Math.max(older, newer) : (newer ?? older);
}

function parseIncludeUsage(value: JsonObject): boolean {
  const options = optionalObject(value, 'stream_options');
  return options !== undefined && optionalBoolean(options, 'include_usage', 'stream_options') === true;
}

function parseStop(value: JsonObject): readonly string[] | undefined {
  const stop = value['stop'];
  if (typeof stop === 'string') return [stop];
  if (stop !== undefined && stop !== null && !Array.isArray(stop)) {
    throw invalidField('stop', 'must be a string or an array of strings');
  }
  return optionalStrings(value, 'stop');
}

function parseResponseFormat(value: JsonObject): ResponseFormat | undefined {
  const format = optionalObject(value, 'response_format');
  if (format === undefined) return undefined;
  const type = requiredString(format, 'type', 'response_format');
  if (type === 'json_object') return { type };
  if (type !== 'json_schema') return undefined;
  const wrapped = format['json_schema'];
  if (!isObject(wrapped)) throw invalidField('response_format.json_schema', 'must be an object with name and schema');
  return withoutUndefined<ResponseFormat & { type: 'json_schema' }>({
    type,
    name: requiredString(wrapped, 'name', 'response_format.json_schema'),
    schema: optionalObject(wrapped, 'schema', 'response_format.json_schema') ?? {},
    strict: optionalBoolean(wrapped, 'strict', 'response_format.json_schema'),
    description: optionalString(wrapped, 'description', 'response_format.json_schema'),
  });
}

function parseReasoning(value: JsonObject): Reasoning | undefined {
  const options = optionalObject(value, 'reasoning');
  const plainEffort = optionalString(value, 'reasoning_effort');
  if (options === undefined && plainEffort === undefined) return undefined;
  const given = options ?? {};
  const effort = optionalString(given, 'effort', 'reasoning') ?? plainEffort;
  const enabled = optionalBoolean(given, 'enabled', 'reasoning') ?? (isEffortNone(effort) ? false : undefined);
  const maxTokens = optionalInteger(given, 'max_tokens', { ...MAX_TOKENS_RANGE, min: 0 }, 'reasoning');
  if (effort === undefined && enabled === undefined && maxTokens === undefined) return undefined;
  return withoutUndefined<Reasoning>({ enabled, effort: isEffortNone(effort) ? undefined : effort, maxTokens });
}

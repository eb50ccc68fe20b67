// A Responses request, checked and made neutral.

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
import type { NeutralMessage, NeutralRequest, Reasoning, ResponseFormat } from './neutral.ts';
import { parseSvcField } from './parse-chat-request.ts';
import { parseResponsesInput } from './parse-responses-items.ts';
import { parseResponsesTools, type ResponsesTools } from './parse-responses-tools.ts';
import { isEffortNone, MAX_TOKENS_RANGE, TOP_K_RANGE } from './request-limits.ts';
import { SvcError } from './svc-error.ts';

/** What an answer in this dialect needs of its request beyond the neutral form. */
export type ResponsesRequest = NeutralRequest & {
  readonly dialect: 'responses';
  /** The body as it came: the answer repeats parts of it. */
  readonly given: JsonObject;
  readonly toolkit: ResponsesTools;
  /** Whether encrypted reasoning was asked for, with which a client carries the model's thinking to the next request. */
  readonly includeEncrypted: boolean;
};

/**
 * Throws INVALID_REQUEST naming the first field that is missing or wrong, UNSUPPORTED_FEATURE for what needs a stored
 * response and for tools that run at OpenAI. Unknown top-level fields are ignored. `store: true` is taken and changes
 * nothing: the answer says `store: false`, and what would build on a stored response is refused when it comes.
 */
export function parseResponsesRequest(value: unknown): ResponsesRequest {
  if (!isObject(value)) throw invalidField('body', 'must be a JSON object');
  const model = requiredString(value, 'model');
  refuseStored(value);
  checkPassedFields(value);
  const toolkit = parseResponsesTools(value);
  const text = optionalObject(value, 'text') ?? {};
  return withoutUndefined<ResponsesRequest>({
    dialect: 'responses',
    model,
    messages: [...parseInstructions(value), ...parseResponsesInput(value['input'])],
    tools: toolkit.tools,
    toolChoice: toolkit.toolChoice,
    parallelToolCalls: optionalBoolean(value, 'parallel_tool_calls'),
    maxTokens: optionalInteger(value, 'max_output_tokens', MAX_TOKENS_RANGE),
    stream: optionalBoolean(value, 'stream') ?? false,
    includeUsage: true,
    temperature: optionalNumber(value, 'temperature', 0, 2),
    topP: optionalNumber(value, 'top_p', 0, 1),
    topK: optionalInteger(value, 'top_k', TOP_K_RANGE),
    responseFormat: parseFormat(text),
    reasoning: parseReasoningOptions(value),
    user: optionalString(value, 'user') ?? optionalString(value, 'safety_identifier'),
    serviceTier: optionalString(value, 'service_tier'),
    session: optionalString(value, 'session_id') ?? optionalString(value, 'prompt_cache_key'),
    choices: 1,
    svc: parseSvcField(value),
    sandbox: value['sandbox'],
    given: value,
    toolkit,
    includeEncrypted: optionalStrings(value, 'include')?.includes('reasoning.encrypted_content') ?? false,
  });
}

/** Throws an Error for a request of another dialect: it is a fault in svc. */
export function toResponsesRequest(request: NeutralRequest): ResponsesRequest {
  if (isResponsesRequest(request)) return request;
  throw new Error(`a request of the dialect ${request.dialect} is answered as one of responses`);
}

export function isResponsesRequest(request: NeutralRequest): request is ResponsesRequest {
  return request.dialect === 'responses' && 'toolkit' in request;
}

/** Fields by which a request builds on what OpenAI keeps for its callers. */
const STORED_FIELDS: readonly (readonly [field: string, instead: string])[] = [
  ['previous_response_id', 'send the whole conversation in input'],
  ['conversation', 'send the whole conversation in input'],
  ['prompt', 'send instructions and input'],
];

function refuseStored(value: JsonObject): void {
  for (const [field, instead] of STORED_FIELDS) {
    if (value[field] === undefined || value[field] === null) continue;
    const message = `${field} is not available: no responses or prompts are stored here; ${instead}.`;
    throw new SvcError('UNSUPPORTED_FEATURE', message, { param: field });
  }
  if (optionalBoolean(value, 'background') !== true) return;
  const message = 'background is not available: no responses are stored here; wait for the answer, or stream it.';
  throw new SvcError('UNSUPPORTED_FEATURE', message, { param: 'background' });
}

/** Known fields that the neutral form has no use for, if they make sense. */
function checkPassedFields(value: JsonObject): void {
  optionalBoolean(value, 'store');
  optionalObject(value, 'metadata');
  optionalObject(value, 'stream_options');
}

function parseInstructions(value: JsonObject): readonly NeutralMessage[] {
  const text = optionalString(value, 'instructions') ?? '';
  return text === '' ? [] : [{ role: 'system', content: [{ type: 'text', text }] }];
}

function parseFormat(text: JsonObject): ResponseFormat | undefined {
  const format = optionalObject(text, 'format', 'text');
  if (format === undefined) return undefined;
  const type = requiredString(format, 'type', 'text.format');
  if (type === 'json_object') return { type };
  if (type === 'text') return undefined;
  if (type !== 'json_schema') throw invalidField('text.format.type', 'must be "text", "json_object" or "json_schema"');
  const schema = format['schema'];
  if (!isObject(schema)) throw invalidField('text.format.schema', 'is required and must be a JSON Schema object');
  return withoutUndefined<ResponseFormat & { type: 'json_schema' }>({
    type,
    name: requiredString(format, 'name', 'text.format'),
    schema,
    strict: optionalBoolean(format, 'strict', 'text.format'),
    description: optionalString(format, 'description', 'text.format'),
  });
}

function parseReasoningOptions(value: JsonObject): Reasoning | undefined {
  const effort = optionalString(optionalObject(value, 'reasoning') ?? {}, 'effort', 'reasoning');
  if (effort === undefined) return undefined;
  return isEffortNone(effort) ? { enabled: false } : { effort };
}

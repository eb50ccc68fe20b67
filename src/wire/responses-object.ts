// The `response` object around a Responses answer: what it is made from, how it ended, and the request's own settings.

import type { JsonObject } from './field-checks.ts';
import type { FinishReason, Usage } from './neutral.ts';
import type { ResponsesRequest } from './parse-responses-request.ts';
import type { SvcError } from './svc-error.ts';

export type ResponseHead = {
  readonly id: string;
  readonly model: string;
  /** Seconds since 1970. */
  readonly createdAt: number;
  readonly request: ResponsesRequest;
};

export type ResponseState =
  | { readonly status: 'in_progress' }
  | { readonly status: 'failed'; readonly error: SvcError }
  | {
      readonly status: 'ended';
      readonly finishReason: FinishReason;
      readonly output: readonly JsonObject[];
      readonly usage: JsonObject;
    };

export function renderResponseObject(head: ResponseHead, state: ResponseState): JsonObject {
  const { id, model, createdAt, request } = head;
  return {
    id,
    object: 'response',
    created_at: createdAt,
    ...renderState(state),
    model,
    ...renderSettings(request),
  };
}

/** What an ended answer is called: `incomplete` where it was cut. */
export function endStatusOf(finishReason: FinishReason): 'completed' | 'incomplete' {
  return finishReason === 'length' || finishReason === 'content_filter' ? 'incomplete' : 'completed';
}

/** `cost` is USD as a plain decimal. Cached tokens are counted within `input_tokens`. */
export function renderResponsesUsage(usage: Usage, costDecimal: string): JsonObject {
  const { inputTokens, cachedTokens, cacheWriteTokens, outputTokens, reasoningTokens } = usage;
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cachedTokens, cache_write_tokens: cacheWriteTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: inputTokens + outputTokens,
    cost: Number(costDecimal),
  };
}

function renderState(state: ResponseState): JsonObject {
  if (state.status === 'in_progress') {
    return { status: 'in_progress', error: null, incomplete_details: null, output: [], usage: null };
  }
  if (state.status === 'failed') {
    const { code, message } = state.error;
    const error = { code: FAILURE_CODES.get(code) ?? 'server_error', message };
    return { status: 'failed', error, incomplete_details: null, output: [], usage: null };
  }
  const status = endStatusOf(state.finishReason);
  const reason = state.finishReason === 'length' ? 'max_output_tokens' : 'content_filter';
  return {
    status,
    error: null,
    incomplete_details: status === 'incomplete' ? { reason } : null,
    output: state.output,
    usage: state.usage,
  };
}

/** The words clients of this dialect act on: they compact a conversation, wait, or give up. All else may be tried again. */
const FAILURE_CODES: ReadonlyMap<string, string> = new Map([
  ['CONTEXT_LENGTH_EXCEEDED', 'context_length_exceeded'],
  ['RATE_LIMITED', 'rate_limit_exceeded'],
  ['UPSTREAM_RATE_LIMITED', 'rate_limit_exceeded'],
  ['INSUFFICIENT_CREDITS', 'insufficient_quota'],
  ['INVALID_REQUEST', 'invalid_prompt'],
]);

/** The request's settings as the dialect repeats them; `store` is false whatever was asked for. */
function renderSettings({ given, toolkit }: ResponsesRequest): JsonObject {
  return {
    background: false,
    instructions: given['instructions'] ?? null,
    max_output_tokens: given['max_output_tokens'] ?? null,
    metadata: given['metadata'] ?? {},
    parallel_tool_calls: given['parallel_tool_calls'] ?? true,
    previous_response_id: null,
    prompt_cache_key: given['prompt_cache_key'] ?? null,
    reasoning: given['reasoning'] ?? { effort: null, summary: null },
    safety_identifier: given['safety_identifier'] ?? null,
    service_tier: 'default',
    store: false,
    temperature: given['temperature'] ?? null,
    text: given['text'] ?? { format: { type: 'text' } },
    tool_choice: given['tool_choice'] ?? 'auto',
    tools: toolkit.kept,
    top_p: given['top_p'] ?? null,
    truncation: 'disabled',
    user: given['user'] ?? null,
  };
}

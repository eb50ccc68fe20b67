// How a Messages upstream says that an answer ended, or that it failed.

import { isObject, type JsonObject } from './field-checks.ts';
import type { FinishReason } from './neutral.ts';
import { SvcError } from './svc-error.ts';
import { parseUpstreamError } from './upstream-error.ts';

export type MessagesEnd = {
  readonly finishReason: FinishReason;
  /** The upstream's own `stop_reason`. */
  readonly nativeFinish: string;
  readonly stopSequence: string | undefined;
  /** What the model said of its refusal. */
  readonly refusal: string | undefined;
};

const FINISH_REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
]);

/** Of a whole message or the `delta` of a `message_delta`; undefined while the answer goes on. */
export function parseMessagesEnd(message: JsonObject): MessagesEnd | undefined {
  const reason = message['stop_reason'];
  if (typeof reason !== 'string' || reason === '') return undefined;
  const sequence = message['stop_sequence'];
  const details = message['stop_details'];
  const explanation = isObject(details) ? details['explanation'] : undefined;
  return {
    // `end_turn`, `stop_sequence`, `pause_turn` and words yet unknown: the model stopped by itself.
    finishReason: FINISH_REASONS.get(reason) ?? 'stop',
    nativeFinish: reason,
    stopSequence: typeof sequence === 'string' ? sequence : undefined,
    refusal: reason === 'refusal' && typeof explanation === 'string' && explanation !== '' ? explanation : undefined,
  };
}

/** Inside a 200 the kind of error stands for the status it would have had. */
const STATUSES: ReadonlyMap<unknown, number> = new Map<unknown, number>([
  ['invalid_request_error', 400],
  ['authentication_error', 401],
  ['permission_error', 403],
  ['request_too_large', 413],
  ['rate_limit_error', 429],
  ['timeout_error', 504],
]);

/** `error` is the value under `error` of an error body or event. */
export function parseMessagesError(error: unknown): SvcError {
  return parseUpstreamError(error, isObject(error) ? STATUSES.get(error['type']) : undefined);
}

export function earlyMessageEnd(): SvcError {
  return new SvcError('UPSTREAM_ERROR', "The upstream's stream ended early, without message_stop; try again.");
}

// The ways a Chat upstream's stream goes wrong, and the mark by which it ends well.

import { isObject, type JsonObject } from './field-checks.ts';
import { parseFinishReason } from './finish-reason.ts';
import { findUpstreamError } from './parse-chat-answer.ts';
import { SvcError } from './svc-error.ts';
import { parseUpstreamError } from './upstream-error.ts';

const DONE = '[DONE]';

export function isDoneMark(bytes: Buffer, start: number, end: number): boolean {
  // Room for stray spaces; a chunk of JSON is longer.
  return end - start <= DONE.length + 4 && bytes.toString('latin1', start, end).trim() === DONE;
}

/**
 * The upstream's own failure in an event, undefined when it did not fail: under `error`, in any choice, as a finish
 * reason, by the event's name, or as the bare error object older vLLM servers send.
 */
export function findStreamError(chunk: JsonObject, event: string): SvcError | undefined {
  const found = findUpstreamError(chunk);
  if (found !== undefined) return found;
  if (event === 'error' || chunk['object'] === 'error') return parseUpstreamError(chunk);
  for (const choice of Array.isArray(chunk['choices']) ? chunk['choices'] : []) {
    if (!isObject(choice)) continue;
    if (parseFinishReason(choice['finish_reason']) === 'error') return parseUpstreamError(choice['error']);
    const failure = findUpstreamError({ error: choice['error'] });
    if (failure !== undefined) return failure;
  }
  return undefined;
}

export function earlyEnd(): SvcError {
  return new SvcError('UPSTREAM_ERROR', "The upstream's stream ended early, without a finish reason; try again.");
}

export function overflow(): SvcError {
  return new SvcError('UPSTREAM_INVALID_RESPONSE', 'The upstream sent a stream event over the size limit.');
}

/** The cause is left out where it is the JSON parser's: its message quotes the answer. */
export function unreadable(cause: unknown): SvcError {
  const detail = cause instanceof SyntaxError ? {} : { cause };
  return new SvcError('UPSTREAM_INVALID_RESPONSE', 'The upstream sent a stream event that svc cannot read.', detail);
}

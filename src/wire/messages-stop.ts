// How an answer ended, and what it used, in the words of the Messages dialect.

import type { FinishReason, Usage } from './neutral.ts';

export type AnswerEnd = {
  readonly finishReason: FinishReason;
  readonly nativeFinish?: string | undefined;
  readonly stopSequence?: string | undefined;
  readonly refusal?: string | undefined;
  readonly toolCalls: number;
};

/** `stop_reason`, `stop_sequence` and, after a refusal, `stop_details`. */
export function renderStop(end: AnswerEnd): Record<string, unknown> {
  const reason = stopReasonOf(end);
  const stop = { stop_reason: reason, stop_sequence: reason === 'stop_sequence' ? (end.stopSequence ?? null) : null };
  if (reason !== 'refusal') return stop;
  return { ...stop, stop_details: { type: 'refusal', category: null, explanation: end.refusal ?? null } };
}

/** Messages counts read and written cache tokens beside `input_tokens`, not within. `cost` is USD as a JSON number. */
export function renderMessagesUsage(usage: Usage | undefined, costDecimal: string): Record<string, unknown> {
  const { inputTokens, cachedTokens, cacheWriteTokens, outputTokens, reasoningTokens } = usage ?? NO_USAGE;
  return {
    input_tokens: Math.max(0, inputTokens - cachedTokens - cacheWriteTokens),
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cachedTokens,
    output_tokens: outputTokens,
    ...(reasoningTokens > 0 ? { output_tokens_details: { thinking_tokens: reasoningTokens } } : {}),
    cost: Number(costDecimal),
  };
}

const NO_USAGE: Usage = { inputTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 0, reasoningTokens: 0 };

/** Words of models themselves that say more than Chat's `finish_reason` can. */
const NATIVE_REASONS: ReadonlySet<string> = new Set([
  'pause_turn',
  'refusal',
  'model_context_window_exceeded',
  'stop_sequence',
]);

function stopReasonOf(end: AnswerEnd): string {
  const native = end.nativeFinish ?? '';
  if (end.finishReason === 'length') return native === 'model_context_window_exceeded' ? native : 'max_tokens';
  if (end.refusal !== undefined || end.finishReason === 'content_filter') return 'refusal';
  if (end.toolCalls > 0) return 'tool_use';
  if (NATIVE_REASONS.has(native)) return native;
  return end.finishReason === 'stop' && end.stopSequence !== undefined ? 'stop_sequence' : 'end_turn';
}

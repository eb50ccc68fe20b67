// How an answer ended, what it used and what the model thought, in the words of the Chat dialect.

import type { JsonObject } from './field-checks.ts';
import type { FinishReason, Usage } from './neutral.ts';

/** How the details of reasoning name what Claude signed. */
export const CLAUDE_FORMAT = 'anthropic-claude-v1';

/** Calls count more than the word: clients run tools only at `tool_calls`, and wait for some when they see it. */
export function renderFinishReason(reason: FinishReason, toolCalls: number): string {
  if (reason === 'stop' && toolCalls > 0) return 'tool_calls';
  return reason === 'tool_calls' && toolCalls === 0 ? 'stop' : reason;
}

/** `prompt_tokens` counts everything read. `cost` is USD as a JSON number. */
export function renderChatUsage(usage: Usage, costDecimal: string): JsonObject {
  const { inputTokens, cachedTokens, cacheWriteTokens, outputTokens, reasoningTokens } = usage;
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens, cache_write_tokens: cacheWriteTokens },
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
    cost: Number(costDecimal),
  };
}

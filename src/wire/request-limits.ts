// Bounds and words that both request dialects share.

/** What `max_tokens` may be; the top keeps token counts times prices within exact integers. */
export const MAX_TOKENS_RANGE = { min: 1, max: 1_000_000_000 } as const;

export const TOP_K_RANGE = { min: 0, max: Number.MAX_SAFE_INTEGER } as const;

/** Messages of one request; more than any context window holds in earnest, few enough to be read at once. */
export const MAX_MESSAGES = 10_000;

/** Content parts (blocks) of one message. */
export const MAX_CONTENT_PARTS = 10_000;

/** Chat has no switch for "do not think" but this word among the efforts. */
export function isEffortNone(effort: string | undefined): boolean {
  return effort === 'none';
}

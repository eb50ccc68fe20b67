// An upper bound on the input tokens of a request, from its size alone.

/**
 * The most tokens a current model family counts for one image: a small model that bills 2,833 plus 5,667 for each of
 * eight tiles. Most families stay under 5,000, so a caller that knows the family may pass its own figure.
 */
export const IMAGE_TOKENS_MAX = 48_169;

/** What an upstream adds by itself: chat template marks and the hidden system prompt that tools bring (up to about 800). */
const OVERHEAD_TOKENS = 1_024;

/**
 * Never below the true count: byte-level tokenizers make at most one token of a byte. `imageDataBytes` is the length
 * of the base64 image data within the body; images are counted by number instead.
 */
export function inputTokensBound(
  bodyBytes: number,
  imageDataBytes: number,
  images: number,
  imageTokensMax: number = IMAGE_TOKENS_MAX,
): number {
  return Math.max(0, bodyBytes - imageDataBytes) + images * imageTokensMax + OVERHEAD_TOKENS;
}

// The token counts a request is charged for: the upstream's where they can be believed, our own estimate where not.

import { guardUsage } from '../ledger/usage-guard.ts';
import type { Usage } from '../wire/neutral.ts';
import type { Hold } from './hold-credits.ts';
import type { Road } from './road.ts';

export type ChargedUsage = {
  readonly usage: Usage;
  /** False where any count is our own: the charge is then `estimated`. */
  readonly measured: boolean;
  readonly anomalies: readonly string[];
};

export const NO_USAGE: Usage = {
  inputTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
};

/** Bytes of text in a token, for answers whose usage never came. */
const BYTES_PER_TOKEN = 4;

/** `whole`: the upstream said that the answer was finished. Absent never means zero. */
export function chargedUsage(road: Road, hold: Hold, whole: boolean): ChargedUsage {
  const { meter } = road;
  const estimate = estimatedUsage(road, hold);
  const reported = meter.usage ?? estimate;
  const inputMissing = meter.usageMissing.includes('inputTokens') || reported.inputTokens === 0;
  const outputMissing =
    meter.usageMissing.includes('outputTokens') || (reported.outputTokens === 0 && meter.deliveredBytes > 0);
  const chosen: Usage = {
    ...reported,
    // Counts sent before the end of a broken stream say what was so far: what was delivered counts at least.
    inputTokens: inputMissing ? estimate.inputTokens : reported.inputTokens,
    outputTokens:
      outputMissing || !whole ? Math.max(reported.outputTokens, estimate.outputTokens) : reported.outputTokens,
  };
  const { usage, anomalies } = guardUsage(chosen, {
    inputTokensMax: hold.inputTokensMax,
    maxOutputTokens: hold.outputTokensMax,
  });
  const measured = meter.usage !== undefined && whole && !inputMissing && !outputMissing;
  return { usage: { ...usage }, measured, anomalies: [...meter.anomalies, ...anomalies] };
}

function estimatedUsage(road: Road, hold: Hold): Usage {
  return {
    ...NO_USAGE,
    inputTokens: Math.min(hold.inputTokensMax, road.plan?.needs.input_tokens ?? 0),
    outputTokens: Math.min(hold.outputTokensMax, Math.ceil(road.meter.deliveredBytes / BYTES_PER_TOKEN)),
  };
}

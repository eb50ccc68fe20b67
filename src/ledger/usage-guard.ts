// Keeps what an upstream reports within what is possible, so that no usage can credit a workspace or outrun its hold.

import type { BilledUsage } from './price.ts';

/** Token counts as an upstream sent them: any value at all. */
export type ReportedUsage = { readonly [Field in keyof BilledUsage]: unknown } & { readonly reasoningTokens?: unknown };

export type GuardedUsage = BilledUsage & { readonly reasoningTokens: number };

export type UsageBounds = {
  readonly inputTokensMax: number;
  readonly maxOutputTokens: number;
  /** Our own count, taken for a field that is no number at all; without it such a field counts 0. */
  readonly estimate?: { readonly inputTokens: number; readonly outputTokens: number };
};

export type GuardResult = { readonly usage: GuardedUsage; readonly anomalies: readonly string[] };

/**
 * Whole counts within the bounds, cached and written tokens within the input. Anomalies, each at most once:
 * `usage_invalid` (a field was not a number), `usage_clamped` (a number was negative, fractional or out of bounds).
 */
export function guardUsage(reported: ReportedUsage, bounds: UsageBounds): GuardResult {
  const anomalies = new Set<string>();
  const inputTokens = count(reported.inputTokens, bounds.inputTokensMax, bounds.estimate?.inputTokens, anomalies);
  const outputTokens = count(reported.outputTokens, bounds.maxOutputTokens, bounds.estimate?.outputTokens, anomalies);
  const cachedTokens = count(reported.cachedTokens, inputTokens, 0, anomalies);
  const cacheWriteTokens = count(reported.cacheWriteTokens, inputTokens - cachedTokens, 0, anomalies);
  const reasoningTokens = count(reported.reasoningTokens ?? 0, outputTokens, 0, anomalies);
  const usage = { inputTokens, cachedTokens, cacheWriteTokens, outputTokens, reasoningTokens };
  return { usage, anomalies: [...anomalies] };
}

/** A charge is never negative and never more than what was held: `charge_over_hold`, `charge_invalid`. */
export function boundCharge(
  chargeNano: number,
  heldNano: number,
): { readonly chargeNano: number; readonly anomalies: readonly string[] } {
  if (Number.isNaN(chargeNano)) return { chargeNano: 0, anomalies: ['charge_invalid'] };
  if (chargeNano > heldNano) return { chargeNano: heldNano, anomalies: ['charge_over_hold'] };
  const whole = Math.max(0, Math.ceil(chargeNano)) + 0;
  return { chargeNano: whole, anomalies: whole === chargeNano ? [] : ['charge_invalid'] };
}

function count(value: unknown, max: number, estimate: number | undefined, anomalies: Set<string>): number {
  if (typeof value !== 'number' || Number.isNaN(value)) {
    anomalies.add('usage_invalid');
    return Math.min(Math.max(0, Math.ceil(estimate ?? 0)), max);
  }
  const clamped = Math.min(Math.max(0, Math.ceil(value)), max);
  if (clamped !== value) anomalies.add('usage_clamped');
  // `-0` compares equal to 0 and would be written as such.
  return clamped + 0;
}

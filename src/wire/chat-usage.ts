// Chat's `usage` object as token counts that can be charged, whatever an upstream has put into it.

import { isObject, type JsonObject } from './field-checks.ts';
import type { Usage } from './neutral.ts';

/** No answer has more tokens; a larger number is a fault, and money follows from it. */
export const MAX_TOKENS_COUNTED = 1_000_000_000;

/** USD; no single answer costs more. */
const MAX_UPSTREAM_COST = 1_000_000;

/** The counts money follows from. */
export type ChargedCount = 'inputTokens' | 'outputTokens';

/** `missing`: counts that were absent, negative or no number; they are 0 in `usage` and have to be estimated. */
export type ParsedUsage = {
  readonly usage: Usage;
  readonly anomalies: string[];
  readonly missing: readonly ChargedCount[];
};

/**
 * Undefined where there is no usage object or it counts neither input nor output: absent never means zero. A count that
 * is not an integer from 0 to the cap becomes the next integer up, the cap or 0, and is named in `anomalies` as
 * `usage_invalid:<field>`. A `cost` that is no number from 0 to the cap is left out and named `upstream_cost_invalid`.
 */
export function parseChatUsage(value: unknown): ParsedUsage | undefined {
  if (!isObject(value)) return undefined;
  if (value['prompt_tokens'] === undefined && value['completion_tokens'] === undefined) return undefined;
  const anomalies: string[] = [];
  const missing: ChargedCount[] = [];
  const input = chargedCount(value, 'prompt_tokens', 'inputTokens', missing, anomalies);
  const output = chargedCount(value, 'completion_tokens', 'outputTokens', missing, anomalies);
  const prompt = detailsOf(value, 'prompt_tokens_details');
  const completion = detailsOf(value, 'completion_tokens_details');
  const cached = countOf(prompt, 'cached_tokens', anomalies) ?? 0;
  const writeField = prompt['cache_write_tokens'] === undefined ? 'cache_creation_tokens' : 'cache_write_tokens';
  const written = countOf(prompt, writeField, anomalies) ?? 0;
  const reasoning = countOf(completion, 'reasoning_tokens', anomalies) ?? 0;
  const cost = costOf(value['cost'], anomalies);
  const cachedTokens = atMost(input, cached, 'cached_tokens', anomalies);
  const usage = {
    inputTokens: input,
    cachedTokens,
    cacheWriteTokens: atMost(input - cachedTokens, written, writeField, anomalies),
    outputTokens: output,
    reasoningTokens: atMost(output, reasoning, 'reasoning_tokens', anomalies),
  };
  return { usage: cost === undefined ? usage : { ...usage, upstreamCost: cost }, anomalies, missing };
}

/** Undefined only where the field is absent. */
function countOf(object: JsonObject, field: string, anomalies: string[]): number | undefined {
  const value = object[field];
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_TOKENS_COUNTED) return value;
  anomalies.push(`usage_invalid:${field}`);
  // Up, not down: half a token is never free.
  return isCount(value) ? Math.min(Math.ceil(value), MAX_TOKENS_COUNTED) : 0;
}

function chargedCount(
  usage: JsonObject,
  field: string,
  name: ChargedCount,
  missing: ChargedCount[],
  anomalies: string[],
): number {
  if (!isCount(usage[field])) missing.push(name);
  const count = countOf(usage, field, anomalies);
  if (count === undefined) anomalies.push(`usage_invalid:${field}`);
  return count ?? 0;
}

/** False for NaN too. */
function isCount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0;
}

function atMost(limit: number, count: number, field: string, anomalies: string[]): number {
  if (count <= limit) return count;
  anomalies.push(`usage_invalid:${field}`);
  return limit;
}

function detailsOf(value: JsonObject, field: string): JsonObject {
  const details = value[field];
  return isObject(details) ? details : {};
}

function costOf(value: unknown, anomalies: string[]): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && value >= 0 && value <= MAX_UPSTREAM_COST) return value;
  anomalies.push('upstream_cost_invalid');
  return undefined;
}

/** Counts nothing at all. */
export function isEmptyUsage({ inputTokens, outputTokens }: Usage): boolean {
  return inputTokens === 0 && outputTokens === 0;
}

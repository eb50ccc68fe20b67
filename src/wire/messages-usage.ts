// The `usage` of the Messages dialect as token counts that can be charged: cached tokens stand beside the input there.

import { type ChargedCount, MAX_TOKENS_COUNTED, type ParsedUsage } from './chat-usage.ts';
import { isObject, type JsonObject } from './field-checks.ts';

const FRESH = 'input_tokens';
const READ = 'cache_read_input_tokens';
const WRITTEN = 'cache_creation_input_tokens';
const OUTPUT = 'output_tokens';
const INPUT_FIELDS = [FRESH, READ, WRITTEN] as const;

/** USD; no single answer costs more. */
const MAX_UPSTREAM_COST = 1_000_000;

/**
 * Undefined where there is no usage object or it counts nothing: absent never means zero. `inputTokens` of the result
 * counts everything read. A count that is no integer from 0 to the cap becomes the next integer up or the cap, or counts
 * as absent, and is named in `anomalies` as `usage_invalid:<field>`.
 */
export function parseMessagesUsage(value: unknown): ParsedUsage | undefined {
  if (!isObject(value)) return undefined;
  if (![...INPUT_FIELDS, OUTPUT].some((field) => isThere(value[field]))) return undefined;
  const anomalies: string[] = [];
  const fresh = countOf(value, FRESH, anomalies);
  const cachedTokens = countOf(value, READ, anomalies) ?? 0;
  const cacheWriteTokens = countOf(value, WRITTEN, anomalies) ?? writtenByAge(value, anomalies);
  const output = countOf(value, OUTPUT, anomalies);
  const missing: ChargedCount[] = [];
  if (fresh === undefined) missing.push('inputTokens');
  if (output === undefined) missing.push('outputTokens');
  const outputTokens = output ?? 0;
  const cost = costOf(value['cost'], anomalies);
  const usage = {
    inputTokens: (fresh ?? 0) + cachedTokens + cacheWriteTokens,
    cachedTokens,
    cacheWriteTokens,
    outputTokens,
    reasoningTokens: Math.min(outputTokens, thinkingOf(value, anomalies)),
  };
  return { usage: cost === undefined ? usage : { ...usage, upstreamCost: cost }, anomalies, missing };
}

/**
 * The counts of `message_start` with those of a later `message_delta` over them: each is the sum so far. The output of
 * the start is a placeholder, and a later input of nothing at all is an upstream's way to say that it was not counted.
 */
export function mergeMessagesUsage(start: unknown, delta: unknown): JsonObject {
  const first: Record<string, unknown> = isObject(start) ? { ...start } : {};
  delete first[OUTPUT];
  const last = new Map(isObject(delta) ? Object.entries(delta).filter(([, value]) => isThere(value)) : []);
  const isCounted = INPUT_FIELDS.some((field) => last.has(field) && last.get(field) !== 0);
  if (!isCounted) for (const field of INPUT_FIELDS) if (isThere(first[field])) last.delete(field);
  return { ...first, ...Object.fromEntries(last) };
}

/** SDKs and upstreams send null for what they did not count. */
function isThere(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Undefined where the field is absent or of no use. */
function countOf(usage: JsonObject, field: string, anomalies: string[]): number | undefined {
  const value = usage[field];
  if (!isThere(value)) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_TOKENS_COUNTED) return value;
  anomalies.push(`usage_invalid:${field}`);
  // Up, not down: half a token is never free.
  return typeof value === 'number' && value >= 0 ? Math.min(Math.ceil(value), MAX_TOKENS_COUNTED) : undefined;
}

/** Some upstreams count written tokens by how long they are kept, and leave out the sum. */
function writtenByAge(usage: JsonObject, anomalies: string[]): number {
  const ages = usage['cache_creation'];
  if (!isObject(ages)) return 0;
  return Object.keys(ages).reduce((sum, age) => sum + (countOf(ages, age, anomalies) ?? 0), 0);
}

function thinkingOf(usage: JsonObject, anomalies: string[]): number {
  const details = usage['output_tokens_details'];
  return isObject(details) ? (countOf(details, 'thinking_tokens', anomalies) ?? 0) : 0;
}

function costOf(value: unknown, anomalies: string[]): number | undefined {
  if (!isThere(value)) return undefined;
  if (typeof value === 'number' && value >= 0 && value <= MAX_UPSTREAM_COST) return value;
  anomalies.push('upstream_cost_invalid');
  return undefined;
}

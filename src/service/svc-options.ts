// Per-request overrides: the `svc` body field or the `X-Svc-Options` header, and how they join the workspace's preferences.

import { parseUsd } from '../ledger/nano.ts';
import type { Weights } from '../routing/decision.ts';
import { SvcError } from '../wire/svc-error.ts';

export type SvcOptions = {
  readonly weights?: Weights;
  readonly models?: { readonly allow: readonly string[]; readonly deny: readonly string[] };
  readonly maxCostNano?: number;
};

const PATTERNS_MAX = 200;

/** The body field wins over the header, field by field. Throws `INVALID_REQUEST` naming the field. */
export function parseSvcOptions(
  body: Readonly<Record<string, unknown>> | undefined,
  header: string | undefined,
): SvcOptions {
  if (!body && header === undefined) return {};
  const fromHeader = header === undefined ? {} : parseOptions(parseHeader(header), 'X-Svc-Options');
  return { ...fromHeader, ...(body ? parseOptions(body, 'svc') : {}) };
}

/** `{speed, quality, cost}`: numbers of 0 to 1000, at least one above 0. */
export function parseWeights(value: unknown, field: string): Weights {
  const record = recordOf(value, field);
  const known = ['speed', 'quality', 'cost'];
  const unknown = Object.keys(record).find((key) => !known.includes(key));
  if (unknown !== undefined) throw invalid(`${field}.${unknown}`, 'is not known; weights are speed, quality and cost');
  const [speed = 0, quality = 0, cost = 0] = known.map((key) => weightOf(record[key], `${field}.${key}`));
  if (speed + quality + cost === 0) throw invalid(field, 'needs at least one weight above 0');
  return { speed, quality, cost };
}

function parseHeader(header: string): Readonly<Record<string, unknown>> {
  try {
    return recordOf(JSON.parse(header), 'X-Svc-Options');
  } catch (error) {
    if (error instanceof SvcError) throw error;
    throw invalid('X-Svc-Options', 'must be a JSON object such as {"weights":{"speed":100,"quality":30,"cost":70}}');
  }
}

function parseOptions(record: Readonly<Record<string, unknown>>, field: string): SvcOptions {
  const unknown = Object.keys(record).find((key) => !['weights', 'models', 'max_cost'].includes(key));
  if (unknown !== undefined)
    throw invalid(`${field}.${unknown}`, 'is not known; allowed are weights, models and max_cost');
  const options: { -readonly [K in keyof SvcOptions]: SvcOptions[K] } = {};
  if (record['weights'] !== undefined) options.weights = parseWeights(record['weights'], `${field}.weights`);
  if (record['models'] !== undefined) options.models = parseModels(record['models'], `${field}.models`);
  if (record['max_cost'] !== undefined) options.maxCostNano = maxCostOf(record['max_cost'], `${field}.max_cost`);
  return options;
}

function parseModels(value: unknown, field: string): { allow: readonly string[]; deny: readonly string[] } {
  const record = recordOf(value, field);
  return { allow: patternsOf(record['allow'], `${field}.allow`), deny: patternsOf(record['deny'], `${field}.deny`) };
}

function patternsOf(value: unknown, field: string): readonly string[] {
  if (value === undefined) return [];
  const good =
    Array.isArray(value) &&
    value.length <= PATTERNS_MAX &&
    value.every((item) => typeof item === 'string' && item !== '');
  if (!good)
    throw invalid(field, `must be an array of at most ${PATTERNS_MAX} model names or patterns such as "anthropic/*"`);
  return value;
}

function maxCostOf(value: unknown, field: string): number {
  const nano = parseUsd(typeof value === 'number' ? String(value) : value);
  if (nano === undefined) throw invalid(field, 'must be an amount in USD as a decimal string such as "0.05"');
  return nano;
}

function weightOf(value: unknown, field: string): number {
  if (value === undefined) return 0;
  if (typeof value !== 'number' || !(value >= 0 && value <= 1000))
    throw invalid(field, 'must be a number from 0 to 1000');
  return value;
}

function recordOf(value: unknown, field: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return Object.fromEntries(Object.entries(value));
  throw invalid(field, 'must be an object');
}

function invalid(field: string, problem: string): SvcError {
  return new SvcError('INVALID_REQUEST', `${field} ${problem}.`, { param: field });
}

// What a client may say about an API key, when making one and when changing one.

import type { ApiKey } from '../store/store.ts';
import {
  type Fields,
  invalidField,
  orNull,
  readChoice,
  readFields,
  readInteger,
  readLabel,
  readPatterns,
  readTimestamp,
  readUsd,
  required,
} from './request-fields.ts';

/** The part of a key that its makers decide. */
export type KeyOptions = Pick<
  ApiKey,
  'name' | 'expiresAt' | 'models' | 'requestsPerMinute' | 'tokensPerMinute' | 'budgetNano' | 'budgetPeriod'
>;

type KeyChange = { -readonly [K in keyof KeyOptions]?: KeyOptions[K] };

export const KEY_DEFAULTS: Omit<KeyOptions, 'name'> = {
  expiresAt: null,
  models: null,
  requestsPerMinute: 600,
  tokensPerMinute: 2_000_000,
  budgetNano: null,
  budgetPeriod: 'total',
};

const FIELDS = ['name', 'expires_at', 'models', 'requests_per_minute', 'tokens_per_minute', 'budget', 'budget_period'];
const NAME_LENGTH_MAX = 100;
const LIMIT = { min: 1, max: 1_000_000_000 };
const PATTERNS_MAX = 200;
const PATTERN_LENGTH_MAX = 200;

/** All that a new key needs, defaults filled in. Throws `INVALID_REQUEST` naming the field. */
export function parseNewKey(body: unknown, now: number): KeyOptions {
  const change = parseKeyChange(body, now);
  return { ...KEY_DEFAULTS, ...change, name: required(change.name, 'name') };
}

/** Only what was given; null takes a limit away. Throws `INVALID_REQUEST` naming the field. */
export function parseKeyChange(body: unknown, now: number): KeyChange {
  const fields = readFields(body, FIELDS);
  return defined({
    name: readLabel(fields, 'name', NAME_LENGTH_MAX),
    expiresAt: orNull(fields, 'expires_at', () => readFuture(fields, now)),
    models: orNull(fields, 'models', () => readModels(fields)),
    requestsPerMinute: readInteger(fields, 'requests_per_minute', LIMIT),
    tokensPerMinute: readInteger(fields, 'tokens_per_minute', LIMIT),
    budgetNano: orNull(fields, 'budget', () => readUsd(fields, 'budget')),
    budgetPeriod: readChoice(fields, 'budget_period', ['total', 'day', 'month']),
  });
}

function readFuture(fields: Fields, now: number): number | undefined {
  const at = readTimestamp(fields, 'expires_at');
  if (at !== undefined && at <= now) throw invalidField('expires_at', 'must be in the future');
  return at;
}

/** An empty list could mean all or none, so it is refused. */
function readModels(fields: Fields): readonly string[] | undefined {
  const models = readPatterns(fields, 'models', PATTERNS_MAX, PATTERN_LENGTH_MAX);
  if (models?.length === 0) throw invalidField('models', 'must not be empty; null allows every model');
  return models;
}

function defined(change: { [K in keyof KeyOptions]: KeyOptions[K] | undefined }): KeyChange {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
}

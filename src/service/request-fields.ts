// Fields of a JSON body: each reader returns a checked value or says which field is wrong and what it must be.

import { parseUsd } from '../ledger/nano.ts';
import { SvcError } from '../wire/svc-error.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** Longest part of a client's own field name that a message repeats. */
const ECHO_LENGTH_MAX = 60;
const CONTROL = /\p{C}/u;
/** RFC 3339: date, `T`, time with seconds, offset. */
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/i;

/** The body as an object with none but the allowed fields. `path` is where it stands in the body, as in `models.`. */
export function readFields(body: unknown, allowed: readonly string[], path = ''): Fields {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw invalidField(path === '' ? 'body' : path.slice(0, -1), 'must be a JSON object');
  }
  const unknown = Object.keys(body).find((name) => !allowed.includes(name));
  if (unknown !== undefined) {
    const name = path + unknown.slice(0, ECHO_LENGTH_MAX);
    throw invalidField(
      name,
      allowed.length === 0 ? 'is not known; there are none here' : `is not known; there are ${allowed.join(', ')}`,
    );
  }
  return Object.fromEntries(Object.entries(body));
}

/** Passes a value on, and refuses a missing one. */
export function required<T>(value: T | undefined, field: string): T {
  if (value === undefined) throw invalidField(field, 'is missing');
  return value;
}

/** Any string at all: for passwords, which are taken as they are. */
export function readText(fields: Fields, field: string): string | undefined {
  const value = fields[field];
  if (value === undefined || typeof value === 'string') return value;
  throw invalidField(field, 'must be a string');
}

/** A name for people: trimmed, 1 to `lengthMax` characters, no control characters. */
export function readLabel(fields: Fields, field: string, lengthMax: number): string | undefined {
  const label = readText(fields, field)?.trim();
  if (label === undefined) return undefined;
  if (label === '' || label.length > lengthMax) throw invalidField(field, `must have 1 to ${lengthMax} characters`);
  if (CONTROL.test(label)) throw invalidField(field, 'must not hold control characters');
  return label;
}

export function readInteger(
  fields: Fields,
  field: string,
  range: { readonly min: number; readonly max: number },
): number | undefined {
  const value = fields[field];
  if (value === undefined) return undefined;
  if (Number.isInteger(value) && typeof value === 'number' && value >= range.min && value <= range.max) return value;
  throw invalidField(field, `must be a whole number from ${range.min} to ${range.max}`);
}

export function readBoolean(fields: Fields, field: string): boolean | undefined {
  const value = fields[field];
  if (value === undefined || typeof value === 'boolean') return value;
  throw invalidField(field, 'must be true or false');
}

export function readChoice<T extends string>(fields: Fields, field: string, choices: readonly T[]): T | undefined {
  const value = fields[field];
  if (value === undefined) return undefined;
  const choice = choices.find((candidate) => candidate === value);
  if (choice !== undefined) return choice;
  throw invalidField(field, `must be one of ${choices.join(', ')}`);
}

/** Nano-dollars of a decimal USD string. */
export function readUsd(fields: Fields, field: string): number | undefined {
  const value = fields[field];
  if (value === undefined) return undefined;
  const nano = parseUsd(value);
  if (nano !== undefined) return nano;
  throw invalidField(field, 'must be an amount in USD as a decimal string with at most nine decimals, such as "12.50"');
}

/** Milliseconds since 1970 of an RFC 3339 timestamp. */
export function readTimestamp(fields: Fields, field: string): number | undefined {
  const value = fields[field];
  if (value === undefined) return undefined;
  const ms =
    typeof value === 'string' && TIMESTAMP.test(value) && isCalendarDay(value) ? Date.parse(value) : Number.NaN;
  if (!Number.isNaN(ms)) return ms;
  throw invalidField(field, 'must be an RFC 3339 timestamp such as "2026-01-31T12:00:00Z"');
}

/** `Date.parse` takes February 31 for March 3. */
function isCalendarDay(timestamp: string): boolean {
  const day = timestamp.slice(0, 'YYYY-MM-DD'.length);
  const midnightMs = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(midnightMs) && new Date(midnightMs).toISOString().startsWith(day);
}

/** Model names or patterns such as `anthropic/*`. */
export function readPatterns(
  fields: Fields,
  field: string,
  countMax: number,
  lengthMax: number,
): readonly string[] | undefined {
  const value = fields[field];
  if (value === undefined) return undefined;
  const isPattern = (item: unknown): item is string =>
    typeof item === 'string' && item !== '' && item.length <= lengthMax && !CONTROL.test(item);
  if (Array.isArray(value) && value.length <= countMax && value.every(isPattern)) return [...value];
  throw invalidField(field, `must be a list of at most ${countMax} model names or patterns such as "anthropic/*"`);
}

/** The value, or null where the field is null; for fields whose null means "none". */
export function orNull<T>(fields: Fields, field: string, read: () => T): T | null {
  return fields[field] === null ? null : read();
}

export function invalidField(field: string, problem: string): SvcError {
  return new SvcError('INVALID_REQUEST', `${field}: ${problem}.`, { param: field });
}

export function renderTimestamp(ms: number): string {
  return new Date(ms).toISOString();
}

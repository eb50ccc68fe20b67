// The small checks both request parsers are made of; a failed one names the field and what is allowed.

import { SvcError } from './svc-error.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The error for a field that is there but wrong, or missing; `rule` reads on from the field's name. */
export function invalidField(param: string, rule: string): SvcError {
  return new SvcError('INVALID_REQUEST', `${param} ${rule}`, { param });
}

/** Undefined when absent or null: SDKs send null for what their caller left out. */
export function optionalString(object: JsonObject, key: string, parent?: string): string | undefined {
  const value = object[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw invalidField(pathOf(key, parent), 'must be a string');
  return value;
}

/** Throws unless the field is a string; `''` is refused too unless `allowEmpty`. */
export function requiredString(object: JsonObject, key: string, parent?: string, allowEmpty = false): string {
  const value = object[key];
  if (typeof value === 'string' && (allowEmpty || value !== '')) return value;
  const found = value === undefined || value === null ? 'is required and ' : '';
  throw invalidField(pathOf(key, parent), `${found}must be a ${allowEmpty ? '' : 'non-empty '}string`);
}

export function optionalBoolean(object: JsonObject, key: string, parent?: string): boolean | undefined {
  const value = object[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'boolean') throw invalidField(pathOf(key, parent), 'must be true or false');
  return value;
}

export function optionalNumber(object: JsonObject, key: string, min: number, max: number): number | undefined {
  const value = object[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' || !(value >= min && value <= max)) {
    throw invalidField(key, `must be a number from ${min} to ${max}`);
  }
  return value;
}

export function optionalInteger(
  object: JsonObject,
  key: string,
  range: { readonly min: number; readonly max: number },
  parent?: string,
): number | undefined {
  const value = object[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < range.min || value > range.max) {
    throw invalidField(pathOf(key, parent), `must be an integer from ${range.min} to ${range.max}`);
  }
  return value;
}

export function optionalObject(object: JsonObject, key: string, parent?: string): JsonObject | undefined {
  const value = object[key];
  if (value === undefined || value === null) return undefined;
  if (!isObject(value)) throw invalidField(pathOf(key, parent), 'must be an object');
  return value;
}

export function optionalArray(object: JsonObject, key: string, parent?: string): readonly unknown[] | undefined {
  const value = object[key];
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) throw invalidField(pathOf(key, parent), 'must be an array');
  return value;
}

/** Throws where an array has more entries than are read. */
export function checkLength(array: readonly unknown[], max: number, param: string): void {
  if (array.length > max) throw invalidField(param, `must have at most ${max} entries`);
}

export function optionalStrings(object: JsonObject, key: string): readonly string[] | undefined {
  const values = optionalArray(object, key);
  if (values === undefined) return undefined;
  if (!values.every((value) => typeof value === 'string')) throw invalidField(key, 'must be an array of strings');
  return values;
}

/** A copy without the keys whose value is undefined, so that optional fields are absent rather than undefined. */
export function withoutUndefined<T extends object>(loose: { readonly [K in keyof T]: T[K] | undefined }): T {
  const defined: Partial<T> = {};
  for (const key in loose) {
    const value = loose[key];
    if (value !== undefined) defined[key] = value;
  }
  return defined as T;
}

function pathOf(key: string, parent: string | undefined): string {
  return parent === undefined ? key : `${parent}.${key}`;
}

// The one question every reader of unknown JSON asks first.

export type JsonRecord = Readonly<Record<string, unknown>>;

/** An object that is neither null nor an array. */
export function isJsonRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

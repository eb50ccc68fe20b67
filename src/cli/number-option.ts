// Options that are whole numbers.

import { usageError } from './cli-error.ts';
import type { OptionValues } from './command.ts';

/** Undefined where it is not given; throws a usage error unless it is a whole number from 1 to `max`. */
export function numberOption(
  options: OptionValues,
  name: string,
  flag: string,
  max = Number.MAX_SAFE_INTEGER,
): number | undefined {
  const text = options.text(name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (/^\d{1,16}$/.test(text) && value >= 1 && value <= max) return value;
  throw usageError(`${flag} must be a whole number from 1 to ${max}, not ${JSON.stringify(text)}`);
}

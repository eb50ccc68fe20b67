// Options that are points in time.

import { usageError } from './cli-error.ts';
import type { CommandInput } from './command.ts';
import { parseTime } from './time-text.ts';

/** RFC 3339 UTC; undefined where it is not given. Throws a usage error where it can't be read. */
export function timeOption(
  input: CommandInput,
  name: string,
  flag: string,
  direction: 'past' | 'future',
): string | undefined {
  const text = input.options.text(name);
  if (text === undefined) return undefined;
  const time = parseTime(text, input.io.now(), direction);
  if (time !== undefined) return time;
  throw usageError(
    `${flag} can't be read: ${JSON.stringify(text)}`,
    'give a length such as 30m, 24h, 7d or 4w, a date such as 2026-01-31, or an RFC 3339 time',
  );
}

// Which exit code a failed start has, by the kind of failure (contract §1).

import { ListenError } from './listener.ts';
import { SettingsError } from './settings.ts';

const EXIT_NOT_STARTED = 69;
const EXIT_WRONG_SETTINGS = 78;

/** The store's errors carry their own code (75 in use, 77 permissions, 78 damaged). */
export function exitCodeOf(error: unknown): number {
  if (error instanceof SettingsError) return EXIT_WRONG_SETTINGS;
  if (error instanceof ListenError) return EXIT_NOT_STARTED;
  const own = error instanceof Error && 'exitCode' in error ? error.exitCode : undefined;
  return typeof own === 'number' ? own : EXIT_NOT_STARTED;
}

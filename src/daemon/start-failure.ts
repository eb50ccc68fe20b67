// Which exit code a failed start has, by the kind of failure (contract §1).

import { ListenError } from './listener.ts';

const EXIT_NOT_STARTED = 69;

/** Errors of the store and of the settings carry their own code: 75 in use, 77 permissions, 78 damaged or wrong. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof ListenError) return EXIT_NOT_STARTED;
  const own = error instanceof Error && 'exitCode' in error ? error.exitCode : undefined;
  return typeof own === 'number' ? own : EXIT_NOT_STARTED;
}

// Which exit code a failed start has, by the kind of failure (contract §1).

import { DamagedJournalError } from '../store/store-errors.ts';
import { ListenError } from './listener.ts';

const EXIT_NOT_STARTED = 69;

/** Errors of the store and of the settings carry their own code: 75 in use, 77 permissions, 78 damaged or wrong. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof ListenError) return EXIT_NOT_STARTED;
  const own = error instanceof Error && 'exitCode' in error ? error.exitCode : undefined;
  return typeof own === 'number' ? own : EXIT_NOT_STARTED;
}

/** What to do about it, where the message alone does not say; a sentence. */
export function hintOf(error: unknown): string | undefined {
  if (!(error instanceof DamagedJournalError)) return undefined;
  return 'keep a copy of the data directory as it is, then put the damaged file back from a backup; `svc ledger verify` tests the result';
}

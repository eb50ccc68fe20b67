// Runs a reading of the ledger's files for a command: which data directory, how far it is, and what its failures mean.

import { LedgerReadError, type OnLedgerProgress } from '../daemon/ledger-tools.ts';
import { loadSettings } from '../daemon/settings.ts';
import { type CliError, damagedState, notFound, permissionError } from './cli-error.ts';
import type { CommandInput } from './command.ts';
import { createReadProgress } from './read-progress.ts';

/** Throws `CliError`: 4 where there is no journal, 77 where it may not be read, 78 where it is damaged. */
export async function readLedger<T>(
  { options, io }: CommandInput,
  read: (home: string, onProgress: OnLedgerProgress) => Promise<T>,
): Promise<T> {
  const { home } = loadSettings({ flags: { home: options.text('home') }, env: io.env });
  const progress = createReadProgress(io);
  try {
    return await read(home, progress.at);
  } catch (error) {
    throw error instanceof LedgerReadError ? toCliError(error) : error;
  } finally {
    progress.end();
  }
}

function toCliError({ kind, message }: LedgerReadError): CliError {
  switch (kind) {
    case 'missing':
      return notFound(message, 'name the data directory with --home or SVC_HOME, or start a new one with `svc serve`');
    case 'denied':
      return permissionError(message, 'run the command as the user that runs the daemon');
    case 'damaged':
      return damagedState(
        message,
        'keep a copy of the data directory as it is, then put what is missing or damaged back from a backup',
      );
  }
}

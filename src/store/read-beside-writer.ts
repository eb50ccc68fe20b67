// Reads files that a daemon may be writing, compressing or deleting meanwhile.

import { DamagedJournalError, DamagedStateError, errorCode } from './store-errors.ts';

/** A file that goes away again and again is no daemon's doing. */
const TRIES_MAX = 5;

/**
 * Runs `read` from its start again where a file had gone, and where damage was found: only damage that is there a second
 * time, at the same place, is any. Throws what the last try threw.
 */
export async function readBesideWriter<T>(read: () => Promise<T>): Promise<T> {
  let damage: string | null = null;
  for (let tries = 1; ; tries += 1) {
    try {
      return await read();
    } catch (error) {
      const found = damageAt(error);
      const mayPass = errorCode(error) === 'ENOENT' || (found !== null && found !== damage);
      if (!mayPass || tries === TRIES_MAX) throw error;
      damage = found;
    }
  }
}

function damageAt(error: unknown): string | null {
  if (error instanceof DamagedJournalError) return `${error.file}:${error.offset}`;
  return error instanceof DamagedStateError ? error.file : null;
}

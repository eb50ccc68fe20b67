// Telling a full disk, which passes, from a broken one, which ends the process.

import { SvcError } from '../wire/svc-error.ts';
import { errorCode } from './store-errors.ts';

/** No space, or the owner's quota is used up. */
export function isDiskFull(error: unknown): boolean {
  const code = errorCode(error);
  return code === 'ENOSPC' || code === 'EDQUOT';
}

/** What a caller gets whose record could not be written. */
export function storageUnavailable(cause: unknown): SvcError {
  const message = isDiskFull(cause)
    ? 'the disk is full: free some space in the data directory'
    : 'the data directory cannot be written';
  return new SvcError('STORAGE_UNAVAILABLE', message, { cause, retryAfterSeconds: 5 });
}

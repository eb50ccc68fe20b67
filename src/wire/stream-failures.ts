// The ways a Chat upstream's stream goes wrong, and the mark by which it ends well.

import { SvcError } from './svc-error.ts';

const DONE = '[DONE]';

export function isDoneMark(bytes: Buffer, start: number, end: number): boolean {
  // Room for stray spaces; a chunk of JSON is longer.
  return end - start <= DONE.length + 4 && bytes.toString('latin1', start, end).trim() === DONE;
}

export function earlyEnd(): SvcError {
  return new SvcError('UPSTREAM_ERROR', "The upstream's stream ended early, without a finish reason; try again.");
}

export function overflow(): SvcError {
  return new SvcError('UPSTREAM_INVALID_RESPONSE', 'The upstream sent a stream event over the size limit.');
}

/** The cause is left out where it is the JSON parser's: its message quotes the answer. */
export function unreadable(cause: unknown): SvcError {
  const detail = cause instanceof SyntaxError ? {} : { cause };
  return new SvcError('UPSTREAM_INVALID_RESPONSE', 'The upstream sent a stream event that svc cannot read.', detail);
}

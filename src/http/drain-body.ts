// Drains what is left of a refused body, so that an ordinary client, which writes first and reads then, gets to read the answer.

import type { IncomingMessage } from 'node:http';

/** A client that sends more than this after a refusal is not an ordinary one. */
const DRAIN_BYTES_MAX = 64 * 1024 * 1024;

/** One that is still sending sends something within this. */
const DRAIN_IDLE_MS = 2000;

/** Resolves at the end of the body, at the limit, after a silence, or when the client is gone. */
export function drainBody(req: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    if (req.readableEnded || req.destroyed) return resolve();
    let drainedBytes = 0;
    const finish = (): void => {
      clearTimeout(idle);
      req.off('data', onData);
      resolve();
    };
    const stop = (): void => {
      req.pause();
      finish();
    };
    const idle = setTimeout(stop, DRAIN_IDLE_MS);
    const onData = (chunk: Buffer): void => {
      drainedBytes += chunk.length;
      if (drainedBytes > DRAIN_BYTES_MAX) stop();
      else idle.refresh();
    };
    req.on('data', onData);
    req.once('end', finish);
    req.once('close', finish);
    req.resume();
  });
}

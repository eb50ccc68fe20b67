// Drains what is left of a refused body, so that an ordinary client, which writes first and reads then, gets to read the answer.

import type { IncomingMessage } from 'node:http';

/** A client that sends more than this after a refusal is not an ordinary one. */
const DRAIN_BYTES_MAX = 64 * 1024 * 1024;

/** Resolves at the end of the body, at the limit, or when the client is gone. */
export function drainBody(req: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    if (req.readableEnded || req.destroyed) return resolve();
    let drainedBytes = 0;
    req.on('data', (chunk: Buffer) => {
      drainedBytes += chunk.length;
      if (drainedBytes > DRAIN_BYTES_MAX) {
        req.pause();
        resolve();
      }
    });
    req.once('end', resolve);
    req.once('close', resolve);
    req.resume();
  });
}

// The client's side of an answer over Node's own response object.

import type { ServerResponse } from 'node:http';
import type { Downstream } from '../service/downstream.ts';

/** A client that takes nothing for this long while bytes wait for it is cut off. */
const STUCK_MS = 120_000;

export function createDownstream(res: ServerResponse, headers: Record<string, string>): Downstream {
  let gone: (() => void) | undefined;
  let resume: (() => void) | undefined;
  let stuck: NodeJS.Timeout | undefined;
  res.once('close', () => {
    clearTimeout(stuck);
    if (!res.writableFinished) gone?.();
  });
  res.on('drain', () => {
    clearTimeout(stuck);
    resume?.();
  });
  // A write to a socket the peer has reset fails here; 'close' follows and says it.
  res.on('error', () => undefined);
  const watch = (taken: boolean): boolean => {
    if (!taken) {
      clearTimeout(stuck);
      stuck = setTimeout(() => res.destroy(), STUCK_MS);
    }
    return taken;
  };
  return {
    headers,
    get begun() {
      return res.headersSent;
    },
    get closed() {
      return res.writableEnded || res.destroyed;
    },
    begin(status, contentType, contentLength) {
      if (res.headersSent || res.destroyed) return;
      headers['content-type'] = contentType;
      if (contentLength === undefined) {
        headers['cache-control'] = 'no-cache';
        headers['x-accel-buffering'] = 'no';
      } else headers['content-length'] = String(contentLength);
      res.writeHead(status, headers);
    },
    write(bytes) {
      if (res.destroyed || res.writableEnded) return true;
      return watch(res.write(bytes));
    },
    end(bytes) {
      if (res.destroyed || res.writableEnded) return;
      res.end(bytes);
    },
    onDrain(callback) {
      resume = callback;
    },
    onGone(callback) {
      gone = callback;
      if (res.destroyed) callback();
    },
  };
}

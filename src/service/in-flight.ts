// The requests in flight: counted for the gauge, drained at a stop.

import { SvcError } from '../wire/svc-error.ts';

export interface InFlight {
  readonly count: number;
  readonly draining: boolean;
  /** Throws `SHUTTING_DOWN` once draining; the result ends the entry. `stop` is called when the drain runs out of time. */
  enter(stop: (reason: SvcError) => void): () => void;
  /** Refuses new work and resolves when all is done; after `timeoutMs` what is left is stopped, and waited for. */
  drain(timeoutMs: number): Promise<void>;
}

/** After being told to stop, a request has this long to send its error event and settle. */
const STOP_GRACE_MS = 2000;

export function createInFlight(): InFlight {
  const entries = new Set<(reason: SvcError) => void>();
  let draining = false;
  const waiting: (() => void)[] = [];
  return {
    get count() {
      return entries.size;
    },
    get draining() {
      return draining;
    },
    enter(stop) {
      if (draining) throw shuttingDown();
      // One closure per request, even where callers share a `stop`.
      const entry = (reason: SvcError): void => stop(reason);
      entries.add(entry);
      return () => {
        entries.delete(entry);
        if (entries.size === 0) for (const resolve of waiting.splice(0)) resolve();
      };
    },
    async drain(timeoutMs) {
      draining = true;
      const empty = new Promise<void>((resolve) => {
        // A second signal waits beside the first, which must not be forgotten.
        if (entries.size === 0) resolve();
        else waiting.push(resolve);
      });
      if (await withinMs(empty, timeoutMs)) return;
      for (const stop of [...entries]) stop(shuttingDown());
      await withinMs(empty, STOP_GRACE_MS);
    },
  };
}

function shuttingDown(): SvcError {
  return new SvcError('SHUTTING_DOWN', 'The daemon is stopping: try again in a moment.', { retryAfterSeconds: 2 });
}

async function withinMs(done: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  const first = await Promise.race([done.then(() => true), late]);
  clearTimeout(timer);
  return first;
}

// Two relays in a row: what the first makes of an upstream's stream is the second's upstream.

import type { StreamRelay } from './stream-relay.ts';

/**
 * `first` reads the upstream and is asked for all that is measured; `second` writes for the caller. What `first` holds back
 * until settlement reaches `second` only then.
 */
export function chainRelays(first: StreamRelay, second: StreamRelay): StreamRelay {
  return {
    push: (chunk) => second.push(first.push(chunk)),
    end: () => second.push(first.end()),
    get started() {
      return first.started;
    },
    get events() {
      return first.events;
    },
    get failure() {
      return first.failure ?? second.failure;
    },
    get finished() {
      return first.finished;
    },
    get done() {
      return first.done;
    },
    get usage() {
      return first.usage;
    },
    get usageMissing() {
      return first.usageMissing;
    },
    get anomalies() {
      return first.anomalies;
    },
    get finishReason() {
      return first.finishReason;
    },
    get deliveredBytes() {
      return first.deliveredBytes;
    },
    complete(cost, usage) {
      const rest = [second.push(first.complete(cost, usage)), second.end()];
      return Buffer.concat([...rest, second.complete(cost, usage)]);
    },
    fail: (error) => second.fail(error),
    ping: () => second.ping(),
  };
}

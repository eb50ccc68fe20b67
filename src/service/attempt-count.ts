// Asks an upstream for a token count. It costs nothing there, so that it needs no hold; no other path can be called here.

import type { Upstream, UpstreamTimeouts } from '../upstream/upstream.ts';
import { isObject } from '../wire/field-checks.ts';

export type CountInput = {
  readonly upstream: Upstream;
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeouts: UpstreamTimeouts;
  readonly signal: AbortSignal;
};

/** `{"input_tokens": n}` and little more. */
const ANSWER_BYTES_MAX = 64 * 1024;
/** Clients ask while a person waits; past this our own estimate is worth more. */
const ANSWER_MS_MAX = 10_000;
const TOKENS_MAX = 1_000_000_000;

/** Undefined where the upstream fails, refuses, is late or says no count. Ends early, so, when `signal` is aborted. */
export function attemptCount(input: CountInput): Promise<number | undefined> {
  return new Promise((resolve) => {
    let status = 0;
    let size = 0;
    const chunks: Buffer[] = [];
    const { upstream, signal, body, headers, timeouts } = input;
    const finish = (count: number | undefined): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
      resolve(count);
    };
    const giveUp = (): void => {
      abort();
      finish(undefined);
    };
    const timer = setTimeout(giveUp, ANSWER_MS_MAX);
    const abort = upstream.send(
      { path: '/messages/count_tokens', body, headers, timeouts },
      {
        onHead(gotStatus) {
          status = gotStatus;
        },
        onData(chunk) {
          size += chunk.length;
          chunks.push(chunk);
          if (size > ANSWER_BYTES_MAX) giveUp();
        },
        onEnd: () => finish(status >= 200 && status <= 299 ? countIn(Buffer.concat(chunks)) : undefined),
        onFailure: () => finish(undefined),
      },
    );
    signal.addEventListener('abort', giveUp);
    if (signal.aborted) giveUp();
  });
}

function countIn(body: Buffer): number | undefined {
  try {
    const answer: unknown = JSON.parse(body.toString('utf8'));
    const count = isObject(answer) ? answer['input_tokens'] : undefined;
    return typeof count === 'number' && Number.isInteger(count) && count >= 0 && count <= TOKENS_MAX
      ? count
      : undefined;
  } catch {
    // Not JSON, so no count.
    return undefined;
  }
}

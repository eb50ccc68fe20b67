// Idempotency keys: a repeated request gets the first one's answer, and its effect happens once, across restarts too.

import { ID_BYTES, makeId } from '../identity/ids.ts';
import { digestOf } from '../identity/secrets.ts';
import type { Store } from '../store/store.ts';
import { SvcError } from '../wire/svc-error.ts';
import { createKeyedLock } from './keyed-lock.ts';
import { invalidField } from './request-fields.ts';

const LIFETIME_MS = 24 * 3_600_000;
const KEY_PATTERN = /^[\x21-\x7e]{1,255}$/;
const SEED_BYTES = 32;
/** Marks a request whose effect has begun and whose answer is not known yet. */
const PENDING_STATUS = 0;

export type IdempotentRequest = {
  /** The `Idempotency-Key`; undefined runs the work each time. */
  readonly key: string | undefined;
  /** What the key is good for: account and route, with the ids in it; one shape of answer only. */
  readonly scope: string;
  readonly body: unknown;
  /** Status of the answer, kept with it. */
  readonly status: number;
};

/** `seed` is 64 hex digits, random, and the same for every repetition. */
export type Outcome<T> = { readonly answer: T; readonly seed: string };

export type Idempotency = {
  /**
   * Runs the work once per key and keeps its answer for 24 hours. Throws `IDEMPOTENCY_MISMATCH` when the key came with another
   * body. Repetitions that arrive meanwhile wait. A failed work is not kept: its repetition runs again, with the same seed.
   */
  once<T>(request: IdempotentRequest, work: (seed: string) => Promise<T>): Promise<Outcome<T>>;
};

export type IdempotencyDeps = {
  readonly store: Store;
  readonly now: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
};

export function createIdempotency(deps: IdempotencyDeps): Idempotency {
  const { documents } = deps.store;
  const lock = createKeyedLock();
  const newSeed = (): string => Buffer.from(deps.randomBytes(SEED_BYTES)).toString('hex');

  const runOnce = async <T>(
    scope: string,
    request: IdempotentRequest,
    work: (seed: string) => Promise<T>,
  ): Promise<Outcome<T>> => {
    const bodyDigest = digestOf(canonicalJson(request.body));
    const found = documents.idempotent(scope);
    const saved = found && deps.now() - found.at < LIFETIME_MS ? found : undefined;
    if (saved && saved.bodyDigest !== bodyDigest) {
      throw new SvcError(
        'IDEMPOTENCY_MISMATCH',
        'This Idempotency-Key was used with another body; take a new key for a new request.',
        {
          param: 'Idempotency-Key',
        },
      );
    }
    const { seed, answer } = parseSaved<T>(saved?.body);
    if (saved && saved.status !== PENDING_STATUS) return { seed, answer };
    const at = saved?.at ?? deps.now();
    const used = saved ? seed : newSeed();
    if (!saved) await documents.putIdempotent(scope, { bodyDigest, status: PENDING_STATUS, body: { seed: used }, at });
    const made = await work(used);
    await documents.putIdempotent(scope, {
      bodyDigest,
      status: request.status,
      body: { seed: used, answer: made },
      at,
    });
    return { seed: used, answer: made };
  };

  return {
    once: async (request, work) => {
      if (request.key === undefined) {
        const seed = newSeed();
        return { seed, answer: await work(seed) };
      }
      if (!KEY_PATTERN.test(request.key))
        throw invalidField('Idempotency-Key', 'must be 1 to 255 printable ASCII characters without spaces');
      // Digested, so that the store never holds what a client may consider its own.
      const scope = digestOf(`${request.scope}\n${request.key}`);
      return lock(scope, () => runOnce(scope, request, work));
    },
  };
}

/** An id that every repetition of the request makes again, so that a repeated effect is the same effect. */
export function idFromSeed(prefix: string, seed: string): string {
  return makeId(prefix, Buffer.from(digestOf(`${prefix} ${seed}`), 'hex').subarray(0, ID_BYTES));
}

/** JSON with sorted fields: the same request in another order is the same request. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, item: unknown) => {
    if (typeof item !== 'object' || item === null || Array.isArray(item)) return item;
    return Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

/** The scope names account and route, so what is saved under it is what the same route made. */
function parseSaved<T>(body: unknown): Outcome<T> {
  return (body ?? { seed: '' }) as Outcome<T>;
}

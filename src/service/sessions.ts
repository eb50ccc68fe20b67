// Sessions: what a login yields, how long it lasts, and how a token is recognised.

import { ID_BYTES, makeId } from '../identity/ids.ts';
import { checkSecret, digestOf, makeSecret, SECRET_BYTES, sameDigest } from '../identity/secrets.ts';
import type { Session, Store } from '../store/store.ts';
import { SvcError } from '../wire/svc-error.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const IDLE_MAX_MS = 30 * DAY_MS;
const ABSOLUTE_MAX_MS = 90 * DAY_MS;
/** A use is written down at most this often: a request must not cost a disk write. */
const TOUCH_INTERVAL_MS = HOUR_MS;
const CLIENT_LENGTH_MAX = 200;

export type SessionDeps = {
  readonly store: Store;
  readonly now: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
};

export type SessionService = {
  /** A new session for the account; the token is known to the caller alone. `client` is shown to the owner later. */
  issue(accountId: string, client: string): Promise<{ readonly token: string; readonly session: Session }>;
  /** The live session of a token; throws `INVALID_SESSION`. */
  authenticate(token: string | undefined): Promise<Session>;
  end(session: Session): Promise<void>;
};

export function createSessionService(deps: SessionDeps): SessionService {
  const { store, now } = deps;
  const issue: SessionService['issue'] = async (accountId, client) => {
    const token = makeSecret('svc_st_', deps.randomBytes(SECRET_BYTES));
    const at = now();
    const session: Session = {
      id: makeId('ses', deps.randomBytes(ID_BYTES)),
      digest: digestOf(token),
      accountId,
      client: client.slice(0, CLIENT_LENGTH_MAX),
      createdAt: at,
      lastUsedAt: at,
      expiresAt: at + ABSOLUTE_MAX_MS,
    };
    await store.documents.putSession(session);
    return { token, session };
  };
  const authenticate: SessionService['authenticate'] = async (token) => {
    const session = findSession(store, token);
    const at = now();
    if (at >= session.expiresAt || at >= session.lastUsedAt + IDLE_MAX_MS) {
      await ignoreRefusedWrite(store.documents.removeSession(session.id));
      throw new SvcError('INVALID_SESSION', 'The session is over; log in again with `svc login`.');
    }
    if (at - session.lastUsedAt >= TOUCH_INTERVAL_MS) {
      await ignoreRefusedWrite(store.documents.putSession({ ...session, lastUsedAt: at }));
    }
    return session;
  };
  return { issue, authenticate, end: (session) => store.documents.removeSession(session.id) };
}

function findSession(store: Store, token: string | undefined): Session {
  if (token === undefined || token === '') {
    throw new SvcError(
      'INVALID_SESSION',
      'No session token: send "Authorization: Bearer svc_st_…" from `svc login` or POST /auth/login.',
    );
  }
  if (token.startsWith('svc_sk_')) {
    throw new SvcError(
      'INVALID_SESSION',
      'This is an API key; account routes take the session token (svc_st_…) that a login yields.',
    );
  }
  const digest = checkSecret('svc_st_', token) ? digestOf(token) : undefined;
  const session = digest === undefined ? undefined : store.documents.sessionByDigest(digest);
  if (session === undefined || digest === undefined || !sameDigest(session.digest, digest)) {
    throw new SvcError(
      'INVALID_SESSION',
      'The session token is unknown or was logged out; log in again with `svc login`.',
    );
  }
  return session;
}

/** Bookkeeping only: a full disk must not log people out. */
async function ignoreRefusedWrite(write: Promise<void>): Promise<void> {
  try {
    await write;
  } catch {
    // The store itself reports the refusal; the next use tries again.
  }
}

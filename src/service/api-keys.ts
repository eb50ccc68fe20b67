// API keys of a workspace: making, listing, changing, revoking and rotating them. The secret is shown once and never stored.

import { createHmac } from 'node:crypto';
import type { ApiKeyCreated, ApiKeyView } from '../api/types.ts';
import { ID_BYTES, isId, makeId } from '../identity/ids.ts';
import { digestOf, makeSecret, previewOf, SECRET_BYTES } from '../identity/secrets.ts';
import { renderUsd } from '../ledger/nano.ts';
import type { Account, ApiKey, Store } from '../store/store.ts';
import { SvcError } from '../wire/svc-error.ts';
import { KEY_DEFAULTS, type KeyOptions, parseKeyChange, parseNewKey } from './api-key-fields.ts';
import { type Idempotency, idFromSeed } from './idempotency.ts';
import { createKeyedLock } from './keyed-lock.ts';
import { readFields, renderTimestamp } from './request-fields.ts';
import type { WorkspaceService } from './workspaces.ts';

/** Live keys; all of them are kept in memory. */
const KEYS_PER_WORKSPACE_MAX = 1000;
const FIRST_KEY_NAME = 'default';

export type ApiKeyDeps = {
  readonly store: Store;
  readonly now: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly workspaces: WorkspaceService;
  readonly idempotency: Idempotency;
};

export type ApiKeyCreateRequest = {
  readonly workspaceId: string;
  readonly body: unknown;
  readonly idempotencyKey: string | undefined;
  /** The token that the request came with: it makes the secret repeatable for that session alone. */
  readonly sessionToken: string;
};

export type ApiKeyService = {
  /** All keys, revoked ones too, newest first. */
  list(account: Account, workspaceId: string): readonly ApiKeyView[];
  create(account: Account, request: ApiKeyCreateRequest): Promise<ApiKeyCreated>;
  /** Changes what is given; throws `CONFLICT` on a revoked key. */
  patch(account: Account, workspaceId: string, keyId: string, body: unknown): Promise<ApiKeyView>;
  /** From its return on the key is refused everywhere. Revoking twice is fine. */
  revoke(account: Account, workspaceId: string, keyId: string): Promise<void>;
  /** A new secret for the same key: limits and spending stay, the old secret is refused from now on. */
  rotate(account: Account, workspaceId: string, keyId: string, body: unknown): Promise<ApiKeyCreated>;
  /** The secret of the key that a first start makes and prints, for a workspace that has no members yet. */
  firstKey(workspaceId: string): Promise<string>;
};

export function createApiKeyService(deps: ApiKeyDeps): ApiKeyService {
  const { documents } = deps.store;
  const lock = createKeyedLock();
  const view = (key: ApiKey): ApiKeyView => renderKey(deps, key);
  const permit = (account: Account, workspaceId: string): void => {
    deps.workspaces.workspaceFor(account, workspaceId, 'manage_keys');
  };
  const change = (workspaceId: string, keyId: string, apply: (key: ApiKey) => ApiKey): Promise<ApiKey> =>
    lock(workspaceId, async () => {
      const changed = apply(findKey(deps.store, workspaceId, keyId));
      await documents.putApiKey(changed);
      return changed;
    });
  return {
    list: (account, workspaceId) => {
      deps.workspaces.workspaceFor(account, workspaceId, 'read');
      return [...documents.apiKeysOf(workspaceId)].sort((a, b) => b.createdAt - a.createdAt).map(view);
    },
    create: async (account, request) => {
      permit(account, request.workspaceId);
      return lock(request.workspaceId, () => createOnce(deps, account, request));
    },
    patch: async (account, workspaceId, keyId, body) => {
      permit(account, workspaceId);
      const options = parseKeyChange(body, deps.now());
      return view(await change(workspaceId, keyId, (key) => ({ ...requireLive(key), ...options })));
    },
    revoke: async (account, workspaceId, keyId) => {
      permit(account, workspaceId);
      await change(workspaceId, keyId, (key) => ({ ...key, revokedAt: key.revokedAt ?? deps.now() }));
    },
    rotate: async (account, workspaceId, keyId, body) => {
      permit(account, workspaceId);
      readFields(body, []);
      const secret = makeSecret('svc_sk_', deps.randomBytes(SECRET_BYTES));
      const rotated = await change(workspaceId, keyId, (key) => ({ ...requireLive(key), ...storedForm(secret) }));
      return { ...view(rotated), key: secret };
    },
    firstKey: async (workspaceId) => {
      const secret = makeSecret('svc_sk_', deps.randomBytes(SECRET_BYTES));
      const id = makeId('key', deps.randomBytes(ID_BYTES));
      const key = newKey(id, workspaceId, secret, { ...KEY_DEFAULTS, name: FIRST_KEY_NAME }, deps.now());
      await documents.putApiKey(key);
      return secret;
    },
  };
}

/**
 * Makes the key, or finds it made by the same request before. Since no secret is stored, a repeated request gets it by making
 * it again: it is derived from the session token, which only the client has, and the seed kept with the Idempotency-Key.
 */
async function createOnce(deps: ApiKeyDeps, account: Account, request: ApiKeyCreateRequest): Promise<ApiKeyCreated> {
  const options = parseNewKey(request.body, deps.now());
  const { workspaceId, sessionToken } = request;
  const scope = `${account.id} POST /workspaces/${workspaceId}/api-keys`;
  const { answer, seed } = await deps.idempotency.once(
    { key: request.idempotencyKey, scope, body: request.body, status: 201 },
    async (fresh) => {
      const live = deps.store.documents.apiKeysOf(workspaceId).filter((key) => key.revokedAt === null).length;
      if (live >= KEYS_PER_WORKSPACE_MAX) {
        throw new SvcError('CONFLICT', `A workspace has at most ${KEYS_PER_WORKSPACE_MAX} keys; revoke one first.`);
      }
      const key = newKey(idFromSeed('key', fresh), workspaceId, deriveSecret(sessionToken, fresh), options, deps.now());
      await deps.store.documents.putApiKey(key);
      return renderKey(deps, key);
    },
  );
  const secret = deriveSecret(sessionToken, seed);
  if (findKey(deps.store, workspaceId, answer.id).digest === digestOf(secret)) return { ...answer, key: secret };
  throw new SvcError(
    'CONFLICT',
    `The key ${answer.id} was made by this request before and its secret cannot be shown again; rotate it.`,
  );
}

function deriveSecret(sessionToken: string, seed: string): string {
  return makeSecret('svc_sk_', createHmac('sha256', sessionToken).update(`api key ${seed}`).digest());
}

function newKey(id: string, workspaceId: string, secret: string, options: KeyOptions, now: number): ApiKey {
  return { id, workspaceId, ...options, ...storedForm(secret), createdAt: now, revokedAt: null };
}

function storedForm(secret: string): Pick<ApiKey, 'digest' | 'prefix' | 'last4'> {
  return { digest: digestOf(secret), ...previewOf(secret) };
}

function findKey(store: Store, workspaceId: string, keyId: string): ApiKey {
  const key = isId('key', keyId)
    ? store.documents.apiKeysOf(workspaceId).find((candidate) => candidate.id === keyId)
    : undefined;
  if (key) return key;
  throw new SvcError('NOT_FOUND', 'There is no such API key in this workspace; `svc keys list` shows them.');
}

function requireLive(key: ApiKey): ApiKey {
  if (key.revokedAt === null) return key;
  throw new SvcError('CONFLICT', 'This API key is revoked for good; make a new one with `svc keys create NAME`.');
}

function renderKey(deps: ApiKeyDeps, key: ApiKey): ApiKeyView {
  return {
    id: key.id,
    name: key.name,
    prefix: key.prefix,
    last4: key.last4,
    created_at: renderTimestamp(key.createdAt),
    expires_at: key.expiresAt === null ? null : renderTimestamp(key.expiresAt),
    revoked_at: key.revokedAt === null ? null : renderTimestamp(key.revokedAt),
    models: key.models,
    requests_per_minute: key.requestsPerMinute,
    tokens_per_minute: key.tokensPerMinute,
    budget: key.budgetNano === null ? null : renderUsd(key.budgetNano),
    budget_period: key.budgetPeriod,
    spent: renderUsd(deps.store.ledger.keySpentNano(key.id, key.budgetPeriod, deps.now())),
  };
}

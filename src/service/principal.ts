// Who a request acts for: the API key it came with and the key's workspace.

import { checkSecret, digestOf } from '../identity/secrets.ts';
import type { ApiKey, Documents, Workspace } from '../store/store.ts';
import { SvcError } from '../wire/svc-error.ts';

export type Principal = { readonly apiKey: ApiKey; readonly workspace: Workspace };

/** Checks an API key. The text is only ever checked for its checksum and hashed, never compared or stored. */
export function authenticate(documents: Documents, credential: string | undefined, nowMs: number): Principal {
  if (!credential) {
    throw new SvcError(
      'MISSING_API_KEY',
      'No API key: send it as "Authorization: Bearer <API_KEY>" or "x-api-key: <API_KEY>".',
    );
  }
  const apiKey = checkSecret('svc_sk_', credential) ? documents.apiKeyByDigest(digestOf(credential)) : undefined;
  const expired = apiKey?.expiresAt != null && apiKey.expiresAt <= nowMs;
  if (!apiKey || apiKey.revokedAt !== null || expired) {
    throw new SvcError(
      'INVALID_API_KEY',
      'The API key is unknown, expired or revoked: make one with `svc keys create NAME`.',
    );
  }
  const workspace = documents.workspaceById(apiKey.workspaceId);
  if (!workspace) throw new SvcError('INVALID_API_KEY', 'The API key belongs to a workspace that is gone.');
  return { apiKey, workspace };
}

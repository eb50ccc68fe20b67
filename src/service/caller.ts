// Who asks on the routes that take an API key or a session: the workspace they act in, and the key when there is one.

import type { Store, Workspace } from '../store/store.ts';
import { SvcError } from '../wire/svc-error.ts';
import type { AccountService } from './accounts.ts';
import { authenticate, type Principal } from './principal.ts';
import type { RateLimiter } from './rate-limiter.ts';
import type { WorkspaceService } from './workspaces.ts';

export type CallerInput = {
  readonly credential: string | undefined;
  /** `X-Svc-Workspace`; needed with a session only by those who are in several workspaces. */
  readonly workspaceId: string | undefined;
  /** Rate-limit headers go in here. */
  readonly headers: Record<string, string>;
};

export type Caller = { readonly workspace: Workspace; readonly principal: Principal | null };

export type CallerDeps = {
  readonly store: Store;
  readonly limiter: RateLimiter;
  readonly accounts: AccountService;
  readonly workspaces: WorkspaceService;
  nowMs(): number;
};

/** Counts as one request of the key. Throws 401 errors, `NOT_FOUND` for others' workspaces, `RATE_LIMITED`. */
export async function identifyCaller(deps: CallerDeps, input: CallerInput): Promise<Caller> {
  if (input.credential?.startsWith('svc_st_')) return sessionCaller(deps, input.credential, input.workspaceId);
  const principal = authenticate(deps.store.documents, input.credential, deps.nowMs());
  await deps.limiter.admit(principal, 0, input.headers);
  return { workspace: principal.workspace, principal };
}

async function sessionCaller(deps: CallerDeps, token: string, workspaceId: string | undefined): Promise<Caller> {
  const { account } = await deps.accounts.authenticateSession(token);
  const own = deps.store.documents
    .workspaces()
    .find(({ members }) => members.some(({ accountId }) => accountId === account.id));
  const id = workspaceId ?? own?.id;
  if (id === undefined) throw new SvcError('NOT_FOUND', 'The account has no workspace.');
  return { workspace: deps.workspaces.workspaceFor(account, id, 'read'), principal: null };
}

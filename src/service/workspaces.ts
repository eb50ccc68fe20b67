// Workspaces: making, reading and renaming them, and who may do what in one.

import type { ApiWorkspace, ApiWorkspaceDetail } from '../api/types.ts';
import { ID_BYTES, isId, makeId } from '../identity/ids.ts';
import { type Action, type Role, roleAllows } from '../identity/roles.ts';
import type { Account, Store, Workspace } from '../store/store.ts';
import { SvcError } from '../wire/svc-error.ts';
import { createKeyedLock } from './keyed-lock.ts';
import {
  type Fields,
  invalidField,
  orNull,
  readFields,
  readInteger,
  readLabel,
  renderTimestamp,
  required,
} from './request-fields.ts';

/** Every workspace is kept in memory, and a new one may come with credits. */
const WORKSPACES_PER_ACCOUNT_MAX = 100;
export const NAME_LENGTH_MAX = 100;
const RATE_LIMIT_MAX = 1_000_000_000;
/** The workspace that a first start makes, for the first account to take over. */
const DEFAULT_NAME = 'default';

export type WorkspaceDeps = {
  readonly store: Store;
  readonly now: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  /** Credits of every new workspace; 0 for none. */
  readonly startingCreditsNano: number;
};

export type WorkspaceService = {
  /** Where the account is a member, oldest first. */
  listOf(account: Account): readonly ApiWorkspace[];
  create(account: Account, body: unknown): Promise<ApiWorkspaceDetail>;
  read(account: Account, workspaceId: string): ApiWorkspaceDetail;
  /** `name` for owners; the two limits for the operator, in every workspace. */
  patch(account: Account, workspaceId: string, body: unknown): Promise<ApiWorkspaceDetail>;
  /** The workspace, where the account may do that; `NOT_FOUND` for others' workspaces, `FORBIDDEN` when the role does not allow it. */
  workspaceFor(account: Account, workspaceId: string, action: Action): Workspace;
  /** The memberless `default` workspace of a new installation. */
  createDefault(): Promise<Workspace>;
  /** The account's own workspace: one it is in, else the default one (for the operator), else a new one. */
  ensureOwn(account: Account): Promise<ApiWorkspace>;
};

export function createWorkspaceService(deps: WorkspaceDeps): WorkspaceService {
  const { store } = deps;
  const lock = createKeyedLock();
  const listOf: WorkspaceService['listOf'] = (account) =>
    memberships(store, account).map((workspace) => renderBrief(workspace, account));
  const workspaceFor: WorkspaceService['workspaceFor'] = (account, workspaceId, action) =>
    requireAction(store, account, workspaceId, action);
  return {
    listOf,
    workspaceFor,
    create: async (account, body) => {
      const fields = readFields(body, ['name']);
      const name = required(readLabel(fields, 'name', NAME_LENGTH_MAX), 'name');
      return lock(account.id, async () => {
        if (memberships(store, account).length >= WORKSPACES_PER_ACCOUNT_MAX) {
          throw invalidField('name', `is fine, but an account has at most ${WORKSPACES_PER_ACCOUNT_MAX} workspaces`);
        }
        return renderDetail(await makeWorkspace(deps, name, account), account);
      });
    },
    read: (account, workspaceId) => renderDetail(workspaceFor(account, workspaceId, 'read'), account),
    patch: async (account, workspaceId, body) => {
      const change = parsePatch(body);
      return lock(workspaceId, async () => {
        const workspace = requirePatch(store, account, workspaceId, change);
        const patched: Workspace = { ...workspace, ...change };
        await store.documents.putWorkspace(patched);
        return renderDetail(patched, account);
      });
    },
    createDefault: () => makeWorkspace(deps, DEFAULT_NAME, undefined),
    ensureOwn: (account) =>
      lock('own', async () => {
        const [own] = listOf(account);
        if (own) return own;
        const orphan = account.operator ? findDefault(store) : undefined;
        if (!orphan) return renderBrief(await makeWorkspace(deps, nameAfter(account), account), account);
        const adopted: Workspace = { ...orphan, members: [{ accountId: account.id, role: 'owner' }] };
        await store.documents.putWorkspace(adopted);
        return renderBrief(adopted, account);
      }),
  };
}

/** Operators are no members: they see others' workspaces no more than anyone else does. */
function requireAction(store: Store, account: Account, workspaceId: string, action: Action): Workspace {
  const workspace = findWorkspace(store, workspaceId);
  const role = roleIn(workspace, account);
  if (!workspace || !role) throw noSuchWorkspace();
  if (!roleAllows(role, action)) {
    throw new SvcError(
      'FORBIDDEN',
      `Your role in this workspace is ${role}, which does not allow this; ask its owner.`,
    );
  }
  return workspace;
}

type WorkspacePatch = { -readonly [K in 'name' | 'requestsPerMinute' | 'tokensPerMinute']?: Workspace[K] };

function parsePatch(body: unknown): WorkspacePatch {
  const fields = readFields(body, ['name', 'requests_per_minute', 'tokens_per_minute']);
  const patch: WorkspacePatch = {};
  const name = readLabel(fields, 'name', NAME_LENGTH_MAX);
  if (name !== undefined) patch.name = name;
  const requests = readLimit(fields, 'requests_per_minute');
  if (requests !== undefined) patch.requestsPerMinute = requests;
  const tokens = readLimit(fields, 'tokens_per_minute');
  if (tokens !== undefined) patch.tokensPerMinute = tokens;
  return patch;
}

function readLimit(fields: Fields, field: string): number | null | undefined {
  return orNull(fields, field, () => readInteger(fields, field, { min: 1, max: RATE_LIMIT_MAX }));
}

function requirePatch(store: Store, account: Account, workspaceId: string, patch: WorkspacePatch): Workspace {
  const limits = patch.requestsPerMinute !== undefined || patch.tokensPerMinute !== undefined;
  if (!limits || patch.name !== undefined) requireAction(store, account, workspaceId, 'write');
  const workspace = account.operator
    ? findWorkspace(store, workspaceId)
    : requireAction(store, account, workspaceId, 'read');
  if (!workspace) throw noSuchWorkspace();
  if (limits && !account.operator) throw new SvcError('FORBIDDEN', 'Only the operator sets the limits of a workspace.');
  return workspace;
}

/** The credits come first: a crash in between leaves a grant nobody sees, not a workspace that is short of them. */
async function makeWorkspace(deps: WorkspaceDeps, name: string, owner: Account | undefined): Promise<Workspace> {
  const id = makeId('ws', deps.randomBytes(ID_BYTES));
  const at = deps.now();
  if (deps.startingCreditsNano > 0) {
    const grantId = makeId('gr', deps.randomBytes(ID_BYTES));
    await deps.store.ledger.grant({
      type: 'grant',
      at,
      id: grantId,
      workspaceId: id,
      amountNano: deps.startingCreditsNano,
      note: 'starting credits',
    });
  }
  const workspace: Workspace = {
    id,
    name,
    createdAt: at,
    members: owner ? [{ accountId: owner.id, role: 'owner' }] : [],
    requestsPerMinute: null,
    tokensPerMinute: null,
  };
  await deps.store.documents.putWorkspace(workspace);
  return workspace;
}

function nameAfter(account: Account): string {
  return account.name ?? account.email.slice(0, account.email.indexOf('@'));
}

function findDefault(store: Store): Workspace | undefined {
  return store.documents
    .workspaces()
    .find((workspace) => workspace.name === DEFAULT_NAME && workspace.members.length === 0);
}

function findWorkspace(store: Store, workspaceId: string): Workspace | undefined {
  return isId('ws', workspaceId) ? store.documents.workspaceById(workspaceId) : undefined;
}

function memberships(store: Store, account: Account): readonly Workspace[] {
  return store.documents
    .workspaces()
    .filter((workspace) => roleIn(workspace, account) !== undefined)
    .sort((a, b) => a.createdAt - b.createdAt);
}

function roleIn(workspace: Workspace | undefined, account: Account): Role | undefined {
  return workspace?.members.find((member) => member.accountId === account.id)?.role;
}

function renderBrief(workspace: Workspace, account: Account): ApiWorkspace {
  return { id: workspace.id, name: workspace.name, role: roleIn(workspace, account) ?? 'operator' };
}

function renderDetail(workspace: Workspace, account: Account): ApiWorkspaceDetail {
  return {
    ...renderBrief(workspace, account),
    created_at: renderTimestamp(workspace.createdAt),
    requests_per_minute: workspace.requestsPerMinute,
    tokens_per_minute: workspace.tokensPerMinute,
  };
}

/** The same for one that is not there and one that is somebody else's. */
export function noSuchWorkspace(): SvcError {
  return new SvcError('NOT_FOUND', 'There is no such workspace among yours; `svc workspaces list` shows them.');
}

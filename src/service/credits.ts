// Credits of a workspace: its balance, and the operator's grants.

import type { BalanceResponse, GrantResponse } from '../api/types.ts';
import { isId } from '../identity/ids.ts';
import { renderUsd } from '../ledger/nano.ts';
import type { Account, Store } from '../store/store.ts';
import { SvcError } from '../wire/svc-error.ts';
import { type Idempotency, idFromSeed } from './idempotency.ts';
import { invalidField, orNull, readFields, readLabel, readUsd, required } from './request-fields.ts';
import { noSuchWorkspace, type WorkspaceService } from './workspaces.ts';

const NOTE_LENGTH_MAX = 200;
/** A million USD: above it a slip of the finger is likelier than the wish. */
const GRANT_MAX_NANO = 1_000_000 * 1_000_000_000;

export type CreditDeps = {
  readonly store: Store;
  readonly now: () => number;
  readonly workspaces: WorkspaceService;
  readonly idempotency: Idempotency;
};

export type GrantCall = {
  readonly workspaceId: string;
  readonly body: unknown;
  readonly idempotencyKey: string | undefined;
};

export type CreditService = {
  balance(account: Account, workspaceId: string): BalanceResponse;
  /** Operator only, for any workspace. The same `idempotencyKey` and body grant once and get the same answer. */
  grant(account: Account, call: GrantCall): Promise<GrantResponse>;
};

export function createCreditService(deps: CreditDeps): CreditService {
  return {
    balance: (account, workspaceId) => {
      deps.workspaces.workspaceFor(account, workspaceId, 'read');
      return renderBalance(deps.store, workspaceId);
    },
    grant: async (account, call) => {
      requireOperator(deps, account, call.workspaceId);
      const grant = parseGrant(call.body);
      const scope = `${account.id} POST /workspaces/${call.workspaceId}/credits`;
      const request = { key: call.idempotencyKey, scope, body: call.body, status: 201 };
      const { answer } = await deps.idempotency.once(request, (seed) =>
        addCredits(deps, account, call.workspaceId, grant, idFromSeed('gr', seed)),
      );
      return answer;
    },
  };
}

type Grant = { readonly amountNano: number; readonly note: string | undefined };

function requireOperator(deps: CreditDeps, account: Account, workspaceId: string): void {
  if (account.operator) {
    if (isId('ws', workspaceId) && deps.store.documents.workspaceById(workspaceId)) return;
    throw noSuchWorkspace();
  }
  deps.workspaces.workspaceFor(account, workspaceId, 'read');
  throw new SvcError('FORBIDDEN', 'Only the operator adds credits.');
}

function parseGrant(body: unknown): Grant {
  const fields = readFields(body, ['amount', 'note']);
  const amountNano = required(readUsd(fields, 'amount'), 'amount');
  if (amountNano === 0) throw invalidField('amount', 'must be more than 0');
  if (amountNano > GRANT_MAX_NANO)
    throw invalidField('amount', `must be at most ${renderUsd(GRANT_MAX_NANO)} USD at once`);
  return { amountNano, note: orNull(fields, 'note', () => readLabel(fields, 'note', NOTE_LENGTH_MAX)) ?? undefined };
}

async function addCredits(
  deps: CreditDeps,
  by: Account,
  workspaceId: string,
  grant: Grant,
  id: string,
): Promise<GrantResponse> {
  // The ledger itself refuses what would make a balance inexact.
  await deps.store.ledger.grant({
    type: 'grant',
    at: deps.now(),
    id,
    workspaceId,
    amountNano: grant.amountNano,
    by: by.id,
    ...(grant.note === undefined ? {} : { note: grant.note }),
  });
  return { id, amount: renderUsd(grant.amountNano), balance: renderBalance(deps.store, workspaceId).balance };
}

function renderBalance(store: Store, workspaceId: string): BalanceResponse {
  const { grantedNano, chargedNano, heldNano } = store.ledger.balance(workspaceId);
  const balanceNano = grantedNano - chargedNano;
  return {
    workspace_id: workspaceId,
    currency: 'USD',
    balance: renderUsd(balanceNano),
    held: renderUsd(heldNano),
    available: renderUsd(balanceNano - heldNano),
    granted: renderUsd(grantedNano),
    charged: renderUsd(chargedNano),
  };
}

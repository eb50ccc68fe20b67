// The use cases of the account area, put together: what the HTTP routes and the first start are given.

import { type AccountDeps, type AccountService, createAccountService } from './accounts.ts';
import { type ApiKeyService, createApiKeyService } from './api-keys.ts';
import { type CreditService, createCreditService } from './credits.ts';
import { createIdempotency } from './idempotency.ts';
import { createPreferenceService, type PreferenceService } from './preferences.ts';
import { createUsageService, type UsageService } from './usage-query.ts';
import { createWorkspaceService, type WorkspaceService } from './workspaces.ts';

export type ControlServices = {
  readonly accounts: AccountService;
  readonly workspaces: WorkspaceService;
  readonly apiKeys: ApiKeyService;
  readonly credits: CreditService;
  readonly usage: UsageService;
  readonly preferences: PreferenceService;
};

export function createControlServices(deps: AccountDeps): ControlServices {
  const workspaces = createWorkspaceService(deps);
  const shared = { ...deps, workspaces, idempotency: createIdempotency(deps) };
  return {
    accounts: createAccountService(deps),
    workspaces,
    apiKeys: createApiKeyService(shared),
    credits: createCreditService(shared),
    usage: createUsageService(shared),
    preferences: createPreferenceService(shared),
  };
}

// The account area's services over a real file store in a temp directory, with a clock the test turns.

import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RegisterResponse } from '../../src/api/types.ts';
import type { UsageEntry } from '../../src/ledger/records.ts';
import { type ControlServices, createControlServices } from '../../src/service/control-services.ts';
import { type Argon2, createPasswordHasher } from '../../src/service/password-hasher.ts';
import { openFileStore } from '../../src/store/file-store.ts';
import type { Account, Store } from '../../src/store/store.ts';

export const USD = 1_000_000_000;
export const PASSWORD = 'correct horse battery';
export const START_MS = Date.parse('2026-01-15T12:00:00Z');

export type Clock = { ms: number };

export type Tenant = {
  readonly account: Account;
  readonly token: string;
  readonly workspaceId: string;
  readonly answer: RegisterResponse;
};

export type ControlFixture = {
  readonly store: Store;
  readonly services: ControlServices;
  readonly clock: Clock;
  readonly directory: string;
  readonly settings: { readonly startingCreditsNano: number; readonly registrationOpen: boolean };
  /** Registers `<name>@example.com`, or `<name>-2@example.com` where that one is taken, and so on. */
  tenant(name: string): Promise<Tenant>;
  /** Closes the store and opens it again, as a restart does. */
  reopen(): Promise<ControlFixture>;
  close(): Promise<void>;
};

export type ControlSettings = { readonly startingCreditsNano?: number; readonly registrationOpen?: boolean };

export async function openControl(settings: ControlSettings = {}): Promise<ControlFixture> {
  const directory = await mkdtemp(join(tmpdir(), 'svc-control-'));
  return openIn(directory, { startingCreditsNano: 10 * USD, registrationOpen: true, ...settings }, { ms: START_MS });
}

async function openIn(directory: string, settings: ControlFixture['settings'], clock: Clock): Promise<ControlFixture> {
  const now = (): number => clock.ms;
  const store = await openFileStore({
    directory,
    now,
    onFatal: (error) => {
      throw error;
    },
  });
  const taken = (email: string): boolean => store.documents.accountByEmail(email) !== undefined;
  const hasher = createPasswordHasher({ randomBytes, loadArgon2: loadCheapArgon2 });
  const services = createControlServices({ store, now, randomBytes, hasher, ...settings });
  return {
    store,
    services,
    clock,
    directory,
    settings,
    tenant: async (name) => {
      let email = `${name}@example.com`;
      for (let n = 2; taken(email); n += 1) email = `${name}-${n}@example.com`;
      const answer = await services.accounts.register({ email, password: PASSWORD, name }, 'vitest');
      const account = store.documents.accountById(answer.account.id);
      if (!account) throw new Error('the account is not in the store');
      return { account, token: answer.token, workspaceId: answer.workspace.id, answer };
    },
    reopen: async () => {
      await store.close();
      return openIn(directory, settings, clock);
    },
    close: async () => {
      await store.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** The real algorithm at a cost that suits tests, which log in a lot. */
async function loadCheapArgon2(): Promise<Argon2> {
  const { hash, verify } = await import('@node-rs/argon2');
  return { hash: (password) => hash(password, { memoryCost: 64, timeCost: 1, parallelism: 1 }), verify };
}

/** A usage entry with every field; tests change what matters to them. */
export function usageEntry(change: Partial<UsageEntry>): UsageEntry {
  return {
    id: 'ue_1',
    request_id: 'req_1',
    created_at: START_MS,
    api_key_id: 'key_1',
    format: 'chat',
    source: null,
    stream: false,
    requested_model: 'svc:auto',
    virtual_model: 'svc:auto',
    model: 'openai/gpt-5-mini',
    upstream: 'default',
    task_type: 'chat',
    complexity: 'simple',
    classifier: 'auto',
    status: 200,
    error_code: null,
    finish_reason: 'stop',
    input_tokens: 100,
    cached_tokens: 0,
    cache_write_tokens: 0,
    output_tokens: 20,
    reasoning_tokens: 0,
    tokens_saved: 0,
    cost: 123_450,
    cost_kind: 'measured',
    settle_reason: 'completed',
    latency_ms: 800,
    ttft_ms: 200,
    gateway_ms: 2,
    attempts: 1,
    upstream_cost: 123_000,
    anomalies: ['usage_clamped'],
    decision: null,
    ...change,
  };
}

/** Puts one finished request into the ledger: a hold and its settlement. */
export async function spend(
  store: Store,
  workspaceId: string,
  apiKeyId: string,
  change: Partial<UsageEntry>,
): Promise<UsageEntry> {
  const entry = usageEntry({ api_key_id: apiKeyId, ...change });
  const { request_id: requestId, created_at: at, cost } = entry;
  const record = {
    type: 'hold',
    at,
    requestId,
    workspaceId,
    apiKeyId,
    amountNano: cost,
    model: entry.model ?? '',
  } as const;
  const held = await store.ledger.hold({ record, budget: null, minimumNano: cost });
  if (!held.ok) throw new Error(`the hold was refused: ${held.reason}`);
  await store.ledger.settle({ type: 'settle', at, requestId, workspaceId, chargeNano: cost, entry });
  return entry;
}

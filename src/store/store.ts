// The Store interface: everything that survives a restart. Two implementations are meant: files here, Postgres later.
// Nothing it hands out is shared mutable state: callers get frozen or copied values.

import type { Role } from '../identity/roles.ts';
import type { GrantRecord, HoldRecord, ProgressRecord, SettleRecord, UsageEntry } from '../ledger/records.ts';

export type Account = {
  readonly id: string;
  readonly email: string;
  readonly name: string | null;
  readonly passwordHash: string;
  readonly operator: boolean;
  readonly createdAt: number;
};

export type Session = {
  readonly id: string;
  /** SHA-256 of the token, hex. */
  readonly digest: string;
  readonly accountId: string;
  readonly client: string;
  readonly createdAt: number;
  readonly lastUsedAt: number;
  readonly expiresAt: number;
};

export type Workspace = {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
  readonly members: readonly { readonly accountId: string; readonly role: Role }[];
  /** null: no limit. */
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
};

export type BudgetPeriod = 'total' | 'day' | 'month';

export type ApiKey = {
  readonly id: string;
  readonly workspaceId: string;
  readonly name: string;
  /** SHA-256 of the whole key, hex. */
  readonly digest: string;
  readonly prefix: string;
  readonly last4: string;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  /** Model globs; null allows all. */
  readonly models: readonly string[] | null;
  readonly requestsPerMinute: number;
  readonly tokensPerMinute: number;
  readonly budgetNano: number | null;
  readonly budgetPeriod: BudgetPeriod;
};

export type Preferences = {
  readonly weights: { readonly speed: number; readonly quality: number; readonly cost: number } | null;
  readonly models: { readonly allow: readonly string[]; readonly deny: readonly string[] };
  /** Decimal strings, USD per million tokens. */
  readonly maxPrice: { readonly input: string | null; readonly output: string | null };
  readonly listRealModels: boolean;
  readonly optimize: 'off' | 'lossless';
  readonly fallback: boolean;
  readonly sticky: boolean;
};

/** Few and small records, read from memory, each write on disk when its promise resolves. */
export interface Documents {
  accountById(id: string): Account | undefined;
  accountByEmail(email: string): Account | undefined;
  accounts(): readonly Account[];
  /** Fails with `CONFLICT` when the email is taken. */
  addAccount(account: Account): Promise<void>;
  sessionByDigest(digest: string): Session | undefined;
  putSession(session: Session): Promise<void>;
  removeSession(id: string): Promise<void>;
  workspaceById(id: string): Workspace | undefined;
  workspaces(): readonly Workspace[];
  putWorkspace(workspace: Workspace): Promise<void>;
  apiKeyByDigest(digest: string): ApiKey | undefined;
  apiKeysOf(workspaceId: string): readonly ApiKey[];
  putApiKey(key: ApiKey): Promise<void>;
  preferencesOf(workspaceId: string): Preferences;
  putPreferences(workspaceId: string, preferences: Preferences): Promise<void>;
  /** The saved answer of an Idempotency-Key, for 24 hours, across restarts. */
  idempotent(scope: string): IdempotentAnswer | undefined;
  putIdempotent(scope: string, answer: IdempotentAnswer): Promise<void>;
}

export type IdempotentAnswer = {
  readonly bodyDigest: string;
  readonly status: number;
  readonly body: unknown;
  readonly at: number;
};

export type Balance = {
  readonly grantedNano: number;
  readonly chargedNano: number;
  readonly heldNano: number;
};

export type KeyBudget = { readonly limitNano: number; readonly period: BudgetPeriod };

export type HoldRequest = {
  readonly record: HoldRecord;
  /** The key's budget, checked in the same step; open holds count. */
  readonly budget: KeyBudget | null;
  /** The least that would do when `record.amountNano` is too much: the hold is then what is available (at least this). */
  readonly minimumNano: number;
};

export type HoldResult =
  | { readonly ok: true; readonly heldNano: number }
  | { readonly ok: false; readonly reason: 'credits' | 'budget' | 'duplicate'; readonly availableNano: number };

export type UsageFilter = {
  readonly fromMs?: number;
  readonly toMs?: number;
  readonly model?: string;
  readonly keyId?: string;
  readonly status?: number;
};
export type UsageGroupBy = 'day' | 'model' | 'key' | 'task' | 'virtual_model';
export type UsageSum = {
  readonly group: string;
  readonly requests: number;
  readonly errors: number;
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly costNano: number;
};
export type UsagePage = { readonly entries: readonly UsageEntry[]; readonly nextCursor: string | null };

/** Money. Every promise resolves only once its record is on disk. */
export interface Ledger {
  /** One atomic step: checks balance and key budget, reserves, or says what is available. */
  hold(request: HoldRequest): Promise<HoldResult>;
  /**
   * Notes what an open hold would be charged if the process died now. Nobody waits for it and it may be lost: it is a
   * watermark, not money. Without an open hold it is dropped.
   */
  progress(record: ProgressRecord): void;
  /** Idempotent by request id: a second settle changes nothing and answers `false`. A request without a hold may settle at 0. */
  settle(record: SettleRecord): Promise<boolean>;
  /** Idempotent by `record.id`. */
  grant(record: GrantRecord): Promise<boolean>;
  balance(workspaceId: string): Balance;
  /** Charged and held on one key in the running period. */
  keySpentNano(keyId: string, period: BudgetPeriod, nowMs: number): number;
  usage(workspaceId: string, filter: UsageFilter, limit: number, cursor: string | null): Promise<UsagePage>;
  usageSums(workspaceId: string, groupBy: UsageGroupBy, filter: UsageFilter): readonly UsageSum[];
}

export interface Store {
  readonly documents: Documents;
  readonly ledger: Ledger;
  /** False while the disk refuses writes: new work gets `STORAGE_UNAVAILABLE`. */
  readonly writable: boolean;
  /** Writes what is pending, then closes every file and gives up the lock. */
  close(): Promise<void>;
}

// Requests and answers between the daemon and its clients (accounts, workspaces, usage), as the contract (§7) shapes them.
// Money is a decimal string in USD, timestamps are RFC 3339 UTC.

export type ApiError = {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly retryable: boolean;
    readonly type?: string;
    readonly param?: string | null;
  };
  readonly request_id?: string;
};

export type ApiList<T> = {
  readonly object: 'list';
  readonly data: readonly T[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
};

export type ApiAccount = {
  readonly id: string;
  readonly email: string;
  readonly name: string | null;
  readonly role: 'operator' | 'user';
  readonly created_at: string;
};
export type ApiWorkspace = { readonly id: string; readonly name: string; readonly role: string };

export type RegisterRequest = { readonly email: string; readonly password: string; readonly name?: string };
export type RegisterResponse = {
  readonly account: ApiAccount;
  readonly workspace: ApiWorkspace;
  readonly token: string;
  readonly expires_at: string;
};
export type LoginRequest = { readonly email: string; readonly password: string };
export type LoginResponse = { readonly account: ApiAccount; readonly token: string; readonly expires_at: string };
export type MeResponse = { readonly account: ApiAccount; readonly workspaces: readonly ApiWorkspace[] };

export type BalanceResponse = {
  readonly workspace_id: string;
  readonly currency: 'USD';
  readonly balance: string;
  readonly held: string;
  readonly available: string;
  readonly granted: string;
  readonly charged: string;
};

export type GrantRequest = { readonly amount: string; readonly note?: string };
export type GrantResponse = { readonly id: string; readonly amount: string; readonly balance: string };

export type ApiKeyCreate = {
  readonly name: string;
  readonly expires_at?: string | null;
  readonly models?: readonly string[] | null;
  readonly requests_per_minute?: number;
  readonly tokens_per_minute?: number;
  readonly budget?: string | null;
  readonly budget_period?: 'total' | 'day' | 'month';
};
export type ApiKeyView = {
  readonly id: string;
  readonly name: string;
  /** First and last characters only. */
  readonly prefix: string;
  readonly last4: string;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  readonly models: readonly string[] | null;
  readonly requests_per_minute: number;
  readonly tokens_per_minute: number;
  readonly budget: string | null;
  readonly budget_period: 'total' | 'day' | 'month';
  readonly spent: string;
};
/** `key` is the secret, shown this once. */
export type ApiKeyCreated = ApiKeyView & { readonly key: string };

export type UsageEntryView = {
  readonly id: string;
  readonly request_id: string;
  readonly created_at: string;
  readonly api_key_id: string;
  readonly format: string;
  readonly source: string | null;
  readonly stream: boolean;
  readonly requested_model: string;
  readonly virtual_model: string | null;
  readonly model: string | null;
  readonly upstream: string | null;
  readonly task_type: string | null;
  readonly complexity: string | null;
  readonly classifier: string | null;
  readonly status: number;
  readonly error_code: string | null;
  readonly finish_reason: string | null;
  readonly input_tokens: number;
  readonly cached_tokens: number;
  readonly cache_write_tokens: number;
  readonly output_tokens: number;
  readonly reasoning_tokens: number;
  readonly tokens_saved: number;
  readonly cost: string;
  readonly cost_kind: string;
  readonly settle_reason: string;
  readonly latency_ms: number;
  readonly ttft_ms: number | null;
  readonly gateway_ms: number;
  readonly attempts: number;
  readonly decision: unknown;
};

export type UsageSumView = {
  readonly group: string;
  readonly requests: number;
  readonly errors: number;
  readonly input_tokens: number;
  readonly cached_tokens: number;
  readonly output_tokens: number;
  readonly cost: string;
};

export type ModelView = {
  readonly id: string;
  readonly object: 'model';
  readonly created: number;
  readonly owned_by: string;
  readonly description?: string;
  readonly name?: string;
  readonly context_length?: number;
  readonly max_output_tokens?: number;
  readonly pricing?: Readonly<Record<string, string>>;
  readonly abilities?: Readonly<Record<string, number>>;
};

/** `daemon.json` in the data directory. */
export type DaemonFile = {
  readonly pid: number;
  readonly url: string;
  readonly version: string;
  readonly startedAt: string;
};

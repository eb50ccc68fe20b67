// Requests and answers between the daemon and its clients (accounts, workspaces, usage), as the contract (§7) shapes them.
// Money is a decimal string in USD, timestamps are RFC 3339 UTC.

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
export type ApiWorkspaceDetail = ApiWorkspace & {
  readonly created_at: string;
  /** null: no limit. */
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
};

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

export type PreferencesView = {
  readonly weights: { readonly speed: number; readonly quality: number; readonly cost: number } | null;
  readonly models: { readonly allow: readonly string[]; readonly deny: readonly string[] };
  /** USD per million tokens. */
  readonly max_price: { readonly input: string | null; readonly output: string | null };
  readonly list_real_models: boolean;
  readonly optimize: 'off' | 'lossless';
  readonly fallback: boolean;
  readonly sticky: boolean;
};

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
  /** USD as the upstream said it, for comparison with `cost`; null where it did not, or said what can't be. */
  readonly upstream_cost: string | null;
  /** Named oddities of the upstream's usage, e.g. `usage_clamped`; empty when none. */
  readonly anomalies: readonly string[];
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
  readonly type: 'model';
  readonly display_name: string;
  /** Unix seconds. */
  readonly created: number;
  /** The same moment, RFC 3339. */
  readonly created_at: string;
  readonly owned_by: string;
  /** Tokens, as Anthropic's clients read them; null where they depend on the model chosen, or nobody says. */
  readonly max_input_tokens: number | null;
  readonly max_tokens: number | null;
  readonly capabilities: null;
  readonly line: null;
  readonly lifecycle: 'active';
  readonly deprecated_at: null;
  readonly retires_at: null;
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

export type HealthResponse = { readonly status: string };
/** `GET /readyz`: `status` is `ok` when the daemon takes traffic; the other fields are its checks by name. */
export type ReadyResponse = { readonly status: string; readonly [check: string]: unknown };

/** Filters of `GET /workspaces/:id/usage`; `from` and `to` are RFC 3339 timestamps. */
export type UsageQuery = {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly model?: string | undefined;
  readonly key_id?: string | undefined;
  readonly status?: number | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
};
export type UsageGroup = 'day' | 'model' | 'key' | 'task' | 'virtual_model';
export type PageQuery = { readonly limit?: number | undefined; readonly cursor?: string | undefined };

export type ModelList = {
  readonly object: 'list';
  readonly data: readonly ModelView[];
  /** True only for pages that Anthropic's clients asked for. */
  readonly has_more: boolean;
  readonly next_cursor: null;
  /** As Anthropic's lists have them; null where `data` is empty. */
  readonly first_id: string | null;
  readonly last_id: string | null;
};

/** Body of `POST /v1/route` in Chat format: the fields the CLI sends. */
export type RouteRequest = {
  readonly model: string;
  readonly messages: readonly { readonly role: 'system' | 'user' | 'assistant'; readonly content: string }[];
  readonly max_tokens?: number;
};

export type WeightsView = { readonly speed: number; readonly quality: number; readonly cost: number };
export type CandidateView = {
  readonly model: string;
  readonly score: number;
  readonly quality: number;
  readonly speed: number;
  readonly cost: number;
  /** USD, decimal string. */
  readonly estimated_cost: string;
  readonly estimated_ttft_ms: number;
  readonly estimated?: boolean;
};
/** The decision record (§6) as `POST /v1/route` answers it. */
export type DecisionView = {
  readonly id: string;
  readonly requested: string;
  readonly preset: string | null;
  readonly weights: WeightsView | null;
  readonly classification: {
    readonly task_type: string;
    readonly domain: string;
    readonly complexity: string;
    readonly difficulty: number;
    readonly confidence: number;
    readonly signals: Readonly<Record<string, unknown>>;
  };
  readonly needs: {
    readonly input_tokens: number;
    readonly max_output_tokens: number;
    readonly vision: boolean;
    readonly tools: boolean;
    readonly structured_output: boolean;
    readonly reasoning: boolean;
  };
  readonly candidates: readonly CandidateView[];
  readonly excluded: readonly { readonly model: string; readonly reason: string }[];
  readonly chosen: string;
  readonly why: string;
  readonly flips: readonly {
    readonly if: {
      readonly weights?: WeightsView;
      readonly input_tokens?: number;
      readonly max_output_tokens?: number;
    };
    readonly then: string;
  }[];
  readonly sticky: boolean;
};

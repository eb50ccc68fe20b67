// What the journal holds: grants, holds, progress and settlements. Amounts are integer nano-dollars (1e-9 USD).

export type CostKind = 'measured' | 'estimated' | 'free';

/** Credits in. `id` is what makes a repeated grant the same grant. */
export type GrantRecord = {
  readonly type: 'grant';
  readonly at: number;
  readonly id: string;
  readonly workspaceId: string;
  readonly amountNano: number;
  readonly note?: string;
  readonly by?: string;
};

/** Credits reserved for one request before its first upstream byte. */
export type HoldRecord = {
  readonly type: 'hold';
  readonly at: number;
  readonly requestId: string;
  readonly workspaceId: string;
  readonly apiKeyId: string;
  readonly amountNano: number;
  readonly model: string;
  /** What its usage entry says of it should the process die before there is more; older holds have none of it. */
  readonly format?: string;
  readonly stream?: boolean;
  readonly requestedModel?: string;
  readonly upstream?: string;
};

/** The end of a request, once: charges `chargeNano` (0 when nothing was delivered) and frees the hold. It is the usage entry. */
export type SettleRecord = {
  readonly type: 'settle';
  readonly at: number;
  readonly requestId: string;
  readonly workspaceId: string;
  readonly chargeNano: number;
  readonly entry: UsageEntry;
};

/**
 * What a request has delivered so far, and what that costs: the settlement it gets should the process die. The latest
 * one counts; the settlement ends it. It moves no money by itself.
 */
export type ProgressRecord = {
  readonly type: 'progress';
  readonly at: number;
  readonly requestId: string;
  readonly workspaceId: string;
  readonly chargeNano: number;
  readonly entry: UsageEntry;
};

export type LedgerRecord = GrantRecord | HoldRecord | ProgressRecord | SettleRecord;

/** One per completion that was admitted, however it ended. Fields as the contract (§7) names them. */
export type UsageEntry = {
  readonly id: string;
  readonly request_id: string;
  /** Milliseconds since 1970; rendered as RFC 3339. */
  readonly created_at: number;
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
  /** HTTP status the client got; 499 when it left. */
  readonly status: number;
  readonly error_code: string | null;
  readonly finish_reason: string | null;
  readonly input_tokens: number;
  readonly cached_tokens: number;
  readonly cache_write_tokens: number;
  readonly output_tokens: number;
  readonly reasoning_tokens: number;
  readonly tokens_saved: number;
  /** Nano-dollars; rendered as a decimal string. */
  readonly cost: number;
  readonly cost_kind: CostKind;
  /** Why it was settled as it was: `completed`, `failed`, `client_closed`, `upstream_truncated`, `recovered`, `refused`. */
  readonly settle_reason: string;
  readonly latency_ms: number;
  readonly ttft_ms: number | null;
  /** Time spent in svc itself, without the upstream's. */
  readonly gateway_ms: number;
  readonly attempts: number;
  /** What the upstream said it cost, nano-dollars, where it said so. */
  readonly upstream_cost: number | null;
  /** Named oddities, e.g. `usage_clamped`; empty when none. */
  readonly anomalies: readonly string[];
  /** The decision in short: the scores of all candidates would outweigh the rest of the journal many times over. */
  readonly decision: DecisionSummary | null;
};

export type DecisionSummary = {
  readonly id: string;
  readonly preset: string | null;
  readonly weights: { readonly speed: number; readonly quality: number; readonly cost: number } | null;
  readonly classification: {
    readonly task_type: string;
    readonly domain: string;
    readonly complexity: string;
    readonly difficulty: number;
    readonly confidence: number;
  };
  readonly needs: Readonly<Record<string, number | boolean>>;
  readonly chosen: string;
  readonly why: string;
  readonly sticky: boolean;
};

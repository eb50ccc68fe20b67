// The usage entry of a request: what the road, its meter and the cost say, in the contract's fields.

import type { UsageEntry } from '../ledger/records.ts';
import type { CompletionCall, ParsedRequest } from './completion.ts';
import type { KnownCost } from './known-cost.ts';
import type { Road } from './road.ts';

export type Ending = {
  /** HTTP status as the client got it; 499 when it had left. */
  readonly status: number;
  readonly errorCode: string | null;
  readonly reason: 'completed' | 'failed' | 'client_closed' | 'upstream_truncated' | 'recovered' | 'refused';
};

/** `at`: milliseconds since 1970. Each call makes a new id. */
export function usageEntry(road: Road, ending: Ending, cost: KnownCost, at: number): UsageEntry {
  const { call, plan, parsed, meter, deps } = road;
  const nowMs = deps.clock.monotonicMs();
  const latencyMs = nowMs - call.startedMs;
  const upstreamMs = meter.sentMs === 0 ? 0 : (meter.upstreamEndMs || nowMs) - meter.sentMs;
  const upstreamCost = meter.usage?.upstreamCost;
  const upstreamNano = upstreamCost === undefined ? null : Math.round(upstreamCost * 1e9);
  return {
    id: deps.makeId('ue'),
    request_id: call.requestId,
    created_at: at,
    api_key_id: road.principal.apiKey.id,
    format: formatOf(call),
    source: call.source,
    stream: parsed.request.stream,
    requested_model: requestedModelOf(parsed),
    virtual_model: plan?.virtualModel ?? null,
    model: plan?.model.id ?? null,
    upstream: plan ? road.offer.upstream.name : null,
    ...taskOf(road),
    classifier: plan?.classifier ?? null,
    status: ending.status,
    error_code: ending.errorCode,
    finish_reason: meter.finishReason ?? null,
    input_tokens: cost.usage.inputTokens,
    cached_tokens: cost.usage.cachedTokens,
    cache_write_tokens: cost.usage.cacheWriteTokens,
    output_tokens: cost.usage.outputTokens,
    reasoning_tokens: cost.usage.reasoningTokens,
    tokens_saved: plan ? (parsed.tokensSaved ?? 0) : 0,
    cost: cost.nano,
    cost_kind: cost.kind,
    settle_reason: ending.reason,
    latency_ms: thousandths(latencyMs),
    ttft_ms: meter.firstEventMs === 0 ? null : thousandths(meter.firstEventMs - call.startedMs),
    gateway_ms: thousandths(Math.max(0, latencyMs - upstreamMs)),
    attempts: meter.attempts,
    upstream_cost: upstreamNano,
    anomalies:
      upstreamNano !== null && upstreamNano > cost.nano * COST_RATIO_ODD
        ? [...cost.anomalies, 'upstream_cost_over_charge']
        : cost.anomalies,
    decision: plan?.summary ?? null,
  };
}

/** An upstream that asks more than this many times the charge has billed something no price here covers. */
const COST_RATIO_ODD = 2;
const MODEL_NAME_LENGTH_MAX = 200;

export function formatOf({ dialect, kind }: CompletionCall): string {
  return kind?.format ?? dialect;
}

export function requestedModelOf({ request }: ParsedRequest): string {
  return request.model.slice(0, MODEL_NAME_LENGTH_MAX);
}

/** Only a completion has a task. */
function taskOf({ call, plan }: Road): Pick<UsageEntry, 'task_type' | 'complexity'> {
  if (plan === undefined || call.kind !== undefined) return { task_type: null, complexity: null };
  const { task_type, complexity } = plan.classification;
  return { task_type, complexity };
}

function thousandths(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

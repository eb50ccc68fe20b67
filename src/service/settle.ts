// Settle: what a request cost, written down once as its usage entry before the client gets the last byte.

import { renderUsd } from '../ledger/nano.ts';
import { chargeNano } from '../ledger/price.ts';
import type { CostKind, UsageEntry } from '../ledger/records.ts';
import { boundCharge } from '../ledger/usage-guard.ts';
import type { Usage } from '../wire/neutral.ts';
import { type ChargedUsage, chargedUsage, NO_USAGE } from './charged-usage.ts';
import type { Road } from './road.ts';

export type Ending = {
  /** HTTP status as the client got it; 499 when it had left. */
  readonly status: number;
  readonly errorCode: string | null;
  readonly reason: 'completed' | 'failed' | 'client_closed' | 'upstream_truncated' | 'refused';
};

/** `cost` in USD as a decimal string; `usage` is what was charged. */
export type Settlement = { readonly cost: string; readonly usage: Usage };

/** Resolves once the settlement is on disk. */
export async function settle(road: Road, ending: Ending): Promise<Settlement> {
  const { deps, call, principal } = road;
  const cost = costOf(road, ending);
  const at = deps.clock.nowMs();
  const entry = entryOf(road, ending, cost, at);
  await deps.store.ledger.settle({
    type: 'settle',
    at,
    requestId: call.requestId,
    workspaceId: principal.workspace.id,
    chargeNano: cost.nano,
    entry,
  });
  deps.log.info(
    {
      requestId: call.requestId,
      status: ending.status,
      code: ending.errorCode,
      model: entry.model,
      requested: entry.requested_model,
      cost: renderUsd(cost.nano),
      latencyMs: entry.latency_ms,
      decision: entry.decision?.id,
    },
    ending.reason,
  );
  return { cost: renderUsd(cost.nano), usage: cost.usage };
}

type Cost = ChargedUsage & { readonly nano: number; readonly kind: CostKind };

function costOf(road: Road, ending: Ending): Cost {
  const { hold, meter } = road;
  const whole = ending.reason === 'completed';
  // Usage that came before a stream broke was billed upstream, even where no text was delivered.
  const delivered = whole || meter.deliveredBytes > 0 || meter.usage !== undefined;
  if (!hold || !delivered) {
    return { nano: 0, kind: 'free', usage: NO_USAGE, measured: false, anomalies: meter.anomalies };
  }
  const charged = chargedUsage(road, hold, whole);
  const bounded = boundCharge(chargeNano(hold.pricing, charged.usage, road.size.images), hold.heldNano);
  return {
    ...charged,
    nano: bounded.chargeNano,
    kind: kindOf(bounded.chargeNano, charged.measured && !hold.priceAssumed),
    anomalies: [...charged.anomalies, ...bounded.anomalies],
  };
}

function kindOf(nano: number, measured: boolean): CostKind {
  if (!measured) return 'estimated';
  return nano === 0 ? 'free' : 'measured';
}

function entryOf(road: Road, ending: Ending, cost: Cost, at: number): UsageEntry {
  const { call, plan, parsed, meter, deps } = road;
  const nowMs = deps.clock.monotonicMs();
  const latencyMs = nowMs - call.startedMs;
  const upstreamMs = meter.sentMs === 0 ? 0 : (meter.upstreamEndMs || nowMs) - meter.sentMs;
  return {
    id: deps.makeId('ue'),
    request_id: call.requestId,
    created_at: at,
    api_key_id: road.principal.apiKey.id,
    format: call.dialect,
    source: call.source,
    stream: parsed.request.stream,
    requested_model: parsed.request.model.slice(0, 200),
    virtual_model: plan?.virtualModel ?? null,
    model: plan?.model.id ?? null,
    upstream: plan ? road.offer.upstream.name : null,
    task_type: plan?.classification.task_type ?? null,
    complexity: plan?.classification.complexity ?? null,
    classifier: plan?.classifier ?? null,
    status: ending.status,
    error_code: ending.errorCode,
    finish_reason: meter.finishReason ?? null,
    input_tokens: cost.usage.inputTokens,
    cached_tokens: cost.usage.cachedTokens,
    cache_write_tokens: cost.usage.cacheWriteTokens,
    output_tokens: cost.usage.outputTokens,
    reasoning_tokens: cost.usage.reasoningTokens,
    tokens_saved: 0,
    cost: cost.nano,
    cost_kind: cost.kind,
    settle_reason: ending.reason,
    latency_ms: thousandths(latencyMs),
    ttft_ms: meter.firstEventMs === 0 ? null : thousandths(meter.firstEventMs - call.startedMs),
    gateway_ms: thousandths(Math.max(0, latencyMs - upstreamMs)),
    attempts: meter.attempts,
    upstream_cost: meter.usage?.upstreamCost === undefined ? null : Math.round(meter.usage.upstreamCost * 1e9),
    anomalies: cost.anomalies,
    decision: plan?.summary ?? null,
  };
}

function thousandths(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

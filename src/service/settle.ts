// Settle: what a request cost, written down once as its usage entry before the client gets the last byte.

import { renderUsd } from '../ledger/nano.ts';
import { chargeNano } from '../ledger/price.ts';
import type { CostKind, UsageEntry } from '../ledger/records.ts';
import { boundCharge, guardUsage } from '../ledger/usage-guard.ts';
import type { Usage } from '../wire/neutral.ts';
import type { Hold } from './hold-credits.ts';
import type { Road } from './road.ts';

export type Ending = {
  /** HTTP status as the client got it; 499 when it had left. */
  readonly status: number;
  readonly errorCode: string | null;
  readonly reason: 'completed' | 'failed' | 'client_closed' | 'upstream_truncated' | 'refused';
};

/** Bytes of text in a token, for answers whose usage never came. */
const BYTES_PER_TOKEN = 4;

/** `cost` in USD as a decimal string; `tokens` as charged, input and output together. */
export type Settlement = { readonly cost: string; readonly tokens: number };

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
  return { cost: renderUsd(cost.nano), tokens: cost.usage.inputTokens + cost.usage.outputTokens };
}

type Cost = {
  readonly nano: number;
  readonly kind: CostKind;
  readonly usage: Usage;
  readonly anomalies: readonly string[];
};

const NO_USAGE: Usage = { inputTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 0, reasoningTokens: 0 };

function costOf(road: Road, ending: Ending): Cost {
  const { hold, meter } = road;
  const delivered = ending.reason === 'completed' || meter.deliveredBytes > 0;
  if (!hold || !delivered) return { nano: 0, kind: 'free', usage: NO_USAGE, anomalies: meter.anomalies };
  const measured = meter.usage !== undefined;
  const guarded = guardUsage(meter.usage ?? estimatedUsage(road, hold), {
    inputTokensMax: road.size.inputTokensMax,
    maxOutputTokens: hold.outputTokensMax,
  });
  const bounded = boundCharge(chargeNano(hold.pricing, guarded.usage, road.size.images), hold.heldNano);
  const anomalies = [...meter.anomalies, ...guarded.anomalies, ...bounded.anomalies];
  return {
    nano: bounded.chargeNano,
    kind: kindOf(bounded.chargeNano, measured && !hold.priceAssumed),
    usage: guarded.usage,
    anomalies,
  };
}

function kindOf(nano: number, measured: boolean): CostKind {
  if (!measured) return 'estimated';
  return nano === 0 ? 'free' : 'measured';
}

/** The upstream sent no usage: counted from the prompt and from the text that was delivered. Absent never means zero. */
function estimatedUsage(road: Road, hold: Hold): Usage {
  const inputTokens = Math.min(road.size.inputTokensMax, road.plan?.needs.input_tokens ?? 0);
  const outputTokens = Math.min(hold.outputTokensMax, Math.ceil(road.meter.deliveredBytes / BYTES_PER_TOKEN));
  return { ...NO_USAGE, inputTokens, outputTokens };
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

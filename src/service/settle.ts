// Settle: what a request cost, written down once as its usage entry before the client gets the last byte.

import { renderUsd } from '../ledger/nano.ts';
import type { Usage } from '../wire/neutral.ts';
import { knownCost } from './known-cost.ts';
import type { Road } from './road.ts';
import { type Ending, usageEntry } from './usage-entry.ts';

/** `cost` in USD as a decimal string; `usage` is what was charged. */
export type Settlement = { readonly cost: string; readonly usage: Usage };

/** Resolves once the settlement is on disk. */
export async function settle(road: Road, ending: Ending): Promise<Settlement> {
  const { deps, call, principal } = road;
  const cost = knownCost(road, ending.reason === 'completed');
  const at = deps.clock.nowMs();
  const entry = usageEntry(road, ending, cost, at);
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

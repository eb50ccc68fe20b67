// Ends the holds a previous process left open: what was known to be delivered is charged, the rest released.

import { randomBytes } from 'node:crypto';
import type { HoldRecord, ProgressRecord, SettleRecord, UsageEntry } from '../ledger/records.ts';
import { isSvcError } from '../wire/svc-error.ts';
import type { Ledger } from './store.ts';

/** A hold without its settlement, and what its request had delivered so far, where that was written down. */
export type OpenHold = { readonly hold: HoldRecord; readonly progress: ProgressRecord | undefined };

export type RecoveryOptions = {
  readonly now: () => number;
  readonly randomId?: () => string;
  readonly onNotice?: (notice: string) => void;
};

/** Settles what it can and answers what is left because the disk is full; those holds stay held, to be tried again. */
export async function recoverHolds(
  ledger: Ledger,
  holds: readonly OpenHold[],
  options: RecoveryOptions,
): Promise<readonly OpenHold[]> {
  const left: OpenHold[] = [];
  let charged = 0;
  await Promise.all(
    holds.map(async (open) => {
      const record = recoverHold(open, options.now(), options.randomId ?? randomEntryId);
      try {
        await ledger.settle(record);
        if (record.chargeNano > 0) charged += 1;
      } catch (error) {
        if (!isSvcError(error)) throw error;
        left.push(open);
      }
    }),
  );
  const settled = holds.length - left.length;
  if (settled > 0) {
    options.onNotice?.(
      `settled ${settled} ${settled === 1 ? 'hold' : 'holds'} that a stopped process left open: ${charged} charged for what was delivered, the others released`,
    );
  }
  return left;
}

function randomEntryId(): string {
  return `ue_${randomBytes(12).toString('hex')}`;
}

/** Progress keeps its entry and with it the id, so that a second try writes the same entry. */
function recoverHold({ hold, progress }: OpenHold, nowMs: number, makeId: () => string): SettleRecord {
  const { requestId, workspaceId } = hold;
  const settled = { type: 'settle', at: nowMs, requestId, workspaceId } as const;
  if (progress === undefined) return { ...settled, chargeNano: 0, entry: emptyEntry(hold, makeId()) };
  const chargeNano = Math.min(progress.chargeNano, hold.amountNano);
  return { ...settled, chargeNano, entry: { ...progress.entry, ...RECOVERED, cost: chargeNano } };
}

/** However far it came, nobody saw the end of it. */
const RECOVERED = { status: 500, error_code: 'INTERNAL_ERROR', settle_reason: 'recovered' } as const;

/** Nothing is known of the request but what its hold says. */
function emptyEntry(hold: HoldRecord, id: string): UsageEntry {
  return {
    id,
    request_id: hold.requestId,
    created_at: hold.at,
    api_key_id: hold.apiKeyId,
    format: hold.format ?? 'unknown',
    source: null,
    stream: hold.stream ?? false,
    requested_model: hold.requestedModel ?? hold.model,
    virtual_model: null,
    model: hold.model,
    upstream: hold.upstream ?? null,
    task_type: null,
    complexity: null,
    classifier: null,
    finish_reason: null,
    input_tokens: 0,
    cached_tokens: 0,
    cache_write_tokens: 0,
    output_tokens: 0,
    reasoning_tokens: 0,
    tokens_saved: 0,
    cost: 0,
    cost_kind: 'free',
    latency_ms: 0,
    ttft_ms: null,
    gateway_ms: 0,
    attempts: 0,
    upstream_cost: null,
    anomalies: [],
    decision: null,
    ...RECOVERED,
  };
}

// Ends the holds a previous process left open: nothing is known to have been delivered, so nothing is charged.

import { randomBytes } from 'node:crypto';
import type { HoldRecord, SettleRecord } from '../ledger/records.ts';
import { isSvcError } from '../wire/svc-error.ts';
import type { Ledger } from './store.ts';

export type RecoveryOptions = {
  readonly now: () => number;
  readonly randomId?: () => string;
  readonly onNotice?: (notice: string) => void;
};

/** Settles what it can and answers what is left because the disk is full; those holds stay held, to be tried again. */
export async function recoverHolds(
  ledger: Ledger,
  holds: readonly HoldRecord[],
  options: RecoveryOptions,
): Promise<readonly HoldRecord[]> {
  const left: HoldRecord[] = [];
  await Promise.all(
    holds.map(async (hold) => {
      try {
        await ledger.settle(recoverHold(hold, options.now(), options.randomId?.() ?? randomEntryId()));
      } catch (error) {
        if (!isSvcError(error)) throw error;
        left.push(hold);
      }
    }),
  );
  const released = holds.length - left.length;
  if (released > 0) options.onNotice?.(`released ${released} holds that a stopped process left open`);
  return left;
}

function randomEntryId(): string {
  return `use_${randomBytes(12).toString('hex')}`;
}

/** The settlement of a hold whose process died. */
function recoverHold(hold: HoldRecord, nowMs: number, entryId: string): SettleRecord {
  return {
    type: 'settle',
    at: nowMs,
    requestId: hold.requestId,
    workspaceId: hold.workspaceId,
    chargeNano: 0,
    entry: {
      id: entryId,
      request_id: hold.requestId,
      created_at: hold.at,
      api_key_id: hold.apiKeyId,
      format: 'unknown',
      source: null,
      stream: false,
      requested_model: hold.model,
      virtual_model: null,
      model: hold.model,
      upstream: null,
      task_type: null,
      complexity: null,
      classifier: null,
      status: 500,
      error_code: 'INTERNAL_ERROR',
      finish_reason: null,
      input_tokens: 0,
      cached_tokens: 0,
      cache_write_tokens: 0,
      output_tokens: 0,
      reasoning_tokens: 0,
      tokens_saved: 0,
      cost: 0,
      cost_kind: 'free',
      settle_reason: 'recovered',
      latency_ms: 0,
      ttft_ms: null,
      gateway_ms: 0,
      attempts: 0,
      upstream_cost: null,
      anomalies: [],
      decision: null,
    },
  };
}

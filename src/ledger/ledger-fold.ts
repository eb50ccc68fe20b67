// The money state machine: what grants, holds and settlements add up to, per workspace and per key.

import { KeySpend, type KeySpendState, type SpendPeriod } from './key-spend.ts';
import type { GrantRecord, HoldRecord, LedgerRecord, ProgressRecord, SettleRecord } from './records.ts';

export type FoldedBalance = { readonly grantedNano: number; readonly chargedNano: number; readonly heldNano: number };

export type HoldQuestion = {
  readonly record: HoldRecord;
  readonly budget: { readonly limitNano: number; readonly period: SpendPeriod } | null;
  readonly minimumNano: number;
};
export type HoldDecision =
  | { readonly ok: true; readonly heldNano: number }
  | { readonly ok: false; readonly reason: 'credits' | 'budget' | 'duplicate'; readonly availableNano: number };

/** A record that may not follow what came before: a settlement without its hold, a hold given twice, money out of range. */
export class LedgerRuleError extends Error {
  override readonly name = 'LedgerRuleError';
}

/**
 * Request ids are made here and are never used again, so remembering the latest is enough to make a repeated
 * settlement harmless; ids with an open hold are all remembered.
 */
const SETTLED_IDS_KEPT = 16_384;

/**
 * A fold as JSON: what a journal up to some place adds up to. What is held follows from the open holds. `settledIds` are the
 * latest, oldest first.
 */
export type LedgerState = {
  readonly workspaces: readonly { readonly id: string; readonly grantedNano: number; readonly chargedNano: number }[];
  readonly keys: readonly ({ readonly id: string } & KeySpendState)[];
  readonly grantIds: readonly string[];
  readonly holds: readonly HoldRecord[];
  readonly progress: readonly ProgressRecord[];
  readonly settledIds: readonly string[];
};

type WorkspaceSums = { grantedNano: number; chargedNano: number; heldNano: number };

/** The fold of a journal. `apply` takes each record once, in the journal's order; everything else only reads or undoes a hold. */
export class LedgerFold {
  readonly #workspaces = new Map<string, WorkspaceSums>();
  readonly #keys = new Map<string, KeySpend>();
  readonly #holds = new Map<string, HoldRecord>();
  readonly #progress = new Map<string, ProgressRecord>();
  readonly #grantIds = new Set<string>();
  readonly #settledIds = new Set<string>();
  readonly #settledIdsKept: number;

  constructor(settledIdsKept: number = SETTLED_IDS_KEPT) {
    this.#settledIdsKept = settledIdsKept;
  }

  /** Throws `LedgerRuleError` for a state whose holds are more than there is. */
  static restore(state: LedgerState, settledIdsKept: number = SETTLED_IDS_KEPT): LedgerFold {
    const fold = new LedgerFold(settledIdsKept);
    for (const { id, grantedNano, chargedNano } of state.workspaces) {
      fold.#workspaces.set(id, { grantedNano, chargedNano, heldNano: 0 });
    }
    for (const { id, ...spend } of state.keys) fold.#keys.set(id, new KeySpend(spend));
    for (const id of state.grantIds) fold.#grantIds.add(id);
    for (const id of state.settledIds) fold.#settledIds.add(id);
    for (const hold of state.holds) fold.apply(hold);
    for (const progress of state.progress) fold.apply(progress);
    return fold;
  }

  /** `isPending` names holds that are decided but not yet in the journal: they are left out. */
  state(isPending: (requestId: string) => boolean = () => false): LedgerState {
    const holds = [...this.#holds.values()].filter(({ requestId }) => !isPending(requestId));
    return {
      workspaces: Array.from(this.#workspaces, ([id, { grantedNano, chargedNano }]) => ({
        id,
        grantedNano,
        chargedNano,
      })),
      keys: Array.from(this.#keys, ([id, spend]) => ({ id, ...spend.state() })),
      grantIds: [...this.#grantIds],
      holds,
      progress: holds.flatMap(({ requestId }) => this.#progress.get(requestId) ?? []),
      settledIds: [...this.#settledIds],
    };
  }

  /** Throws `LedgerRuleError`, and then has changed nothing. */
  apply(record: LedgerRecord): void {
    if (record.type === 'grant') this.#applyGrant(record);
    else if (record.type === 'hold') this.#applyHold(record);
    else if (record.type === 'progress') this.#applyProgress(record);
    else this.#applySettle(record);
  }

  /** Takes back a hold that could not be written. */
  undoHold(requestId: string): void {
    const hold = this.#holds.get(requestId);
    if (hold !== undefined) this.#freeHold(hold);
  }

  /** Whether a hold would do, and how much of it; asking changes nothing. */
  decideHold(question: HoldQuestion): HoldDecision {
    const { record, budget } = question;
    const credits = this.availableNano(record.workspaceId);
    if (this.#holds.has(record.requestId) || this.#settledIds.has(record.requestId)) {
      return { ok: false, reason: 'duplicate', availableNano: credits };
    }
    const minimum = Math.min(question.minimumNano, record.amountNano);
    if (credits < minimum) return { ok: false, reason: 'credits', availableNano: credits };
    const spendable =
      budget === null
        ? credits
        : Math.max(0, budget.limitNano - this.keySpentNano(record.apiKeyId, budget.period, record.at));
    if (spendable < minimum) return { ok: false, reason: 'budget', availableNano: Math.min(spendable, credits) };
    return { ok: true, heldNano: Math.min(record.amountNano, credits, spendable) };
  }

  balance(workspaceId: string): FoldedBalance {
    const sums = this.#workspaces.get(workspaceId);
    if (sums === undefined) return { grantedNano: 0, chargedNano: 0, heldNano: 0 };
    return { grantedNano: sums.grantedNano, chargedNano: sums.chargedNano, heldNano: sums.heldNano };
  }

  availableNano(workspaceId: string): number {
    const sums = this.#workspaces.get(workspaceId);
    return sums === undefined ? 0 : sums.grantedNano - sums.chargedNano - sums.heldNano;
  }

  keySpentNano(keyId: string, period: SpendPeriod, nowMs: number): number {
    return this.#keys.get(keyId)?.spentNano(period, nowMs) ?? 0;
  }

  openHold(requestId: string): HoldRecord | undefined {
    return this.#holds.get(requestId);
  }

  openHolds(): readonly HoldRecord[] {
    return [...this.#holds.values()];
  }

  /** What an open hold would be charged if the process had died; undefined while nothing is known of it. */
  progressOf(requestId: string): ProgressRecord | undefined {
    return this.#progress.get(requestId);
  }

  hasGrant(grantId: string): boolean {
    return this.#grantIds.has(grantId);
  }

  isSettled(requestId: string): boolean {
    return this.#settledIds.has(requestId);
  }

  workspaceIds(): readonly string[] {
    return [...this.#workspaces.keys()];
  }

  #applyGrant(record: GrantRecord): void {
    if (this.#grantIds.has(record.id)) throw new LedgerRuleError(`the grant ${record.id} is there twice`);
    checkAmount('a grant', record.amountNano);
    const sums = this.#sumsOf(record.workspaceId);
    checkAmount(`the credits of ${record.workspaceId}`, sums.grantedNano + record.amountNano);
    sums.grantedNano += record.amountNano;
    this.#grantIds.add(record.id);
  }

  #applyHold(record: HoldRecord): void {
    if (this.#holds.has(record.requestId) || this.#settledIds.has(record.requestId)) {
      throw new LedgerRuleError(`the request ${record.requestId} has a second hold`);
    }
    checkAmount('a hold', record.amountNano);
    if (record.amountNano > this.availableNano(record.workspaceId)) {
      throw new LedgerRuleError(`the hold of ${record.requestId} is more than ${record.workspaceId} has`);
    }
    this.#sumsOf(record.workspaceId).heldNano += record.amountNano;
    this.#keyOf(record.apiKeyId).heldNano += record.amountNano;
    this.#holds.set(record.requestId, record);
  }

  /** Progress of a request that has ended came too late to matter. */
  #applyProgress(record: ProgressRecord): void {
    const hold = this.#holds.get(record.requestId);
    if (hold === undefined) return;
    checkSettle(record, hold);
    this.#progress.set(record.requestId, record);
  }

  #applySettle(record: SettleRecord): void {
    if (this.#settledIds.has(record.requestId)) {
      throw new LedgerRuleError(`the request ${record.requestId} is settled twice`);
    }
    checkSettle(record, this.#holds.get(record.requestId));
    const hold = this.#holds.get(record.requestId);
    if (hold !== undefined) {
      this.#freeHold(hold);
      this.#sumsOf(hold.workspaceId).chargedNano += record.chargeNano;
      this.#keyOf(hold.apiKeyId).charge(record.chargeNano, record.at);
    }
    this.#settledIds.add(record.requestId);
    if (this.#settledIds.size > this.#settledIdsKept) {
      for (const oldest of this.#settledIds) {
        this.#settledIds.delete(oldest);
        break;
      }
    }
  }

  #freeHold(hold: HoldRecord): void {
    this.#holds.delete(hold.requestId);
    this.#progress.delete(hold.requestId);
    this.#sumsOf(hold.workspaceId).heldNano -= hold.amountNano;
    this.#keyOf(hold.apiKeyId).heldNano -= hold.amountNano;
  }

  #sumsOf(workspaceId: string): WorkspaceSums {
    const known = this.#workspaces.get(workspaceId);
    if (known !== undefined) return known;
    const sums = { grantedNano: 0, chargedNano: 0, heldNano: 0 };
    this.#workspaces.set(workspaceId, sums);
    return sums;
  }

  #keyOf(keyId: string): KeySpend {
    const known = this.#keys.get(keyId);
    if (known !== undefined) return known;
    const spend = new KeySpend();
    this.#keys.set(keyId, spend);
    return spend;
  }
}

/** Throws `LedgerRuleError` unless the settlement may end this hold (undefined: there is none). */
export function checkSettle(record: SettleRecord | ProgressRecord, hold: HoldRecord | undefined): void {
  checkAmount('a charge', record.chargeNano);
  if (hold === undefined) {
    if (record.chargeNano === 0) return;
    throw new LedgerRuleError(`the request ${record.requestId} has no hold to charge`);
  }
  if (hold.workspaceId !== record.workspaceId) {
    throw new LedgerRuleError(`the hold of ${record.requestId} belongs to another workspace`);
  }
  if (record.chargeNano > hold.amountNano) {
    throw new LedgerRuleError(`the charge of ${record.requestId} is more than was held`);
  }
}

function checkAmount(what: string, nano: number): void {
  if (!Number.isSafeInteger(nano) || nano < 0) throw new LedgerRuleError(`${what} is out of range: ${nano}`);
}

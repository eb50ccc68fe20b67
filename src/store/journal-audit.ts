// The audit of a journal: adds it up once more, exactly and by rules of its own, and names every record that breaks one.

import { KeySpend, type KeySpendState } from '../ledger/key-spend.ts';
import type { LedgerState } from '../ledger/ledger-fold.ts';
import type { GrantRecord, HoldRecord, ProgressRecord, SettleRecord } from '../ledger/records.ts';
import { DigestSet } from './digest-set.ts';
import type { JournalLine, RecordPlace } from './journal-format.ts';

/** A record that is whole but may not be where it is. */
export type AuditFault = { readonly place: RecordPlace; readonly reason: string };

export type AuditSums = {
  readonly granted: bigint;
  readonly charged: bigint;
  readonly held: bigint;
  /** Settlements, charged or not. */
  readonly requests: number;
};

/** What a journal added up to before its first record, and how many requests had ended by workspace. */
export type AuditBase = { readonly ledger: LedgerState; readonly requests: ReadonlyMap<string, number> };

/** Enough to see what kind of thing went wrong. */
const FAULTS_MAX = 100;
/** What the daemon counts with: integers that are exact. */
const NANO_MAX = BigInt(Number.MAX_SAFE_INTEGER);

type Sums = { granted: bigint; charged: bigint; held: bigint; requests: number };

/**
 * `take` gets every line in order. Memory grows by some 20 to 45 bytes a request that ended; everything else is per
 * workspace, key, grant and open hold.
 */
export class JournalAudit {
  lines = 0;
  /** Progress of requests that had ended: written late, and no harm. */
  lateProgress = 0;
  readonly faults: AuditFault[] = [];
  readonly #sums = new Map<string, Sums>();
  readonly #keys = new Map<string, KeySpend>();
  readonly #grants = new Set<string>();
  readonly #open = new Map<string, HoldRecord>();
  readonly #progress = new Map<string, ProgressRecord>();
  readonly #ended = new DigestSet();

  /** `base` stands in for the segments before the first one, where those have expired. */
  constructor(base: AuditBase | null = null) {
    if (base === null) return;
    const { ledger, requests } = base;
    for (const { id, grantedNano, chargedNano } of ledger.workspaces) {
      const before = { granted: BigInt(grantedNano), charged: BigInt(chargedNano), requests: requests.get(id) ?? 0 };
      this.#sums.set(id, { ...before, held: 0n });
    }
    for (const { id, ...spend } of ledger.keys) this.#keys.set(id, new KeySpend(spend));
    for (const id of ledger.grantIds) this.#grants.add(id);
    for (const id of ledger.settledIds) this.#ended.add(id);
    for (const hold of ledger.holds) {
      this.#open.set(hold.requestId, hold);
      this.#sumsOf(hold.workspaceId).held += BigInt(hold.amountNano);
    }
    for (const progress of ledger.progress) this.#progress.set(progress.requestId, progress);
  }

  take({ record }: JournalLine, place: RecordPlace): void {
    this.lines += 1;
    // Headers move no money, nor does what a later version wrote.
    if (record.type === 'grant') this.#takeGrant(record, place);
    else if (record.type === 'hold') this.#takeHold(record, place);
    else if (record.type === 'progress') this.#takeProgress(record, place);
    else if (record.type === 'settle') this.#takeSettle(record, place);
  }

  get openHolds(): ReadonlyMap<string, HoldRecord> {
    return this.#open;
  }

  get openProgress(): ReadonlyMap<string, ProgressRecord> {
    return this.#progress;
  }

  get grantIds(): ReadonlySet<string> {
    return this.#grants;
  }

  get workspaces(): ReadonlyMap<string, AuditSums> {
    return this.#sums;
  }

  /** What each key was charged, by its id. */
  keySpends(): ReadonlyMap<string, KeySpendState> {
    return new Map(Array.from(this.#keys, ([id, spend]) => [id, spend.state()]));
  }

  hasEnded(requestId: string): boolean {
    return this.#ended.has(requestId);
  }

  #takeGrant(grant: GrantRecord, place: RecordPlace): void {
    if (this.#grants.has(grant.id)) this.#report(place, `the grant ${grant.id} is there twice`);
    this.#grants.add(grant.id);
    const sums = this.#sumsOf(grant.workspaceId);
    sums.granted += BigInt(grant.amountNano);
    if (sums.granted > NANO_MAX) this.#report(place, `${grant.workspaceId} has more credits than can be counted`);
  }

  #takeHold(hold: HoldRecord, place: RecordPlace): void {
    const { requestId } = hold;
    const before = this.#open.get(requestId);
    if (before !== undefined || this.#ended.has(requestId)) {
      this.#report(place, `the request ${requestId} has a second hold`);
    }
    if (before !== undefined) this.#free(before);
    this.#open.set(requestId, hold);
    this.#sumsOf(hold.workspaceId).held += BigInt(hold.amountNano);
    this.#checkAvailable(hold.workspaceId, place);
  }

  #takeProgress(progress: ProgressRecord, place: RecordPlace): void {
    const { requestId } = progress;
    const hold = this.#open.get(requestId);
    if (hold === undefined && this.#ended.has(requestId)) {
      this.lateProgress += 1;
      return;
    }
    if (hold === undefined) this.#report(place, `the request ${requestId} has progress without a hold`);
    this.#checkAgainstHold(progress, hold, place);
    if (hold !== undefined) this.#progress.set(requestId, progress);
  }

  #takeSettle(settle: SettleRecord, place: RecordPlace): void {
    const { requestId, workspaceId, chargeNano } = settle;
    if (!this.#ended.add(requestId)) this.#report(place, `the request ${requestId} ends twice`);
    const hold = this.#open.get(requestId);
    // Without a hold nothing may be charged, which is how a request ends that was refused.
    this.#checkAgainstHold(settle, hold, place);
    if (hold !== undefined) this.#free(hold);
    const sums = this.#sumsOf(workspaceId);
    sums.charged += BigInt(chargeNano);
    sums.requests += 1;
    if (hold !== undefined) this.#keyOf(hold.apiKeyId).charge(chargeNano, settle.at);
    this.#checkAvailable(workspaceId, place);
  }

  #checkAgainstHold(record: SettleRecord | ProgressRecord, hold: HoldRecord | undefined, place: RecordPlace): void {
    const { requestId, chargeNano, entry } = record;
    const verb = record.type === 'settle' ? 'is charged' : 'has progress of';
    if (hold !== undefined && hold.workspaceId !== record.workspaceId) {
      this.#report(place, `the request ${requestId} was held in another workspace`);
    }
    if (hold !== undefined && hold.apiKeyId !== entry.api_key_id) {
      this.#report(place, `the request ${requestId} was held for another API key`);
    }
    if (chargeNano > (hold?.amountNano ?? 0))
      this.#report(place, `the request ${requestId} ${verb} more than was held`);
    if (entry.cost !== chargeNano) {
      this.#report(place, `the usage entry of ${requestId} has another cost than its charge`);
    }
    if (entry.request_id !== requestId) this.#report(place, `the usage entry of ${requestId} is of another request`);
  }

  #free(hold: HoldRecord): void {
    this.#open.delete(hold.requestId);
    this.#progress.delete(hold.requestId);
    this.#sumsOf(hold.workspaceId).held -= BigInt(hold.amountNano);
  }

  #checkAvailable(workspaceId: string, place: RecordPlace): void {
    const { granted, charged, held } = this.#sumsOf(workspaceId);
    if (granted - charged - held < 0n) this.#report(place, `${workspaceId} is below zero`);
  }

  #report(place: RecordPlace, reason: string): void {
    if (this.faults.length < FAULTS_MAX) this.faults.push({ place, reason });
  }

  #sumsOf(workspaceId: string): Sums {
    const known = this.#sums.get(workspaceId);
    if (known !== undefined) return known;
    const sums = { granted: 0n, charged: 0n, held: 0n, requests: 0 };
    this.#sums.set(workspaceId, sums);
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

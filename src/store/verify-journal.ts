// Proves a journal right from its bytes alone, by sums of its own: chain, one end per hold, no balance below zero.

import type { GrantRecord, HoldRecord, SettleRecord } from '../ledger/records.ts';
import type { JournalLine } from './journal-format.ts';
import { readJournal, type TornTail } from './journal-reader.ts';
import { DamagedJournalError, DamagedStateError } from './store-errors.ts';

export type VerifiedWorkspace = {
  readonly workspaceId: string;
  readonly grantedNano: number;
  readonly chargedNano: number;
  readonly heldNano: number;
  readonly entries: number;
};

export type VerifyReport = {
  /** No damage and no problem; a torn tail alone is in order. */
  readonly ok: boolean;
  readonly lines: number;
  readonly segments: number;
  readonly workspaces: readonly VerifiedWorkspace[];
  readonly openHolds: number;
  readonly torn: TornTail | null;
  readonly damage: DamagedStateError | null;
  /** Sentences, at most `PROBLEMS_MAX` of them. */
  readonly problems: readonly string[];
};

/** Enough to see what kind of thing went wrong. */
const PROBLEMS_MAX = 100;

/** Read-only; may run beside the daemon. `directory` is the journal's own. Throws only what the disk throws. */
export async function verifyJournal(directory: string): Promise<VerifyReport> {
  const audit = new Audit();
  let damage: DamagedStateError | null = null;
  let torn: TornTail | null = null;
  let segments = 0;
  try {
    const report = await readJournal({ directory, onLine: (line) => audit.take(line) });
    torn = report.torn;
    segments = report.segments;
  } catch (error) {
    if (!(error instanceof DamagedJournalError || error instanceof DamagedStateError)) throw error;
    damage = error;
  }
  return {
    ok: damage === null && audit.problems.length === 0,
    lines: audit.lines,
    segments,
    workspaces: audit.workspaces(),
    openHolds: audit.openHolds,
    torn,
    damage,
    problems: audit.problems,
  };
}

type Sums = { granted: bigint; charged: bigint; held: bigint; entries: number };

class Audit {
  lines = 0;
  readonly problems: string[] = [];
  readonly #sums = new Map<string, Sums>();
  readonly #open = new Map<string, HoldRecord>();
  readonly #ended = new Set<string>();
  readonly #grants = new Set<string>();

  get openHolds(): number {
    return this.#open.size;
  }

  take({ seq, record }: JournalLine): void {
    this.lines += 1;
    if (record.type === 'grant') this.#takeGrant(seq, record);
    else if (record.type === 'hold') this.#takeHold(seq, record);
    else if (record.type === 'settle') this.#takeSettle(seq, record);
  }

  workspaces(): readonly VerifiedWorkspace[] {
    return Array.from(this.#sums, ([workspaceId, sums]) => ({
      workspaceId,
      grantedNano: Number(sums.granted),
      chargedNano: Number(sums.charged),
      heldNano: Number(sums.held),
      entries: sums.entries,
    }));
  }

  #takeGrant(seq: number, grant: GrantRecord): void {
    if (this.#grants.has(grant.id)) this.#report(seq, `the grant ${grant.id} is there twice`);
    this.#grants.add(grant.id);
    this.#sumsOf(grant.workspaceId).granted += BigInt(grant.amountNano);
  }

  #takeHold(seq: number, hold: HoldRecord): void {
    if (this.#open.has(hold.requestId) || this.#ended.has(hold.requestId)) {
      this.#report(seq, `the request ${hold.requestId} has a second hold`);
    }
    this.#open.set(hold.requestId, hold);
    const sums = this.#sumsOf(hold.workspaceId);
    sums.held += BigInt(hold.amountNano);
    this.#checkBalance(seq, hold.workspaceId, sums);
  }

  #takeSettle(seq: number, settle: SettleRecord): void {
    if (this.#ended.has(settle.requestId)) this.#report(seq, `the request ${settle.requestId} ends twice`);
    this.#ended.add(settle.requestId);
    const hold = this.#open.get(settle.requestId);
    this.#open.delete(settle.requestId);
    const sums = this.#sumsOf(settle.workspaceId);
    if (hold !== undefined) this.#sumsOf(hold.workspaceId).held -= BigInt(hold.amountNano);
    if (hold !== undefined && hold.workspaceId !== settle.workspaceId) {
      this.#report(seq, `the request ${settle.requestId} ends in another workspace`);
    }
    if (settle.chargeNano > (hold?.amountNano ?? 0)) {
      this.#report(seq, `the request ${settle.requestId} is charged more than was held`);
    }
    if (settle.entry.cost !== settle.chargeNano) {
      this.#report(seq, `the usage entry of ${settle.requestId} has another cost than its charge`);
    }
    sums.charged += BigInt(settle.chargeNano);
    sums.entries += 1;
    this.#checkBalance(seq, settle.workspaceId, sums);
  }

  #checkBalance(seq: number, workspaceId: string, sums: Sums): void {
    if (sums.granted - sums.charged - sums.held < 0n) this.#report(seq, `${workspaceId} is below zero`);
  }

  #report(seq: number, problem: string): void {
    if (this.problems.length < PROBLEMS_MAX) this.problems.push(`record ${seq}: ${problem}`);
  }

  #sumsOf(workspaceId: string): Sums {
    const known = this.#sums.get(workspaceId);
    if (known !== undefined) return known;
    const sums = { granted: 0n, charged: 0n, held: 0n, entries: 0 };
    this.#sums.set(workspaceId, sums);
    return sums;
  }
}

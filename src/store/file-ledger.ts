// Money over the journal: reserves in memory at once, and lets everything else happen only when it is on disk.

import { checkSettle, type FoldedBalance, type LedgerFold, type LedgerState } from '../ledger/ledger-fold.ts';
import type { GrantRecord, HoldRecord, LedgerRecord, ProgressRecord, SettleRecord } from '../ledger/records.ts';
import { boundCharge } from '../ledger/usage-guard.ts';
import { SvcError } from '../wire/svc-error.ts';
import type { EntryReader } from './entry-reader.ts';
import type { OpenHold } from './hold-recovery.ts';
import type { Journal } from './journal.ts';
import type { RecordPlace } from './journal-format.ts';
import type {
  BudgetPeriod,
  HoldRequest,
  HoldResult,
  Ledger,
  UsageFilter,
  UsageGroupBy,
  UsagePage,
  UsageSum,
} from './store.ts';
import type { UsageIndex } from './usage-index.ts';

export type FileLedgerParts = {
  readonly fold: LedgerFold;
  readonly usage: UsageIndex;
  readonly entries: EntryReader;
};

/**
 * How the pieces keep the balance right at every prefix of the journal: a hold counts from the moment it is decided, in
 * the same step, and is undone if it can't be written; a settlement frees its hold, and a grant counts, only once
 * durable. So memory never promises more than the journal.
 */
export class FileLedger implements Ledger {
  readonly #fold: LedgerFold;
  readonly #usage: UsageIndex;
  readonly #entries: EntryReader;
  /** Requests whose holds are decided and not yet in the journal. */
  readonly #unwritten = new Set<string>();
  /** Writes under way by request or grant id, so that a second call waits for the first. */
  readonly #holding = new Map<string, Promise<unknown>>();
  readonly #settling = new Map<string, Promise<unknown>>();
  readonly #granting = new Map<string, Promise<unknown>>();
  /** Credits under way, so that a sum stays a safe integer even when many arrive at once. */
  #grantingNano = 0;
  #journal: Journal | null = null;

  constructor(parts: FileLedgerParts) {
    this.#fold = parts.fold;
    this.#usage = parts.usage;
    this.#entries = parts.entries;
  }

  /** Takes in a record that is already in the journal. Throws `LedgerRuleError`. */
  replay(record: LedgerRecord, place: RecordPlace): void {
    this.#fold.apply(record);
    if (record.type === 'settle') this.#usage.add(record.workspaceId, place, record.entry);
  }

  /** Takes in a record that has just become durable; its hold counts already. */
  commit(record: LedgerRecord, place: RecordPlace): void {
    if (record.type === 'hold') this.#unwritten.delete(record.requestId);
    else this.replay(record, place);
  }

  /** From here on new records go to this journal. */
  writeTo(journal: Journal): void {
    this.#journal = journal;
  }

  openHolds(): readonly OpenHold[] {
    return this.#fold.openHolds().map((hold) => ({ hold, progress: this.#fold.progressOf(hold.requestId) }));
  }

  /** What the journal holds at this moment: to be asked between two batches. */
  state(): LedgerState {
    return this.#fold.state((requestId) => this.#unwritten.has(requestId));
  }

  async hold(request: HoldRequest): Promise<HoldResult> {
    const journal = this.#openJournal();
    const decision = this.#fold.decideHold(request);
    if (!decision.ok) return decision;
    const { requestId, amountNano } = request.record;
    const record =
      decision.heldNano === amountNano ? request.record : { ...request.record, amountNano: decision.heldNano };
    this.#fold.apply(record);
    this.#unwritten.add(requestId);
    await tracked(this.#holding, requestId, this.#writeHold(journal, record));
    return decision;
  }

  progress(record: ProgressRecord): void {
    const hold = this.#fold.openHold(record.requestId);
    if (this.#journal === null || hold === undefined) return;
    // A full disk or a stop loses the watermark, which is all it is; the journal itself reports anything worse.
    this.#journal.append(boundToHold(record, hold)).catch(() => undefined);
  }

  async settle(record: SettleRecord): Promise<boolean> {
    const journal = this.#openJournal();
    const { requestId } = record;
    const holding = this.#holding.get(requestId);
    if (holding !== undefined) await settled(holding);
    if (this.#fold.isSettled(requestId)) return false;
    const settling = this.#settling.get(requestId);
    if (settling !== undefined) {
      await settling;
      return false;
    }
    const hold = this.#fold.openHold(requestId);
    const bounded = hold === undefined ? record : boundToHold(record, hold);
    checkSettle(bounded, hold);
    await tracked(this.#settling, requestId, journal.append(bounded, true));
    return true;
  }

  async grant(record: GrantRecord): Promise<boolean> {
    const journal = this.#openJournal();
    if (this.#fold.hasGrant(record.id)) return false;
    const granting = this.#granting.get(record.id);
    if (granting !== undefined) {
      await granting;
      return false;
    }
    this.#checkGrant(record);
    this.#grantingNano += record.amountNano;
    try {
      await tracked(this.#granting, record.id, journal.append(record));
    } finally {
      this.#grantingNano -= record.amountNano;
    }
    return true;
  }

  balance(workspaceId: string): FoldedBalance {
    return this.#fold.balance(workspaceId);
  }

  keySpentNano(keyId: string, period: BudgetPeriod, nowMs: number): number {
    return this.#fold.keySpentNano(keyId, period, nowMs);
  }

  async usage(workspaceId: string, filter: UsageFilter, limit: number, cursor: string | null): Promise<UsagePage> {
    const { places, nextCursor } = this.#usage.page(workspaceId, filter, limit, cursor);
    return { entries: await this.#entries.read(places), nextCursor };
  }

  usageSums(workspaceId: string, groupBy: UsageGroupBy, filter: UsageFilter): readonly UsageSum[] {
    return this.#usage.sums(workspaceId, groupBy, filter);
  }

  /** Rejects only after the hold is undone, so that whoever waits for this sees the balance as it is. */
  async #writeHold(journal: Journal, record: HoldRecord): Promise<void> {
    try {
      await journal.append(record);
    } catch (error) {
      this.#fold.undoHold(record.requestId);
      this.#unwritten.delete(record.requestId);
      throw error;
    }
  }

  #openJournal(): Journal {
    if (this.#journal === null) throw new SvcError('STORAGE_UNAVAILABLE', 'the journal is still being read');
    return this.#journal;
  }

  #checkGrant(record: GrantRecord): void {
    const { amountNano, workspaceId } = record;
    const after = this.#fold.balance(workspaceId).grantedNano + this.#grantingNano + amountNano;
    if (Number.isSafeInteger(amountNano) && amountNano > 0 && Number.isSafeInteger(after)) return;
    throw new SvcError('INVALID_REQUEST', 'amount must be more than 0 and within what a workspace can hold', {
      param: 'amount',
    });
  }
}

/** The entry's cost is always what is charged, and that is never more than was held. */
function boundToHold<Ending extends SettleRecord | ProgressRecord>(record: Ending, hold: HoldRecord): Ending {
  const { chargeNano, anomalies } = boundCharge(record.chargeNano, hold.amountNano);
  if (anomalies.length === 0 && record.entry.cost === chargeNano) return record;
  const entry = { ...record.entry, cost: chargeNano, anomalies: [...record.entry.anomalies, ...anomalies] };
  return { ...record, chargeNano, entry };
}

async function tracked(running: Map<string, Promise<unknown>>, id: string, write: Promise<unknown>): Promise<void> {
  running.set(id, write);
  try {
    await write;
  } finally {
    running.delete(id);
  }
}

/** Waits for the end of a write, whichever it is: its own caller hears of a failure. */
async function settled(write: Promise<unknown>): Promise<void> {
  await write.catch(() => undefined);
}

// The usage entries of every workspace in memory: pages newest first, and sums by group.

import type { UsageEntry } from '../ledger/records.ts';
import { SvcError } from '../wire/svc-error.ts';
import type { UsageFilter, UsageGroupBy, UsagePage, UsageSum } from './store.ts';
import { addEntry, type GroupSums, isTurnOfDay, renderSums, UsageRollup } from './usage-rollup.ts';

/** Entries and their journal numbers, side by side and ascending. */
type WorkspaceUsage = { readonly seqs: number[]; readonly entries: UsageEntry[]; readonly rollup: UsageRollup };

export class UsageIndex {
  readonly #workspaces = new Map<string, WorkspaceUsage>();

  /** `seq` must be greater than that of every entry before. */
  add(workspaceId: string, seq: number, entry: UsageEntry): void {
    let usage = this.#workspaces.get(workspaceId);
    if (usage === undefined) {
      usage = { seqs: [], entries: [], rollup: new UsageRollup() };
      this.#workspaces.set(workspaceId, usage);
    }
    usage.seqs.push(seq);
    usage.entries.push(entry);
    usage.rollup.add(entry);
  }

  /**
   * At most `limit` entries, newest first: those settled last. The cursor names the last one given, so entries that
   * arrive between two pages move nothing. Throws `INVALID_REQUEST` for a cursor that isn't ours.
   */
  page(workspaceId: string, filter: UsageFilter, limit: number, cursor: string | null): UsagePage {
    const beforeSeq = cursor === null ? Number.POSITIVE_INFINITY : parseCursor(cursor);
    const usage = this.#workspaces.get(workspaceId);
    if (usage === undefined) return { entries: [], nextCursor: null };
    const entries: UsageEntry[] = [];
    let lastSeq = 0;
    for (let index = countBelow(usage.seqs, beforeSeq) - 1; index >= 0; index -= 1) {
      const entry = usage.entries[index];
      if (entry === undefined || !matches(entry, filter)) continue;
      // One match beyond the page is what tells that there is a next page.
      if (entries.length === limit) return { entries, nextCursor: renderCursor(lastSeq) };
      entries.push(frozen(entry));
      lastSeq = usage.seqs[index] ?? 0;
    }
    return { entries, nextCursor: null };
  }

  sums(workspaceId: string, groupBy: UsageGroupBy, filter: UsageFilter): readonly UsageSum[] {
    const usage = this.#workspaces.get(workspaceId);
    if (usage === undefined) return [];
    if (isForWholeDays(filter)) return usage.rollup.sums(groupBy, filter.fromMs, filter.toMs);
    const sums: GroupSums = new Map();
    for (const entry of usage.entries) if (matches(entry, filter)) addEntry(sums, groupBy, entry);
    return renderSums(sums, groupBy);
  }
}

/** Callers get the entry itself, so nobody may change it. Done when one is handed out: most never are. */
function frozen(entry: UsageEntry): UsageEntry {
  Object.freeze(entry.anomalies);
  if (entry.decision !== null) {
    Object.freeze(entry.decision.weights);
    Object.freeze(entry.decision.classification);
    Object.freeze(entry.decision.needs);
    Object.freeze(entry.decision);
  }
  return Object.freeze(entry);
}

/** `fromMs` is within the range, `toMs` is not. */
function matches(entry: UsageEntry, filter: UsageFilter): boolean {
  if (filter.fromMs !== undefined && entry.created_at < filter.fromMs) return false;
  if (filter.toMs !== undefined && entry.created_at >= filter.toMs) return false;
  if (filter.model !== undefined && entry.model !== filter.model) return false;
  if (filter.keyId !== undefined && entry.api_key_id !== filter.keyId) return false;
  return filter.status === undefined || entry.status === filter.status;
}

function isForWholeDays(filter: UsageFilter): boolean {
  const { fromMs, toMs, model, keyId, status } = filter;
  return model === undefined && keyId === undefined && status === undefined && isTurnOfDay(fromMs) && isTurnOfDay(toMs);
}

/** How many numbers of an ascending list are below `limit`. */
function countBelow(ascending: readonly number[], limit: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ascending[middle] ?? 0) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

const CURSOR = /^u[0-9a-z]{1,11}$/;

function renderCursor(seq: number): string {
  return `u${seq.toString(36)}`;
}

function parseCursor(cursor: string): number {
  if (!CURSOR.test(cursor)) throw new SvcError('INVALID_REQUEST', 'cursor is not one of ours', { param: 'cursor' });
  return Number.parseInt(cursor.slice(1), 36);
}

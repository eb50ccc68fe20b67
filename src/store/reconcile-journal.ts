// Adds up what requests were charged beside what the upstream said they cost.

import { utcDay } from '../ledger/key-spend.ts';
import type { UsageEntry } from '../ledger/records.ts';
import type { RecordPlace } from './journal-format.ts';
import { readJournal } from './journal-reader.ts';
import { readBesideWriter } from './read-beside-writer.ts';
import { listSegments } from './segment-name.ts';

export type ReconcileGroupBy = 'model' | 'upstream' | 'day';

export type ReconcileSums = {
  readonly requests: number;
  /** Requests of which the upstream said what they cost. */
  readonly compared: number;
  /** Charged for those, nano-dollars. */
  readonly ours: bigint;
  readonly theirs: bigint;
  /** Requests of which it did not, and what was charged for them. */
  readonly silent: number;
  readonly silentOurs: bigint;
  /** Of all, those charged by an estimate. */
  readonly estimated: number;
  readonly anomalies: ReadonlyMap<string, number>;
};
export type ReconcileGroup = ReconcileSums & { readonly group: string };
export type ComparedRequest = {
  readonly requestId: string;
  readonly model: string | null;
  readonly oursNano: number;
  readonly theirsNano: number;
};
export type ReconcileReport = {
  readonly firstSegment: number;
  readonly total: ReconcileSums;
  /** The greatest difference first, whichever way it goes. */
  readonly groups: readonly ReconcileGroup[];
  /** The single requests that differ most, likewise; those that differ at all. */
  readonly requests: readonly ComparedRequest[];
};
export type ReconcileOptions = {
  readonly groupBy: ReconcileGroupBy;
  /** Of requests settled from then on, ms since 1970. */
  readonly fromMs?: number;
  /** Of requests settled before then. */
  readonly toMs?: number;
  readonly onRecord?: (place: RecordPlace) => void;
};

const REQUESTS_LISTED = 10;
const NO_GROUP = '(none)';
const MS_PER_DAY = 86_400_000;

/** Read-only; may run beside the daemon. `directory` is the journal's own. Throws `DamagedStateError`. */
export async function reconcileJournal(directory: string, options: ReconcileOptions): Promise<ReconcileReport> {
  return await readBesideWriter(async () => {
    const reconciliation = new Reconciliation(options);
    const [firstSegment = 0] = await listSegments(directory);
    await readJournal({
      directory,
      onLine: (line, place) => {
        if (line.record.type === 'settle') reconciliation.take(line.record.entry);
        options.onRecord?.(place);
      },
    });
    return { firstSegment, ...reconciliation.result() };
  });
}

type MutableSums = { -readonly [Field in keyof ReconcileSums]: ReconcileSums[Field] } & {
  readonly anomalies: Map<string, number>;
};

class Reconciliation {
  readonly #options: ReconcileOptions;
  readonly #total = noSums();
  readonly #groups = new Map<string, MutableSums>();
  #requests: readonly ComparedRequest[] = [];

  constructor(options: ReconcileOptions) {
    this.#options = options;
  }

  take(entry: UsageEntry): void {
    // What never went upstream has nothing to compare.
    if (entry.attempts === 0 && entry.cost === 0) return;
    const { groupBy, fromMs, toMs } = this.#options;
    if (fromMs !== undefined && entry.created_at < fromMs) return;
    if (toMs !== undefined && entry.created_at >= toMs) return;
    addEntry(this.#total, entry);
    addEntry(this.#sumsOf(groupOf(groupBy, entry)), entry);
    this.#rank(entry);
  }

  result(): Omit<ReconcileReport, 'firstSegment'> {
    const groups = Array.from(this.#groups, ([group, sums]) => ({ group, ...sums }));
    groups.sort((a, b) => compareSizes(b.ours - b.theirs, a.ours - a.theirs) || (a.group < b.group ? -1 : 1));
    return { total: this.#total, groups, requests: this.#requests };
  }

  #rank(entry: UsageEntry): void {
    const theirsNano = upstreamNanoOf(entry);
    if (theirsNano === null || theirsNano === entry.cost) return;
    const request = { requestId: entry.request_id, model: entry.model, oursNano: entry.cost, theirsNano };
    const last = this.#requests.at(-1);
    const full = this.#requests.length === REQUESTS_LISTED;
    if (full && last !== undefined && sizeOf(last) >= sizeOf(request)) return;
    // The sort is stable: of equals the earlier stays ahead.
    const ranked = [...this.#requests, request].sort((a, b) => sizeOf(b) - sizeOf(a));
    this.#requests = ranked.slice(0, REQUESTS_LISTED);
  }

  #sumsOf(group: string): MutableSums {
    const known = this.#groups.get(group);
    if (known !== undefined) return known;
    const sums = noSums();
    this.#groups.set(group, sums);
    return sums;
  }
}

function noSums(): MutableSums {
  return {
    requests: 0,
    compared: 0,
    ours: 0n,
    theirs: 0n,
    silent: 0,
    silentOurs: 0n,
    estimated: 0,
    anomalies: new Map(),
  };
}

function addEntry(sums: MutableSums, entry: UsageEntry): void {
  const theirs = upstreamNanoOf(entry);
  sums.requests += 1;
  if (theirs === null) {
    sums.silent += 1;
    sums.silentOurs += BigInt(entry.cost);
  } else {
    sums.compared += 1;
    sums.ours += BigInt(entry.cost);
    sums.theirs += BigInt(theirs);
  }
  if (entry.cost_kind === 'estimated') sums.estimated += 1;
  // Journals of other versions may lack the list.
  for (const name of entry.anomalies ?? []) sums.anomalies.set(name, (sums.anomalies.get(name) ?? 0) + 1);
}

/** Null where the upstream said nothing; absent, or no amount, is no more than that. */
function upstreamNanoOf({ upstream_cost }: UsageEntry): number | null {
  return Number.isSafeInteger(upstream_cost) ? upstream_cost : null;
}

function groupOf(groupBy: ReconcileGroupBy, entry: UsageEntry): string {
  if (groupBy === 'day') return new Date(utcDay(entry.created_at) * MS_PER_DAY).toISOString().slice(0, 10);
  return (groupBy === 'model' ? entry.model : entry.upstream) ?? NO_GROUP;
}

function sizeOf({ oursNano, theirsNano }: ComparedRequest): number {
  return Math.abs(oursNano - theirsNano);
}

function compareSizes(a: bigint, b: bigint): number {
  const difference = (a < 0n ? -a : a) - (b < 0n ? -b : b);
  if (difference === 0n) return 0;
  return difference < 0n ? -1 : 1;
}

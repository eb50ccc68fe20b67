// Writes down now and then what a stream has delivered, so that a crash charges that and no more.

import { knownCost } from './known-cost.ts';
import type { Road } from './road.ts';
import { type Ending, usageEntry } from './usage-entry.ts';

/** What a crash may leave uncharged of one stream, in time; each record is about a kilobyte of journal. */
const INTERVAL_MS = 1000;

/** How a request ends that its process did not see the end of. */
const RECOVERED: Ending = { status: 500, errorCode: 'INTERNAL_ERROR', reason: 'recovered' };

/** One for each stream, made when its answer begins. */
export class ProgressWatch {
  /** Below this many delivered bytes there is nothing new to write down. */
  nextBytes = 1;
  readonly #road: Road;
  readonly #entryId: string;
  #nextMs: number;

  constructor(road: Road) {
    this.#road = road;
    this.#entryId = road.deps.makeId('ue');
    this.#nextMs = road.deps.clock.monotonicMs() + INTERVAL_MS;
  }

  /** Called once `nextBytes` are delivered, with the road's meter up to date. Waits for nothing and never throws. */
  note(): void {
    const { deps, call, principal, meter } = this.#road;
    const nowMs = deps.clock.monotonicMs();
    if (nowMs < this.#nextMs) return;
    this.#nextMs = nowMs + INTERVAL_MS;
    this.nextBytes = meter.deliveredBytes + 1;
    const at = deps.clock.nowMs();
    const cost = knownCost(this.#road, false);
    const entry = usageEntry(this.#road, RECOVERED, cost, at);
    deps.store.ledger.progress({
      type: 'progress',
      at,
      requestId: call.requestId,
      workspaceId: principal.workspace.id,
      chargeNano: cost.nano,
      // The decision is half of an entry, and the road to here is in the log.
      entry: { ...entry, id: this.#entryId, decision: null },
    });
  }
}

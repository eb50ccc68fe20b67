// Finds usage entries in the journal, pages newest first, and answers sums by group; the entries themselves stay on disk.

import type { UsageEntry } from '../ledger/records.ts';
import { SvcError } from '../wire/svc-error.ts';
import type { RecordPlace } from './journal-format.ts';
import type { UsageFilter, UsageGroupBy, UsageSum } from './store.ts';
import { UsageChunk } from './usage-chunk.ts';
import { cellNeedOf } from './usage-chunk-cells.ts';
import { type RowFilter, RUN_ROWS, selectRows, toRowFilter } from './usage-filter.ts';
import { type RollupState, UsageRollup } from './usage-rollup.ts';
import { UsageStrings } from './usage-strings.ts';
import { UsageSums } from './usage-sums.ts';

export type UsagePlaces = { readonly places: readonly RecordPlace[]; readonly nextCursor: string | null };

/** What an index is made of: see `UsageIndex.restore`. */
export type UsageIndexState = {
  /** The dictionary the chunks' numbers are of. */
  readonly strings: readonly string[];
  /** Oldest first. They become the index's own. */
  readonly chunks: readonly UsageChunk[];
  /** All rows of segments before `firstSegment`, whether chunks still have them or not. */
  readonly carried: RollupState | null;
  readonly firstSegment: number;
};

/**
 * Rows in the order of the journal, in chunks. Sums come from the cells of sealed chunks and of the rows that expired; rows are
 * looked at where a chunk is still open, lies across an end of the range or a border of expiry, or has hardly fewer cells than rows.
 */
export class UsageIndex {
  #strings = new UsageStrings();
  #chunks: UsageChunk[] = [];
  #expired = new UsageRollup(this.#strings);
  #firstSegment = 0;

  /** Throws an `Error` for parts that don't fit each other. */
  static restore(state: UsageIndexState): UsageIndex {
    checkChunks(state);
    const index = new UsageIndex();
    index.#strings = new UsageStrings(state.strings);
    index.#expired = new UsageRollup(index.#strings);
    if (state.carried !== null) index.#expired.merge(state.carried);
    index.#chunks = [...state.chunks];
    index.#firstSegment = state.firstSegment;
    index.#dropExpiredChunks();
    // Made now, when nobody waits for it yet.
    for (const chunk of index.#chunks) chunk.cells('all');
    return index;
  }

  /** `place.seq` must be greater than that of every row before. */
  add(workspaceId: string, place: RecordPlace, entry: UsageEntry): void {
    let chunk = this.#chunks.at(-1);
    if (chunk === undefined || chunk.sealed) {
      chunk = new UsageChunk((chunk?.number ?? 0) + 1);
      this.#chunks.push(chunk);
    }
    const strings = this.#strings;
    chunk.add(place, entry, {
      workspace: strings.numberFor(workspaceId),
      key: strings.numberFor(entry.api_key_id),
      model: strings.numberFor(entry.model ?? null),
      virtualModel: strings.numberFor(entry.virtual_model ?? null),
      task: strings.numberFor(entry.task_type ?? null),
    });
  }

  /**
   * The places of at most `limit` entries, newest first: those settled last. The cursor names the last one given, so entries
   * that arrive between two pages move nothing. Throws `INVALID_REQUEST` for a cursor that isn't ours.
   */
  page(workspaceId: string, filter: UsageFilter, limit: number, cursor: string | null): UsagePlaces {
    const beforeSeq = cursor === null ? Number.POSITIVE_INFINITY : parseCursor(cursor);
    const rowFilter = toRowFilter(this.#strings, workspaceId, filter);
    const places: RecordPlace[] = [];
    if (rowFilter === null) return { places, nextCursor: null };
    for (let position = this.#chunks.length - 1; position >= 0; position -= 1) {
      const chunk = this.#chunks[position];
      if (chunk === undefined || !isTouched(chunk, rowFilter)) continue;
      const first = chunk.rowsBeforeSegment(this.#firstSegment);
      for (const row of rowsBackwards(chunk, { first, end: chunk.rowsBeforeSeq(beforeSeq) }, rowFilter)) {
        // One match beyond the page is what tells that there is a next page.
        if (places.length === limit) return { places, nextCursor: renderCursor(places.at(-1)?.seq ?? 0) };
        places.push(chunk.place(row));
      }
    }
    return { places, nextCursor: null };
  }

  /**
   * Rows that expired count for ever, but only their day is still known: where the range cuts it, they count as of the first
   * moment of that day.
   */
  sums(workspaceId: string, groupBy: UsageGroupBy, filter: UsageFilter): readonly UsageSum[] {
    const rowFilter = toRowFilter(this.#strings, workspaceId, filter);
    if (rowFilter === null) return [];
    const sums = new UsageSums(groupBy, rowFilter);
    this.#expired.addTo(sums);
    const need = cellNeedOf(groupBy, filter);
    for (const chunk of this.#chunks) {
      if (!isTouched(chunk, rowFilter)) continue;
      const first = chunk.rowsBeforeSegment(this.#firstSegment);
      const cells = first === 0 && isWithin(chunk, rowFilter) ? chunk.cells(need) : null;
      if (cells === null) sums.addRows(chunk.columns, first, chunk.rows);
      else sums.addRows(cells.columns, 0, cells.count);
    }
    return sums.render(this.#strings);
  }

  /** Rows of segments before this one are no longer served; their sums stay. */
  forgetBefore(segment: number): void {
    if (segment <= this.#firstSegment) return;
    this.#addExpiring(this.#expired, segment);
    this.#firstSegment = segment;
    this.#dropExpiredChunks();
  }

  /** What `forgetBefore` of this segment keeps, without forgetting: what a carry file has to hold. */
  rollupBefore(segment: number): RollupState {
    const rollup = this.#expired.copy();
    this.#addExpiring(rollup, segment);
    return rollup.state();
  }

  /** Rows served. */
  get rows(): number {
    return this.#chunks.reduce((sum, chunk) => sum + chunk.rows - chunk.rowsBeforeSegment(this.#firstSegment), 0);
  }

  /** The dictionary; live, it grows at its end. */
  strings(): readonly string[] {
    return this.#strings.list();
  }

  /** Oldest first; only the last may be unsealed. They stay the index's own. */
  chunks(): readonly UsageChunk[] {
    return this.#chunks;
  }

  #addExpiring(rollup: UsageRollup, segment: number): void {
    for (const chunk of this.#chunks) {
      const first = chunk.rowsBeforeSegment(this.#firstSegment);
      const end = chunk.rowsBeforeSegment(segment);
      if (end > first) rollup.add(chunk, first, end);
    }
  }

  /** The last chunk always stays, so that the numbers of chunks go on from it. */
  #dropExpiredChunks(): void {
    const kept = this.#chunks.findIndex((chunk) => chunk.rowsBeforeSegment(this.#firstSegment) < chunk.rows);
    this.#chunks.splice(0, kept === -1 ? this.#chunks.length - 1 : kept);
  }
}

/** The rows from `first` on and before `end` that pass, the last first. */
function* rowsBackwards(
  chunk: UsageChunk,
  { first, end }: { readonly first: number; readonly end: number },
  filter: RowFilter,
): Generator<number> {
  const selected = new Uint32Array(RUN_ROWS);
  for (let runEnd = end; runEnd > first; runEnd -= RUN_ROWS) {
    const run = { first: Math.max(first, runEnd - RUN_ROWS), end: runEnd };
    const count = selectRows(chunk.columns, run, filter, selected);
    for (let index = count - 1; index >= 0; index -= 1) yield selected[index] ?? 0;
  }
}

function isTouched(chunk: UsageChunk, filter: RowFilter): boolean {
  return chunk.latestMs >= filter.fromMs && chunk.earliestMs < filter.toMs;
}

function isWithin(chunk: UsageChunk, filter: RowFilter): boolean {
  return chunk.earliestMs >= filter.fromMs && chunk.latestMs < filter.toMs;
}

function checkChunks({ strings, chunks }: UsageIndexState): void {
  chunks.forEach((chunk, position) => {
    const { number } = chunk;
    const before = chunks[position - 1];
    if (before !== undefined && number !== before.number + 1) throw new Error(`usage chunk ${number} is out of order`);
    if (before !== undefined && !before.sealed) throw new Error(`usage chunk ${before.number} has too few rows`);
    if (before !== undefined && chunk.rowsBeforeSeq(before.lastSeq + 1) > 0) {
      throw new Error(`usage chunk ${number} begins before the one before it ends`);
    }
    if (chunk.greatestName > strings.length)
      throw new Error(`usage chunk ${number} names what is not in the dictionary`);
  });
}

const CURSOR = /^u[0-9a-z]{1,11}$/;

function renderCursor(seq: number): string {
  return `u${seq.toString(36)}`;
}

function parseCursor(cursor: string): number {
  if (!CURSOR.test(cursor)) throw new SvcError('INVALID_REQUEST', 'cursor is not one of ours', { param: 'cursor' });
  return Number.parseInt(cursor.slice(1), 36);
}

// Holds the snapshot and the usage chunks, which are made from the journal, against the journal they were made from.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { UsageEntry } from '../ledger/records.ts';
import { stateDifferences } from './audit-state.ts';
import type { JournalAudit } from './journal-audit.ts';
import type { JournalLine, RecordPlace } from './journal-format.ts';
import type { JournalPosition, TornTail } from './journal-reader.ts';
import { readSnapshot, type Snapshot } from './snapshot.ts';
import { errorCode } from './store-errors.ts';
import { UsageChunk } from './usage-chunk.ts';

const FAULTS_MAX = 20;

export type IndexFault = {
  readonly file: string;
  readonly record: number | null;
  readonly reason: string;
  /** It is the journal that lacks something: a snapshot is of records that were durable. */
  readonly ofJournal: boolean;
};

/** Null where there is no snapshot, so that nothing is claimed. `directory` is the index's. Throws only what the disk throws. */
export async function openIndexAudit(directory: string): Promise<IndexAudit | null> {
  try {
    const snapshot = await readSnapshot(directory);
    return snapshot === null ? null : new IndexAudit(directory, snapshot);
  } catch (error) {
    if (errorCode(error) !== undefined) throw error;
    const audit = new IndexAudit(directory, null);
    audit.report(SNAPSHOT, null, reasonOf(error));
    return audit;
  }
}

/** How faults name the snapshot's file. */
const SNAPSHOT = 'snapshot.ndjson';

/** `take` gets every line in order, right after the journal's audit has taken it. */
export class IndexAudit {
  readonly faults: IndexFault[] = [];
  readonly #directory: string;
  readonly #snapshot: Snapshot | null;
  readonly #rows: RowReader;
  /** Records that the snapshot was made of and that the torn tail of the journal has cut into. */
  lostRecords = 0;
  #compared = false;
  #begun = false;

  constructor(directory: string, snapshot: Snapshot | null) {
    this.#directory = directory;
    this.#snapshot = snapshot;
    this.#rows = new RowReader(directory, snapshot);
    // Of an empty journal there is nothing to compare.
    this.#compared = snapshot === null || snapshot.position.nextSeq === 1;
  }

  take(audit: JournalAudit, { seq, prev, record }: JournalLine, place: RecordPlace): void {
    if (this.#snapshot === null) return;
    const { position, ledger } = this.#snapshot;
    if (!this.#begun) this.#begin(seq);
    if (seq === position.nextSeq && prev !== position.prev) {
      this.report(SNAPSHOT, seq, 'it was made from another journal');
    }
    if (seq >= position.nextSeq) return;
    if (record.type === 'settle') this.#takeRow(record.workspaceId, record.entry, place);
    if (seq !== position.nextSeq - 1) return;
    this.#compared = true;
    if (!isRightAfter(position, place)) {
      this.report(SNAPSHOT, seq, 'its place in the journal is not where the record is');
    }
    for (const difference of stateDifferences(audit, ledger)) this.report(SNAPSHOT, seq, difference);
    if (this.#rows.left > 0) this.report(this.#rows.file, seq, 'there are rows of requests that the journal has not');
  }

  #begin(seq: number): void {
    this.#begun = true;
    this.#rows.skipBefore(seq);
    // All that the snapshot covers has expired: it is of no more use, and no harm.
    if (this.#snapshot !== null && seq >= this.#snapshot.position.nextSeq) this.#compared = true;
  }

  /**
   * To be called once the whole journal was read up to `end`, with the torn tail there: one that leaves the file shorter than the
   * snapshot knew it is for the start to mend. Throws an `ENOENT` where a chunk was replaced meanwhile: begin again then.
   */
  async finish(end: JournalPosition, torn: TornTail | null): Promise<void> {
    const { missing } = this.#rows;
    if (missing !== null) {
      const now = await readSnapshot(this.#directory);
      if (now === null || !now.chunks.includes(missing.name)) throw missing.error;
      this.report(missing.name, null, 'the file is missing');
    }
    if (this.#snapshot === null || this.#compared) return;
    const known = this.#snapshot.position;
    const last = known.nextSeq - 1;
    if (torn !== null && (end.segment !== known.segment || torn.offset + torn.bytes < known.offset)) {
      this.lostRecords = known.nextSeq - end.nextSeq;
      return;
    }
    const reason = `it was made when the journal had ${last} records, which the journal has no more`;
    this.faults.unshift({ file: join(this.#directory, SNAPSHOT), record: last, reason, ofJournal: true });
  }

  report(name: string, record: number | null, reason: string): void {
    if (this.faults.length < FAULTS_MAX)
      this.faults.push({ file: join(this.#directory, name), record, reason, ofJournal: false });
  }

  #takeRow(workspaceId: string, entry: UsageEntry, place: RecordPlace): void {
    const row = this.#rows.next();
    if (row === null) {
      const { problem, file } = this.#rows;
      if (problem !== null) this.report(file, place.seq, problem);
      return;
    }
    const wanted = rowOf(workspaceId, entry, place);
    if (row === wanted) return;
    this.report(this.#rows.file, place.seq, `a row is ${row}, and in the journal ${wanted}`);
    this.#rows.stop();
  }
}

/** The next record may also be the first of a segment that is only begun. */
function isRightAfter({ segment, offset }: JournalPosition, place: RecordPlace): boolean {
  if (offset === 0) return segment === place.segment + 1;
  return segment === place.segment && offset === place.offset + place.bytes + 1;
}

/** Reads the rows of all chunks in their order, one chunk in memory at a time. */
class RowReader {
  /** The chunk that is being read, or was last. */
  file = SNAPSHOT;
  missing: { readonly name: string; readonly error: unknown } | null = null;
  readonly #directory: string;
  readonly #chunks: readonly string[];
  readonly #strings: readonly string[];
  #nextChunk = 0;
  #chunk: UsageChunk | null = null;
  #row = 0;
  #problem: string | null = null;
  #stopped = false;

  constructor(directory: string, snapshot: Snapshot | null) {
    this.#directory = directory;
    this.#chunks = snapshot?.chunks ?? [];
    this.#strings = snapshot?.strings ?? [];
  }

  /** Why there is no next row; told once. */
  get problem(): string | null {
    const problem = this.#problem;
    this.#problem = null;
    return problem;
  }

  /** Rows not read yet; 0 where reading had to stop. */
  get left(): number {
    return this.#open() === null ? 0 : 1;
  }

  /** One wrong row makes all that follow suspect of being one place off: they are not worth naming. */
  stop(): void {
    this.#stopped = true;
  }

  /** Leaves out the rows of records that have expired. */
  skipBefore(seq: number): void {
    for (let chunk = this.#open(); chunk !== null; chunk = this.#open()) {
      this.#row = chunk.rowsBeforeSeq(seq);
      if (this.#row < chunk.rows) return;
    }
  }

  /** The row as a text; null where there is none or reading has stopped. */
  next(): string | null {
    const chunk = this.#open();
    if (chunk === null) {
      if (!this.#stopped) this.#fail('it has fewer rows than the journal has requests');
      return null;
    }
    const row = this.#row;
    this.#row += 1;
    const { columns } = chunk;
    const name = (column: Uint32Array): string | null => this.#strings[(column[row] ?? 0) - 1] ?? null;
    const { seq, segment, offset, bytes } = chunk.place(row);
    const { workspace, key, model, virtualModel, task } = columns;
    const numbers = [columns.createdAt, columns.cost, columns.inputTokens, columns.cachedTokens, columns.outputTokens];
    return rowText(
      [seq, segment, offset, bytes, ...numbers.map((column) => column[row] ?? 0), columns.status[row] ?? 0],
      [name(workspace), name(key), name(model), name(virtualModel), name(task)],
    );
  }

  /** The chunk that has the next row. */
  #open(): UsageChunk | null {
    while (!this.#stopped && (this.#chunk === null || this.#row >= this.#chunk.rows)) {
      const name = this.#chunks[this.#nextChunk];
      if (name === undefined) return null;
      this.#nextChunk += 1;
      this.#row = 0;
      this.#chunk = this.#read(name);
    }
    return this.#stopped ? null : this.#chunk;
  }

  #read(name: string): UsageChunk | null {
    this.file = name;
    try {
      return UsageChunk.decode(readFileSync(join(this.#directory, name)));
    } catch (error) {
      if (errorCode(error) === 'ENOENT') this.missing = { name, error };
      else if (errorCode(error) !== undefined) throw error;
      else this.#fail(reasonOf(error));
      this.#stopped = true;
      return null;
    }
  }

  #fail(problem: string): void {
    this.#problem = problem;
    this.#stopped = true;
  }
}

function rowOf(workspaceId: string, entry: UsageEntry, { seq, segment, offset, bytes }: RecordPlace): string {
  const { created_at, cost, input_tokens, cached_tokens, output_tokens, status } = entry;
  return rowText(
    [seq, segment, offset, bytes, created_at, cost, input_tokens, cached_tokens, output_tokens, status],
    [workspaceId, entry.api_key_id, entry.model ?? null, entry.virtual_model ?? null, entry.task_type ?? null],
  );
}

function rowText(numbers: readonly number[], names: readonly (string | null)[]): string {
  return JSON.stringify([...numbers, ...names]);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

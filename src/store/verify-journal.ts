// Proves a journal right from its bytes alone: the chain, every rule of the ledger, and exact sums.

import { type Carry, readJournalBase } from './carry.ts';
import { type IndexAudit, type IndexFault, openIndexAudit } from './index-audit.ts';
import { type AuditBase, type AuditFault, JournalAudit } from './journal-audit.ts';
import type { RecordPlace } from './journal-format.ts';
import { readJournal, type TornTail } from './journal-reader.ts';
import { readBesideWriter } from './read-beside-writer.ts';
import { openSegmentFile } from './segment-file.ts';
import { listSegments, segmentPath } from './segment-name.ts';
import { DamagedJournalError, DamagedStateError, errorCode } from './store-errors.ts';

export type VerifiedWorkspace = {
  readonly workspaceId: string;
  readonly grantedNano: number;
  readonly chargedNano: number;
  readonly heldNano: number;
  readonly entries: number;
};

/** `file` is a path. `offset` (of the segment's text) and `record` are null where a whole file is missing or wrong. */
export type Damage = {
  readonly file: string;
  readonly offset: number | null;
  readonly record: number | null;
  readonly reason: string;
};

export type VerifyReport = {
  /** No damage and no problem; a torn tail alone is in order. */
  readonly ok: boolean;
  readonly lines: number;
  readonly segments: number;
  /** 0 where there is none. */
  readonly firstSegment: number;
  readonly workspaces: readonly VerifiedWorkspace[];
  readonly openHolds: number;
  /** Progress records of requests that had ended already: no harm. */
  readonly lateProgress: number;
  readonly torn: TornTail | null;
  /** Records that were durable once, as the snapshot knows, and that the torn tail has cut off. */
  readonly lostRecords: number;
  /** Where reading had to stop. */
  readonly damage: DamagedStateError | null;
  /** Sentences, a limited number of them: records that are whole but break a rule. */
  readonly problems: readonly string[];
  /** What is kept beside the journal, and made from it, but differs from it. */
  readonly indexFaults: readonly IndexFault[];
  /** The first thing wrong in the journal's order, of either kind; else the first wrong in the index. */
  readonly first: Damage | null;
};

export type VerifyOptions = {
  /** The index directory, to be held against the journal as well. */
  readonly index?: string;
  /** Called for each record, for whoever shows how far it is. */
  readonly onRecord?: (place: RecordPlace) => void;
};

/** Read-only; may run beside the daemon. `directory` is the journal's own. Throws only what the disk throws. */
export async function verifyJournal(directory: string, options: VerifyOptions = {}): Promise<VerifyReport> {
  let pass = new Pass(directory, options);
  try {
    await readBesideWriter(() => {
      pass = new Pass(directory, options);
      return pass.run();
    });
    return await pass.report(null);
  } catch (error) {
    if (!(error instanceof DamagedStateError)) throw error;
    return await pass.report(error);
  }
}

/** One reading from the first to the last record there is. */
class Pass {
  readonly #directory: string;
  readonly #options: VerifyOptions;
  #audit = new JournalAudit();
  #segments: readonly number[] = [];
  #torn: TornTail | null = null;
  #index: IndexAudit | null = null;

  constructor(directory: string, options: VerifyOptions) {
    this.#directory = directory;
    this.#options = options;
  }

  async run(): Promise<void> {
    const { index, onRecord } = this.#options;
    // First, because the daemon replaces it only by one of a later place.
    this.#index = index === undefined ? null : await openIndexAudit(index);
    this.#segments = await listSegments(this.#directory);
    const base = await readJournalBase(this.#directory);
    this.#audit = new JournalAudit(base === null ? null : auditBaseOf(base));
    const { torn, position } = await readJournal({
      directory: this.#directory,
      base,
      onLine: (line, place) => {
        this.#audit.take(line, place);
        this.#index?.take(this.#audit, line, place);
        onRecord?.(place);
      },
    });
    this.#torn = torn;
    await this.#index?.finish(position, torn);
  }

  async report(damage: DamagedStateError | null): Promise<VerifyReport> {
    const audit = this.#audit;
    const [fault] = audit.faults;
    const indexFaults = this.#index?.faults ?? [];
    const [indexFault] = indexFaults;
    const stopped = damage === null ? null : damageOf(damage);
    const besides = indexFault === undefined ? null : damageOfIndex(indexFault);
    return {
      ok: damage === null && fault === undefined && indexFault === undefined,
      lines: audit.lines,
      segments: this.#segments.length,
      firstSegment: this.#segments[0] ?? 0,
      workspaces: workspacesOf(audit),
      openHolds: audit.openHolds.size,
      lateProgress: audit.lateProgress,
      torn: this.#torn,
      lostRecords: this.#index?.lostRecords ?? 0,
      damage,
      problems: audit.faults.map(({ place, reason }) => `record ${place.seq}: ${reason}`),
      indexFaults,
      // Every record that was read comes before the place where reading stopped.
      first: fault === undefined ? (stopped ?? besides) : await this.#placed(fault),
    };
  }

  async #placed({ place, reason }: AuditFault): Promise<Damage> {
    return { file: await this.#fileOf(place.segment), offset: place.offset, record: place.seq, reason };
  }

  /** A segment has another name once it is compressed. */
  async #fileOf(segment: number): Promise<string> {
    try {
      const file = await openSegmentFile(this.#directory, segment);
      await file.close();
      return file.path;
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
      return segmentPath(this.#directory, segment);
    }
  }
}

/** Throws `DamagedStateError` where what was charged is not what the usage adds up to. */
function auditBaseOf({ ledger, rollup, file }: Carry): AuditBase {
  const requests = new Map<string, number>();
  const costs = new Map<string, bigint>();
  rollup.workspace.forEach((name, cell) => {
    const workspaceId = rollup.names[name - 1] ?? '';
    requests.set(workspaceId, (requests.get(workspaceId) ?? 0) + (rollup.requests[cell] ?? 0));
    costs.set(workspaceId, (costs.get(workspaceId) ?? 0n) + BigInt(rollup.cost[cell] ?? 0));
  });
  for (const { id, chargedNano } of ledger.workspaces) {
    if (BigInt(chargedNano) === (costs.get(id) ?? 0n)) continue;
    throw new DamagedStateError(
      file,
      `charges ${id} ${chargedNano} nano-dollars, but its usage is ${costs.get(id) ?? 0n}`,
    );
  }
  return { ledger, requests };
}

function damageOfIndex({ file, record, reason }: IndexFault): Damage {
  return { file, offset: null, record, reason };
}

function damageOf(error: DamagedStateError): Damage {
  const inside = error instanceof DamagedJournalError ? error : null;
  // The message names the place as well, which the fields say already.
  const reason = error.message.replace(/^.*?: (the journal is damaged at byte \d+, record \d+: )?/, '');
  return { file: error.file, offset: inside?.offset ?? null, record: inside?.seq ?? null, reason };
}

function workspacesOf(audit: JournalAudit): readonly VerifiedWorkspace[] {
  return Array.from(audit.workspaces, ([workspaceId, { granted, charged, held, requests }]) => ({
    workspaceId,
    grantedNano: Number(granted),
    chargedNano: Number(charged),
    heldNano: Number(held),
    entries: requests,
  }));
}

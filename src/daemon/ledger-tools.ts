// What `svc ledger` reads and answers, from the files of a data directory alone: nothing in it is changed or locked.

import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RecordPlace } from '../store/journal-format.ts';
import { type ReconcileGroupBy, reconcileJournal } from '../store/reconcile-journal.ts';
import { listSegments } from '../store/segment-name.ts';
import { DamagedStateError, errorCode, misplacedError } from '../store/store-errors.ts';
import { verifyJournal } from '../store/verify-journal.ts';
import { isDaemonRunning } from './daemon-running.ts';
import {
  type LedgerReconciliation,
  type LedgerVerification,
  reconciliationOf,
  verificationOf,
} from './ledger-views.ts';

/** Told now and then how many records were read, and which share of the whole that is, 0 to 1. */
export type OnLedgerProgress = (records: number, share: number) => void;
export type ReconcileQuestion = {
  readonly by: ReconcileGroupBy;
  readonly fromMs?: number;
  readonly toMs?: number;
};

/** There is nothing to read (`missing`), it may not be read (`denied`), or it is damaged. */
export class LedgerReadError extends Error {
  override readonly name = 'LedgerReadError';
  readonly kind: 'missing' | 'denied' | 'damaged';

  constructor(kind: LedgerReadError['kind'], message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}

/** Throws `LedgerReadError`, never for damage of the journal, which is a result. */
export async function verifyLedger(home: string, onProgress: OnLedgerProgress): Promise<LedgerVerification> {
  return await readable(home, async (journal) => {
    const running = await isDaemonRunning(home);
    const onRecord = await counter(journal, onProgress);
    const report = await verifyJournal(journal, { index: join(home, 'index'), onRecord });
    return verificationOf(home, running, report, await workspaceNames(home));
  });
}

/** Throws `LedgerReadError`. */
export async function reconcileLedger(
  home: string,
  question: ReconcileQuestion,
  onProgress: OnLedgerProgress,
): Promise<LedgerReconciliation> {
  return await readable(home, async (journal) => {
    const { by, ...range } = question;
    const onRecord = await counter(journal, onProgress);
    return reconciliationOf(home, by, await reconcileJournal(journal, { groupBy: by, ...range, onRecord }));
  });
}

async function readable<T>(home: string, read: (journal: string) => Promise<T>): Promise<T> {
  const journal = join(home, 'journal');
  try {
    await checkIsThere(home, journal);
    return await read(journal);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'EACCES' || code === 'EPERM') {
      throw new LedgerReadError('denied', `${home} cannot be read: ${messageOf(error)}`, error);
    }
    const known = misplacedError(error);
    if (known instanceof DamagedStateError) throw new LedgerReadError('damaged', known.message, error);
    throw error;
  }
}

async function checkIsThere(home: string, journal: string): Promise<void> {
  if (!(await exists(home))) throw new LedgerReadError('missing', `there is no data directory ${home}`);
  let segments = 1;
  try {
    segments = (await listSegments(journal)).length;
  } catch (error) {
    // A gap between the segments is for the reading to find.
    if (!(error instanceof DamagedStateError)) throw error;
  }
  if (segments > 0) return;
  if (await exists(join(home, 'initialized'))) throw new DamagedStateError(journal, 'the journal is missing');
  throw new LedgerReadError('missing', `there is no journal in ${home}`);
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

/** Often enough for a line a second, and too seldom to cost anything. */
const RECORDS_PER_PROGRESS = 4_096;
/** Where segments usually end; only the share that is shown depends on it. */
const SEGMENT_BYTES_USUAL = 64 * 1_048_576;

async function counter(journal: string, onProgress: OnLedgerProgress): Promise<(place: RecordPlace) => void> {
  let segments: readonly number[] = [];
  try {
    segments = await listSegments(journal);
  } catch (error) {
    if (!(error instanceof DamagedStateError)) throw error;
  }
  const [first = 1] = segments;
  let records = 0;
  return ({ segment, offset }) => {
    records += 1;
    if (records % RECORDS_PER_PROGRESS !== 0) return;
    const read = segment - first + Math.min(1, offset / SEGMENT_BYTES_USUAL);
    onProgress(records, Math.min(1, read / Math.max(1, segments.length)));
  };
}

/** They only make the result easier to read, so whatever is wrong with them is for others to tell. */
async function workspaceNames(home: string): Promise<ReadonlyMap<string, string>> {
  try {
    const content: unknown = JSON.parse(await readFile(join(home, 'documents', 'workspaces.json'), 'utf8'));
    const { items } = content as { items: readonly { id: unknown; name: unknown }[] };
    return new Map(items.map(({ id, name }) => [String(id), String(name)]));
  } catch {
    return new Map();
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

// Looks after the segments that are not written any more, beside the running daemon: compresses them, and deletes the old.

import { compressSegment } from './compress-segment.ts';
import { type ExpireOptions, expireBefore, finishExpiry } from './expire-segments.ts';
import { firstSegmentToKeep } from './expiry-plan.ts';
import { removeTemporaries } from './replace-file.ts';
import { listJournalFiles } from './segment-name.ts';

export type JournalArchiveOptions = Omit<ExpireOptions, 'signal'> & {
  /** Days that entries are kept at least; 0 keeps them for ever. */
  readonly keepDays: number;
  /** The segment's file is another one now: who has the old one open keeps its disk space in use. */
  readonly onReplaced: (segment: number) => void;
  /** Sentences for the operator. */
  readonly onNotice: (notice: string) => void;
  /** How often is looked whether something can be done that could not be done before. */
  readonly intervalMs?: number;
};

const INTERVAL_MS = 3_600_000;

/**
 * Does one thing at a time. Nothing here is needed for the journal to work: an error is a notice, the files stay as they
 * are, and it is tried again later.
 */
export class JournalArchive {
  readonly #options: JournalArchiveOptions;
  readonly #aborting = new AbortController();
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> | null = null;
  #again = false;
  #clean = false;
  #lastReasons = '';

  constructor(options: JournalArchiveOptions) {
    this.#options = options;
  }

  /** To be called once, when records can be appended. */
  start(): void {
    this.#timer = setInterval(() => this.#wake(), this.#options.intervalMs ?? INTERVAL_MS).unref();
    this.#wake();
  }

  /** `segment` has been begun: the one before it will not be written any more. */
  onSegment(_segment: number): void {
    if (this.#timer !== null) this.#wake();
  }

  /** Resolves when there is nothing left to do for now. */
  async idle(): Promise<void> {
    while (this.#running !== null) await this.#running;
  }

  /** Breaks off what is under way and resolves when nothing is touched any more; to be called before the journal closes. */
  async close(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#aborting.abort();
    await this.idle();
  }

  #wake(): void {
    this.#again = true;
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
    });
  }

  async #run(): Promise<void> {
    while (this.#again && !this.#aborting.signal.aborted) {
      this.#again = false;
      // One failing does not keep the other from being done.
      const problems = [await problemOf(this.#expire()), await problemOf(this.#compress())];
      this.#report(problems.filter((problem) => problem !== null));
    }
  }

  async #expire(): Promise<void> {
    const { disk, directory, keepDays, now } = this.#options;
    const options = { ...this.#options, signal: this.#aborting.signal };
    if (!this.#clean) await removeTemporaries(disk, directory);
    this.#clean = true;
    await finishExpiry(options);
    const { segments } = await listJournalFiles(directory);
    const first = await firstSegmentToKeep({ directory, segments, keepDays, nowMs: now() });
    if (first > (segments[0] ?? 1)) await expireBefore(first, options);
  }

  async #compress(): Promise<void> {
    const { disk, directory } = this.#options;
    const { segments, plain } = await listJournalFiles(directory);
    for (const segment of plain) {
      if (segment === segments.at(-1)) continue;
      await compressSegment(disk, directory, segment, this.#aborting.signal);
      this.#options.onReplaced(segment);
    }
  }

  /** Says the same once, not every hour. */
  #report(problems: readonly string[]): void {
    const reasons = [...new Set(problems)].join('; ');
    if (reasons !== '' && reasons !== this.#lastReasons && !this.#aborting.signal.aborted) {
      this.#options.onNotice(`old journal segments stay as they are for now: ${reasons}`);
    }
    this.#lastReasons = reasons;
  }
}

async function problemOf(work: Promise<void>): Promise<string | null> {
  try {
    await work;
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

// The few segment files that are kept open for reading, those used last.

import { openSegmentFile, type SegmentFile } from './segment-file.ts';

/** Entries of one kind may be scattered over many days; a file open costs a descriptor and some kilobytes. */
const OPEN_FILES_MAX = 128;

type OpenSegment = { readonly file: Promise<SegmentFile>; users: number; kept: boolean };

export class OpenSegments {
  readonly #directory: string;
  readonly #openFilesMax: number;
  /** The one used last is the last. */
  readonly #open = new Map<number, OpenSegment>();

  constructor(directory: string, openFilesMax: number = OPEN_FILES_MAX) {
    this.#directory = directory;
    this.#openFilesMax = openFilesMax;
  }

  /** The file stays open at least until `work` is done. Throws what opening throws, and what `work` throws. */
  async use(segment: number, work: (file: SegmentFile) => Promise<void>): Promise<void> {
    const open = this.#take(segment);
    open.users += 1;
    try {
      await work(await open.file);
    } catch (error) {
      // What could not be opened, or not be read, is opened anew the next time.
      this.#forget(segment, open);
      throw error;
    } finally {
      open.users -= 1;
      await this.#closeUnused(open);
    }
  }

  /** Closed as soon as nobody uses it; whoever asks from now on opens what is there then. */
  async release(segment: number): Promise<void> {
    const open = this.#open.get(segment);
    if (open === undefined) return;
    this.#forget(segment, open);
    await this.#closeUnused(open);
  }

  async releaseBefore(first: number): Promise<void> {
    for (const segment of [...this.#open.keys()]) if (segment < first) await this.release(segment);
  }

  /** Nobody may use a file any more. */
  async close(): Promise<void> {
    for (const segment of [...this.#open.keys()]) await this.release(segment);
  }

  #take(segment: number): OpenSegment {
    const open = this.#open.get(segment) ?? { file: openSegmentFile(this.#directory, segment), users: 0, kept: true };
    this.#open.delete(segment);
    this.#open.set(segment, open);
    return open;
  }

  #forget(segment: number, open: OpenSegment): void {
    open.kept = false;
    if (this.#open.get(segment) === open) this.#open.delete(segment);
  }

  /** Closes this one where it is not kept any more, and the oldest ones beyond the most that are kept. */
  async #closeUnused(used: OpenSegment): Promise<void> {
    const unneeded = used.kept || used.users > 0 ? [] : [used];
    for (const [segment, open] of this.#open) {
      if (this.#open.size <= this.#openFilesMax) break;
      if (open.users > 0) continue;
      this.#forget(segment, open);
      unneeded.push(open);
    }
    for (const { file } of unneeded) {
      // Where opening failed, who asked for the file has been told and there is nothing to close.
      const opened = await file.catch(() => null);
      await opened?.close();
    }
  }
}

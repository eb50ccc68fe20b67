// One segment of the journal for reading, compressed or not. Offsets and lengths are of its text.

import { constants, type FileHandle, open } from 'node:fs/promises';
import { openCompressedSegment } from './compressed-segment.ts';
import { readUpTo } from './read-up-to.ts';
import { compressedSegmentPath, segmentPath } from './segment-name.ts';
import { errorCode } from './store-errors.ts';

export interface SegmentFile {
  readonly path: string;
  /** A compressed one never grows, and another segment comes after it. */
  readonly compressed: boolean;
  /** Bytes of text, as it is now: the last segment may grow. */
  size(): Promise<number>;
  /**
   * At most `length` bytes from `offset` on; fewer only where the text ends. Throws `DamagedSegmentError` where a compressed
   * file does not give them.
   */
  read(offset: number, length: number): Promise<Buffer>;
  close(): Promise<void>;
}

/** Throws what the disk throws: `ENOENT` where the segment is not there (any more). */
export async function openSegmentFile(directory: string, segment: number): Promise<SegmentFile> {
  const path = segmentPath(directory, segment);
  const plain = await openIfThere(path);
  if (plain !== null) return new PlainSegment(path, plain);
  // A plain file goes only once its compressed form is there, so that this order always finds one of them.
  return openCompressedFile(compressedSegmentPath(directory, segment));
}

/** A compressed segment under any name. */
export async function openCompressedFile(path: string): Promise<SegmentFile> {
  const handle = await openForReading(path);
  try {
    return await openCompressedSegment(path, handle);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

class PlainSegment implements SegmentFile {
  readonly path: string;
  readonly compressed = false;
  readonly #handle: FileHandle;

  constructor(path: string, handle: FileHandle) {
    this.path = path;
    this.#handle = handle;
  }

  async size(): Promise<number> {
    return (await this.#handle.stat()).size;
  }

  read(offset: number, length: number): Promise<Buffer> {
    return readUpTo(this.#handle, offset, length);
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

function openForReading(path: string): Promise<FileHandle> {
  return open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
}

async function openIfThere(path: string): Promise<FileHandle | null> {
  try {
    return await openForReading(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

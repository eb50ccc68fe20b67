// One segment of the journal for reading. Offsets and lengths are of its text.

import { constants, type FileHandle, open } from 'node:fs/promises';
import { segmentPath } from './segment-name.ts';

export interface SegmentFile {
  readonly path: string;
  /** Bytes of text, as it is now: the last segment may grow. */
  size(): Promise<number>;
  /** At most `length` bytes from `offset` on; fewer only where the text ends. */
  read(offset: number, length: number): Promise<Buffer>;
  close(): Promise<void>;
}

export async function openSegmentFile(directory: string, segment: number): Promise<SegmentFile> {
  const path = segmentPath(directory, segment);
  return new PlainSegment(path, await open(path, constants.O_RDONLY | constants.O_NOFOLLOW));
}

class PlainSegment implements SegmentFile {
  readonly path: string;
  readonly #handle: FileHandle;

  constructor(path: string, handle: FileHandle) {
    this.path = path;
    this.#handle = handle;
  }

  async size(): Promise<number> {
    return (await this.#handle.stat()).size;
  }

  async read(offset: number, length: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(length);
    let filled = 0;
    while (filled < length) {
      const { bytesRead } = await this.#handle.read(bytes, filled, length - filled, offset + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return bytes.subarray(0, filled);
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

// Checksums of whole segment files, so that a start can tell in a glance that none of them has changed.

import { constants, type FileHandle, open } from 'node:fs/promises';
import { basename } from 'node:path';
import { crc32 } from 'node:zlib';
import { openSegmentFile } from './segment-file.ts';
import { listSegments } from './segment-name.ts';
import { errorCode } from './store-errors.ts';

/** `file`, `bytes` and `crc` (CRC-32) are of the file as it lies there, compressed or not. */
export type SegmentSum = {
  readonly segment: number;
  readonly file: string;
  readonly bytes: number;
  readonly crc: number;
  /** CRC-32 of its text, to know it again once it is compressed; null where it was met as compressed, which is for good. */
  readonly textCrc: number | null;
};

/** Read and summed at a time: a few milliseconds. */
const CHUNK_BYTES = 2_097_152;

/** Sums of the segments before the running one; each file is read once in the life of this object. */
export class SegmentSums {
  readonly #directory: string;
  readonly #known = new Map<number, SegmentSum>();

  constructor(directory: string, known: readonly SegmentSum[] = []) {
    this.#directory = directory;
    for (const sum of known) this.#known.set(sum.segment, sum);
  }

  /** Of all segments before `running` that are there now. */
  async before(running: number): Promise<readonly SegmentSum[]> {
    const sums: SegmentSum[] = [];
    for (const segment of await listSegments(this.#directory)) {
      if (segment >= running) break;
      // Between two looks a file may have been compressed.
      const sum = (await unlessGone(this.#sumOf(segment))) ?? (await this.#sumOf(segment));
      this.#known.set(segment, sum);
      sums.push(sum);
    }
    return sums;
  }

  async #sumOf(segment: number): Promise<SegmentSum> {
    const file = await openSegmentFile(this.#directory, segment);
    try {
      const known = this.#known.get(segment);
      const name = basename(file.path);
      if (known?.file === name) return known;
      const whole = await sumFile(file.path);
      const textCrc = known?.textCrc ?? (file.compressed ? null : whole.crc);
      return { segment, file: name, ...whole, textCrc };
    } finally {
      await file.close();
    }
  }
}

async function unlessGone<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

/** Why the segment is not the one the sum was taken of; null when it is. One that was compressed meanwhile is. */
export async function segmentMismatch(directory: string, sum: SegmentSum): Promise<string | null> {
  const file = await openSegmentFile(directory, sum.segment);
  try {
    if (basename(file.path) !== sum.file) {
      return (await textCrcOf(file, await file.size())) === sum.textCrc ? null : `${file.path} has another content`;
    }
    const { bytes, crc } = await sumFile(file.path);
    return bytes === sum.bytes && crc === sum.crc ? null : `${file.path} has changed`;
  } finally {
    await file.close();
  }
}

type TextFile = { read(offset: number, length: number): Promise<Buffer> };

/** CRC-32 of the first `length` bytes of text; of fewer where it is shorter. */
export async function textCrcOf(file: TextFile, length: number): Promise<number> {
  let crc = 0;
  for (let offset = 0; offset < length; ) {
    const bytes = await file.read(offset, Math.min(CHUNK_BYTES, length - offset));
    if (bytes.length === 0) break;
    crc = crc32(bytes, crc);
    offset += bytes.length;
  }
  return crc;
}

async function sumFile(path: string): Promise<{ readonly bytes: number; readonly crc: number }> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    return await sumHandle(handle);
  } finally {
    await handle.close();
  }
}

async function sumHandle(handle: FileHandle): Promise<{ readonly bytes: number; readonly crc: number }> {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let bytes = 0;
  let crc = 0;
  for (;;) {
    const { bytesRead } = await handle.read(chunk, 0, CHUNK_BYTES, bytes);
    if (bytesRead === 0) return { bytes, crc };
    crc = crc32(chunk.subarray(0, bytesRead), crc);
    bytes += bytesRead;
  }
}

// A compressed segment for reading: finds its blocks once, inflates those that a read touches and keeps the latest few.

import type { FileHandle } from 'node:fs/promises';
import {
  BLOCK_TEXT_BYTES,
  decodeIndexMember,
  decodeMember,
  END_MEMBER,
  INDEX_FROM_END_BYTES,
  readMemberSize,
} from './block-gzip.ts';
import { readUpTo } from './read-up-to.ts';
import type { SegmentFile } from './segment-file.ts';
import { DamagedStateError } from './store-errors.ts';

/** The text of a compressed segment cannot be had from byte `textOffset` on, or for the block there. */
export class DamagedSegmentError extends DamagedStateError {
  override readonly name = 'DamagedSegmentError';
  readonly textOffset: number;
  readonly reason: string;

  constructor(file: string, textOffset: number, reason: string) {
    super(file, `its text is damaged from byte ${textOffset} on: ${reason}`);
    this.textOffset = textOffset;
    this.reason = reason;
  }
}

/** Enough for entries that lie near each other; 16 KiB each, of many open files. */
const BLOCKS_KEPT = 4;
const PIECE_BYTES = 1_048_576;

/** Where the blocks begin in the file; the last number is where the last one ends. */
type BlockTable = {
  readonly starts: readonly number[];
  readonly textBytes: number;
  /** Why there is no more text than this, other than that the file is whole. */
  readonly damage: string | null;
};

/** Damage shows when it is read: `read` throws `DamagedSegmentError`, and only for text that is damaged. */
export async function openCompressedSegment(path: string, handle: FileHandle): Promise<SegmentFile> {
  return new CompressedSegment(path, handle, await findBlocks(handle));
}

class CompressedSegment implements SegmentFile {
  readonly path: string;
  readonly compressed = true;
  readonly #handle: FileHandle;
  readonly #table: BlockTable;
  /** Oldest use first. */
  readonly #kept = new Map<number, Buffer>();

  constructor(path: string, handle: FileHandle, table: BlockTable) {
    this.path = path;
    this.#handle = handle;
    this.#table = table;
  }

  async size(): Promise<number> {
    return this.#table.textBytes;
  }

  async read(offset: number, length: number): Promise<Buffer> {
    const { textBytes, damage } = this.#table;
    const end = Math.min(offset + length, textBytes);
    if (offset + length > textBytes && damage !== null) throw new DamagedSegmentError(this.path, textBytes, damage);
    if (length <= 0 || end <= offset) return Buffer.alloc(0);
    const first = Math.floor(offset / BLOCK_TEXT_BYTES);
    const last = Math.floor((end - 1) / BLOCK_TEXT_BYTES);
    const blocks = await this.#blocks(first, last);
    const skipped = first * BLOCK_TEXT_BYTES;
    const [only] = blocks;
    const text = blocks.length === 1 && only !== undefined ? only : Buffer.concat(blocks);
    return text.subarray(offset - skipped, end - skipped);
  }

  close(): Promise<void> {
    this.#kept.clear();
    return this.#handle.close();
  }

  async #blocks(first: number, last: number): Promise<readonly Buffer[]> {
    const blocks: Buffer[] = [];
    let compressed: Buffer | null = null;
    const base = this.#start(first);
    for (let index = first; index <= last; index += 1) {
      const kept = this.#kept.get(index);
      if (kept === undefined) compressed ??= await readUpTo(this.#handle, base, this.#start(last + 1) - base);
      const text = kept ?? (await this.#inflate(index, compressed ?? Buffer.alloc(0), base));
      this.#keep(index, text);
      blocks.push(text);
    }
    return blocks;
  }

  async #inflate(index: number, compressed: Buffer, base: number): Promise<Buffer> {
    const text = await decodeMember(compressed.subarray(this.#start(index) - base, this.#start(index + 1) - base));
    const textOffset = index * BLOCK_TEXT_BYTES;
    if (typeof text === 'string') throw new DamagedSegmentError(this.path, textOffset, text);
    if (text.length === Math.min(BLOCK_TEXT_BYTES, this.#table.textBytes - textOffset)) return text;
    throw new DamagedSegmentError(this.path, textOffset, 'a block inside has the wrong length');
  }

  #keep(index: number, text: Buffer): void {
    this.#kept.delete(index);
    this.#kept.set(index, text);
    if (this.#kept.size <= BLOCKS_KEPT) return;
    for (const oldest of this.#kept.keys()) {
      this.#kept.delete(oldest);
      return;
    }
  }

  #start(index: number): number {
    return this.#table.starts[index] ?? 0;
  }
}

async function findBlocks(handle: FileHandle): Promise<BlockTable> {
  const fileBytes = (await handle.stat()).size;
  const indexed = await readIndex(handle, fileBytes);
  const { starts, ended } = indexed === null ? await hop(handle, fileBytes) : { starts: indexed, ended: true };
  const blocks = starts.length - 1;
  const damaged = (count: number, reason: string) => ({
    starts: starts.slice(0, count + 1),
    textBytes: count * BLOCK_TEXT_BYTES,
    damage: reason,
  });
  if (!ended) return damaged(blocks, 'the compressed file does not go on as it should');
  if (blocks === 0) return damaged(0, 'the compressed file is empty');
  const trailer = await readUpTo(handle, (starts.at(-1) ?? 0) - 4, 4);
  const lastBytes = trailer.length === 4 ? trailer.readUInt32LE(0) : 0;
  if (lastBytes === 0 || lastBytes > BLOCK_TEXT_BYTES) return damaged(blocks - 1, 'the last block has a wrong length');
  return { starts, textBytes: (blocks - 1) * BLOCK_TEXT_BYTES + lastBytes, damage: null };
}

/** The block starts as the file lists them itself; null where it has no list that is right in every byte. */
async function readIndex(handle: FileHandle, fileBytes: number): Promise<readonly number[] | null> {
  if (fileBytes < INDEX_FROM_END_BYTES) return null;
  const tail = await readUpTo(handle, fileBytes - INDEX_FROM_END_BYTES, INDEX_FROM_END_BYTES);
  const end = Buffer.from(END_MEMBER, 'hex');
  if (tail.length < INDEX_FROM_END_BYTES || !tail.subarray(-end.length).equals(end)) return null;
  const size = tail.readUInt32LE(0);
  const at = fileBytes - end.length - size;
  if (at < 0 || size > PIECE_BYTES) return null;
  const starts = decodeIndexMember(await readUpTo(handle, at, size));
  return starts?.at(-1) === at ? starts : null;
}

/** Goes from header to header through big pieces of the file; `ended` when the last member stands where the file ends. */
async function hop(
  handle: FileHandle,
  fileBytes: number,
): Promise<{ readonly starts: readonly number[]; readonly ended: boolean }> {
  const starts = [0];
  const end = Buffer.from(END_MEMBER, 'hex');
  let piece: Buffer = Buffer.alloc(0);
  let pieceAt = 0;
  for (let at = 0; at < fileBytes; ) {
    if (at + end.length > pieceAt + piece.length) {
      pieceAt = at;
      piece = await readUpTo(handle, at, Math.min(PIECE_BYTES, fileBytes - at));
    }
    if (at + end.length === fileBytes && piece.subarray(at - pieceAt).equals(end)) return { starts, ended: true };
    const size = readMemberSize(piece, at - pieceAt);
    if (size === null || at + size > fileBytes) break;
    at += size;
    starts.push(at);
  }
  return { starts, ended: false };
}

// Puts a compressed segment in the place of a plain one. At no moment is there less than one whole form of it on disk.

import { crc32 } from 'node:zlib';
import { BLOCK_TEXT_BYTES, END_MEMBER, encodeIndexMember, encodeMember } from './block-gzip.ts';
import type { Disk, DiskFile } from './disk.ts';
import { removeIfThere, temporaryPath } from './replace-file.ts';
import { openCompressedFile, openSegmentFile, type SegmentFile } from './segment-file.ts';
import { compressedSegmentPath, segmentPath } from './segment-name.ts';
import { writeWhole } from './write-whole.ts';

type TextSum = { readonly bytes: number; readonly crc: number };

/**
 * Takes one block at a time, on another thread. Nothing may write the segment any more. When it throws, what the disk throws
 * or the signal's reason, the plain file is still there; a leftover temporary is removed as far as that is possible.
 */
export async function compressSegment(
  disk: Disk,
  directory: string,
  segment: number,
  signal: AbortSignal,
): Promise<void> {
  const path = compressedSegmentPath(directory, segment);
  const temporary = temporaryPath(path);
  try {
    const written = await writeCompressed(disk, directory, segment, temporary, signal);
    await checkText(temporary, written, signal);
    await disk.rename(temporary, path);
  } catch (error) {
    // The first failure is the one to report; the next start removes what is left.
    await removeIfThere(disk, temporary).catch(() => undefined);
    throw error;
  }
  await disk.syncDirectory(directory);
  await disk.remove(segmentPath(directory, segment));
  await disk.syncDirectory(directory);
}

async function writeCompressed(
  disk: Disk,
  directory: string,
  segment: number,
  temporary: string,
  signal: AbortSignal,
): Promise<TextSum> {
  const text = await openSegmentFile(directory, segment);
  try {
    const file = await disk.open(temporary, 'create');
    try {
      const sum = await writeMembers(file, text, signal);
      await file.datasync();
      return sum;
    } finally {
      await file.close();
    }
  } finally {
    await text.close();
  }
}

async function writeMembers(file: DiskFile, text: SegmentFile, signal: AbortSignal): Promise<TextSum> {
  const starts = [0];
  let at = 0;
  let crc = 0;
  const write = async (member: Buffer): Promise<void> => {
    await writeWhole(file, member, at);
    at += member.length;
  };
  const bytes = await eachBlock(text, signal, async (block) => {
    crc = crc32(block, crc);
    await write(await encodeMember(block));
    starts.push(at);
  });
  const index = encodeIndexMember(starts);
  if (index !== null) await write(index);
  await write(Buffer.from(END_MEMBER, 'hex'));
  return { bytes, crc };
}

async function checkText(path: string, expected: TextSum, signal: AbortSignal): Promise<void> {
  const file = await openCompressedFile(path);
  try {
    let crc = 0;
    const bytes = await eachBlock(file, signal, async (block) => {
      crc = crc32(block, crc);
    });
    if (bytes !== expected.bytes || crc !== expected.crc)
      throw new Error(`${path} does not read back as it was written`);
  } finally {
    await file.close();
  }
}

/** Answers how many bytes of text there were. */
async function eachBlock(
  file: SegmentFile,
  signal: AbortSignal,
  take: (block: Buffer) => Promise<void>,
): Promise<number> {
  let offset = 0;
  for (;;) {
    signal.throwIfAborted();
    const block = await file.read(offset, Math.min(BLOCK_TEXT_BYTES, (await file.size()) - offset));
    if (block.length === 0) return offset;
    await take(block);
    offset += block.length;
  }
}

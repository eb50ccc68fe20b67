// Text in blocks, each a gzip member of its own: any gzip program reads the file, and one block can be read alone.
//
// The layout is BGZF's: each member says its size in the extra field "BC", so members are found by hopping from header to
// header, and an empty member ends the file. Another empty member before it lists where the others begin. A second extra field, "SV", has the CRC-32 of the compressed bytes: gzip's own
// covers the text, which leaves the padding bits at the end of a deflate stream unwatched.

import { promisify } from 'node:util';
import { crc32, deflateRaw, inflateRaw } from 'node:zlib';

/**
 * Text per member; the last may have less. A page of entries that lie far apart inflates a block for each, so blocks are small,
 * at some cost in size; a member must stay below the 64 KiB that a size field can say.
 */
export const BLOCK_TEXT_BYTES = 0x4000;
/** BGZF's last member: no text. Without it a file was cut off. */
export const END_MEMBER = '1f8b08040000000000ff0600424302001b0003000000000000000000';

/** All that is the same in each header; the size and the checksum follow their field's four bytes. */
const BEFORE_SIZE = Buffer.from('1f8b08040000000000ff0e0042430200', 'hex');
const BEFORE_CHECKSUM = Buffer.from('53560400', 'hex');
const MEMBER_HEADER_BYTES = 26;
/** CRC-32 and length of the text, at the end of each member. */
const MEMBER_TRAILER_BYTES = 8;
const SIZE_AT = BEFORE_SIZE.length;
const CHECKSUM_AT = MEMBER_HEADER_BYTES - 4;
const LEVEL = 6;

/** One member. `text` has 1 to `BLOCK_TEXT_BYTES` bytes. Compresses on another thread. */
export async function encodeMember(text: Buffer): Promise<Buffer> {
  const deflated = await promisify<Buffer, object, Buffer>(deflateRaw)(text, { level: LEVEL });
  const size = MEMBER_HEADER_BYTES + deflated.length + MEMBER_TRAILER_BYTES;
  const member = Buffer.alloc(size);
  BEFORE_SIZE.copy(member);
  member.writeUInt16LE(size - 1, SIZE_AT);
  BEFORE_CHECKSUM.copy(member, SIZE_AT + 2);
  member.writeUInt32LE(crc32(deflated), CHECKSUM_AT);
  deflated.copy(member, MEMBER_HEADER_BYTES);
  member.writeUInt32LE(crc32(text), size - MEMBER_TRAILER_BYTES);
  member.writeUInt32LE(text.length, size - 4);
  return member;
}

/** Bytes of the member that begins at `at`, its header and trailer included; null where no header of ours stands. */
export function readMemberSize(bytes: Buffer, at: number): number | null {
  if (at + MEMBER_HEADER_BYTES > bytes.length) return null;
  if (!holds(bytes, at, BEFORE_SIZE) || !holds(bytes, at + SIZE_AT + 2, BEFORE_CHECKSUM)) return null;
  const size = bytes.readUInt16LE(at + SIZE_AT) + 1;
  return size > MEMBER_HEADER_BYTES + MEMBER_TRAILER_BYTES ? size : null;
}

/** The text of one whole member, or why it has none. Any changed bit is noticed. Inflates on another thread. */
export async function decodeMember(member: Buffer): Promise<Buffer | string> {
  if (readMemberSize(member, 0) !== member.length) return 'the header of the compressed block is wrong';
  const trailer = member.length - MEMBER_TRAILER_BYTES;
  const deflated = member.subarray(MEMBER_HEADER_BYTES, trailer);
  if (crc32(deflated) !== member.readUInt32LE(CHECKSUM_AT)) return 'the checksum of the compressed block is wrong';
  const text = await inflate(deflated);
  if (text === null || text.length !== member.readUInt32LE(trailer + 4)) return 'the compressed block is damaged';
  return crc32(text) === member.readUInt32LE(trailer) ? text : 'the checksum of the block is wrong';
}

async function inflate(deflated: Buffer): Promise<Buffer | null> {
  try {
    // One round trip to the other thread instead of one for each 16 KiB.
    const options = { maxOutputLength: BLOCK_TEXT_BYTES, chunkSize: BLOCK_TEXT_BYTES + 1 };
    return await promisify<Buffer, object, Buffer>(inflateRaw)(deflated, options);
  } catch {
    // Not deflate, or more text than a block may have: the caller says so.
    return null;
  }
}

function holds(bytes: Buffer, at: number, expected: Buffer): boolean {
  return bytes.compare(expected, 0, expected.length, at, at + expected.length) === 0;
}

/** Before the list of starts: an empty member's header with the fields "BC" (its size) and "IX" (the list). */
const INDEX_HEADER = Buffer.from('1f8b08040000000000ff', 'hex');
const INDEX_STARTS_AT = INDEX_HEADER.length + 2 + 6 + 4;
/** After it: CRC-32 of the list, the size again to be found from behind, no text, and the trailer of no text. */
const INDEX_TAIL_BYTES = 4 + 4 + 2 + MEMBER_TRAILER_BYTES;
/** More starts than the member's own size field could cover. */
const INDEX_STARTS_MAX = 16_000;
/** From the end of the file back to the size of the index member. */
export const INDEX_FROM_END_BYTES = Buffer.from(END_MEMBER, 'hex').length + MEMBER_TRAILER_BYTES + 2 + 4;

/** `starts` as in a block table, the end of the last block included. Null for more than fit; the file is then read by hopping. */
export function encodeIndexMember(starts: readonly number[]): Buffer | null {
  if (starts.length > INDEX_STARTS_MAX) return null;
  const list = Buffer.alloc(starts.length * 4);
  for (const [index, start] of starts.entries()) list.writeUInt32LE(start, index * 4);
  const size = INDEX_STARTS_AT + list.length + INDEX_TAIL_BYTES;
  const member = Buffer.alloc(size);
  INDEX_HEADER.copy(member);
  let at = INDEX_HEADER.length;
  at = member.writeUInt16LE(6 + 4 + list.length + 8, at);
  at = member.writeUInt32LE(0x0002_4342, at);
  at = member.writeUInt16LE(size - 1, at);
  at = member.writeUInt16LE(INDEX_FIELD, at);
  at = member.writeUInt16LE(list.length + 8, at);
  at += list.copy(member, at);
  at = member.writeUInt32LE(crc32(member.subarray(0, at)), at);
  at = member.writeUInt32LE(size, at);
  member.writeUInt16LE(EMPTY_DEFLATE, at);
  return member;
}

const INDEX_FIELD = 0x5849;
const EMPTY_DEFLATE = 0x0003;

/** The starts in a whole index member; null where the bytes are none, or not one as it was written. */
export function decodeIndexMember(member: Buffer): readonly number[] | null {
  const count = (member.length - INDEX_STARTS_AT - INDEX_TAIL_BYTES) / 4;
  if (!Number.isInteger(count) || count < 1) return null;
  const starts = Array.from({ length: count }, (_, index) => member.readUInt32LE(INDEX_STARTS_AT + index * 4));
  return encodeIndexMember(starts)?.equals(member) === true ? starts : null;
}

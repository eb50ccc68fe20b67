// CRC-32 (IEEE 802.3) of ASCII text, four bits at a time.

/** The polynomial's remainders for the 16 nibbles: small enough to write down, so nothing is computed at import. */
const NIBBLES = Int32Array.of(
  0x00000000,
  0x1db71064,
  0x3b6e20c8,
  0x26d930ac,
  0x76dc4190,
  0x6b6b51f4,
  0x4db26158,
  0x5005713c,
  0xedb88320,
  0xf00f9344,
  0xd6d6a3e8,
  0xcb61b38c,
  0x9b64c2b0,
  0x86d3d2d4,
  0xa00ae278,
  0xbdbdf21c,
);

/** Checksum of the first `length` characters, as an unsigned 32-bit number. */
export function crc32(text: string, length: number = text.length): number {
  let crc = 0xffffffff;
  for (let i = 0; i < length; i += 1) {
    crc ^= text.charCodeAt(i);
    crc = (NIBBLES[crc & 15] ?? 0) ^ (crc >>> 4);
    crc = (NIBBLES[crc & 15] ?? 0) ^ (crc >>> 4);
  }
  return (crc ^ 0xffffffff) >>> 0;
}

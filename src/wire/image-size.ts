// How many pixels an image has, from the first bytes of its file: PNG, GIF, WebP, JPEG.

export type ImageSize = { readonly width: number; readonly height: number };

/** A JPEG's size stands behind its previews and profiles, which can be long. */
const HEAD_BASE64_MAX = 512 * 1024;

/** Undefined where the format is another, or the size is not among the first bytes. Never throws. */
export function imageSize(base64: string): ImageSize | undefined {
  const bytes = Buffer.from(base64.slice(0, HEAD_BASE64_MAX), 'base64');
  if (bytes.length < 10) return undefined;
  const size = pngSize(bytes) ?? gifSize(bytes) ?? webpSize(bytes) ?? jpegSize(bytes);
  return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined;
}

function pngSize(bytes: Buffer): ImageSize | undefined {
  if (bytes.length < 24 || bytes.toString('latin1', 1, 4) !== 'PNG') return undefined;
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

function gifSize(bytes: Buffer): ImageSize | undefined {
  if (bytes.toString('latin1', 0, 4) !== 'GIF8') return undefined;
  return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
}

function webpSize(bytes: Buffer): ImageSize | undefined {
  if (bytes.length < 30 || bytes.toString('latin1', 8, 12) !== 'WEBP') return undefined;
  const kind = bytes.toString('latin1', 12, 16);
  if (kind === 'VP8 ') return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
  if (kind === 'VP8X') return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
  if (kind !== 'VP8L') return undefined;
  const packed = bytes.readUInt32LE(21);
  return { width: (packed & 0x3fff) + 1, height: ((packed >>> 14) & 0x3fff) + 1 };
}

/** Walks the segments up to the frame header, which has the size. */
function jpegSize(bytes: Buffer): ImageSize | undefined {
  if (bytes.readUInt16BE(0) !== 0xffd8) return undefined;
  let at = 2;
  while (at + 9 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] ?? 0;
    if (isFrame(marker)) return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    // A fill byte before a marker stands alone; a segment's length counts itself.
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}

/** Start of frame, in all its codings; among them stand three tables. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

// Looks at the header of an image and says what it is: format, size in pixels, bytes. Never fetches anything.

export type ImageFacts = {
  readonly format: 'PNG' | 'JPEG' | 'GIF' | 'WebP';
  readonly width: number;
  readonly height: number;
};

/** Enough for a JPEG whose size comes after its metadata. */
const MAX_BASE64_READ = 512 * 1024;

/** A sentence part for the answer: `a PNG image of 2 × 3 pixels (79 bytes)`. */
export function describeImage(url: string): string {
  if (!url.startsWith('data:')) return 'an image by its URL, which the sandbox does not fetch';
  const comma = url.indexOf(',');
  if (comma === -1 || !url.slice(0, comma).endsWith(';base64')) return 'an image that is not base64';
  const base64Length = url.length - comma - 1;
  const padding = url.endsWith('==') ? 2 : url.endsWith('=') ? 1 : 0;
  const bytes = Math.max(0, Math.floor((base64Length * 3) / 4) - padding);
  const facts = inspectImage(Buffer.from(url.slice(comma + 1, comma + 1 + MAX_BASE64_READ), 'base64'));
  if (facts === undefined) return `an image of an unknown format (${bytes} bytes)`;
  return `a ${facts.format} image of ${facts.width} × ${facts.height} pixels (${bytes} bytes)`;
}

/** Undefined where the bytes are none of the four formats, or end before the size. */
export function inspectImage(bytes: Buffer): ImageFacts | undefined {
  const size = readPng(bytes) ?? readGif(bytes) ?? readWebp(bytes) ?? readJpeg(bytes);
  return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined;
}

function readPng(bytes: Buffer): ImageFacts | undefined {
  if (bytes.length < 24 || bytes.readUInt32BE(0) !== 0x89504e47) return undefined;
  return { format: 'PNG', width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

function readGif(bytes: Buffer): ImageFacts | undefined {
  if (bytes.length < 10 || bytes.toString('latin1', 0, 4) !== 'GIF8') return undefined;
  return { format: 'GIF', width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
}

function readWebp(bytes: Buffer): ImageFacts | undefined {
  if (bytes.length < 30 || bytes.toString('latin1', 0, 4) !== 'RIFF' || bytes.toString('latin1', 8, 12) !== 'WEBP') {
    return undefined;
  }
  const kind = bytes.toString('latin1', 12, 16);
  if (kind === 'VP8 ') {
    return { format: 'WebP', width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
  }
  if (kind === 'VP8L') {
    const bits = bytes.readUInt32LE(21);
    return { format: 'WebP', width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  if (kind !== 'VP8X') return undefined;
  return { format: 'WebP', width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
}

/** Walks the segments up to the frame header, which holds the size. */
function readJpeg(bytes: Buffer): ImageFacts | undefined {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return undefined;
  let at = 2;
  while (at + 9 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] ?? 0;
    if (marker === 0xff) {
      // Fill bytes may stand before a marker.
      at += 1;
      continue;
    }
    if (isFrameHeader(marker)) {
      return { format: 'JPEG', width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    }
    at += 2 + Math.max(2, bytes.readUInt16BE(at + 2));
  }
  return undefined;
}

/** SOF0 to SOF15, without the tables that share the range. */
function isFrameHeader(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeImage, type ImageFacts, inspectImage } from '../../../src/upstream/sandbox/image-inspector.ts';

describe('an image', () => {
  it.each<[string, Buffer, ImageFacts | undefined]>([
    ['a PNG', png(640, 480), { format: 'PNG', width: 640, height: 480 }],
    ['a GIF', gif(5, 7), { format: 'GIF', width: 5, height: 7 }],
    ['a JPEG', jpeg(300, 200, 0xc0), { format: 'JPEG', width: 300, height: 200 }],
    ['a progressive JPEG', jpeg(300, 200, 0xc2), { format: 'JPEG', width: 300, height: 200 }],
    [
      'a JPEG with fill bytes',
      Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xff]), jpeg(9, 8, 0xc0).subarray(3)]),
      { format: 'JPEG', width: 9, height: 8 },
    ],
    ['a lossy WebP', webp('VP8 ', 11, 12), { format: 'WebP', width: 11, height: 12 }],
    ['a lossless WebP', webp('VP8L', 11, 12), { format: 'WebP', width: 11, height: 12 }],
    ['an extended WebP', webp('VP8X', 11, 12), { format: 'WebP', width: 11, height: 12 }],
    ['a WebP of a new kind', webp('VP9 ', 1, 1), undefined],
    ['a PNG without size', png(0, 5), undefined],
    ['text', Buffer.from('hello, this is no image at all'), undefined],
    ['nothing', Buffer.alloc(0), undefined],
  ])('that is %s', (_, bytes, facts) => {
    expect(inspectImage(bytes)).toEqual(facts);
  });

  it('that is cut anywhere, or made of anything, throws nothing', () => {
    const whole = [png(3, 3), gif(3, 3), jpeg(3, 3, 0xc1), webp('VP8 ', 3, 3), webp('VP8L', 3, 3), webp('VP8X', 3, 3)];
    for (const bytes of whole) for (let end = 0; end <= bytes.length; end++) inspectImage(bytes.subarray(0, end));
    fc.assert(
      fc.property(fc.constantFrom(...whole), fc.uint8Array({ maxLength: 100 }), fc.nat(20), (start, rest, keep) => {
        inspectImage(Buffer.concat([start.subarray(0, keep), rest]));
      }),
    );
  });

  it.each([
    [
      `data:image/png;base64,${png(2, 3).toString('base64')}`,
      `a PNG image of 2 × 3 pixels (${png(2, 3).length} bytes)`,
    ],
    [`data:image/gif;base64,${gif(4, 4).toString('base64')}`, 'a GIF image of 4 × 4 pixels (10 bytes)'],
    [
      `data:image/png;x=y;base64,${Buffer.from('nothing').toString('base64')}`,
      'an image of an unknown format (7 bytes)',
    ],
    ['data:image/svg+xml,<svg/>', 'an image that is not base64'],
    ['data:', 'an image that is not base64'],
    ['https://example.com/a.png', 'an image by its URL, which the sandbox does not fetch'],
  ])('in %.40s is described as %s', (url, says) => {
    expect(describeImage(url)).toBe(says);
  });
});

function png(width: number, height: number): Buffer {
  const bytes = Buffer.alloc(33);
  bytes.write('\x89PNG\r\n\x1a\n', 'latin1');
  bytes.write('IHDR', 12);
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
}

function gif(width: number, height: number): Buffer {
  const bytes = Buffer.from('GIF89a\0\0\0\0');
  bytes.writeUInt16LE(width, 6);
  bytes.writeUInt16LE(height, 8);
  return bytes;
}

/** A comment segment stands before the frame, as metadata does. */
function jpeg(width: number, height: number, marker: number): Buffer {
  const frame = Buffer.from([0xff, marker, 0, 11, 8, 0, 0, 0, 0, 1, 1, 0x11, 0]);
  frame.writeUInt16BE(height, 5);
  frame.writeUInt16BE(width, 7);
  return Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xfe, 0, 6, 1, 2, 3, 4]), frame]);
}

function webp(kind: string, width: number, height: number): Buffer {
  const bytes = Buffer.alloc(32);
  bytes.write('RIFF', 0);
  bytes.write('WEBP', 8);
  bytes.write(kind, 12);
  if (kind === 'VP8 ') {
    bytes.writeUInt16LE(width, 26);
    bytes.writeUInt16LE(height, 28);
  } else if (kind === 'VP8L') {
    bytes.writeUInt32LE((width - 1) | ((height - 1) << 14), 21);
  } else {
    bytes.writeUIntLE(width - 1, 24, 3);
    bytes.writeUIntLE(height - 1, 27, 3);
  }
  return bytes;
}

// Sizes of images from the heads of their files.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { imageSize } from '../../src/wire/image-size.ts';
import { PNG_BASE64 } from '../helpers/samples.ts';

const base64 = (...parts: (string | readonly number[])[]): string =>
  Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))),
  ).toString('base64');
const fill = (length: number): readonly number[] => Array(length).fill(0);
const FRAME = [0, 17, 8, 0x01, 0x2c, 0x02, 0x58, 3];

describe('the size of an image', () => {
  it.each<[string, string, { width: number; height: number }]>([
    ['PNG', PNG_BASE64, { width: 1, height: 1 }],
    ['GIF', base64('GIF89a', [0x58, 0x02, 0x2c, 0x01], fill(10)), { width: 600, height: 300 }],
    ['WebP, lossy', base64('RIFF....WEBPVP8 ', fill(10), [0x58, 0x02, 0x2c, 0x01]), { width: 600, height: 300 }],
    [
      'WebP, lossless',
      base64('RIFF....WEBPVP8L', fill(5), [0x57, 0xc2, 0x4a, 0x00], fill(8)),
      { width: 600, height: 300 },
    ],
    [
      'WebP, extended',
      base64('RIFF....WEBPVP8X', fill(8), [0x57, 0x02, 0x00, 0x2b, 0x01, 0x00]),
      { width: 600, height: 300 },
    ],
    ['JPEG', base64([0xff, 0xd8, 0xff, 0xc0], FRAME), { width: 600, height: 300 }],
    [
      'JPEG, progressive, behind a preview',
      base64([0xff, 0xd8, 0xff, 0xe1, 0, 102], fill(100), [0xff, 0xc4, 0, 4, 1, 1], [0xff, 0xc2], FRAME),
      { width: 600, height: 300 },
    ],
    ['JPEG with fill bytes', base64([0xff, 0xd8, 0xff, 0xff, 0xc0], FRAME), { width: 600, height: 300 }],
  ])('%s is read', (_name, data, size) => {
    expect(imageSize(data)).toEqual(size);
  });

  it.each([
    ['nothing', ''],
    ['text', base64('this is no picture at all')],
    ['a head that is cut', PNG_BASE64.slice(0, 20)],
    ['a JPEG without a frame', base64([0xff, 0xd8, 0xff, 0xe1, 0, 8], fill(20))],
    ['a PNG of no width', base64([0x89], 'PNG', fill(20))],
  ])('is unknown for %s', (_name, data) => {
    expect(imageSize(data)).toBeUndefined();
  });

  it('is found or not, and never thrown over', () => {
    const heads = fc.constantFrom([0xff, 0xd8, 0xff], [0x47, 0x49, 0x46, 0x38], [0x89, 0x50, 0x4e, 0x47], []);
    fc.assert(
      fc.property(heads, fc.uint8Array({ maxLength: 60 }), (head, rest) => {
        const size = imageSize(base64(head, [...rest]));
        expect(size === undefined || size.width > 0).toBe(true);
      }),
    );
  });
});

// What of a request its bytes can bound, and what not.

import { describe, expect, it } from 'vitest';
import { sizeOf } from '../../src/service/request-size.ts';
import type { ContentPart, NeutralRequest } from '../../src/wire/neutral.ts';
import { request } from '../routing/routing-samples.ts';

const asking = (part: ContentPart): NeutralRequest => request({ messages: [{ role: 'user', content: [part] }] });
const opaque = (value: Record<string, unknown>): ContentPart => ({ type: 'opaque', dialect: 'chat', value });

describe('content whose tokens its bytes bound', () => {
  it.each<[string, ContentPart]>([
    ['text', { type: 'text', text: 'hello' }],
    ['a text file', { type: 'file', mediaType: 'text/plain', data: 'aGVsbG8=' }],
    ['raw sound', opaque({ type: 'input_audio', input_audio: { format: 'wav', data: 'AAAA' } })],
    ['an image', { type: 'image', mediaType: 'image/png', data: 'AAAA' }],
  ])('%s', (_name, part) => {
    expect(sizeOf(asking(part), 1_000).unbounded).toBe(false);
  });
});

describe('content of which a few bytes may be many tokens', () => {
  it.each<[string, ContentPart]>([
    ['a PDF', { type: 'file', mediaType: 'application/pdf', data: 'JVBERi0=' }],
    ['a file of no kind', { type: 'file', data: 'AAAA' }],
    ['a file by URL', { type: 'file', mediaType: 'text/plain', url: 'https://example.com/a.txt' }],
    ['packed sound', opaque({ type: 'input_audio', input_audio: { format: 'flac', data: 'AAAA' } })],
    ['sound of no kind', opaque({ type: 'input_audio', input_audio: 'x' })],
    ['a video', opaque({ type: 'video_url', video_url: { url: 'https://example.com/a.mp4' } })],
  ])('%s', (_name, part) => {
    expect(sizeOf(asking(part), 1_000).unbounded).toBe(true);
  });
});

it('counts images by number, not by bytes', () => {
  const small = sizeOf(asking({ type: 'image', mediaType: 'image/png', data: 'A'.repeat(100) }), 1_100);
  const large = sizeOf(asking({ type: 'image', mediaType: 'image/png', data: 'A'.repeat(9_000) }), 10_000);
  expect(small).toEqual(large);
  expect(small.images).toBe(1);
});

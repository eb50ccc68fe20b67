import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSseParser, MAX_EVENT_BYTES, MAX_LINE_BYTES } from '../../src/wire/sse-parser.ts';
import { renderSseComment, renderSseData, renderSseEvent } from '../../src/wire/sse-writer.ts';
import { anyCuts, cutAt } from './chat-streams.ts';

type Seen = { readonly data: string; readonly event: string; readonly isCanonical: boolean };

function parseAll(chunks: readonly Uint8Array[]): { seen: Seen[]; overflowed: boolean } {
  const parser = createSseParser();
  const seen: Seen[] = [];
  const onFrame: Parameters<typeof parser.push>[1] = ({ bytes, dataStart, dataEnd, event, isCanonical }) => {
    seen.push({ data: bytes.toString('utf8', dataStart, dataEnd), event, isCanonical });
  };
  for (const chunk of chunks) parser.push(chunk, onFrame);
  parser.end(onFrame);
  return { seen, overflowed: parser.overflowed };
}

function dataOf(text: string): string[] {
  return parseAll([Buffer.from(text)]).seen.map((frame) => frame.data);
}

describe('the parser of server-sent events', () => {
  const rows: readonly (readonly [string, string, readonly string[]])[] = [
    ['one event', 'data: a\n\n', ['a']],
    ['two events', 'data: a\n\ndata: b\n\n', ['a', 'b']],
    ['CRLF', 'data: a\r\n\r\ndata: b\r\n\r\n', ['a', 'b']],
    ['CR', 'data: a\r\rdata: b\r\r', ['a', 'b']],
    ['mixed line ends', 'data: a\n\r\ndata: b\r\n\rdata: c\r\n\n', ['a', 'b', 'c']],
    ['a BOM', '\u{feff}data: a\n\n', ['a']],
    ['a BOM before a blank line', '\u{feff}\n\ndata: a\n\n', ['a']],
    ['no space after the colon', 'data:a\n\n', ['a']],
    ['two spaces: one belongs to the data', 'data:  a\n\n', [' a']],
    ['several data lines', 'data: a\ndata: b\n\n', ['a\nb']],
    ['comments', ': hi\n\n:\n\ndata: a\n: in between\ndata: b\n\n', ['a\nb']],
    ['other fields', 'id: 1\nretry: 5\nevent: x\ndata: a\n\n', ['a']],
    ['a field without colon', 'data\ndata: a\n\n', ['\na']],
    ['no blank line at the end', 'data: a\n\ndata: b\n', ['a', 'b']],
    ['no line end at all', 'data: a\n\ndata: b', ['a', 'b']],
    ['nothing', '', []],
    ['blank lines', '\n\n\r\n\r\n', []],
    ['an event without data', 'event: x\n\n', []],
    ['HTML', '<html>\n<body>\n', []],
    ['letters beyond ASCII', 'data: é😀\n\n', ['é😀']],
  ];
  it.each(rows)('reads %s', (_name, text, expected) => {
    expect(dataOf(text)).toEqual(expected);
  });

  it.each(rows)('reads %s byte by byte just the same', (_name, text, expected) => {
    const bytes = Buffer.from(text);
    const pieces = Array.from(bytes, (_byte, index) => bytes.subarray(index, index + 1));
    expect(parseAll(pieces).seen.map((frame) => frame.data)).toEqual(expected);
  });

  it('gives the name of an event', () => {
    expect(parseAll([Buffer.from('event: ping\ndata: {}\n\n')]).seen[0]?.event).toBe('ping');
  });

  it('says which frames can pass as they are', () => {
    const text = 'data: a\n\ndata: b\r\n\r\ndata:c\n\ndata: d\r\n\n: x\ndata: e\n\n';
    expect(parseAll([Buffer.from(text)]).seen.map((frame) => frame.isCanonical)).toEqual([
      true,
      false,
      false,
      false,
      false,
    ]);
  });

  it('sees the same events however any bytes are cut', () => {
    const piece = fc.constantFrom(
      'data: x\n',
      'data:',
      '\n',
      '\r',
      '\r\n',
      ': c\n',
      'é',
      '\u{feff}',
      'event: e\n',
      'data: y\n\n',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), anyCuts, (pieces, cuts) => {
        const bytes = Buffer.from(pieces.join(''));
        expect(parseAll(cutAt(bytes, cuts))).toEqual(parseAll([bytes]));
      }),
      { numRuns: 500 },
    );
  });

  it('keeps frames intact that were handed out before more bytes came', () => {
    const parser = createSseParser();
    const frames: { bytes: Buffer; dataStart: number; dataEnd: number }[] = [];
    for (const text of ['da', 'ta: one\n\ndata: tw', 'o\n\ndata: thr', 'ee\n\n']) {
      parser.push(Buffer.from(text), (frame) => frames.push(frame));
    }
    const texts = frames.map(({ bytes, dataStart, dataEnd }) => bytes.toString('utf8', dataStart, dataEnd));
    expect(texts).toEqual(['one', 'two', 'three']);
  });

  it('takes a line at the limit and refuses a longer one, whole or in pieces', () => {
    const line = (length: number) => Buffer.from(`data: ${'x'.repeat(length - 6)}\n\n`);
    expect(parseAll([line(MAX_LINE_BYTES)]).seen).toHaveLength(1);
    const tooLong = line(MAX_LINE_BYTES + 1);
    expect(parseAll([tooLong])).toEqual({ seen: [], overflowed: true });
    expect(parseAll(cutAt(tooLong, [10, 500_000, 1_000_000]))).toEqual({ seen: [], overflowed: true });
  });

  it('refuses an event of endless lines', () => {
    const line = Buffer.from(`data: ${'x'.repeat(1000)}\n`);
    const parser = createSseParser();
    let fed = 0;
    while (!parser.overflowed && fed <= 2 * MAX_EVENT_BYTES) {
      parser.push(line, () => expect.unreachable());
      fed += line.length;
    }
    expect(parser.overflowed).toBe(true);
    expect(fed).toBeLessThan(MAX_EVENT_BYTES + 2 * line.length);
  });

  it('stays linear on a megabyte in single bytes', () => {
    const bytes = Buffer.from(`data: ${'x'.repeat(MAX_LINE_BYTES - 10)}\n\n`);
    const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, index) =>
      bytes.subarray(index * 7, index * 7 + 7),
    );
    expect(parseAll(pieces).seen).toHaveLength(1);
  });
});

describe('the writer of server-sent events', () => {
  it('writes data, named events and comments that the parser reads back', () => {
    expect(renderSseData('{"a":1}')).toBe('data: {"a":1}\n\n');
    expect(renderSseEvent('ping', { type: 'ping' })).toBe('event: ping\ndata: {"type":"ping"}\n\n');
    expect(renderSseComment('ping')).toBe(': ping\n\n');
    const text = renderSseData('1') + renderSseComment('x') + renderSseEvent('e', { text: 'a\n\nb' });
    expect(dataOf(text)).toEqual(['1', '{"text":"a\\n\\nb"}']);
  });
});

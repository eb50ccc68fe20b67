// Server-sent events out of bytes, however they are cut: found in linear time, and not copied where a chunk holds them whole.

import { toBuffer } from './json-scan.ts';

/**
 * One event that carries data. The data lie in `bytes` from `dataStart` to `dataEnd`; several `data:` lines are joined
 * with a line feed. `isCanonical`: around them `bytes` holds exactly `data: `, the data, and two line feeds, no more.
 */
export type SseFrame = {
  readonly bytes: Buffer;
  readonly dataStart: number;
  readonly dataEnd: number;
  readonly isCanonical: boolean;
  /** The event's name, `''` when it has none. */
  readonly event: string;
};

export interface SseParser {
  push(chunk: Uint8Array, onFrame: (frame: SseFrame) => void): void;
  /** The bytes have ended: an event without its blank line still counts. */
  end(onFrame: (frame: SseFrame) => void): void;
  /** True once a line or an event was over its limit; nothing is parsed after that. */
  readonly overflowed: boolean;
}

/** Bytes: what an upstream may make svc hold in memory for one stream. */
export const MAX_LINE_BYTES = 1024 * 1024;
export const MAX_EVENT_BYTES = 8 * 1024 * 1024;

const LF = 0x0a;
const CR = 0x0d;
const DATA_PREFIX = Buffer.from('data: ');
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const FIRST_CARRY_BYTES = 4096;

export function createSseParser(): SseParser {
  // The event that has not ended yet, in a buffer that grows by doubling, so that tiny chunks cost no rescans.
  let carry = Buffer.alloc(0);
  let carried = 0;
  const cursor: Cursor = {
    frameStart: 0,
    lineStart: 0,
    at: 0,
    lines: 0,
    skipLf: false,
    isFirst: true,
    overflowed: false,
  };

  function append(chunk: Buffer): Buffer {
    const needed = carried + chunk.length;
    if (needed > carry.length) {
      const grown = Buffer.allocUnsafe(Math.max(needed, carry.length * 2, FIRST_CARRY_BYTES));
      carry.copy(grown, 0, 0, carried);
      carry = grown;
    }
    chunk.copy(carry, carried);
    carried = needed;
    return carry.subarray(0, carried);
  }

  return {
    push(chunk, onFrame) {
      if (cursor.overflowed || chunk.length === 0) return;
      const isFresh = carried === 0;
      const bytes = isFresh ? toBuffer(chunk) : append(toBuffer(chunk));
      scanFrames(bytes, cursor, onFrame);
      if (cursor.overflowed) return;
      const { frameStart } = cursor;
      if (isFresh || frameStart > 0) {
        // Frames already handed out may lie in the old buffer: what is left moves to a new one.
        carry = Buffer.alloc(0);
        carried = 0;
        if (frameStart < bytes.length) append(bytes.subarray(frameStart));
        cursor.lineStart -= frameStart;
        cursor.at -= frameStart;
        cursor.frameStart = 0;
      }
    },
    end(onFrame) {
      if (cursor.overflowed || carried === 0) return;
      emitParsed(carry.subarray(cursor.isFirst ? skipMark(carry) : 0, carried), onFrame);
      carried = 0;
    },
    get overflowed() {
      return cursor.overflowed;
    },
  };
}

type Cursor = {
  frameStart: number;
  lineStart: number;
  at: number;
  /** Lines of the open frame so far. */
  lines: number;
  /** The last byte was a CR that ended a line: a LF right after it belongs to it. */
  skipLf: boolean;
  isFirst: boolean;
  overflowed: boolean;
};

function scanFrames(bytes: Buffer, cursor: Cursor, onFrame: (frame: SseFrame) => void): void {
  if (cursor.skipLf && bytes[cursor.at] === LF) {
    if (cursor.frameStart === cursor.at) cursor.frameStart += 1;
    cursor.at += 1;
    cursor.lineStart = cursor.at;
  }
  cursor.skipLf = false;
  const next = { lf: -1, cr: -1 };
  while (cursor.at < bytes.length) {
    const lineEnd = findLineEnd(bytes, cursor.at, next);
    if (isTooLong(cursor, lineEnd)) {
      cursor.overflowed = true;
      return;
    }
    if (lineEnd === bytes.length) {
      cursor.at = lineEnd;
      return;
    }
    const after = afterLineEnd(bytes, lineEnd);
    cursor.skipLf = bytes[lineEnd] === CR && after === bytes.length && bytes[after - 1] === CR;
    if (lineEnd === cursor.lineStart) endFrame(bytes, cursor, after, onFrame);
    else cursor.lines += 1;
    cursor.lineStart = after;
    cursor.at = after;
  }
}

/** The next LF or CR, or the end; each byte is searched once for either. */
function findLineEnd(bytes: Buffer, from: number, next: { lf: number; cr: number }): number {
  if (next.lf < from) next.lf = indexOrEnd(bytes, LF, from);
  if (next.cr < from) next.cr = indexOrEnd(bytes, CR, from);
  return Math.min(next.lf, next.cr);
}

function indexOrEnd(bytes: Buffer, byte: number, from: number): number {
  const index = bytes.indexOf(byte, from);
  return index === -1 ? bytes.length : index;
}

function afterLineEnd(bytes: Buffer, lineEnd: number): number {
  return bytes[lineEnd] === CR && bytes[lineEnd + 1] === LF ? lineEnd + 2 : lineEnd + 1;
}

function isTooLong(cursor: Cursor, lineEnd: number): boolean {
  return lineEnd - cursor.lineStart > MAX_LINE_BYTES || lineEnd - cursor.frameStart > MAX_EVENT_BYTES;
}

function endFrame(bytes: Buffer, cursor: Cursor, after: number, onFrame: (frame: SseFrame) => void): void {
  const contentEnd = cursor.lineStart;
  const start = cursor.isFirst ? cursor.frameStart + skipMark(bytes.subarray(cursor.frameStart)) : cursor.frameStart;
  const isCanonical = cursor.lines === 1 && isCanonicalFrame(bytes, start, contentEnd, after);
  cursor.isFirst = false;
  cursor.lines = 0;
  cursor.frameStart = after;
  if (start >= contentEnd) return;
  if (!isCanonical) emitParsed(bytes.subarray(start, contentEnd), onFrame);
  else onFrame({ bytes, dataStart: start + DATA_PREFIX.length, dataEnd: contentEnd - 1, isCanonical, event: '' });
}

function isCanonicalFrame(bytes: Buffer, start: number, contentEnd: number, after: number): boolean {
  if (after !== contentEnd + 1 || bytes[contentEnd] !== LF || bytes[contentEnd - 1] !== LF) return false;
  if (bytes[contentEnd - 2] === CR || contentEnd - 1 <= start + DATA_PREFIX.length) return false;
  for (let index = 0; index < DATA_PREFIX.length; index += 1) {
    if (bytes[start + index] !== DATA_PREFIX[index]) return false;
  }
  return true;
}

function skipMark(bytes: Buffer): number {
  return bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
}

/** The general case: several lines, comments, names, other line ends. */
function emitParsed(content: Buffer, onFrame: (frame: SseFrame) => void): void {
  const data: string[] = [];
  let event = '';
  for (const line of content.toString('utf8').split(/\r\n|\r|\n/)) {
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + (line[colon + 1] === ' ' ? 2 : 1));
    if (name === 'data') data.push(value);
    else if (name === 'event') event = value;
  }
  const bytes = Buffer.from(data.join('\n'));
  if (bytes.length > 0) onFrame({ bytes, dataStart: 0, dataEnd: bytes.length, isCanonical: false, event });
}

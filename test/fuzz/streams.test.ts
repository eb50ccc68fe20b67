// Fuzzing what reads an upstream's streams: nothing thrown, bounded output, the same however cut, always in order.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createChunkScanner } from '../../src/wire/chat-chunk-scan.ts';
import { createSseParser } from '../../src/wire/sse-parser.ts';
import type { StreamRelay } from '../../src/wire/stream-relay.ts';
import { checkChat } from '../wire/chat-order.ts';
import { anyCuts, cutAt } from '../wire/chat-streams.ts';
import { checkOrder } from '../wire/message-order.ts';
import { chatRelay, messagesRelay, relayAll, singleBytes } from '../wire/stream-relays.ts';
import { anyStreamBytes, oddJson } from './fuzz-inputs.ts';
import { fuzz } from './fuzz-run.ts';

/** A chunk gets at most an envelope, a block at most a start, a stop and the names of its fields. */
const GROWTH = 60;
const END_BYTES = 4000;

const inputs = fc.tuple(anyStreamBytes, anyCuts);

it('the event parser gives the same events for any cut', () => {
  fuzz('sse-parser', 0.2, inputs, ([bytes, cuts]) => {
    const whole = eventsOf([bytes]);
    expect(eventsOf(cutAt(bytes, cuts))).toBe(whole);
    expect(eventsOf(singleBytes(bytes))).toBe(whole);
    expect(whole.length).toBeLessThan(bytes.length * 8 + 100);
  });
});

it('the Chat relay stays strict', () => {
  fuzz('chat relay', 0.2, inputs, ([bytes, cuts]) => {
    const out = relaySame(chatRelay, bytes, cuts);
    if (isJsonAllThrough(out)) checkChat(out, false);
  });
});

it('the Messages relay keeps the order', () => {
  fuzz('messages relay', 0.2, inputs, ([bytes, cuts]) => {
    checkOrder(relaySame(messagesRelay, bytes, cuts), false);
  });
});

it('the look over a chunk lets nothing pass that has to be parsed', () => {
  fuzz('chunk scanner', 0.1, oddJson, (text) => {
    const bytes = Buffer.from(text);
    if (createChunkScanner()(bytes, 0, bytes.length).needsParse) return;
    const seen = parseOrUndefined(text) as
      | { error?: unknown; usage?: unknown; choices: { index: unknown; delta: unknown }[] }
      | undefined;
    if (seen === undefined) return;
    expect([seen.error ?? null, seen.usage ?? null, seen.choices[0]?.index]).toEqual([null, null, 0]);
    expect(seen.choices[0]?.delta).toBeTypeOf('object');
  });
});

function eventsOf(pieces: readonly Uint8Array[]): string {
  const parser = createSseParser();
  const seen: string[] = [];
  const onFrame: Parameters<typeof parser.push>[1] = ({ bytes, dataStart, dataEnd, event, isCanonical }) => {
    seen.push(`${event}|${isCanonical}|${bytes.toString('latin1', dataStart, dataEnd)}`);
  };
  for (const piece of pieces) parser.push(piece, onFrame);
  parser.end(onFrame);
  return seen.join('\n');
}

function relaySame(create: () => StreamRelay, bytes: Buffer, cuts: readonly number[]): string {
  const whole = relayAll(create(), [bytes]);
  expect(relayAll(create(), cutAt(bytes, cuts))).toBe(whole);
  expect(whole.length).toBeLessThan(bytes.length * GROWTH + END_BYTES);
  return whole;
}

/** Chunks that pass as bytes are not parsed: JSON that is broken inside is the client's to see. */
function isJsonAllThrough(out: string): boolean {
  return out.split('\n\n').every((frame) => {
    const data = frame.startsWith('data: ') ? frame.slice('data: '.length) : 'null';
    return data === '[DONE]' || parseOrUndefined(data) !== undefined;
  });
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

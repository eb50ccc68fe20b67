import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMessagesPassRelay } from '../../src/wire/messages-pass-relay.ts';
import { eventPayloadBytes, plainDeltaBytes } from '../../src/wire/messages-payload-scan.ts';
import type { StreamRelay } from '../../src/wire/stream-relay.ts';
import { SvcError } from '../../src/wire/svc-error.ts';
import { anyCuts, cutAt } from './chat-streams.ts';
import { checkOrder, parseEvents } from './message-order.ts';
import {
  anyNativeStream,
  blockDelta,
  blockStart,
  MESSAGE_STOP,
  messageDelta,
  messageStart,
  nativeSse,
  PING,
  richStream,
  START_USAGE,
  textBlock,
} from './native-streams.ts';

const COST = '0.00042';
const CHARGED = { inputTokens: 50, cachedTokens: 20, cacheWriteTokens: 10, outputTokens: 9, reasoningTokens: 0 };

function createRelay(): StreamRelay {
  return createMessagesPassRelay({ requestId: 'req_1' });
}

/** What the client got before the settlement, and with it. */
function relayAll(pieces: readonly Uint8Array[], relay = createRelay()): { before: string; all: string } {
  const out: Uint8Array[] = [];
  for (const piece of pieces) {
    out.push(relay.push(piece));
    if (relay.failure !== undefined) break;
  }
  if (relay.failure === undefined) out.push(relay.end());
  const before = Buffer.concat(out).toString();
  const last = relay.failure === undefined ? relay.complete(COST, CHARGED) : relay.fail(relay.failure);
  return { before, all: before + Buffer.from(last).toString() };
}

/** The upstream's own bytes with the cost in the last usage. */
function costed(events: readonly Record<string, unknown>[]): string {
  const at = events.findLastIndex(({ type }) => type === 'message_delta');
  const delta = events[at] as { usage: object };
  return nativeSse(...events.with(at, { ...delta, usage: { ...delta.usage, cost: Number(COST) } })).toString();
}

describe('a Messages stream for a Messages caller', () => {
  it('passes byte for byte, but for the cost', () => {
    const relay = createRelay();
    const { all } = relayAll([nativeSse(...richStream())], relay);
    expect(all).toBe(costed(richStream()));
    checkOrder(all, true);
    expect(relay).toMatchObject({ started: true, finished: true, done: true, finishReason: 'tool_calls' });
  });

  it('keeps the end back until it is settled', () => {
    const { before } = relayAll([nativeSse(...richStream())]);
    expect(before).toBe(nativeSse(...richStream().slice(0, -2)).toString());
  });

  it('keeps what JavaScript would write in another way', () => {
    const odd = [
      'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":3},"big":12345678901234567890,"x":1.0}}\n\n',
      'event: content_block_start\ndata: {"index" : 0, "type":"content_block_start","content_block":{"type":"text","text":"","new":1e3}}\n\n',
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\\u0041\\ud800"}}      }\n\n'.replace(
        '}      }',
        '      }',
      ),
      'event: some_new_event\ndata: {"type":"some_new_event", "k": [1, 2.50]}\n\n',
    ].join('');
    const end = nativeSse(messageDelta('end_turn'), MESSAGE_STOP);
    const { before } = relayAll([Buffer.from(odd), end]);
    expect(before).toBe(odd);
  });

  it('gives the same bytes and counts however the stream is cut', () => {
    fc.assert(
      fc.property(anyNativeStream, anyCuts, (events, cuts) => {
        const bytes = nativeSse(...events);
        const whole = createRelay();
        const pieces = createRelay();
        const expected = relayAll([bytes], whole).all;
        expect(relayAll(cutAt(bytes, cuts), pieces).all).toBe(expected);
        expect(expected).toBe(costed(events));
        checkOrder(expected, true);
        for (const key of ['usage', 'deliveredBytes', 'finishReason', 'done'] as const) {
          expect(pieces[key]).toEqual(whole[key]);
        }
      }),
    );
  });

  it('never looks whole when it is cut short', () => {
    fc.assert(
      fc.property(anyNativeStream, fc.nat(), (events, place) => {
        const bytes = nativeSse(...events);
        // The last line without its blank line is still an event.
        const length = place % (bytes.length - 3);
        const relay = createRelay();
        const { all } = relayAll([bytes.subarray(0, length)], relay);
        expect(relay.failure).toBeInstanceOf(SvcError);
        expect(all).not.toContain('event: message_stop');
        expect(parseEvents(all).at(-1)?.event).toBe('error');
      }),
    );
  });

  it.each([
    ['line ends of another kind', (text: string) => text.replaceAll('\n', '\r\n')],
    ['comments between the events', (text: string) => text.replaceAll('event: ', ': hi\n\nevent: ')],
    ['no names on the events', (text: string) => text.replaceAll(/event: .*\n/g, '')],
    ['no space after the colon', (text: string) => text.replaceAll('data: ', 'data:')],
    ['a mark of byte order', (text: string) => `\ufeff${text}`],
    ['`[DONE]` after the end', (text: string) => `${text}data: [DONE]\n\n`],
  ])('comes out as clients need it with %s', (_name, change) => {
    const { all } = relayAll([Buffer.from(change(nativeSse(...richStream()).toString()))]);
    expect(all).toBe(costed(richStream()));
  });

  it.each([
    ['a line feed inside a text', '\n', 'UPSTREAM_INVALID_RESPONSE'],
    ['a carriage return inside a text', '\r', 'UPSTREAM_INVALID_RESPONSE'],
    ['a line of no meaning after it', '"}}\n\n', 'UPSTREAM_ERROR'],
  ])('is as strict with plain text as with the rest: %s', (_name, inside, code) => {
    const [start, delta] = textBlock(0, 'a@b');
    const whole = nativeSse(messageStart(), start ?? {}, delta ?? {});
    const odd = Buffer.from(
      nativeSse(delta ?? {})
        .toString()
        .replace('@', inside),
    );
    const results = [
      [whole, odd],
      [Buffer.concat([whole, odd])],
      cutAt(Buffer.concat([whole, odd]), [whole.length + 60]),
    ].map((pieces) => {
      const relay = createRelay();
      return [relayAll(pieces, relay).all, relay.failure?.code];
    });
    expect(results[0]?.[1]).toBe(code);
    expect(results[1]).toEqual(results[0]);
    expect(results[2]).toEqual(results[0]);
  });

  it('passes each event of a stream that comes event by event, or in pairs', () => {
    const events = richStream().map((event) => nativeSse(event));
    const pairs = events.flatMap((event, index) =>
      index % 2 === 0 ? [Buffer.concat([event, ...events.slice(index + 1, index + 2)])] : [],
    );
    const one = createRelay();
    expect(relayAll(events, one).all).toBe(costed(richStream()));
    const two = createRelay();
    expect(relayAll(pairs, two).all).toBe(costed(richStream()));
    expect(two.deliveredBytes).toBe(one.deliveredBytes);
  });

  it('keeps back what comes after the end as well, in its place', () => {
    const late = textBlock(1, 'late');
    const events = [messageStart(), ...textBlock(0, 'Hi'), messageDelta('end_turn'), ...late, MESSAGE_STOP];
    const { before, all } = relayAll([nativeSse(...events)]);
    expect(before).toBe(nativeSse(messageStart(), ...textBlock(0, 'Hi')).toString());
    expect(all).toBe(costed(events));
  });

  it('passes pieces of arguments that are empty', () => {
    const empty = blockDelta(0, { type: 'input_json_delta', partial_json: '' });
    const relay = createRelay();
    relay.push(nativeSse(messageStart()));
    expect(Buffer.from(relay.push(nativeSse(empty))).toString()).toBe(nativeSse(empty).toString());
  });

  it('relays a ping as it is, and it starts nothing', () => {
    const relay = createRelay();
    expect(Buffer.from(relay.push(nativeSse(PING))).toString()).toBe('event: ping\ndata: {"type":"ping"}\n\n');
    expect(relay.started).toBe(false);
    expect(Buffer.from(relay.ping()).toString()).toBe('event: ping\ndata: {"type":"ping"}\n\n');
  });

  it('gives the charged usage where the upstream sent none', () => {
    const relay = createRelay();
    const events = [messageStart(null), ...textBlock(0, 'Hi'), messageDelta('end_turn', null), MESSAGE_STOP];
    const delta = parseEvents(relayAll([nativeSse(...events)], relay).all).at(-2)?.data;
    expect(relay.usage).toBeUndefined();
    expect(delta?.['usage']).toEqual({
      input_tokens: 20,
      cache_creation_input_tokens: 10,
      cache_read_input_tokens: 20,
      output_tokens: 9,
      cost: 0.00042,
    });
  });

  it('puts the cost on the last of several message deltas', () => {
    const events = [messageStart(), messageDelta('end_turn'), messageDelta(null, { output_tokens: 43 }), MESSAGE_STOP];
    const relay = createRelay();
    const sent = parseEvents(relayAll([nativeSse(...events)], relay).all);
    expect(sent.map(({ data }) => (data['usage'] as { cost?: number } | undefined)?.cost)).toEqual([
      undefined,
      undefined,
      0.00042,
      undefined,
    ]);
    expect(relay.usage?.outputTokens).toBe(43);
    expect(relay.finishReason).toBe('stop');
  });
});

describe('usage of a native stream', () => {
  const INPUT = { inputTokens: 1230, cachedTokens: 1000, cacheWriteTokens: 200 };
  it.each<[string, unknown, unknown, object | undefined, string[]]>([
    ['joins start and delta', START_USAGE, { output_tokens: 42 }, { ...INPUT, outputTokens: 42 }, []],
    [
      'takes the later counts of the input',
      START_USAGE,
      { input_tokens: 31, cache_read_input_tokens: 0, cache_creation_input_tokens: 5, output_tokens: 4 },
      { inputTokens: 36, cachedTokens: 0, cacheWriteTokens: 5, outputTokens: 4 },
      [],
    ],
    [
      'keeps the start where the delta says 0 or null',
      START_USAGE,
      { input_tokens: 0, cache_read_input_tokens: null, cache_creation_input_tokens: 0, output_tokens: 4 },
      { ...INPUT, outputTokens: 4 },
      [],
    ],
    [
      'reads counts that come at the end only',
      { input_tokens: 0, output_tokens: 0 },
      { input_tokens: 7, output_tokens: 4 },
      { inputTokens: 7, outputTokens: 4 },
      [],
    ],
    [
      'reads thinking',
      START_USAGE,
      { output_tokens: 42, output_tokens_details: { thinking_tokens: 40 } },
      { reasoningTokens: 40 },
      [],
    ],
    ["takes no placeholder for the answer's tokens", START_USAGE, null, { outputTokens: 0 }, ['outputTokens']],
    [
      'misses an input that nobody counted',
      null,
      { output_tokens: 5 },
      { inputTokens: 0, outputTokens: 5 },
      ['inputTokens'],
    ],
    ['is none where there is none', null, null, undefined, []],
  ])('%s', (_name, start, delta, expected, missing) => {
    const relay = createRelay();
    relayAll(
      [nativeSse(messageStart(start), ...textBlock(0, 'x'), messageDelta('end_turn', delta), MESSAGE_STOP)],
      relay,
    );
    if (expected === undefined) expect(relay.usage).toBeUndefined();
    else expect(relay.usage).toMatchObject(expected);
    expect(relay.usageMissing).toEqual(missing);
  });

  it('weighs text, thinking and arguments, and no signature', () => {
    const relay = createRelay();
    relay.push(nativeSse(...richStream()));
    const said = Buffer.byteLength('Let me see… 😀') + Buffer.byteLength('Hello "you"\n') + '{"at":1.0}'.length;
    expect(relay.deliveredBytes).toBeGreaterThanOrEqual(said);
    expect(relay.deliveredBytes).toBeLessThan(said + 20);
  });
});

describe('a native stream that fails', () => {
  const fail = (...events: readonly Record<string, unknown>[]): { relay: StreamRelay; all: string } => {
    const relay = createRelay();
    return { relay, all: relayAll([nativeSse(...events)], relay).all };
  };

  it.each<[string, Record<string, unknown>, string, string]>([
    ['overload', { type: 'overloaded_error', message: 'Overloaded' }, 'UPSTREAM_ERROR', 'Overloaded'],
    ['a rate limit', { type: 'rate_limit_error', message: 'slow down' }, 'UPSTREAM_RATE_LIMITED', 'slow down'],
    ['a wrong field', { type: 'invalid_request_error', message: 'bad tool' }, 'INVALID_REQUEST', 'bad tool'],
    [
      'a long prompt',
      { type: 'invalid_request_error', message: 'prompt is too long: 9 tokens > 8 maximum' },
      'CONTEXT_LENGTH_EXCEEDED',
      'prompt is too long: 9 tokens > 8 maximum',
    ],
    ['a timeout', { type: 'timeout_error', message: 'late' }, 'UPSTREAM_TIMEOUT', 'late'],
    [
      'its own key',
      { type: 'authentication_error', message: 'sk-ant-x' },
      'UPSTREAM_ERROR',
      "The upstream refused svc's own credential (401).",
    ],
  ])('by %s says so in its own words', (_name, error, code, message) => {
    const { relay, all } = fail(messageStart(), ...textBlock(0, 'Hi').slice(0, 2), { type: 'error', error });
    expect(relay.failure).toMatchObject({ code, message });
    const { error: sent } = checkOrder(all, false);
    expect(sent).toMatchObject({ type: 'error', error: { code, message }, request_id: 'req_1' });
  });

  it('before its first event has not started', () => {
    expect(fail({ type: 'error', error: { type: 'overloaded_error', message: 'x' } }).relay.started).toBe(false);
  });

  it('between the end of the answer and message_stop sends no end', () => {
    const { all } = fail(messageStart(), messageDelta('end_turn'), {
      type: 'error',
      error: { type: 'api_error', message: 'x' },
    });
    expect(all).not.toContain('message_delta');
    expect(all).not.toContain('message_stop');
  });

  it('by a message_stop without a stop reason', () => {
    expect(fail(messageStart(), ...textBlock(0, 'Hi'), MESSAGE_STOP).relay.failure?.code).toBe('UPSTREAM_ERROR');
  });

  it.each([
    ['broken JSON', 'event: content_block_start\ndata: {"type":\n\n'],
    ['an array', 'data: [1]\n\n'],
    ['no type', 'data: {}\n\n'],
    ['a type that is no word', 'data: {"type":"a\\nb"}\n\n'],
  ])('by %s', (_name, text) => {
    const relay = createRelay();
    relayAll([nativeSse(messageStart()), Buffer.from(text)], relay);
    expect(relay.failure?.code).toBe('UPSTREAM_INVALID_RESPONSE');
  });

  it('by more than a megabyte after its end', () => {
    const relay = createRelay();
    const pad = { ...PING, pad: 'x'.repeat(300_000) };
    relay.push(nativeSse(messageStart(), messageDelta('end_turn'), pad, pad, pad, pad));
    expect(relay.failure?.code).toBe('UPSTREAM_INVALID_RESPONSE');
  });
});

describe('the look at one event', () => {
  const sight = (text: string): number | undefined =>
    plainDeltaBytes(Buffer.from(`##${text}##`), 2, 2 + Buffer.byteLength(text));

  it.each<[string, string, number | undefined]>([
    ['text', JSON.stringify(blockDelta(0, { type: 'text_delta', text: 'abc' })), 3],
    ['thinking', JSON.stringify(blockDelta(12, { type: 'thinking_delta', thinking: 'ab' })), 2],
    ['arguments', JSON.stringify(blockDelta(3, { type: 'input_json_delta', partial_json: '{"a' })), 4],
    ['padding', '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}    }', 1],
    ['a further field', JSON.stringify({ ...blockDelta(0, { type: 'text_delta', text: 'abc' }), more: 1 }), undefined],
    ['a signature', JSON.stringify(blockDelta(0, { type: 'signature_delta', signature: 'abc' })), undefined],
    ['another order', '{"index":0,"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}}', undefined],
    ['a cut', '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}', undefined],
    ['another event', JSON.stringify(MESSAGE_STOP), undefined],
  ])('%s', (_name, text, expected) => {
    expect(sight(text)).toBe(expected);
  });

  it('never weighs less than a parse', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const event = blockDelta(0, { type: 'text_delta', text });
        expect(sight(JSON.stringify(event))).toBeGreaterThanOrEqual(eventPayloadBytes(event));
      }),
    );
  });

  it.each<[string, Record<string, unknown>, number]>([
    ['what a block starts with', blockStart(0, { type: 'text', text: 'abcd' }), 4],
    ['an input given at once', blockStart(0, { type: 'tool_use', id: 'x', name: 'run', input: { a: 1 } }), 10],
    ['no result of a tool', blockStart(0, { type: 'web_search_tool_result', content: 'x'.repeat(99) }), 0],
    ['hidden thinking', blockStart(0, { type: 'redacted_thinking', data: 'abcdef' }), 6],
  ])('weighs %s', (_name, event, bytes) => {
    expect(eventPayloadBytes(event)).toBe(bytes);
  });
});

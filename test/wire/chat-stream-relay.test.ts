import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createChunkScanner } from '../../src/wire/chat-chunk-scan.ts';
import { createChatStreamRelay } from '../../src/wire/chat-stream-relay.ts';
import type { StreamRelay } from '../../src/wire/stream-relay.ts';
import {
  anyCuts,
  anyStream,
  chunk,
  cutAt,
  ENVELOPE,
  goodStream,
  sse,
  tool,
  USAGE,
  usageChunk,
} from './chat-streams.ts';

const DONE = 'data: [DONE]\n\n';
const COST = '0.000123';

function createRelay(includeUsage = true): StreamRelay {
  return createChatStreamRelay({ includeUsage, requestId: 'req_1' });
}

function relayAll(pieces: readonly Uint8Array[], relay = createRelay()): string {
  const out: Uint8Array[] = [];
  for (const piece of pieces) {
    out.push(relay.push(piece));
    if (relay.failure !== undefined) break;
  }
  if (relay.failure === undefined) out.push(relay.end());
  out.push(relay.failure === undefined ? relay.complete(COST) : relay.fail(relay.failure));
  return Buffer.concat(out).toString();
}

/** The JSON of every data event but `[DONE]`. */
function chunksOf(out: string): Record<string, unknown>[] {
  const frames = out.split('\n\n').filter((frame) => frame !== '' && frame !== 'data: [DONE]');
  return frames.map((frame) => JSON.parse(frame.slice('data: '.length)) as Record<string, unknown>);
}

const ROLE = chunk({ role: 'assistant', content: '' });

describe('a Chat stream for a Chat caller', () => {
  it('passes the bytes and puts the cost into the usage chunk', () => {
    const stream = sse(ROLE, chunk({ content: 'Hi é😀' }), chunk({}, 'stop'), usageChunk(), '[DONE]');
    expect(relayAll([stream])).toBe(stream.toString().replace('"total_tokens":15', `"total_tokens":15,"cost":${COST}`));
  });

  it('replaces the cost the upstream named', () => {
    const stream = sse(ROLE, chunk({}, 'stop'), usageChunk({ ...USAGE, cost: 9, extra: { cost: 1 } }), '[DONE]');
    expect(relayAll([stream])).toContain(`"total_tokens":15,"cost":${COST},"extra":{"cost":1}}`);
  });

  it('keeps fields, spacing and numbers it does not know', () => {
    const odd = Buffer.from(
      'data: {"x_new": 12345678901234567890, "id":"1","object":"o","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"\\u00e9"},"logprobs":{"content":[]}}]}\n\n',
    );
    const relay = createRelay();
    relay.push(sse(ROLE));
    expect(Buffer.from(relay.push(odd)).toString()).toBe(odd.toString());
  });

  it('hands a chunk of whole events on without copying it', () => {
    const relay = createRelay();
    relay.push(sse(ROLE));
    const bytes = sse(chunk({ content: 'a' }), chunk({ content: 'b' }));
    const out = relay.push(bytes);
    expect([out.buffer, out.byteOffset, out.length]).toEqual([bytes.buffer, bytes.byteOffset, bytes.length]);
  });

  it('strips the usage chunk nobody asked for, but reads it', () => {
    const relay = createRelay(false);
    const stream = sse(ROLE, chunk({}, 'stop'), usageChunk(), '[DONE]');
    expect(relayAll([stream], relay)).toBe(sse(ROLE, chunk({}, 'stop'), '[DONE]').toString());
    expect(relay.usage).toMatchObject({ inputTokens: 10, outputTokens: 5 });
  });

  it('holds [DONE] and the usage back until it is settled', () => {
    const relay = createRelay();
    const before = Buffer.from(relay.push(sse(ROLE, chunk({}, 'stop'), usageChunk(), '[DONE]'))).toString();
    expect(before).toBe(sse(ROLE, chunk({}, 'stop')).toString());
    expect([relay.finished, relay.done, relay.finishReason]).toEqual([true, true, 'stop']);
    expect(Buffer.from(relay.complete('1')).toString()).toBe(
      sse(usageChunk({ ...USAGE, cost: 1 }), '[DONE]').toString(),
    );
  });

  it('holds a last chunk that has usage beside the end, and what follows it', () => {
    const last = chunk({}, 'stop', { usage: USAGE });
    const relay = createRelay();
    const after = chunk({ content: '' });
    expect(Buffer.from(relay.push(sse(ROLE, last, after))).toString()).toBe(sse(ROLE).toString());
    const priced = chunk({}, 'stop', { usage: { ...USAGE, cost: 2 } });
    expect(Buffer.from(relay.complete('2')).toString()).toBe(sse(priced, after, '[DONE]').toString());
  });

  it('takes usage off running chunks and says it once at the end', () => {
    const running = [1, 2].map((count) =>
      chunk({ content: 'x' }, null, { usage: { prompt_tokens: 1, completion_tokens: count } }),
    );
    const out = relayAll([sse(ROLE, ...running, chunk({}, 'stop'), '[DONE]')]);
    const usages = chunksOf(out).map((value) => value['usage']);
    expect(usages).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      { prompt_tokens: 1, completion_tokens: 2, cost: 0.000123 },
    ]);
    expect(chunksOf(out).at(-1)?.['choices']).toEqual([]);
  });

  it('takes usage off the last chunk where nobody asked for it', () => {
    const out = relayAll([sse(ROLE, chunk({}, 'stop', { usage: USAGE }), '[DONE]')], createRelay(false));
    expect(out).toBe(sse(ROLE, chunk({}, 'stop'), '[DONE]').toString());
  });

  it('sends no usage chunk where the upstream sent none', () => {
    const stream = sse(ROLE, chunk({}, 'stop', { usage: null }), '[DONE]');
    expect(relayAll([stream])).toBe(stream.toString());
  });

  it('adds the [DONE] an upstream forgot after a good end', () => {
    expect(relayAll([sse(ROLE, chunk({}, 'stop'))])).toBe(sse(ROLE, chunk({}, 'stop'), '[DONE]').toString());
  });

  it.each([
    ['CRLF', (text: string) => text.replaceAll('\n', '\r\n')],
    ['CR', (text: string) => text.replaceAll('\n', '\r')],
    ['no space', (text: string) => text.replaceAll('data: ', 'data:')],
    ['comments', (text: string) => text.replaceAll('data: ', ': hello\ndata: ')],
    ['event names', (text: string) => text.replaceAll('data: ', 'event: message\ndata: ')],
    ['data on two lines', (text: string) => text.replaceAll(',"choices"', '\ndata: ,"choices"')],
  ])('writes plain events whatever came: %s', (_name, change) => {
    const stream = sse(ROLE, chunk({ content: 'a' }), chunk({}, 'stop'));
    const out = relayAll([Buffer.from(change(stream.toString()))]);
    expect(chunksOf(out)).toEqual(chunksOf(stream.toString()));
    expect(out).toMatch(/^(data: [^\n\r]+\n\n)+$/);
  });

  const failures: readonly (readonly [string, string, string, string])[] = [
    [
      'an error object',
      sse(ROLE, { error: { message: 'It broke', code: 502 } }).toString(),
      'UPSTREAM_ERROR',
      'It broke',
    ],
    [
      'an error beside empty choices',
      sse(ROLE, { ...ENVELOPE, choices: [], error: { message: 'It broke' } }).toString(),
      'UPSTREAM_ERROR',
      'It broke',
    ],
    [
      'an error in the choice',
      sse(ROLE, {
        ...ENVELOPE,
        choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error', error: { message: 'It broke' } }],
      }).toString(),
      'UPSTREAM_ERROR',
      'It broke',
    ],
    ['the finish reason "error"', sse(ROLE, chunk({}, 'error')).toString(), 'UPSTREAM_ERROR', 'failed'],
    [
      'an error with the cause inside',
      sse({
        error: {
          message: 'Provider returned error',
          code: 400,
          metadata: { raw: '{"error":{"message":"prompt is too long: 9 tokens > 8 maximum"}}' },
        },
      }).toString(),
      'CONTEXT_LENGTH_EXCEEDED',
      'prompt is too long: 9 tokens > 8 maximum',
    ],
    ['broken JSON', 'data: {"choices":[\n\n', 'UPSTREAM_INVALID_RESPONSE', 'cannot read'],
    [
      'broken JSON later',
      `${sse(ROLE)}data: {"id":"x","choices":[{"delta":{"content":"a"}\n\n`,
      'UPSTREAM_INVALID_RESPONSE',
      'cannot read',
    ],
    ['an early end', sse(ROLE, chunk({ content: 'a' })).toString(), 'UPSTREAM_ERROR', 'ended early'],
    ['an early [DONE]', sse(ROLE, '[DONE]').toString(), 'UPSTREAM_ERROR', 'ended early'],
    ['only comments', ': a\n\n: b\n\n', 'UPSTREAM_ERROR', 'ended early'],
    ['an endless line', `data: ${'x'.repeat(1_100_000)}`, 'UPSTREAM_INVALID_RESPONSE', 'size limit'],
  ];
  it.each(failures)('ends with an error event without choices on %s', (_name, stream, code, message) => {
    const relay = createRelay();
    const out = relayAll([Buffer.from(stream)], relay);
    expect(relay.failure?.code).toBe(code);
    expect(relay.failure?.message).toContain(message);
    expect(out).not.toContain('[DONE]');
    const last = chunksOf(out).at(-1) ?? {};
    expect(Object.keys(last)).toEqual(['error']);
    expect(Object.keys(last['error'] as object)).toEqual(['type', 'code', 'message', 'retryable']);
  });

  it('starts with the first real event and not with an error or a comment', () => {
    const relay = createRelay();
    relay.push(Buffer.from(': hi\n\n'));
    expect(relay.started).toBe(false);
    relay.push(sse(ROLE));
    expect(relay.started).toBe(true);
    const failed = createRelay();
    failed.push(sse({ error: { message: 'no' } }));
    expect([failed.started, failed.failure?.message]).toEqual([false, 'no']);
  });

  it('takes an early [DONE] for a failure at once', () => {
    const relay = createRelay();
    relay.push(sse(ROLE, '[DONE]'));
    expect([relay.failure?.code, relay.done]).toEqual(['UPSTREAM_ERROR', true]);
  });

  it('passes nothing on after [DONE]', () => {
    const stream = sse(ROLE, chunk({}, 'stop'), '[DONE]');
    expect(relayAll([stream, sse(chunk({ content: 'late' }), { error: 'late' })])).toBe(stream.toString());
  });

  it('pings with a comment', () => {
    expect(Buffer.from(createRelay().ping()).toString()).toBe(': ping\n\n');
  });

  it('bounds what it holds back', () => {
    const relay = createRelay();
    relay.push(sse(ROLE, chunk({}, 'stop', { usage: USAGE })));
    for (let count = 0; count < 30; count += 1) relay.push(sse(chunk({ content: 'x'.repeat(50_000) })));
    expect(relay.failure?.code).toBe('UPSTREAM_INVALID_RESPONSE');
  });

  const repairs: readonly (readonly [string, readonly object[], readonly object[]])[] = [
    ['a missing role', [chunk({ content: 'a' })], [chunk({ role: 'assistant', content: 'a' })]],
    ['missing choices', [ROLE, { ...ENVELOPE }], [ROLE, { ...ENVELOPE, choices: [] }]],
    [
      'a missing index and delta',
      [{ ...ENVELOPE, choices: [{ finish_reason: null }] }],
      [{ ...ENVELOPE, choices: [{ finish_reason: null, index: 0, delta: { role: 'assistant' } }] }],
    ],
    [
      'a missing envelope',
      [{ choices: [{ index: 0, delta: { role: 'assistant' } }] }],
      [
        {
          choices: [{ index: 0, delta: { role: 'assistant' } }],
          id: 'chatcmpl-req_1',
          object: 'chat.completion.chunk',
          created: 0,
          model: '',
        },
      ],
    ],
    [
      'an envelope only the first chunk had',
      [ROLE, { choices: [{ index: 0, delta: { content: 'a' } }] }],
      [ROLE, { ...ENVELOPE, choices: [{ index: 0, delta: { content: 'a' } }] }],
    ],
    [
      'repeated tool ids',
      [ROLE, chunk(tool(0, 'c', 'look', '{')), chunk(tool(0, 'c', 'look', '}'))],
      [ROLE, chunk(tool(0, 'c', 'look', '{')), chunk({ tool_calls: [{ index: 0, function: { arguments: '}' } }] })],
    ],
    [
      'tool indexes',
      [ROLE, chunk(tool(1, 'c', 'look', '{}')), chunk(tool(undefined, 'd', 'run', '{}'))],
      [ROLE, chunk(tool(0, 'c', 'look', '{}')), chunk(tool(1, 'd', 'run', '{}'))],
    ],
    [
      'a missing tool id and type',
      [ROLE, chunk({ tool_calls: [{ index: 0, function: { name: 'look', arguments: '' } }] })],
      [
        ROLE,
        chunk({
          tool_calls: [{ index: 0, function: { name: 'look', arguments: '' }, id: 'call_req_1_0', type: 'function' }],
        }),
      ],
    ],
    [
      'arguments sent as an object',
      [ROLE, chunk(tool(0, 'c', 'look', { a: 1 }))],
      [ROLE, chunk(tool(0, 'c', 'look', '{"a":1}'))],
    ],
  ];
  it.each(repairs)('mends %s', (_name, chunks, expected) => {
    const out = relayAll([sse(...chunks, chunk({}, 'stop'))]);
    expect(chunksOf(out)).toEqual([...expected, chunk({}, 'stop')].map((value) => JSON.parse(JSON.stringify(value))));
  });

  it('leaves good tool calls as they came', () => {
    const stream = sse(
      ROLE,
      chunk(tool(0, 'c', 'look', '')),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{}' } }] }),
      chunk({}, 'tool_calls'),
      '[DONE]',
    );
    expect(relayAll([stream])).toBe(stream.toString());
  });

  it('keeps several choices apart', () => {
    const both = {
      ...ENVELOPE,
      choices: [0, 1].map((index) => ({
        index,
        delta: { role: 'assistant', content: `${index}` },
        finish_reason: null,
      })),
    };
    const ends = [1, 0].map((index) => ({ ...ENVELOPE, choices: [{ index, delta: {}, finish_reason: 'stop' }] }));
    const stream = sse(both, ...ends, '[DONE]');
    expect(relayAll([stream])).toBe(stream.toString());
  });

  it('gives the same bytes for any cut of any stream', () => {
    fc.assert(
      fc.property(fc.oneof(goodStream, anyStream), anyCuts, fc.boolean(), (stream, cuts, includeUsage) => {
        const whole = relayAll([stream], createRelay(includeUsage));
        expect(relayAll(cutAt(stream, cuts), createRelay(includeUsage))).toBe(whole);
        expect(whole.endsWith(DONE) || chunksOf(whole).at(-1)?.['error'] !== undefined).toBe(true);
      }),
      { numRuns: 400 },
    );
  });

  it('gives every client strict chunks, whatever the upstream sent', () => {
    fc.assert(
      fc.property(goodStream, (stream) => {
        for (const value of chunksOf(relayAll([stream]))) {
          expect(value).toMatchObject({
            id: expect.any(String),
            object: expect.any(String),
            created: expect.any(Number),
          });
          for (const choice of value['choices'] as Record<string, unknown>[]) {
            expect(choice).toMatchObject({ index: expect.any(Number), delta: expect.any(Object) });
          }
        }
      }),
    );
  });

  it('never counts fewer bytes than were generated', () => {
    const delta = fc.record(
      { content: fc.string({ unit: 'grapheme' }), reasoning: fc.string({ unit: 'grapheme' }) },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(delta, { maxLength: 8 }), (deltas) => {
        const relay = createRelay();
        relay.push(sse(...deltas.map((value) => chunk(value))));
        const generated = deltas.map((value) => (value.content ?? '') + (value.reasoning ?? '')).join('');
        expect(relay.deliveredBytes).toBeGreaterThanOrEqual(Buffer.byteLength(generated));
      }),
    );
  });

  it('counts plain text exactly and repeated reasoning once', () => {
    const relay = createRelay();
    const details = [{ type: 'reasoning.text', text: 'abcd', format: 'unknown', index: 0 }];
    relay.push(
      sse(
        ROLE,
        chunk({ content: 'abc' }),
        chunk({ reasoning: 'abcd', reasoning_details: details }),
        chunk(tool(0, 'c', 'look', '{}')),
      ),
    );
    expect(relay.deliveredBytes).toBe(3 + 4 + 'look{}'.length);
  });
});

describe('the look over a chunk', () => {
  const rows: readonly (readonly [string, string, boolean])[] = [
    ['plain text', JSON.stringify(chunk({ content: 'a' })), false],
    ['plain text, spaced', JSON.stringify(chunk({ content: 'a' }), null, 1).replaceAll('\n', ' '), false],
    [
      'nulls for what is not there',
      JSON.stringify(chunk({ content: 'a', tool_calls: null }, null, { usage: null, error: null })),
      false,
    ],
    ['words inside text', JSON.stringify(chunk({ content: '"usage":{"finish_reason":"stop","error":1}' })), false],
    ['a finish reason', JSON.stringify(chunk({}, 'stop')), true],
    ['usage', JSON.stringify(chunk({ content: 'a' }, null, { usage: {} })), true],
    ['an error', JSON.stringify(chunk({ content: 'a' }, null, { error: {} })), true],
    ['tools', JSON.stringify(chunk({ tool_calls: [] })), true],
    ['a role beside text', JSON.stringify(chunk({ role: 'assistant', content: 'a', audio: null })), false],
    ['reasoning', JSON.stringify(chunk({ reasoning: 'a', reasoning_details: [{ type: 'x', text: 'a' }] })), false],
    ['images', JSON.stringify(chunk({ content: '', images: [{ image_url: { url: 'x' } }] })), true],
    ['sound', JSON.stringify(chunk({ audio: { data: 'x' } })), true],
    ['what looks like a known key', JSON.stringify(chunk({ content: '', crafted: 'x' })), true],
    ['content in parts', JSON.stringify(chunk({ content: [{ type: 'image_url' }] })), true],
    ['no choices', JSON.stringify({ ...ENVELOPE }), true],
    ['empty choices', JSON.stringify({ ...ENVELOPE, choices: [] }), true],
    ['no id', JSON.stringify({ ...chunk({ content: 'a' }), id: undefined }), true],
    ['choice 1', JSON.stringify({ ...ENVELOPE, choices: [{ index: 1, delta: {} }] }), true],
    ['a cut end', JSON.stringify(chunk({ content: 'a' })).slice(0, -1), true],
    ['no JSON', 'hello', true],
  ];
  it.each(rows)('sees %s', (_name, text, needsParse) => {
    const bytes = Buffer.from(`xx${text}"yy`);
    expect(createChunkScanner()(bytes, 2, 2 + Buffer.byteLength(text)).needsParse).toBe(needsParse);
  });

  it('sees more behind what it has seen before', () => {
    const scan = createChunkScanner();
    const known = Buffer.from(JSON.stringify(chunk({ content: 'a' })));
    const longer = Buffer.concat([known, Buffer.from('{"error":1}')]);
    expect(scan(known, 0, known.length).needsParse).toBe(false);
    expect(scan(longer, 0, longer.length).needsParse).toBe(true);
  });

  it('sees the same with and without having seen other chunks', () => {
    const texts = fc.constantFrom('', 'a', '"', '\\', 'é😀', '},{"error":1}', 'x'.repeat(60));
    const value = fc.oneof(
      texts.map((content) => chunk({ content })),
      texts.map((content) => chunk({ content }, 'stop')),
      texts.map((content) => chunk({ reasoning: content, content: '' })),
      texts.map((content) => chunk({ content }, null, { usage: USAGE })),
      texts.map((content) => ({ ...chunk({ content }), error: 'x' })),
    );
    fc.assert(
      fc.property(fc.array(value, { maxLength: 12 }), (values) => {
        const scan = createChunkScanner();
        for (const each of values) {
          const bytes = Buffer.from(`${JSON.stringify(each)}"tail`);
          const end = bytes.length - '"tail'.length;
          expect(scan(bytes, 0, end)).toEqual(createChunkScanner()(bytes, 0, end));
        }
      }),
    );
  });
});

describe('media in a Chat stream', () => {
  const url = `data:image/png;base64,${'A'.repeat(20_000)}`;
  const images = [{ type: 'image_url', index: 0, image_url: { url } }];
  const rows: readonly (readonly [string, object, number])[] = [
    ['an image', { images }, 20],
    ['an image beside empty text', { content: '', images }, 20],
    ['an image as a content part', { content: [{ type: 'image_url', image_url: { url } }] }, 20],
    ['a tiny image', { images: [{ image_url: { url: 'x' } }] }, 1],
    ['sound', { audio: { id: 'a', data: 'AAAA' } }, 1],
    ['a field of tomorrow', { video_frame: 'x'.repeat(3000) }, 3],
    ['a field that looks like a known one', { crafted: 'x'.repeat(3000) }, 3],
  ];
  it.each(rows)('counts: %s', (_name, delta, atLeast) => {
    const first = createRelay();
    first.push(sse(chunk(delta)));
    expect(first.started).toBe(true);
    expect(first.deliveredBytes).toBeGreaterThanOrEqual(atLeast);
    expect(first.deliveredBytes).toBeLessThanOrEqual(atLeast + 5);
    const later = createRelay();
    later.push(sse(ROLE, chunk({ content: '' })));
    const stream = sse(chunk(delta), chunk(delta));
    expect(Buffer.from(later.push(stream))).toEqual(stream);
    expect(later.deliveredBytes).toBeGreaterThanOrEqual(2 * atLeast);
  });

  it.each([[{ images: [] }], [{ audio: null }], [{ audio: {} }], [{ role: 'assistant', content: null }]])(
    'is none in %j',
    (delta) => {
      const relay = createRelay();
      relay.push(sse(ROLE, chunk(delta)));
      expect(relay.deliveredBytes).toBe(0);
    },
  );
});

describe('a Chat stream of several choices', () => {
  const both = createChatStreamRelay;
  const options = { includeUsage: true, requestId: 'req_1' };
  const part = (index: number, delta: object, finish: string | null = null, more: object = {}) => ({
    ...ENVELOPE,
    choices: [{ index, delta, finish_reason: finish }],
    ...more,
  });
  const say = (index: number) => part(index, { role: 'assistant', content: 'a' });
  const stop = (index: number) => part(index, {}, 'stop');

  it('is finished when every choice seen is', () => {
    const relay = both(options);
    relay.push(sse(say(0), say(1), stop(0)));
    expect([relay.finished, relay.finishReason]).toEqual([false, 'stop']);
    relay.push(sse(part(1, { content: 'b' }), stop(1)));
    expect(relay.finished).toBe(true);
    relay.push(sse(part(0, { content: 'late' })));
    expect(relay.finished).toBe(true);
  });

  it.each([
    ['one goes on', [say(0), say(1), stop(0)], 1],
    ['one goes on, [DONE] or not', [say(0), say(1), stop(0), '[DONE]'], 2],
    ['one never came', [say(0), stop(0)], 2],
    ['one is first seen behind the end of the other', [say(1), stop(1), say(0)], 1],
  ])('has broken off where %s', (_name, events, choices) => {
    const relay = both({ ...options, choices });
    relay.push(sse(...events));
    relay.end();
    expect(relay.failure?.message).toContain('ended early');
  });

  it('takes the word of an upstream that gives fewer choices', () => {
    const relay = both({ ...options, choices: 2 });
    relay.push(sse(say(0), stop(0), '[DONE]'));
    relay.end();
    expect([relay.failure, relay.finished]).toEqual([undefined, true]);
  });

  it('does not hold one choice back behind the end and usage of another', () => {
    const relay = both(options);
    relay.push(sse(say(0), say(1), part(0, {}, 'stop', { usage: USAGE })));
    const rest = sse(part(1, { content: 'b' }), stop(1));
    expect(Buffer.from(relay.push(rest))).toEqual(rest);
    const out = Buffer.from(relay.complete(COST)).toString();
    expect(chunksOf(out)).toEqual([{ ...ENVELOPE, choices: [], usage: { ...USAGE, cost: 0.000123 } }]);
  });
});

describe('usage in a Chat stream', () => {
  const charged = { inputTokens: 21, cachedTokens: 4, cacheWriteTokens: 0, outputTokens: 9, reasoningTokens: 0 };
  const finished = (relay: StreamRelay, ...more: object[]) => {
    relay.push(sse(ROLE, chunk({ content: 'a' }), chunk({}, 'stop'), ...more, '[DONE]'));
    return relay;
  };

  it('is what was charged where the upstream sent none', () => {
    const out = Buffer.from(finished(createRelay()).complete(COST, charged)).toString();
    expect(out.endsWith(DONE)).toBe(true);
    expect(out).toContain(`"cost":${COST}}`);
    const usage = { prompt_tokens: 21, completion_tokens: 9, total_tokens: 30, cost: 0.000123 };
    expect(chunksOf(out)).toEqual([{ ...ENVELOPE, choices: [], usage }]);
  });

  it('is not sent to those who did not ask', () => {
    expect(Buffer.from(finished(createRelay(false)).complete(COST, charged)).toString()).toBe(DONE);
  });

  it('stays the upstream’s own where it sent some', () => {
    const relays = [finished(createRelay(), usageChunk()), createRelay()] as const;
    relays[1].push(sse(ROLE, chunk({}, 'stop', { usage: USAGE })));
    for (const relay of relays) {
      expect(Buffer.from(relay.complete(COST, charged))).toEqual(Buffer.from(relay.complete(COST)));
    }
  });

  it('names counts that cannot be charged by', () => {
    const relay = createRelay();
    expect(relay.usageMissing).toEqual([]);
    relay.push(sse(ROLE, usageChunk({ prompt_tokens: 'x', completion_tokens: 4 })));
    expect(relay.usageMissing).toEqual(['inputTokens']);
    relay.push(sse(usageChunk()));
    expect(relay.usageMissing).toEqual([]);
  });
});

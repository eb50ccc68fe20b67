// What the wire rules ask of streams, a row for each: Chat to Messages, Chat passed through, and the events themselves.

import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { createChatStreamRelay } from '../../src/wire/chat-stream-relay.ts';
import { createMessagesStreamRelay } from '../../src/wire/messages-stream-relay.ts';
import { createSseParser, MAX_LINE_BYTES } from '../../src/wire/sse-parser.ts';
import { checkChat } from './chat-order.ts';
import {
  anyCuts,
  anyStream,
  chunk,
  cutAt,
  ENVELOPE,
  goodStream,
  harmedStream,
  sse,
  tool,
  USAGE,
  usageChunk,
} from './chat-streams.ts';
import { type Collected, checkOrder } from './message-order.ts';
import { chatRelay, messagesRelay, relayAll, singleBytes } from './stream-relays.ts';

const ROLE = chunk({ role: 'assistant', content: '' });
const STOP = chunk({}, 'stop');

function messages(...events: readonly (object | string)[]): Collected & { readonly types: readonly string[] } {
  const collected = checkOrder(relayAll(messagesRelay(), [sse(...events)]), false);
  return { ...collected, types: collected.events.map(({ event }) => event) };
}

function chat(events: readonly (object | string)[], includeUsage = true): ReturnType<typeof checkChat> {
  return checkChat(relayAll(chatRelay(includeUsage), [sse(...events)]), false);
}

function usageOf({ delta }: Collected): unknown {
  return delta?.['usage'];
}

describe('Chat to Messages', () => {
  const BLOCK = ['content_block_start', 'content_block_delta', 'content_block_stop'];
  const END = ['message_delta', 'message_stop'];

  it('starts the message with the first valid chunk, and with an estimate of the input', () => {
    const { start, types } = messages({ ...ENVELOPE, choices: [] }, STOP);
    expect(types).toEqual(['message_start', ...END]);
    expect(start?.['usage']).toEqual({
      input_tokens: 7,
      output_tokens: 0,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
    });
  });

  const opens: readonly (readonly [string, readonly object[], readonly string[]])[] = [
    [
      'nothing for empty deltas',
      [ROLE, chunk({ content: null, reasoning: '', reasoning_details: [], tool_calls: [] })],
      [],
    ],
    [
      'a new block for each kind, each with its first delta',
      [chunk({ reasoning: 'a' }), chunk({ content: 'b' })],
      [...BLOCK, ...BLOCK],
    ],
    [
      'one block for a kind that goes on',
      [chunk({ content: 'a' }), chunk({ content: '' }), chunk({ content: 'b' })],
      [BLOCK[0] ?? '', BLOCK[1] ?? '', BLOCK[1] ?? '', BLOCK[2] ?? ''],
    ],
    [
      'blocks in order for one chunk that has it all',
      [chunk({ content: 'b', reasoning: 'a', refusal: 'no', ...tool(0, 'c', 'look', '{}') }, 'stop', { usage: USAGE })],
      [...BLOCK, ...BLOCK, ...BLOCK],
    ],
    ['no delta for a call without arguments', [chunk(tool(0, 'c', 'look', ''))], [BLOCK[0] ?? '', BLOCK[2] ?? '']],
  ];
  it.each(opens)('opens %s', (_name, chunks, expected) => {
    expect(messages(...chunks, STOP, '[DONE]').types).toEqual(['message_start', ...expected, ...END]);
  });

  it('says nothing of a tool call until its name is known, then all that has come', () => {
    const relay = messagesRelay();
    relay.push(sse(ROLE));
    expect(
      relay.push(sse(chunk(tool(0, 'c', undefined, '{"a"')), chunk(tool(0, undefined, undefined, ':')))),
    ).toHaveLength(0);
    const out = Buffer.from(relay.push(sse(chunk(tool(0, undefined, 'look', '1}'))))).toString();
    expect(out.split('\n\n').map((frame) => /^event: (\w+)/.exec(frame)?.[1])).toEqual([
      ...BLOCK.slice(0, 2),
      undefined,
    ]);
    expect(out).toContain('"partial_json":"{\\"a\\":1}"');
  });

  it('sends a call that waited behind another as one start, one delta and one stop', () => {
    const { events, blocks } = messages(
      chunk(tool(0, 'c1', 'look', '{"a":')),
      ...['{', '"b"', ':2}'].map((text, at) =>
        chunk(tool(1, at === 0 ? 'c2' : undefined, at === 0 ? 'run' : undefined, text)),
      ),
      chunk(tool(0, undefined, undefined, '1}')),
      STOP,
    );
    expect(blocks.map((block) => block['json'])).toEqual(['{"a":1}', '{"b":2}']);
    expect(events.filter(({ data }) => data['index'] === 1).map(({ event }) => event)).toEqual(BLOCK);
  });

  it('sends a signature once and whole, before its block closes', () => {
    const signed = { reasoning_details: [{ type: 'reasoning.text', signature: 'sig', format: 'anthropic-claude-v1' }] };
    const { events } = messages(chunk({ reasoning: 'a' }), chunk(signed), chunk({ content: 'b' }), STOP);
    const deltas = events
      .filter(({ data }) => data['index'] === 0)
      .map(({ data }) => (data['delta'] as { type: string } | undefined)?.type);
    expect(deltas).toEqual([undefined, 'thinking_delta', 'signature_delta', undefined]);
  });

  const usages: readonly (readonly [string, readonly object[]])[] = [
    ['in the chunk that ends', [chunk({}, 'stop', { usage: USAGE })]],
    ['in a later chunk with empty choices', [STOP, usageChunk()]],
    ['in a later chunk without choices', [STOP, { ...ENVELOPE, usage: USAGE }]],
    ['in a later chunk whose choices are null', [STOP, { ...ENVELOPE, choices: null, usage: USAGE }]],
    ['in a later chunk that repeats the end', [STOP, chunk({ content: 'late' }, 'length', { usage: USAGE })]],
    ['before the end', [chunk({ content: '' }, null, { usage: USAGE }), STOP]],
  ];
  it.each(usages)('says usage at the very end where it came %s', (_name, chunks) => {
    for (const end of [['[DONE]'], []]) {
      const collected = messages(ROLE, ...chunks, ...end);
      expect(usageOf(collected)).toMatchObject({ input_tokens: 10, output_tokens: 5 });
      expect([collected.types, collected.blocks]).toEqual([['message_start', ...END], []]);
      expect(collected.delta).toMatchObject({ delta: { stop_reason: 'end_turn' } });
    }
  });

  const broken: readonly (readonly [string, string])[] = [
    ['an end without a finish reason', ''],
    ['[DONE] without a finish reason', 'data: [DONE]\n\n'],
    ['a finish reason of ""', sse(chunk({}, ''), '[DONE]').toString()],
    [
      'a finish reason that is no text',
      sse({ ...ENVELOPE, choices: [{ index: 0, delta: {}, finish_reason: 7 }] }, '[DONE]').toString(),
    ],
    ['broken JSON', 'data: {"choices":[{]}\n\n'],
    ['an error object', sse({ error: { message: 'no' } }).toString()],
    ['an error as text', sse({ error: 'no' }).toString()],
    ['an error beside choices', sse({ ...ENVELOPE, choices: [], error: { message: 'no' } }).toString()],
    [
      'an error in the choice',
      sse({
        ...ENVELOPE,
        choices: [{ index: 0, delta: {}, finish_reason: 'stop', error: { message: 'no' } }],
      }).toString(),
    ],
    ['the finish reason "error"', sse(chunk({}, 'error')).toString()],
    ['the finish reason "ERROR"', sse(chunk({}, 'ERROR')).toString()],
    ['an event named error', 'event: error\ndata: {"message":"no","code":503}\n\n'],
    ['an error object of older servers', sse({ object: 'error', message: 'no', code: 400 }).toString()],
    ['a line over the limit', `data: ${'x'.repeat(MAX_LINE_BYTES)}`],
  ];
  it.each(broken)('ends with an error and nothing more, the block left open: %s', (_name, tail) => {
    const stream = Buffer.concat([sse(ROLE, chunk({ content: 'a' })), Buffer.from(tail)]);
    const late = sse(chunk({ content: 'late' }, 'stop'), usageChunk(), '[DONE]');
    const relay = messagesRelay();
    const out = checkOrder(relayAll(relay, tail === '' ? [stream] : [stream, late]), false);
    expect(out.events.map(({ event }) => event)).toEqual(['message_start', BLOCK[0], BLOCK[1], 'error']);
    expect(Object.keys(out.error ?? {})).toEqual(['type', 'error', 'request_id']);
    expect(relay.push(late)).toHaveLength(0);
  });

  it.each(broken)('ends the same way for a Chat caller: %s', (_name, tail) => {
    const stream = Buffer.concat([sse(ROLE, chunk({ content: 'a' })), Buffer.from(tail)]);
    const relay = chatRelay();
    const out = relayAll(relay, [stream]);
    const { error, choices } = checkChat(out, false);
    expect(out).not.toContain('[DONE]');
    expect(Object.keys(error ?? {})).toEqual(['type', 'code', 'message', 'retryable']);
    expect(choices.get(0)?.content).toBe('a');
    expect(relay.push(sse(chunk({ content: 'late' }, 'stop')))).toHaveLength(0);
  });

  it('takes a megabyte of tiny pieces that wait, and refuses an endless wait', () => {
    const relay = messagesRelay();
    relay.push(sse(chunk(tool(0, 'c1', 'look', '{'))));
    const many = Array.from({ length: 30_000 }, (_, at) => chunk(at % 2 === 0 ? { content: 'x' } : { reasoning: 'y' }));
    expect(relay.push(sse(...many))).toHaveLength(0);
    expect(relay.failure).toBeUndefined();
    relay.push(sse(...many));
    expect(relay.failure?.code).toBe('UPSTREAM_INVALID_RESPONSE');
  });

  it('counts as waiting only what still waits', () => {
    const relay = messagesRelay();
    const text = 'x'.repeat(500_000);
    relay.push(sse(ROLE));
    for (let round = 0; round < 40; round += 1) {
      const [open, behind] = [2 * round, 2 * round + 1];
      relay.push(sse(chunk(tool(open, `c${open}`, 'look', '{'))));
      relay.push(sse(chunk(tool(behind, `c${behind}`, 'look', `{"a":"${text}"}`))));
      relay.push(sse(chunk(tool(open, undefined, undefined, '}'))));
    }
    relay.push(sse(STOP));
    expect([relay.failure, relay.finished]).toEqual([undefined, true]);
  });

  it('seals no more reasoning than a client could send back', () => {
    const relay = messagesRelay();
    const text = 'x'.repeat(900_000);
    for (let count = 0; count < 12; count += 1) {
      relay.push(sse(chunk({ reasoning_details: [{ type: 'reasoning.text', text, format: 'openai-responses-v1' }] })));
    }
    expect(relay.failure?.code).toBe('UPSTREAM_INVALID_RESPONSE');
  });
});

describe('Chat passed through', () => {
  const choice = (more: object): object => ({
    ...ENVELOPE,
    choices: [{ index: 0, delta: {}, finish_reason: null, ...more }],
  });
  const odd: readonly (readonly [string, readonly object[]])[] = [
    ['a role of null in the first delta', [chunk({ role: null, content: 'a' })]],
    ['an id that is a number', [{ ...chunk({ role: 'assistant' }), id: 5 }]],
    ['an id of null in a later chunk', [ROLE, { ...chunk({ content: 'a' }), id: null }]],
    ['a time that is text', [ROLE, { ...chunk({ content: 'a' }), created: 'now' }]],
    ['a model that is an object', [ROLE, { ...chunk({ content: 'a' }), model: {} }]],
    ['choices that are an object', [ROLE, { ...ENVELOPE, choices: { 0: { index: 0, delta: {} } } }]],
    ['choices of null', [ROLE, { ...ENVELOPE, choices: null }]],
    ['a choice that is null', [ROLE, { ...ENVELOPE, choices: [null] }]],
    ['an index that is no whole number', [ROLE, choice({ index: 0.5 })]],
    ['a delta of null', [ROLE, choice({ delta: null })]],
    [
      'a second choice without an index',
      [
        ROLE,
        {
          ...ENVELOPE,
          choices: [
            { index: 0, delta: {} },
            { delta: { role: 'assistant' }, finish_reason: 'stop' },
          ],
        },
      ],
    ],
    ['a finish reason that is a number', [ROLE, choice({ finish_reason: 3 })]],
    ['a finish reason of ""', [ROLE, chunk({ content: 'a' }, '')]],
    ['a finish reason of "" after the end', [ROLE, STOP, chunk({}, '')]],
    ['tool calls that are an object', [ROLE, chunk({ tool_calls: {} })]],
    ['a tool call that is null', [ROLE, chunk({ tool_calls: [null] })]],
    ['usage that is text', [ROLE, chunk({ content: 'a' }, null, { usage: 'none' })]],
    ['usage without counts', [ROLE, usageChunk({})]],
  ];
  it.each(odd)('mends %s', (_name, chunks) => {
    expect(chat([...chunks, STOP, '[DONE]']).choices.get(0)?.finish).toBe('stop');
  });

  it('tells a required key from a stranger that begins and ends like it', () => {
    const lookalike = JSON.stringify(chunk({ content: 'a' }))
      .replace('"model"', '"mobil"')
      .replace('"delta"', '"della"');
    const out = relayAll(chatRelay(), [sse(ROLE), sse(lookalike, STOP)]);
    expect(checkChat(out, true).choices.get(0)?.finish).toBe('stop');
    const known = sse({ ...chunk({ content: 'a' }), credits: 'plenty', orient: 1 });
    const relay = chatRelay();
    relay.push(sse(ROLE));
    expect(Buffer.from(relay.push(known))).toEqual(known);
  });

  it('sees through escapes in keys', () => {
    const relay = chatRelay();
    relay.push(sse(ROLE));
    const hidden = JSON.stringify({ ...chunk({ content: 'a' }), error: { message: 'no' } }).replace(
      '"error"',
      '"\\u0065rror"',
    );
    relay.push(Buffer.from(`data: ${hidden}\n\n`));
    expect(relay.failure?.message).toBe('no');
  });

  const calls: readonly (readonly [string, readonly object[], readonly (readonly [string, string, string])[]])[] = [
    [
      'a name that comes late',
      [tool(0, 'c', undefined, '{"a"'), tool(0, undefined, 'look', ':1}')],
      [['c', 'look', '{"a":1}']],
    ],
    [
      'a name that comes late beside a good call',
      [tool(0, 'c', undefined, '{'), tool(1, 'd', 'run', '{}'), tool(0, undefined, 'look', '}')],
      [
        ['d', 'run', '{}'],
        ['c', 'look', '{}'],
      ],
    ],
    ['a call that never gets a name', [tool(0, 'c', undefined, '{}'), tool(1, 'd', 'run', '{}')], [['d', 'run', '{}']]],
    [
      'an id that comes late',
      [tool(0, undefined, 'look', '{'), tool(0, 'c', undefined, '}')],
      [['call_req_1_0', 'look', '{}']],
    ],
    ['no arguments at all', [tool(0, 'c', 'look', undefined)], [['c', 'look', '']]],
    ['arguments of null', [tool(0, 'c', 'look', null), tool(0, undefined, undefined, '{}')], [['c', 'look', '{}']]],
    [
      'types repeated',
      [tool(0, 'c', 'look', '{'), { tool_calls: [{ index: 0, type: 'function', function: { arguments: '}' } }] }],
      [['c', 'look', '{}']],
    ],
    [
      'ids of null and "" in later pieces',
      [tool(0, 'c', 'look', '{'), { tool_calls: [{ index: 0, id: null, function: { name: '', arguments: '}' } }] }],
      [['c', 'look', '{}']],
    ],
    [
      'indexes from 1',
      [tool(1, 'c', 'look', '{}'), tool(2, 'd', 'run', '{}')],
      [
        ['c', 'look', '{}'],
        ['d', 'run', '{}'],
      ],
    ],
  ];
  it.each(calls)('makes a strict tool call of %s', (_name, deltas, expected) => {
    const found = chat([ROLE, ...deltas.map((delta) => chunk(delta)), chunk({}, 'tool_calls'), '[DONE]']).choices.get(
      0,
    )?.calls;
    expect(found).toEqual(expected.map(([id, name, args]) => ({ id, name, arguments: args })));
  });

  it('keeps what an upstream adds to a piece of a call that is mended', () => {
    const extra = { extra_content: { google: { thought_signature: 'sig' } } };
    const piece = { index: 0, id: 'c', type: 'function', function: { name: 'look', arguments: '}' }, ...extra };
    const out = relayAll(chatRelay(), [
      sse(ROLE, chunk(tool(0, 'c', 'look', '{')), chunk({ tool_calls: [piece] }), STOP),
    ]);
    expect(out).toContain(JSON.stringify({ index: 0, function: { arguments: '}' }, ...extra }));
  });

  it('leaves calls of other types as they came', () => {
    const custom = { index: 0, id: 'c', type: 'custom', custom: { name: 'look', input: 'a' } };
    const stream = sse(
      ROLE,
      chunk({ tool_calls: [custom] }),
      chunk({ tool_calls: [{ index: 0, custom: { input: 'b' } }] }),
      STOP,
      '[DONE]',
    );
    expect(relayAll(chatRelay(), [stream])).toBe(stream.toString());
  });

  it('bounds the arguments that wait for a name', () => {
    const relay = chatRelay();
    relay.push(sse(ROLE));
    const piece = sse(chunk(tool(0, 'c', undefined, 'x'.repeat(100_000))));
    for (let count = 0; count < 12; count += 1) relay.push(piece);
    expect(relay.failure?.code).toBe('UPSTREAM_INVALID_RESPONSE');
  });

  it('repeats no long name with every chunk that has none', () => {
    const relay = chatRelay();
    relay.push(sse({ ...chunk({ role: 'assistant' }), model: 'm'.repeat(100_000) }));
    expect(relay.push(sse({ choices: [] }))).toHaveLength(
      sse({ choices: [], id: ENVELOPE.id, object: ENVELOPE.object, created: ENVELOPE.created, model: '' }).length,
    );
  });

  it('says the model and the time it was given where the upstream names none', () => {
    const relay = createChatStreamRelay({ includeUsage: true, requestId: 'req_1', model: 'test/cheap', created: 17 });
    const out = relayAll(relay, [
      sse({ choices: [{ index: 0, delta: { role: 'assistant' }, finish_reason: 'stop' }] }),
    ]);
    expect(out).toContain('"created":17,"model":"test/cheap"');
  });

  it('fails where any choice failed', () => {
    const two = { ...ENVELOPE, choices: [{ index: 1, delta: {}, finish_reason: 'error', error: { message: 'half' } }] };
    expect(chat([ROLE, two, STOP, '[DONE]']).error).toMatchObject({ message: 'half' });
  });

  const usages: readonly (readonly [string, readonly object[], unknown])[] = [
    ['a chunk of its own', [STOP, usageChunk()], 5],
    ['the chunk that ends', [chunk({}, 'stop', { usage: USAGE })], 5],
    ['running chunks', [chunk({ content: 'a' }, null, { usage: USAGE }), STOP], 5],
    [
      'an early chunk and the end, the later counting',
      [usageChunk({ prompt_tokens: 1, completion_tokens: 1 }), chunk({}, 'stop', { usage: USAGE })],
      5,
    ],
    ['no chunk', [STOP], undefined],
    ['a chunk without counts', [STOP, usageChunk({ cost: 1 })], undefined],
  ];
  it.each(usages)('says usage before [DONE] to those who asked, from %s', (_name, chunks, tokens) => {
    expect(chat([ROLE, ...chunks, '[DONE]']).usage?.['completion_tokens']).toBe(tokens);
    expect(chat([ROLE, ...chunks, '[DONE]'], false).usage).toBeUndefined();
  });

  it('never throws for usage that is nested too deep', () => {
    const deep = `{"prompt_tokens":1,"x":${'['.repeat(80)}${']'.repeat(80)}}`;
    const stream = `${sse(ROLE, STOP)}data: {"id":"1","object":"o","created":1,"model":"m","choices":[],"usage":${deep}}\n\n`;
    const relay = chatRelay();
    expect(checkChat(relayAll(relay, [Buffer.from(stream)]), false).error).toMatchObject({
      code: 'UPSTREAM_INVALID_RESPONSE',
    });
  });

  it('ends with exactly one [DONE]', () => {
    for (const end of [['[DONE]'], [], ['[DONE]', '[DONE]']]) {
      const out = relayAll(chatRelay(), [sse(ROLE, STOP, ...end)]);
      expect(out.endsWith('}\n\ndata: [DONE]\n\n')).toBe(true);
      expect(out.split('[DONE]')).toHaveLength(2);
    }
    const spaced = sse(ROLE, STOP).toString();
    expect(relayAll(chatRelay(), [Buffer.from(`${spaced}data:  [DONE] \r\n\r\n`)])).toBe(`${spaced}data: [DONE]\n\n`);
  });

  it('lets no comment of the upstream become data', () => {
    const stream = `: OPENROUTER PROCESSING\n\n${sse(ROLE)}: data: {"choices":1}\n\n${sse(STOP, '[DONE]')}`;
    expect(relayAll(chatRelay(), [Buffer.from(stream)])).toBe(sse(ROLE, STOP, '[DONE]').toString());
  });
});

describe('any stream, however cut', () => {
  const streams = fc.oneof(goodStream, anyStream, harmedStream);

  it('keeps the order of Messages, with the same bytes for any cut', () => {
    fc.assert(
      fc.property(streams, anyCuts, (stream, cuts) => {
        const whole = relayAll(messagesRelay(), [stream]);
        checkOrder(whole, false);
        expect(relayAll(messagesRelay(), cutAt(stream, cuts))).toBe(whole);
        expect(relayAll(messagesRelay(), singleBytes(stream))).toBe(whole);
      }),
      { numRuns: 120 },
    );
  });

  it('keeps Chat strict, with the same bytes for any cut', () => {
    fc.assert(
      fc.property(streams, anyCuts, fc.boolean(), (stream, cuts, includeUsage) => {
        const whole = relayAll(chatRelay(includeUsage), [stream]);
        const { usage } = checkChat(whole, false);
        if (!includeUsage) expect(usage).toBeUndefined();
        expect(relayAll(chatRelay(includeUsage), cutAt(stream, cuts))).toBe(whole);
        expect(relayAll(chatRelay(includeUsage), singleBytes(stream))).toBe(whole);
      }),
      { numRuns: 120 },
    );
  });

  it.each([[messagesRelay], [chatRelay]])('does not care what comes after [DONE], however much', (create) => {
    const stream = Buffer.concat([sse(ROLE, STOP, '[DONE]'), Buffer.from('x'.repeat(MAX_LINE_BYTES + 1))]);
    const [whole, cut] = [create(), create()];
    expect(relayAll(whole, [stream])).toBe(relayAll(cut, cutAt(stream, [500, 600])));
    expect([whole.failure, cut.failure]).toEqual([undefined, undefined]);
  });

  it('never says that a cut stream is whole', () => {
    const stream = sse(ROLE, chunk({ content: 'é😀' }), chunk(tool(0, 'c', 'look', '{}')), STOP);
    const end = stream.indexOf('"finish_reason":"stop"');
    for (let length = 0; length < end; length += 1) {
      const cut = stream.subarray(0, length);
      expect(checkOrder(relayAll(messagesRelay(), [cut]), false).error).toBeDefined();
      expect(checkChat(relayAll(chatRelay(), [cut]), false).error).toBeDefined();
    }
  });
});

describe('the work of the event parser', () => {
  /** Bytes that Buffer's own methods were asked to search, copy and decode. */
  function workOf(feed: () => void): number {
    let work = 0;
    const spies = [
      vi.spyOn(Buffer.prototype, 'copy').mockImplementation(function (this: Buffer, ...given: unknown[]) {
        const [target, at, from, to] = given as [Uint8Array, number?, number?, number?];
        const piece = this.subarray(from ?? 0, to ?? this.length);
        work += piece.length;
        target.set(piece, at ?? 0);
        return piece.length;
      }),
      vi.spyOn(Buffer.prototype, 'indexOf').mockImplementation(function (this: Buffer, byte, from) {
        const start = Number(from ?? 0);
        const found = new Uint8Array(this.buffer, this.byteOffset + start, this.length - start).indexOf(Number(byte));
        work += found === -1 ? this.length - start : found + 1;
        return found === -1 ? -1 : start + found;
      }),
    ];
    feed();
    for (const spy of spies) spy.mockRestore();
    return work;
  }

  const shapes: readonly (readonly [string, (bytes: number) => Buffer])[] = [
    ['one long line', (bytes) => Buffer.from(`data: ${'x'.repeat(bytes)}\n\n`)],
    ['many short lines of one event', (bytes) => Buffer.from(`${'data: x\n'.repeat(bytes / 8)}\n`)],
    ['many events', (bytes) => Buffer.from('data: x\n\n'.repeat(bytes / 8))],
    ['many comments', (bytes) => Buffer.from(': x\r'.repeat(bytes / 4))],
    ['many blank lines', (bytes) => Buffer.from('\r\n'.repeat(bytes / 2))],
  ];
  const sizes = [1, 7, 1000, 65_536];
  it.each(shapes.flatMap(([name, make]) => sizes.map((size) => [name, size, make] as const)))(
    'is in proportion to the bytes: %s, in pieces of %i',
    (_name, size, make) => {
      const work = (bytes: number): number => {
        const stream = make(bytes);
        const parser = createSseParser();
        return workOf(() => {
          for (let at = 0; at < stream.length; at += size) parser.push(stream.subarray(at, at + size), () => undefined);
          parser.end(() => undefined);
        });
      };
      const [small, large] = [work(4096), work(32_768)];
      expect(large / small).toBeLessThan(20);
      expect(large).toBeLessThan(32_768 * 8);
    },
  );

  it('reads letters cut at every byte', () => {
    const bytes = Buffer.from('data: é😀漢\u{feff}\n\n');
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const seen: string[] = [];
      const parser = createSseParser();
      for (const piece of [bytes.subarray(0, cut), bytes.subarray(cut)]) {
        parser.push(piece, ({ bytes: all, dataStart, dataEnd }) => seen.push(all.toString('utf8', dataStart, dataEnd)));
      }
      expect(seen).toEqual(['é😀漢\u{feff}']);
    }
  });

  it('brings lone surrogates of escapes to both callers, for them to join', () => {
    const halves = ['\\ud83d', '\\ude00'].map(
      (text) => `data: ${JSON.stringify(chunk({ role: 'assistant', content: '@' })).replace('@', text)}\n\n`,
    );
    const stream = Buffer.from(halves.join('') + sse(STOP));
    expect(checkOrder(relayAll(messagesRelay(), [stream]), true).blocks[0]?.['text']).toBe('😀');
    expect(checkChat(relayAll(chatRelay(), [stream]), true).choices.get(0)?.content).toBe('😀');
  });
});

it('gives ids of its own to calls that repeat an id of the conversation', () => {
  let made = 0;
  const relay = createMessagesStreamRelay({
    id: 'msg_1',
    model: 'm',
    inputTokensEstimate: 0,
    toolNames: { toUpstream: (name) => name, toCaller: (name) => name },
    usedToolIds: new Set(['c']),
    newToolId: () => {
      made += 1;
      return `toolu_${made}`;
    },
    requestId: 'req_1',
  });
  const stream = sse(chunk(tool(0, 'c', 'look', '{}')), chunk(tool(1, '', 'look', '{}')), STOP);
  expect(checkOrder(relayAll(relay, [stream]), true).blocks.map((block) => block['id'])).toEqual([
    'toolu_1',
    'toolu_2',
  ]);
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMessagesStreamRelay } from '../../src/wire/messages-stream-relay.ts';
import { unsealReasoning } from '../../src/wire/parse-reasoning.ts';
import type { StreamRelay } from '../../src/wire/stream-relay.ts';
import { SvcError } from '../../src/wire/svc-error.ts';
import { createToolNameMap } from '../../src/wire/tool-names.ts';
import { anyCuts, anyStream, chunk, cutAt, ENVELOPE, goodStream, sse, tool, usageChunk } from './chat-streams.ts';
import { type Collected, checkOrder } from './message-order.ts';

const LONG_NAME = `mcp__server__${'x'.repeat(80)}`;

function createRelay(): StreamRelay {
  let made = 0;
  return createMessagesStreamRelay({
    id: 'msg_1',
    model: 'openai/gpt-4o',
    inputTokensEstimate: 7,
    toolNames: createToolNameMap([LONG_NAME, 'look']),
    usedToolIds: new Set(['call_used']),
    newToolId: () => {
      made += 1;
      return `toolu_${made}`;
    },
    requestId: 'req_1',
  });
}

/** What the client got, to the very end, good or bad. */
function relayAll(pieces: readonly Uint8Array[], relay = createRelay()): string {
  const out: Uint8Array[] = [];
  for (const piece of pieces) {
    out.push(relay.push(piece));
    if (relay.failure !== undefined) break;
  }
  if (relay.failure === undefined) out.push(relay.end());
  out.push(relay.failure === undefined ? relay.complete('0.000123') : relay.fail(relay.failure));
  return Buffer.concat(out).toString();
}

function collect(...events: readonly (object | string)[]): Collected {
  return checkOrder(relayAll([sse(...events, '[DONE]')]), true);
}

function stopOf(collected: Collected): unknown {
  return (collected.delta as { delta: { stop_reason: unknown } }).delta.stop_reason;
}

function text(value: string): object {
  return { type: 'text', text: value };
}

function toolUse(id: string, name: string, json: string): object {
  return { type: 'tool_use', id, name, input: {}, json };
}

describe('a Chat stream for a Messages caller', () => {
  it('sends exactly the events of a simple answer', () => {
    const out = relayAll([
      sse(
        chunk({ role: 'assistant', content: '' }),
        chunk({ content: 'Hi' }),
        chunk({}, 'stop'),
        usageChunk(),
        '[DONE]',
      ),
    ]);
    const usage =
      '{"input_tokens":10,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":5,"cost":0.000123}';
    expect(out.split('\n\n')).toEqual([
      'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"openai/gpt-4o","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":7,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}}',
      'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}',
      'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}',
      `event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":${usage}}`,
      'event: message_stop\ndata: {"type":"message_stop"}',
      '',
    ]);
  });

  it('lets the first event start the message at once', () => {
    const relay = createRelay();
    expect(relay.push(Buffer.from(': OPENROUTER PROCESSING\n\n'))).toHaveLength(0);
    expect(relay.started).toBe(false);
    expect(Buffer.from(relay.push(sse(chunk({ role: 'assistant' })))).toString()).toContain('message_start');
    expect(relay.started).toBe(true);
    expect(Buffer.from(relay.push(sse(chunk({ content: 'a' })))).toString()).toContain('"text":"a"');
  });

  const contents: readonly (readonly [string, readonly object[], readonly object[]])[] = [
    [
      'skips empty deltas of every kind',
      [
        chunk({ role: 'assistant', content: '', reasoning: '', reasoning_details: [], tool_calls: [] }),
        chunk({ content: null }),
      ],
      [],
    ],
    ['joins text', [chunk({ content: 'a' }), chunk({ content: 'b' })], [text('ab')]],
    ['reads content in parts', [chunk({ content: [text('a'), text('b')] })], [text('ab')]],
    [
      'turns reasoning into thinking before text',
      [chunk({ reasoning: 'hm' }), chunk({ content: 'a' })],
      [{ type: 'thinking', thinking: 'hm', signature: '' }, text('a')],
    ],
    [
      'reads reasoning_content',
      [chunk({ reasoning_content: 'hm' })],
      [{ type: 'thinking', thinking: 'hm', signature: '' }],
    ],
    [
      'takes only one of repeated reasoning',
      [
        chunk({
          reasoning: 'hm',
          reasoning_content: 'hm',
          reasoning_details: [{ type: 'reasoning.text', text: 'hm' }],
        }),
      ],
      [{ type: 'thinking', thinking: 'hm', signature: '' }],
    ],
    [
      'keeps the order of one chunk that has it all',
      [
        chunk(
          {
            content: 'c',
            reasoning: 'r',
            tool_calls: [{ index: 0, id: 'c1', function: { name: 'look', arguments: '{}' } }],
          },
          'tool_calls',
        ),
      ],
      [{ type: 'thinking', thinking: 'r', signature: '' }, text('c'), toolUse('c1', 'look', '{}')],
    ],
    [
      'goes back and forth between kinds',
      [chunk({ content: 'a' }), chunk({ reasoning: 'b' }), chunk({ content: 'c' })],
      [text('a'), { type: 'thinking', thinking: 'b', signature: '' }, text('c')],
    ],
    ['ignores content after the end', [chunk({ content: 'a' }, 'stop'), chunk({ content: 'late' })], [text('a')]],
    [
      'ignores other choices',
      [
        {
          ...ENVELOPE,
          choices: [
            { index: 1, delta: { content: 'other' } },
            { index: 0, delta: { content: 'a' } },
          ],
        },
      ],
      [text('a')],
    ],
    ['takes a finish_reason of "" for none', [chunk({ content: 'a' }, ''), chunk({ content: 'b' })], [text('ab')]],
    ['does not show a refusal as text', [chunk({ refusal: 'I will' }), chunk({ refusal: ' not' })], []],
  ];
  it.each(contents)('%s', (_name, chunks, blocks) => {
    expect(collect(...chunks, chunk({}, 'stop')).blocks).toEqual(blocks);
  });

  const signatures: readonly (readonly [string, readonly object[], readonly object[]])[] = [
    [
      'in the same detail',
      [{ reasoning_details: [{ type: 'reasoning.text', text: 'a', signature: 's', format: 'anthropic-claude-v1' }] }],
      [{ type: 'thinking', thinking: 'a', signature: 's' }],
    ],
    [
      'in a detail of its own',
      [
        { reasoning_details: [{ type: 'reasoning.text', text: 'a' }] },
        { reasoning_details: [{ type: 'reasoning.text', signature: 's' }] },
      ],
      [{ type: 'thinking', thinking: 'a', signature: 's' }],
    ],
    [
      'for thinking that is not shown',
      [{ reasoning_details: [{ type: 'reasoning.text', text: '', signature: 's' }] }],
      [{ type: 'thinking', thinking: '', signature: 's' }],
    ],
    [
      'before another thought',
      [
        { reasoning_details: [{ type: 'reasoning.text', text: 'a', signature: 's' }] },
        { reasoning_details: [{ type: 'reasoning.text', text: 'b', signature: 't' }] },
      ],
      [
        { type: 'thinking', thinking: 'a', signature: 's' },
        { type: 'thinking', thinking: 'b', signature: 't' },
      ],
    ],
    [
      'as redacted thinking',
      [{ reasoning_details: [{ type: 'reasoning.encrypted', data: 'blob', format: 'anthropic-claude-v1' }] }],
      [{ type: 'redacted_thinking', data: 'blob' }],
    ],
  ];
  it.each(signatures)('passes a signature %s', (_name, deltas, blocks) => {
    expect(collect(...deltas.map((delta) => chunk(delta)), chunk({}, 'stop')).blocks).toEqual(blocks);
  });

  it('drops and counts a signature that comes after its block has closed', () => {
    const relay = createRelay();
    const late = chunk({ reasoning_details: [{ type: 'reasoning.text', signature: 's' }] });
    const out = relayAll([sse(chunk({ reasoning: 'a' }), chunk({ content: 'b' }), late, chunk({}, 'stop'))], relay);
    expect(checkOrder(out, true).blocks).toHaveLength(2);
    expect(relay.anomalies).toEqual(['late_signature']);
  });

  it('seals the reasoning of other vendors into the signature, whole', () => {
    const format = 'openai-responses-v1';
    const { blocks } = collect(
      chunk({ reasoning: 'a', reasoning_details: [{ type: 'reasoning.summary', summary: 'a', format, index: 0 }] }),
      chunk({ reasoning: 'b', reasoning_details: [{ type: 'reasoning.summary', summary: 'b', format, index: 0 }] }),
      chunk({ reasoning_details: [{ type: 'reasoning.encrypted', data: 'X', id: 'rs_1', format, index: 0 }] }),
      chunk({ content: 'done' }, 'stop'),
    );
    expect(blocks.map((block) => block['type'])).toEqual(['thinking', 'text']);
    expect(blocks[0]?.['thinking']).toBe('ab');
    expect(unsealReasoning(String(blocks[0]?.['signature']))).toEqual([
      { type: 'reasoning.summary', summary: 'ab', format, index: 0 },
      { type: 'reasoning.encrypted', data: 'X', id: 'rs_1', format, index: 0 },
    ]);
  });

  const tools: readonly (readonly [string, readonly object[], readonly object[]])[] = [
    [
      'a call in pieces',
      [tool(0, 'c1', 'look', ''), tool(0, undefined, undefined, '{"a"'), tool(0, undefined, undefined, ':1}')],
      [toolUse('c1', 'look', '{"a":1}')],
    ],
    [
      'calls one after the other',
      [tool(0, 'c1', 'look', '{}'), tool(1, 'c2', 'run', '{}')],
      [toolUse('c1', 'look', '{}'), toolUse('c2', 'run', '{}')],
    ],
    [
      'interleaved calls, one by one',
      [
        tool(0, 'c1', 'look', ''),
        tool(1, 'c2', 'run', ''),
        tool(0, undefined, undefined, '{"a":'),
        tool(1, undefined, undefined, '{"b":'),
        tool(0, undefined, undefined, '1}'),
        tool(1, undefined, undefined, '2}'),
      ],
      [toolUse('c1', 'look', '{"a":1}'), toolUse('c2', 'run', '{"b":2}')],
    ],
    [
      'several pieces of one call in one chunk',
      [
        {
          tool_calls: [
            { index: 0, id: 'c1', function: { name: 'look', arguments: '{"a":' } },
            { index: 0, function: { arguments: '1}' } },
          ],
        },
      ],
      [toolUse('c1', 'look', '{"a":1}')],
    ],
    ['repeated ids and names', [tool(0, 'c1', 'look', '{'), tool(0, 'c1', 'look', '}')], [toolUse('c1', 'look', '{}')]],
    [
      'indexes that start elsewhere',
      [tool(3, 'c1', 'look', '{}'), tool(5, 'c2', 'run', '{}')],
      [toolUse('c1', 'look', '{}'), toolUse('c2', 'run', '{}')],
    ],
    [
      'calls without an index, told apart by id',
      [
        tool(undefined, 'c1', 'look', '{"a":'),
        tool(undefined, undefined, undefined, '1}'),
        tool(undefined, 'c2', 'run', '{}'),
      ],
      [toolUse('c1', 'look', '{"a":1}'), toolUse('c2', 'run', '{}')],
    ],
    [
      'calls that all have the index 0',
      [tool(0, 'c1', 'look', '{}'), tool(0, 'c2', 'run', '{}')],
      [toolUse('c1', 'look', '{}'), toolUse('c2', 'run', '{}')],
    ],
    [
      'a name that comes late',
      [tool(0, 'c1', undefined, '{"a"'), tool(0, undefined, 'look', ':1}')],
      [toolUse('c1', 'look', '{"a":1}')],
    ],
    ['no id', [tool(0, undefined, 'look', '{}')], [toolUse('toolu_1', 'look', '{}')]],
    ['an id used before', [tool(0, 'call_used', 'look', '{}')], [toolUse('toolu_1', 'look', '{}')]],
    ['arguments sent as an object', [tool(0, 'c1', 'look', { a: 1 })], [toolUse('c1', 'look', '{"a":1}')]],
    ['broken arguments as they are', [tool(0, 'c1', 'look', '{"a": oops')], [toolUse('c1', 'look', '{"a": oops')]],
    ['no arguments', [tool(0, 'c1', 'look', '')], [toolUse('c1', 'look', '')]],
    [
      'braces in strings',
      [tool(0, 'c1', 'look', '{"a":"\\"}"'), tool(1, 'c2', 'run', '{}'), tool(0, undefined, undefined, ',"b":"\\"}"}')],
      [toolUse('c1', 'look', '{"a":"\\"}","b":"\\"}"}'), toolUse('c2', 'run', '{}')],
    ],
    [
      'text in the middle of arguments, after them',
      [tool(0, 'c1', 'look', '{"a"'), { content: '\n' }, tool(0, undefined, undefined, ':1}')],
      [toolUse('c1', 'look', '{"a":1}'), text('\n')],
    ],
    [
      'text after complete arguments at once',
      [tool(0, 'c1', 'look', '{}'), { content: 'ok' }],
      [toolUse('c1', 'look', '{}'), text('ok')],
    ],
    [
      'the older function_call',
      [{ function_call: { name: 'look', arguments: '{' } }, { function_call: { arguments: '}' } }],
      [toolUse('toolu_1', 'look', '{}')],
    ],
    [
      'a name that was mapped',
      [tool(0, 'c1', createToolNameMap([]).toUpstream(LONG_NAME), '{}')],
      [toolUse('c1', LONG_NAME, '{}')],
    ],
  ];
  it.each(tools)('sends %s', (_name, deltas, blocks) => {
    const collected = collect(...deltas.map((delta) => chunk(delta)), chunk({}, 'tool_calls'));
    expect(collected.blocks).toEqual(blocks);
    expect(stopOf(collected)).toBe('tool_use');
  });

  it('streams the open call and does not wait for its end', () => {
    const relay = createRelay();
    relay.push(sse(chunk(tool(0, 'c1', 'look', ''))));
    expect(Buffer.from(relay.push(sse(chunk(tool(0, undefined, undefined, '{"a'))))).toString()).toContain('{\\"a');
  });

  it('leaves out a call that never got a name, and counts it', () => {
    const relay = createRelay();
    const nameless = chunk(tool(0, 'c1', undefined, '{}'));
    const out = relayAll([sse(chunk({ content: 'a' }), nameless, chunk({}, 'tool_calls'))], relay);
    const collected = checkOrder(out, true);
    expect([collected.blocks, stopOf(collected), relay.anomalies]).toEqual([
      [{ type: 'text', text: 'a' }],
      'end_turn',
      ['tool_call_without_name'],
    ]);
  });

  it('makes an odd id clean, the same way each time', () => {
    const [first, second] = [1, 2].map(
      () => collect(chunk(tool(0, 'call:1/ä', 'look', '{}')), chunk({}, 'stop')).blocks[0]?.['id'],
    );
    expect(first).toMatch(/^call_1___[0-9a-f]{8}$/);
    expect(second).toBe(first);
  });

  const stops: readonly (readonly [string, object, string])[] = [
    ['stop', chunk({}, 'stop'), 'end_turn'],
    ['length', chunk({}, 'length'), 'max_tokens'],
    ['tool_calls without a call', chunk({}, 'tool_calls'), 'end_turn'],
    ['stop with a call', chunk(tool(0, 'c', 'look', '{}'), 'stop'), 'tool_use'],
    ['length with a cut call', chunk(tool(0, 'c', 'look', '{"a'), 'length'), 'max_tokens'],
    ['function_call', chunk({ function_call: { name: 'look', arguments: '{}' } }, 'function_call'), 'tool_use'],
    ['content_filter', chunk({}, 'content_filter'), 'refusal'],
    ['a refusal', chunk({ refusal: 'no' }, 'stop'), 'refusal'],
    ['a refusal cut short', chunk({ refusal: 'no' }, 'length'), 'max_tokens'],
    ['an unknown word', chunk({}, 'whatever'), 'end_turn'],
    [
      'a matched stop sequence',
      { ...ENVELOPE, choices: [{ index: 0, delta: {}, finish_reason: 'stop', stop_reason: 'END' }] },
      'stop_sequence',
    ],
    [
      'a matched stop token',
      { ...ENVELOPE, choices: [{ index: 0, delta: {}, finish_reason: 'stop', stop_reason: 128 }] },
      'end_turn',
    ],
    [
      'pause_turn',
      { ...ENVELOPE, choices: [{ index: 0, delta: {}, finish_reason: 'stop', native_finish_reason: 'pause_turn' }] },
      'pause_turn',
    ],
  ];
  it.each(stops)('turns %s into the right stop_reason', (_name, last, expected) => {
    expect(stopOf(collect(chunk({ role: 'assistant' }), last))).toBe(expected);
  });

  it('explains a refusal and names a stop sequence', () => {
    expect(collect(chunk({ refusal: 'no' }, 'stop')).delta?.['delta']).toEqual({
      stop_reason: 'refusal',
      stop_sequence: null,
      stop_details: { type: 'refusal', category: null, explanation: 'no' },
    });
    const stopped = { ...ENVELOPE, choices: [{ index: 0, delta: {}, finish_reason: 'stop', matched_stop: 'END' }] };
    expect(collect(stopped).delta?.['delta']).toEqual({ stop_reason: 'stop_sequence', stop_sequence: 'END' });
  });

  const usage = {
    prompt_tokens: 100,
    completion_tokens: 9,
    prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
    completion_tokens_details: { reasoning_tokens: 4 },
  };
  const expectedUsage = {
    input_tokens: 10,
    cache_creation_input_tokens: 30,
    cache_read_input_tokens: 60,
    output_tokens: 9,
    output_tokens_details: { thinking_tokens: 4 },
    cost: 0.000123,
  };
  it.each([
    ['in a chunk of its own', [chunk({}, 'stop'), usageChunk(usage)]],
    ['beside the end', [chunk({}, 'stop', { usage })]],
    ['in a chunk without choices', [chunk({}, 'stop'), { ...ENVELOPE, usage }]],
    [
      'with every chunk, the last one counting',
      [
        chunk({ content: 'a' }, null, { usage: { prompt_tokens: 1, completion_tokens: 1 } }),
        chunk({}, 'stop', { usage }),
      ],
    ],
  ])('takes usage %s', (_name, chunks) => {
    expect(collect(...chunks).delta?.['usage']).toEqual(expectedUsage);
  });

  it('sends a usage object even where the upstream sent none', () => {
    expect(collect(chunk({}, 'stop')).delta?.['usage']).toMatchObject({ input_tokens: 7, output_tokens: 0 });
  });

  it('names what was wrong in the usage', () => {
    const relay = createRelay();
    relayAll([sse(chunk({}, 'stop'), usageChunk({ prompt_tokens: -1, completion_tokens: 'x' }))], relay);
    expect(relay.anomalies).toEqual(['usage_invalid:prompt_tokens', 'usage_invalid:completion_tokens']);
  });

  const failures: readonly (readonly [string, string, string, string])[] = [
    [
      'an error object',
      sse(chunk({ content: 'a' }), { error: { message: 'It broke', code: 502 } }).toString(),
      'UPSTREAM_ERROR',
      'It broke',
    ],
    [
      'an error beside choices',
      sse({
        ...ENVELOPE,
        error: { message: 'It broke' },
        choices: [{ index: 0, delta: {}, finish_reason: 'error' }],
      }).toString(),
      'UPSTREAM_ERROR',
      'It broke',
    ],
    [
      'an error in the choice',
      sse({ ...ENVELOPE, choices: [{ index: 0, delta: {}, error: { message: 'It broke' } }] }).toString(),
      'UPSTREAM_ERROR',
      'It broke',
    ],
    ['the finish reason "error"', sse(chunk({}, 'error')).toString(), 'UPSTREAM_ERROR', 'failed'],
    ['a limit', sse({ error: { message: 'Slow down', code: 429 } }).toString(), 'UPSTREAM_RATE_LIMITED', 'Slow down'],
    ['broken JSON', 'data: {"choices":[\n\n', 'UPSTREAM_INVALID_RESPONSE', 'cannot read'],
    ['an array', 'data: [1]\n\n', 'UPSTREAM_INVALID_RESPONSE', 'cannot read'],
    ['an early end', sse(chunk({ content: 'a' })).toString(), 'UPSTREAM_ERROR', 'ended early'],
    ['an early [DONE]', sse(chunk({ content: 'a' }), '[DONE]').toString(), 'UPSTREAM_ERROR', 'ended early'],
    ['nothing at all', '', 'UPSTREAM_ERROR', 'ended early'],
    ['a web page', '<html>\n<body>Bad Gateway</body>\n', 'UPSTREAM_ERROR', 'ended early'],
    ['an endless line', `data: ${'x'.repeat(1_100_000)}`, 'UPSTREAM_INVALID_RESPONSE', 'size limit'],
    [
      'too many tools',
      sse(...Array.from({ length: 1025 }, (_, index) => chunk(tool(index, `c${index}`, 'look', '{}')))).toString(),
      'UPSTREAM_INVALID_RESPONSE',
      'cannot read',
    ],
  ];
  it.each(failures)('ends with an error event, and nothing after it, on %s', (_name, stream, code, message) => {
    const relay = createRelay();
    const collected = checkOrder(relayAll([Buffer.from(stream)], relay), false);
    expect(relay.failure?.code).toBe(code);
    expect(relay.failure?.message).toContain(message);
    expect(collected.delta).toBeUndefined();
    expect(collected.error).toMatchObject({ type: 'error', error: { code, retryable: true }, request_id: 'req_1' });
  });

  it('has not started where the first event is an error', () => {
    const relay = createRelay();
    expect(relay.push(sse({ error: { message: 'no' } }))).toHaveLength(0);
    expect(relay.started).toBe(false);
  });

  it('says nothing more once it has failed', () => {
    const relay = createRelay();
    relay.push(sse({ error: { message: 'no' } }));
    expect(relay.push(sse(chunk({ content: 'a' }, 'stop')))).toHaveLength(0);
    expect(relay.end()).toHaveLength(0);
    expect(relay.failure?.message).toBe('no');
  });

  it('ignores what comes after [DONE]', () => {
    const out = relayAll([sse(chunk({ content: 'a' }, 'stop'), '[DONE]', { error: { message: 'late' } })]);
    expect(checkOrder(out, true).blocks).toEqual([text('a')]);
  });

  it('pings with an event that keeps the order', () => {
    const relay = createRelay();
    const ping = Buffer.from(relay.ping()).toString();
    expect(ping).toBe('event: ping\ndata: {"type":"ping"}\n\n');
    checkOrder(ping + relayAll([sse(chunk({}, 'stop'))], relay), true);
  });

  it('counts the bytes of text, thinking and arguments', () => {
    const relay = createRelay();
    relayAll(
      [sse(chunk({ reasoning: 'é' }), chunk({ content: 'abc' }), chunk(tool(0, 'c', 'look', '{}')), chunk({}, 'stop'))],
      relay,
    );
    expect(relay.deliveredBytes).toBe(7);
  });

  it('keeps lone surrogates of JSON escapes', () => {
    const frame = 'data: {"choices":[{"index":0,"delta":{"content":"\\ud83d"},"finish_reason":null}]}\n\n';
    expect(Buffer.from(createRelay().push(Buffer.from(frame))).toString()).toContain('"text":"\\ud83d"');
  });

  it('fails with the error it is given, in the dialect', () => {
    const end = Buffer.from(createRelay().fail(new SvcError('SHUTTING_DOWN', 'Stopping.'))).toString();
    expect(end).toBe(
      'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","code":"SHUTTING_DOWN","message":"Stopping.","retryable":true},"request_id":"req_1"}\n\n',
    );
  });

  it('keeps the order for every good stream, and for any cut gives the same bytes', () => {
    fc.assert(
      fc.property(goodStream, anyCuts, (stream, cuts) => {
        const whole = relayAll([stream]);
        checkOrder(whole, true);
        expect(relayAll(cutAt(stream, cuts))).toBe(whole);
      }),
      { numRuns: 300 },
    );
  });

  it('keeps the order for any stream at all, and for any cut gives the same bytes', () => {
    fc.assert(
      fc.property(anyStream, anyCuts, (stream, cuts) => {
        const whole = relayAll([stream]);
        checkOrder(whole, false);
        expect(relayAll(cutAt(stream, cuts))).toBe(whole);
      }),
      { numRuns: 300 },
    );
  });

  it('loses no text of a good stream', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme', maxLength: 9 }), { maxLength: 12 }), (texts) => {
        const { blocks } = collect(...texts.map((content) => chunk({ content })), chunk({}, 'stop'));
        expect(blocks.map((block) => block['text']).join('')).toBe(texts.join(''));
      }),
    );
  });
});

describe('what a Messages caller is charged for', () => {
  const charged = { inputTokens: 21, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 9, reasoningTokens: 0 };

  it.each([
    ['none', []],
    ['some', [usageChunk()]],
  ])('is told at the end where the upstream counted %s', (_name, more) => {
    const relay = createRelay();
    relay.push(sse(chunk({ content: 'Hi' }), chunk({}, 'stop'), ...more, '[DONE]'));
    const out = Buffer.from(relay.complete('0.5', charged)).toString();
    expect(out).toContain('"usage":{"input_tokens":21,');
    expect(out).toContain('"output_tokens":9,"cost":0.5}');
  });

  it('names counts that cannot be charged by', () => {
    const relay = createRelay();
    expect(relay.usageMissing).toEqual([]);
    relay.push(sse(chunk({ content: 'Hi' }), usageChunk({ prompt_tokens: 3 })));
    expect(relay.usageMissing).toEqual(['outputTokens']);
    relay.push(sse(usageChunk()));
    expect(relay.usageMissing).toEqual([]);
  });

  it('counts media the dialect cannot show', () => {
    const relay = createRelay();
    relay.push(sse(chunk({ images: [{ type: 'image_url', image_url: { url: 'x'.repeat(4000) } }] })));
    expect([relay.started, relay.deliveredBytes]).toEqual([true, 5]);
  });
});

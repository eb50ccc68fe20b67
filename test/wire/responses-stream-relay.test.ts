import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { unsealReasoning } from '../../src/wire/parse-reasoning.ts';
import { parseResponsesRequest } from '../../src/wire/parse-responses-request.ts';
import { createResponsesStreamRelay } from '../../src/wire/responses-stream-relay.ts';
import type { StreamRelay } from '../../src/wire/stream-relay.ts';
import { type ErrorCode, SvcError } from '../../src/wire/svc-error.ts';
import { createToolIdChooser } from '../../src/wire/tool-ids.ts';
import { anyCuts, anyStream, chunk, cutAt, ENVELOPE, goodStream, sse, tool, usageChunk } from './chat-streams.ts';
import { type CollectedResponse, checkResponsesOrder, type Fields, parseResponsesEvents } from './responses-order.ts';

const REQUEST = {
  model: 'svc:auto',
  input: 'Hi',
  stream: true,
  include: ['reasoning.encrypted_content'],
  tools: [
    { type: 'function', name: 'look', parameters: { type: 'object' } },
    { type: 'function', name: 'run' },
    { type: 'custom', name: 'patch' },
    { type: 'namespace', name: 'agents', tools: [{ type: 'function', name: 'close' }] },
  ],
};

function createRelay(more: object = {}): StreamRelay {
  const counts = new Map<string, number>();
  const newId = (prefix: string): string => {
    const count = (counts.get(prefix) ?? 0) + 1;
    counts.set(prefix, count);
    return `${prefix}_${count}`;
  };
  const request = parseResponsesRequest({ ...REQUEST, ...more });
  return createResponsesStreamRelay({
    head: { id: 'resp_1', model: 'openai/gpt-4o', createdAt: 1_700_000_000, request },
    newId,
    chooseCallId: createToolIdChooser(new Set(['call_used']), () => newId('call')),
    toolOf: (name) => request.toolkit.byName.get(name) ?? { kind: 'function', name },
    withEncrypted: request.includeEncrypted,
    inputTokensEstimate: 7,
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

function collect(...events: readonly (object | string)[]): CollectedResponse {
  return checkResponsesOrder(relayAll([sse(...events, '[DONE]')]), true);
}

function message(text: string, status = 'completed'): object {
  return spoken([{ type: 'output_text', text, annotations: [], logprobs: [] }], status);
}

function spoken(content: readonly object[], status = 'completed'): object {
  return { type: 'message', status, role: 'assistant', content };
}

function reasoning(text: string): object {
  return { type: 'reasoning', summary: [{ type: 'summary_text', text }] };
}

function call(callId: string, name: string, args: string, status = 'completed'): object {
  return { type: 'function_call', status, arguments: args, call_id: callId, name };
}

/** Items without their ids. */
function itemsOf(collected: CollectedResponse): Fields[] {
  return collected.items.map(({ id: _id, ...item }) => item);
}

describe('a Chat stream for a Responses caller', () => {
  it('sends exactly the events of a simple answer', () => {
    const { events } = collect(
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: 'Hi' }),
      chunk({ content: ' you' }, 'stop'),
      usageChunk(),
    );
    const item = { id: 'msg_1', type: 'message', role: 'assistant' };
    const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
    const part = { type: 'output_text', text: 'Hi you', annotations: [], logprobs: [] };
    const done = { ...item, status: 'completed', content: [part] };
    const settings = {
      background: false,
      instructions: null,
      max_output_tokens: null,
      metadata: {},
      parallel_tool_calls: true,
      previous_response_id: null,
      prompt_cache_key: null,
      reasoning: { effort: null, summary: null },
      safety_identifier: null,
      service_tier: 'default',
      store: false,
      temperature: null,
      text: { format: { type: 'text' } },
      tool_choice: 'auto',
      tools: REQUEST.tools,
      top_p: null,
      truncation: 'disabled',
      user: null,
    };
    const head = { id: 'resp_1', object: 'response', created_at: 1_700_000_000, model: 'openai/gpt-4o', ...settings };
    const begun = { ...head, status: 'in_progress', error: null, incomplete_details: null, output: [], usage: null };
    const usage = {
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 15,
      cost: 0.000123,
    };
    const expected = [
      { type: 'response.created', response: begun },
      { type: 'response.in_progress', response: begun },
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { ...item, status: 'in_progress', content: [] },
      },
      { type: 'response.content_part.added', ...place, part: { ...part, text: '' } },
      { type: 'response.output_text.delta', ...place, delta: 'Hi', logprobs: [] },
      { type: 'response.output_text.delta', ...place, delta: ' you', logprobs: [] },
      { type: 'response.output_text.done', ...place, text: 'Hi you', logprobs: [] },
      { type: 'response.content_part.done', ...place, part },
      { type: 'response.output_item.done', output_index: 0, item: done },
      {
        type: 'response.completed',
        response: { ...head, status: 'completed', error: null, incomplete_details: null, output: [done], usage },
      },
    ];
    expect(events).toEqual(expected.map((event, index) => ({ sequence_number: index, ...event })));
  });

  it('lets the first event start the response at once', () => {
    const relay = createRelay();
    expect(relay.push(Buffer.from(': OPENROUTER PROCESSING\n\n'))).toHaveLength(0);
    expect(relay.started).toBe(false);
    const first = Buffer.from(relay.push(sse(chunk({ role: 'assistant' })))).toString();
    expect(parseResponsesEvents(first).map((event) => event['type'])).toEqual([
      'response.created',
      'response.in_progress',
    ]);
    expect(relay.started).toBe(true);
    expect(Buffer.from(relay.push(sse(chunk({ content: 'a' })))).toString()).toContain('"delta":"a"');
  });

  it('holds the end back until it is settled', () => {
    const relay = createRelay();
    const out = Buffer.from(relay.push(sse(chunk({ content: 'a' }, 'stop'), usageChunk(), '[DONE]'))).toString();
    expect(out).toContain('response.output_item.done');
    expect(out).not.toContain('response.completed');
    expect([relay.finished, relay.done]).toEqual([true, true]);
    const charged = { inputTokens: 3, cachedTokens: 2, cacheWriteTokens: 1, outputTokens: 4, reasoningTokens: 2 };
    const [last] = parseResponsesEvents(Buffer.from(relay.complete('0.5', charged)).toString());
    expect(last).toMatchObject({
      response: {
        usage: {
          input_tokens: 3,
          input_tokens_details: { cached_tokens: 2, cache_write_tokens: 1 },
          output_tokens: 4,
          output_tokens_details: { reasoning_tokens: 2 },
          total_tokens: 7,
          cost: 0.5,
        },
      },
    });
  });

  const contents: readonly (readonly [string, readonly object[], readonly object[]])[] = [
    [
      'skips empty deltas of every kind',
      [
        chunk({ role: 'assistant', content: '', reasoning: '', reasoning_details: [], tool_calls: [], refusal: '' }),
        chunk({ content: null }),
      ],
      [],
    ],
    ['joins text', [chunk({ content: 'a' }), chunk({ content: 'b' })], [message('ab')]],
    ['reads content in parts', [chunk({ content: [{ type: 'text', text: 'a' }] })], [message('a')]],
    [
      'turns reasoning into a reasoning item before the message',
      [chunk({ reasoning: 'h' }), chunk({ reasoning: 'm' }), chunk({ content: 'a' })],
      [reasoning('hm'), message('a')],
    ],
    ['reads reasoning_content', [chunk({ reasoning_content: 'hm' })], [reasoning('hm')]],
    [
      'takes only one of repeated reasoning',
      [
        chunk({
          reasoning: 'hm',
          reasoning_content: 'hm',
          reasoning_details: [{ type: 'reasoning.text', text: 'hm' }],
        }),
      ],
      [reasoning('hm')],
    ],
    [
      'keeps the order of one chunk that has it all',
      [
        chunk(
          {
            refusal: 'n',
            content: 'c',
            reasoning: 'r',
            tool_calls: [{ index: 0, id: 'c1', function: { name: 'look', arguments: '{}' } }],
          },
          'tool_calls',
        ),
      ],
      [
        reasoning('r'),
        spoken([
          { type: 'output_text', text: 'c', annotations: [], logprobs: [] },
          { type: 'refusal', refusal: 'n' },
        ]),
        call('c1', 'look', '{}'),
      ],
    ],
    [
      'goes back and forth between kinds',
      [chunk({ content: 'a' }), chunk({ reasoning: 'b' }), chunk({ content: 'c' })],
      [message('a'), reasoning('b'), message('c')],
    ],
    ['ignores content after the end', [chunk({ content: 'a' }, 'stop'), chunk({ content: 'late' })], [message('a')]],
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
      [message('a')],
    ],
    ['takes a finish_reason of "" for none', [chunk({ content: 'a' }, ''), chunk({ content: 'b' })], [message('ab')]],
    [
      'shows a refusal as one',
      [chunk({ refusal: 'I will' }), chunk({ refusal: ' not' })],
      [spoken([{ type: 'refusal', refusal: 'I will not' }])],
    ],
    [
      'makes a new part where a refusal breaks into text',
      [chunk({ content: 'a' }), chunk({ refusal: 'no' }), chunk({ content: 'b' })],
      [
        spoken([
          { type: 'output_text', text: 'a', annotations: [], logprobs: [] },
          { type: 'refusal', refusal: 'no' },
          { type: 'output_text', text: 'b', annotations: [], logprobs: [] },
        ]),
      ],
    ],
  ];
  it.each(contents)('%s', (_name, chunks, items) => {
    expect(itemsOf(collect(...chunks, chunk({}, 'stop')))).toEqual(items);
  });

  const calls: readonly (readonly [string, readonly object[], readonly object[]])[] = [
    [
      'a call in pieces',
      [tool(0, 'c1', 'look', ''), tool(0, undefined, undefined, '{"a"'), tool(0, undefined, undefined, ':1}')],
      [call('c1', 'look', '{"a":1}')],
    ],
    [
      'calls one after the other',
      [tool(0, 'c1', 'look', '{}'), tool(1, 'c2', 'run', '{}')],
      [call('c1', 'look', '{}'), call('c2', 'run', '{}')],
    ],
    [
      'interleaved calls, each with its own arguments',
      [
        tool(0, 'c1', 'look', ''),
        tool(1, 'c2', 'run', ''),
        tool(0, undefined, undefined, '{"a":'),
        tool(1, undefined, undefined, '{"b":'),
        tool(0, undefined, undefined, '1}'),
        tool(1, undefined, undefined, '2}'),
      ],
      [call('c1', 'look', '{"a":1}'), call('c2', 'run', '{"b":2}')],
    ],
    [
      'a call whose name comes late, after another has begun',
      [
        tool(0, 'c1', undefined, '{"a'),
        tool(0, undefined, undefined, '"'),
        tool(1, 'c2', 'run', '{}'),
        tool(0, undefined, 'look', ':1}'),
      ],
      [call('c2', 'run', '{}'), call('c1', 'look', '{"a":1}')],
    ],
    ['arguments as an object', [tool(0, 'c1', 'look', { a: 1 })], [call('c1', 'look', '{"a":1}')]],
    ['no arguments at all as an empty object', [tool(0, 'c1', 'look', '')], [call('c1', 'look', '{}')]],
    ['bad JSON as it is', [tool(0, 'c1', 'look', '{"a')], [call('c1', 'look', '{"a')]],
    ['a call without an id, with a new one', [tool(0, undefined, 'look', '{}')], [call('call_1', 'look', '{}')]],
    ['an id of the history, as a new one', [tool(0, 'call_used', 'look', '{}')], [call('call_1', 'look', '{}')]],
    ['an unknown tool as a function', [tool(0, 'c1', 'other', '{}')], [call('c1', 'other', '{}')]],
    ['the older function_call', [{ function_call: { name: 'look', arguments: '{}' } }], [call('call_1', 'look', '{}')]],
    [
      'a tool of a namespace under its own name',
      [tool(0, 'c1', 'agents__close', '{}')],
      [{ ...call('c1', 'close', '{}'), namespace: 'agents' }],
    ],
    [
      'a custom tool with its free text',
      [tool(0, 'c1', 'patch', '{"input":"*** Be'), tool(0, undefined, undefined, 'gin\\n+a"}')],
      [{ type: 'custom_tool_call', status: 'completed', input: '*** Begin\n+a', call_id: 'c1', name: 'patch' }],
    ],
    [
      'a custom tool whose model wrote plain text',
      [tool(0, 'c1', 'patch', '*** Begin')],
      [{ type: 'custom_tool_call', status: 'completed', input: '*** Begin', call_id: 'c1', name: 'patch' }],
    ],
    [
      'a custom tool whose input is no text, as written',
      [tool(0, 'c1', 'patch', '{"input":1}')],
      [{ type: 'custom_tool_call', status: 'completed', input: '{"input":1}', call_id: 'c1', name: 'patch' }],
    ],
    [
      'a custom tool without input',
      [tool(0, 'c1', 'patch', '')],
      [{ type: 'custom_tool_call', status: 'completed', input: '', call_id: 'c1', name: 'patch' }],
    ],
  ];
  it.each(calls)('gives %s', (_name, deltas, items) => {
    expect(itemsOf(collect(...deltas.map((delta) => chunk(delta)), chunk({}, 'tool_calls')))).toEqual(items);
  });

  it('closes what has ended before the next begins', () => {
    const { names } = collect(
      chunk({ reasoning: 'r' }),
      chunk({ content: 'c' }),
      chunk(tool(0, 'c1', 'look', '{}')),
      chunk(tool(1, 'c2', 'patch', '{"input":"x"}')),
      chunk({}, 'tool_calls'),
    );
    expect(names.map((name) => name.replace('response.', ''))).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'reasoning_summary_part.added',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.done',
      'reasoning_summary_part.done',
      'output_item.done',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'output_item.added',
      'function_call_arguments.delta',
      'function_call_arguments.done',
      'output_item.done',
      'output_item.added',
      'custom_tool_call_input.delta',
      'custom_tool_call_input.done',
      'output_item.done',
      'completed',
    ]);
  });

  it('ends interleaved calls in the order in which they began', () => {
    const deltas = [
      tool(0, 'c1', 'look', '{"a"'),
      tool(1, 'c2', 'run', '{}'),
      tool(0, undefined, undefined, ':1}'),
      tool(2, 'c3', 'run', '{}'),
    ];
    const { events } = collect(...deltas.map((delta) => chunk(delta)), chunk({}, 'tool_calls'));
    const done = events.filter((event) => event['type'] === 'response.output_item.done');
    expect(done.map((event) => event['output_index'])).toEqual([0, 1, 2]);
  });

  it('sends the arguments of interleaved calls as they come', () => {
    const relay = createRelay();
    relay.push(sse(chunk(tool(0, 'c1', 'look', '{"a"')), chunk(tool(1, 'c2', 'run', '{"b"'))));
    const out = Buffer.from(relay.push(sse(chunk(tool(0, undefined, undefined, ':1}'))))).toString();
    expect(parseResponsesEvents(out)).toMatchObject([
      { type: 'response.function_call_arguments.delta', output_index: 0, item_id: 'fc_1', delta: ':1}' },
    ]);
  });

  it.each([
    [
      'drops and counts a call that never got a name',
      [{ content: 'a' }, tool(0, 'c1', undefined, '{}')],
      'tool_call_without_name',
    ],
    [
      'drops and counts arguments after their end',
      [tool(0, 'c1', 'look', '{}'), tool(1, 'c2', 'run', '{}'), tool(0, undefined, undefined, '{"more":1}')],
      'tool_arguments_after_end',
    ],
  ])('%s', (_name, deltas, anomaly) => {
    const relay = createRelay();
    const all = sse(...deltas.map((delta) => chunk(delta)), chunk({}, 'tool_calls'));
    checkResponsesOrder(relayAll([all], relay), true);
    expect(relay.anomalies).toEqual([anomaly]);
  });

  it('takes white space after the end of arguments for nothing', () => {
    const relay = createRelay();
    const deltas = [tool(0, 'c1', 'look', '{}'), tool(1, 'c2', 'run', '{}'), tool(0, undefined, undefined, ' \n')];
    relayAll([sse(...deltas.map((delta) => chunk(delta)), chunk({}, 'tool_calls'))], relay);
    expect(relay.anomalies).toEqual([]);
  });

  const ends: readonly (readonly [string, string, readonly object[], string, string | null, readonly string[]])[] = [
    ['stop', 'stop', [{ content: 'a' }], 'completed', null, ['completed']],
    ['an unknown word', 'whatever', [{ content: 'a' }], 'completed', null, ['completed']],
    ['tool_calls', 'tool_calls', [tool(0, 'c', 'look', '{}')], 'completed', null, ['completed']],
    ['length', 'length', [{ content: 'a' }], 'incomplete', 'max_output_tokens', ['incomplete']],
    [
      'length with a cut call',
      'length',
      [{ content: 'a' }, tool(0, 'c', 'look', '{"a')],
      'incomplete',
      'max_output_tokens',
      ['completed', 'incomplete'],
    ],
    [
      'length right after a whole call',
      'length',
      [tool(0, 'c', 'look', '{"a":1}')],
      'incomplete',
      'max_output_tokens',
      ['completed'],
    ],
    [
      'length with an empty call',
      'length',
      [tool(0, 'c', 'look', '')],
      'incomplete',
      'max_output_tokens',
      ['incomplete'],
    ],
    ['content_filter', 'content_filter', [{ content: 'a' }], 'incomplete', 'content_filter', ['incomplete']],
    ['nothing said', 'stop', [], 'completed', null, []],
  ];
  it.each(ends)('ends well on %s', (_name, finish, deltas, status, reason, statuses) => {
    const collected = collect(...deltas.map((delta) => chunk(delta)), chunk({}, finish));
    expect(collected.names.at(-1)).toBe(`response.${status}`);
    expect(collected.last?.['incomplete_details']).toEqual(reason === null ? null : { reason });
    expect(collected.items.map((item) => item['status'])).toEqual(statuses);
  });

  describe('reasoning that only its maker can read', () => {
    const sealed = (collected: CollectedResponse): unknown[] =>
      collected.items.flatMap((item) =>
        item['type'] === 'reasoning' ? [unsealReasoning(String(item['encrypted_content']))] : [],
      );
    const details = (...list: readonly object[]): object => chunk({ reasoning_details: list });
    const format = 'openai-responses-v1';

    const rows: readonly (readonly [string, readonly object[], readonly (readonly object[])[]])[] = [
      [
        'a signature in the same detail',
        [details({ type: 'reasoning.text', text: 'a', signature: 's', index: 0 })],
        [[{ type: 'reasoning.text', text: 'a', signature: 's', index: 0 }]],
      ],
      [
        'a signature in a detail of its own',
        [details({ type: 'reasoning.text', text: 'a' }), details({ type: 'reasoning.text', signature: 's' })],
        [[{ type: 'reasoning.text', text: 'a', signature: 's' }]],
      ],
      [
        'two signed thoughts, each with its own signature',
        [
          details({ type: 'reasoning.text', text: 'a', signature: 's' }),
          details({ type: 'reasoning.text', text: 'b', signature: 't' }),
        ],
        [
          [
            { type: 'reasoning.text', text: 'a', signature: 's' },
            { type: 'reasoning.text', text: 'b', signature: 't' },
          ],
        ],
      ],
      [
        'a summary in pieces and its encrypted whole',
        [
          details({ type: 'reasoning.summary', summary: 'a', format, index: 0 }),
          details({ type: 'reasoning.summary', summary: 'b', format, index: 0 }),
          details({ type: 'reasoning.encrypted', data: 'X', id: 'rs_9', format, index: 0 }),
        ],
        [
          [
            { type: 'reasoning.summary', summary: 'ab', format, index: 0 },
            { type: 'reasoning.encrypted', data: 'X', id: 'rs_9', format, index: 0 },
          ],
        ],
      ],
      [
        'encrypted reasoning that comes after the text',
        [chunk({ content: 'a' }), details({ type: 'reasoning.encrypted', data: 'X', format })],
        [[{ type: 'reasoning.encrypted', data: 'X', format }]],
      ],
      [
        'a signature for thinking that is not shown',
        [details({ type: 'reasoning.text', text: '', signature: 's' })],
        [[{ type: 'reasoning.text', text: '', signature: 's' }]],
      ],
    ];
    it.each(rows)('goes out sealed: %s', (_name, chunks, expected) => {
      expect(sealed(collect(...chunks, chunk({}, 'stop')))).toEqual(expected);
    });

    it('is left out for a client that did not ask for it', () => {
      const chunks = [
        details({ type: 'reasoning.text', text: 'a', signature: 's' }),
        chunk({ content: 'b' }),
        details({ type: 'reasoning.encrypted', data: 'X' }),
        chunk({}, 'stop'),
      ];
      const out = relayAll([sse(...chunks)], createRelay({ include: [] }));
      expect(itemsOf(checkResponsesOrder(out, true))).toEqual([reasoning('a'), message('b')]);
    });

    it('is absent for thinking that is all shown', () => {
      expect(itemsOf(collect(details({ type: 'reasoning.text', text: 'a' }), chunk({}, 'stop')))).toEqual([
        reasoning('a'),
      ]);
    });

    it('is dropped and counted where a signature comes after its thinking was handed over', () => {
      const relay = createRelay();
      const late = details({ type: 'reasoning.text', signature: 's' });
      const out = relayAll([sse(chunk({ reasoning: 'a' }), chunk({ content: 'b' }), late, chunk({}, 'stop'))], relay);
      expect(checkResponsesOrder(out, true).items).toHaveLength(2);
      expect(relay.anomalies).toEqual(['late_signature']);
    });
  });

  const usage = {
    prompt_tokens: 100,
    completion_tokens: 9,
    prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
    completion_tokens_details: { reasoning_tokens: 4 },
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
    const relay = createRelay();
    const { last } = checkResponsesOrder(relayAll([sse(...chunks)], relay), true);
    expect(last?.['usage']).toEqual({
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
      output_tokens: 9,
      output_tokens_details: { reasoning_tokens: 4 },
      total_tokens: 109,
      cost: 0.000123,
    });
    expect(relay.usage).toMatchObject({ inputTokens: 100, outputTokens: 9 });
  });

  it('sends a usage object even where the upstream sent none', () => {
    const relay = createRelay();
    const { last } = checkResponsesOrder(relayAll([sse(chunk({}, 'stop'))], relay), true);
    expect(last?.['usage']).toMatchObject({ input_tokens: 7, output_tokens: 0 });
    expect(relay.usage).toBeUndefined();
  });

  it('names what was wrong in the usage', () => {
    const relay = createRelay();
    relayAll([sse(chunk({}, 'stop'), usageChunk({ prompt_tokens: -1, completion_tokens: 'x' }))], relay);
    expect(relay.anomalies).toEqual(['usage_invalid:prompt_tokens', 'usage_invalid:completion_tokens']);
    expect(relay.usageMissing).toEqual(['inputTokens', 'outputTokens']);
  });

  const failures: readonly (readonly [string, string, ErrorCode, string])[] = [
    [
      'an error object',
      sse(chunk({ content: 'a' }), { error: { message: 'It broke', code: 502 } }).toString(),
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
    ['an early end inside a call', sse(chunk(tool(0, 'c', 'look', '{"a'))).toString(), 'UPSTREAM_ERROR', 'ended early'],
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
    [
      'arguments without end for a call without a name',
      sse(...Array.from({ length: 9 }, () => chunk(tool(0, 'c', undefined, 'x'.repeat(1_000_000))))).toString(),
      'UPSTREAM_INVALID_RESPONSE',
      'cannot read',
    ],
  ];
  it.each(failures)('ends with an error event and response.failed on %s', (_name, stream, code, wording) => {
    const relay = createRelay();
    const collected = checkResponsesOrder(relayAll([Buffer.from(stream)], relay), false);
    expect(relay.failure?.code).toBe(code);
    expect(relay.failure?.message).toContain(wording);
    expect(collected.error).toMatchObject({ error: { code, retryable: true }, request_id: 'req_1' });
    expect(collected.last).toMatchObject({ status: 'failed', error: { message: relay.failure?.message } });
  });

  it.each([
    ['CONTEXT_LENGTH_EXCEEDED', 'context_length_exceeded'],
    ['UPSTREAM_RATE_LIMITED', 'rate_limit_exceeded'],
    ['RATE_LIMITED', 'rate_limit_exceeded'],
    ['INSUFFICIENT_CREDITS', 'insufficient_quota'],
    ['INVALID_REQUEST', 'invalid_prompt'],
    ['UPSTREAM_ERROR', 'server_error'],
    ['SHUTTING_DOWN', 'server_error'],
  ] as const)('fails with %s, which agents know as %s', (code, known) => {
    const relay = createRelay();
    const begun = Buffer.from(relay.push(sse(chunk({ content: 'a' })))).toString();
    const out = begun + Buffer.from(relay.fail(new SvcError(code, 'Words.'))).toString();
    const { last, error } = checkResponsesOrder(out, false);
    expect(last?.['error']).toEqual({ code: known, message: 'Words.' });
    expect(error).toMatchObject({ error: { code, message: 'Words.' } });
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
    expect(itemsOf(checkResponsesOrder(out, true))).toEqual([message('a')]);
  });

  it('pings with a comment, which takes no number', () => {
    const relay = createRelay();
    const ping = Buffer.from(relay.ping()).toString();
    expect(ping).toBe(': ping\n\n');
    checkResponsesOrder(ping + relayAll([sse(chunk({}, 'stop'))], relay), true);
  });

  it('counts the bytes of text, thinking, refusals and arguments', () => {
    const relay = createRelay();
    const chunks = [
      chunk({ reasoning: 'é' }),
      chunk({ content: 'abc' }),
      chunk({ refusal: 'no' }),
      chunk(tool(0, 'c', 'look', '{}')),
      chunk({}, 'stop'),
    ];
    relayAll([sse(...chunks)], relay);
    expect(relay.deliveredBytes).toBe(9);
  });

  it('counts media at a thousandth, though the dialect has no item for them', () => {
    const relay = createRelay();
    relayAll([sse(chunk({ images: ['x'.repeat(5000)] }), chunk({}, 'stop'))], relay);
    expect(relay.deliveredBytes).toBe(5);
  });

  it('keeps lone surrogates of JSON escapes', () => {
    const frame = 'data: {"choices":[{"index":0,"delta":{"content":"\\ud83d"},"finish_reason":null}]}\n\n';
    expect(Buffer.from(createRelay().push(Buffer.from(frame))).toString()).toContain('"delta":"\\ud83d"');
  });

  it('gives the same events, however the bytes are cut', () => {
    fc.assert(
      fc.property(fc.oneof(goodStream, anyStream), anyCuts, (stream, cuts) => {
        expect(relayAll(cutAt(stream, cuts))).toBe(relayAll([stream]));
      }),
      { numRuns: 200 },
    );
  });

  it('ends every good stream well, in order', () => {
    fc.assert(
      fc.property(goodStream, (stream) => {
        checkResponsesOrder(relayAll([stream]), true);
      }),
      { numRuns: 250 },
    );
  });

  it('keeps the order, whatever an upstream sends', () => {
    fc.assert(
      fc.property(anyStream, anyCuts, (stream, cuts) => {
        const relay = createRelay();
        const { error } = checkResponsesOrder(relayAll(cutAt(stream, cuts), relay), false);
        expect(error === undefined).toBe(relay.failure === undefined);
      }),
      { numRuns: 250 },
    );
  });
});

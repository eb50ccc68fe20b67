import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseChatResponse } from '../../src/wire/chat-response.ts';
import type { NeutralResponse } from '../../src/wire/neutral.ts';
import { sealReasoning, unsealReasoning } from '../../src/wire/parse-reasoning.ts';
import { parseResponsesRequest } from '../../src/wire/parse-responses-request.ts';
import { renderChatRequest } from '../../src/wire/render-chat-request.ts';
import { renderResponsesResponse } from '../../src/wire/render-responses-response.ts';
import { createResponsesStreamRelay } from '../../src/wire/responses-stream-relay.ts';
import { createToolIdChooser } from '../../src/wire/tool-ids.ts';
import { ENVELOPE, sse } from './chat-streams.ts';
import { checkResponsesOrder, type Fields } from './responses-order.ts';

const USAGE = { inputTokens: 12, cachedTokens: 3, cacheWriteTokens: 1, outputTokens: 5, reasoningTokens: 2 };
const INCLUDE = ['reasoning.encrypted_content'];

function optionsFor(more: object) {
  const request = parseResponsesRequest({ model: 'svc:auto', input: 'Hi', ...more });
  const counts = new Map<string, number>();
  const newId = (prefix: string): string => {
    const count = (counts.get(prefix) ?? 0) + 1;
    counts.set(prefix, count);
    return `${prefix}_${count}`;
  };
  return {
    head: { id: 'resp_1', model: 'routed/model', createdAt: 1_700_000_000, request },
    newId,
    chooseCallId: createToolIdChooser(new Set(['used']), () => newId('call')),
    toolOf: (name: string) => request.toolkit.byName.get(name) ?? ({ kind: 'function', name } as const),
    withEncrypted: request.includeEncrypted,
  };
}

function render(response: Partial<NeutralResponse>, more: object = {}): Fields {
  const whole = {
    id: 'gen-1',
    model: 'real/model',
    created: 1,
    content: [],
    finishReason: 'stop',
    ...response,
  } as const;
  return renderResponsesResponse(whole, { ...optionsFor(more), cost: '0.25', usage: USAGE });
}

describe('a whole answer for a Responses caller', () => {
  it('has everything the dialect has', () => {
    const given = {
      instructions: 'Be kind.',
      max_output_tokens: 9,
      metadata: { a: 'b' },
      parallel_tool_calls: false,
      prompt_cache_key: 'k',
      reasoning: { effort: 'low', summary: 'auto' },
      safety_identifier: 's',
      store: true,
      temperature: 0,
      text: { format: { type: 'json_object' }, verbosity: 'low' },
      tool_choice: 'required',
      tools: [{ type: 'function', name: 'look' }],
      top_p: 0.5,
      user: 'u',
    };
    expect(render({ content: [{ type: 'text', text: 'Hi' }] }, given)).toEqual({
      ...given,
      id: 'resp_1',
      object: 'response',
      created_at: 1_700_000_000,
      status: 'completed',
      error: null,
      incomplete_details: null,
      model: 'real/model',
      output: [
        {
          id: 'msg_1',
          type: 'message',
          status: 'completed',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Hi', annotations: [], logprobs: [] }],
        },
      ],
      usage: {
        input_tokens: 12,
        input_tokens_details: { cached_tokens: 3, cache_write_tokens: 1 },
        output_tokens: 5,
        output_tokens_details: { reasoning_tokens: 2 },
        total_tokens: 17,
        cost: 0.25,
      },
      background: false,
      previous_response_id: null,
      service_tier: 'default',
      store: false,
      truncation: 'disabled',
    });
  });

  it('names the routed model where the upstream named none', () => {
    expect(render({ model: '' })['model']).toBe('routed/model');
  });

  it('does not repeat tools that were dropped', () => {
    const tools = [{ type: 'function', name: 'look' }, { type: 'web_search' }];
    expect(render({}, { tools })['tools']).toEqual([{ type: 'function', name: 'look' }]);
  });

  it.each([
    ['stop', 'completed', null],
    ['tool_calls', 'completed', null],
    ['length', 'incomplete', { reason: 'max_output_tokens' }],
    ['content_filter', 'incomplete', { reason: 'content_filter' }],
  ] as const)('after %s is %s', (finishReason, status, details) => {
    const answer = render({ finishReason, content: [{ type: 'text', text: 'a' }] });
    expect([answer['status'], answer['incomplete_details']]).toEqual([status, details]);
    expect(answer['output']).toMatchObject([{ status }]);
  });

  const text = { type: 'text', text: 'a' } as const;
  const call = { type: 'tool_call', id: 'c1', name: 'look', arguments: '{"a":1}' } as const;
  const rows: readonly (readonly [string, Partial<NeutralResponse>, readonly object[]])[] = [
    ['nothing', {}, []],
    ['an empty text', { content: [{ type: 'text', text: '' }] }, []],
    [
      'thinking, text and a call',
      { content: [{ type: 'thinking', text: 'hm' }, text, call] },
      [
        { id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] },
        { id: 'msg_1', type: 'message' },
        { id: 'fc_1', type: 'function_call', call_id: 'c1', name: 'look', arguments: '{"a":1}', status: 'completed' },
      ],
    ],
    [
      'a refusal beside text, before the call',
      { content: [text, call], refusal: 'no' },
      [
        {
          type: 'message',
          content: [
            { type: 'output_text', text: 'a' },
            { type: 'refusal', refusal: 'no' },
          ],
        },
        { type: 'function_call' },
      ],
    ],
    ['a call without arguments', { content: [{ ...call, arguments: '' }] }, [{ arguments: '{}' }]],
    ['a call with bad JSON', { content: [{ ...call, arguments: '{"a' }] }, [{ arguments: '{"a' }]],
    ['a call without an id', { content: [{ ...call, id: '' }] }, [{ call_id: 'call_1' }]],
    ['a call with an id of the history', { content: [{ ...call, id: 'used' }] }, [{ call_id: 'call_1' }]],
    ['two calls of one id', { content: [call, call] }, [{ call_id: 'c1' }, { call_id: 'call_1' }]],
    ['a call without a name, which nobody could run', { content: [{ ...call, name: '' }, call] }, [{ name: 'look' }]],
    [
      'a call that was cut',
      { content: [{ ...call, arguments: '{"a' }], finishReason: 'length' },
      [{ arguments: '{"a', status: 'incomplete' }],
    ],
  ];
  it.each(rows)('holds %s', (_name, response, items) => {
    const { output } = render(response);
    expect(output).toMatchObject(items);
    expect(output).toHaveLength(items.length);
  });

  it('gives the calls of custom tools and namespaces back as such', () => {
    const tools = [
      { type: 'custom', name: 'patch' },
      { type: 'namespace', name: 'agents', tools: [{ type: 'function', name: 'close' }] },
    ];
    const content = [
      { type: 'tool_call', id: 'c1', name: 'patch', arguments: '{"input":"x"}' },
      { type: 'tool_call', id: 'c2', name: 'agents__close', arguments: '{}' },
    ] as const;
    expect(render({ content }, { tools })['output']).toEqual([
      { id: 'ctc_1', type: 'custom_tool_call', status: 'completed', input: 'x', call_id: 'c1', name: 'patch' },
      {
        id: 'fc_1',
        type: 'function_call',
        status: 'completed',
        arguments: '{}',
        call_id: 'c2',
        name: 'close',
        namespace: 'agents',
      },
    ]);
  });
});

describe('reasoning on its way to the client and back', () => {
  const claude = 'anthropic-claude-v1';
  const rows = [
    [
      'signed thoughts of Claude',
      'anthropic/claude-opus-4',
      [
        { type: 'reasoning.text', text: 'a', signature: 's', format: claude, index: 0 },
        { type: 'reasoning.text', text: 'b', signature: 't', format: claude, index: 1 },
      ],
    ],
    [
      'redacted thoughts of Claude',
      'anthropic/claude-opus-4',
      [{ type: 'reasoning.encrypted', data: 'X', format: claude, index: 0 }],
    ],
    [
      'encrypted thoughts of others',
      'openai/gpt-5',
      [
        { type: 'reasoning.summary', summary: 'a', format: 'openai-responses-v1', index: 0 },
        { type: 'reasoning.encrypted', data: 'X', id: 'rs_1', format: 'openai-responses-v1', index: 0 },
      ],
    ],
  ] as const;
  it.each(rows)('%s come back to the model as they were', (_name, model, details) => {
    const message = { role: 'assistant', content: 'ok', reasoning_details: details };
    const chat = parseChatResponse({ choices: [{ index: 0, message, finish_reason: 'stop' }] });
    const { output } = render(chat, { include: INCLUDE });
    const next = parseResponsesRequest({ model: 'm', input: output });
    const { body } = renderChatRequest(next, { model, dialect: 'openrouter', sandboxField: false });
    expect(body['messages']).toMatchObject([{ role: 'assistant', content: 'ok', reasoning_details: details }]);
  });

  it('are kept from a client that did not ask for them', () => {
    const content = [
      { type: 'thinking', text: 'a', signature: 's' },
      { type: 'thinking', text: '', encrypted: 'X' },
    ] as const;
    expect(render({ content })['output']).toEqual([
      { id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text: 'a' }] },
    ]);
  });

  it('keep a seal as it is', () => {
    const details = [{ type: 'reasoning.encrypted', data: 'X', format: 'google-gemini-v1' }];
    const content = [{ type: 'thinking', text: '', encrypted: sealReasoning(details) }] as const;
    const [item] = render({ content }, { include: INCLUDE })['output'] as Fields[];
    expect(unsealReasoning(String(item?.['encrypted_content']))).toEqual(details);
  });
});

it('a whole answer has the items of the same answer streamed', () => {
  const anyText = fc.constantFrom('', 'a', '"é😀\n');
  const anyMessage = fc.record(
    {
      content: fc.oneof(anyText, fc.constant(null)),
      reasoning: anyText,
      refusal: fc.oneof(anyText, fc.constant(null)),
      tool_calls: fc.array(
        fc.record({
          id: fc.constantFrom('c1', 'c2', 'used', 'odd id'),
          function: fc.record({
            name: fc.constantFrom('look', 'patch', 'x'),
            arguments: fc.constantFrom('', '{}', '{"input":"a"}', '{"a'),
          }),
        }),
        { maxLength: 3 },
      ),
    },
    { requiredKeys: ['content'] },
  );
  const finish = fc.constantFrom('stop', 'length', 'tool_calls', 'content_filter');
  fc.assert(
    fc.property(anyMessage, finish, (message, finish_reason) => {
      // Pieces of one call share its id, so each call here has its own.
      const calls = message.tool_calls?.map((call, index) => ({ ...call, index, id: `${call.id}_${index}` }));
      const said = { ...message, tool_calls: calls ?? [] };
      const tools = [{ type: 'custom', name: 'patch' }];
      const chat = parseChatResponse({ ...ENVELOPE, choices: [{ index: 0, message: said, finish_reason }] });
      const relay = createResponsesStreamRelay({
        ...optionsFor({ tools }),
        inputTokensEstimate: 0,
        requestId: 'req_1',
      });
      const body = sse({ ...ENVELOPE, choices: [{ index: 0, delta: said, finish_reason }] });
      const text = Buffer.concat([relay.push(body), relay.end(), relay.complete('0')]).toString();
      expect(checkResponsesOrder(text, true).items.map(withoutId)).toEqual(
        (render(chat, { tools })['output'] as Fields[]).map(withoutId),
      );
    }),
  );
});

/** An odd id is cleaned, with a part made from the whole of it; both ways the same. */
function withoutId({ id: _id, ...item }: Fields): Fields {
  return item;
}

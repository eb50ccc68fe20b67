import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseChatRequest } from '../../src/wire/parse-chat-request.ts';
import { sealReasoning } from '../../src/wire/parse-reasoning.ts';
import { parseResponsesRequest, toResponsesRequest } from '../../src/wire/parse-responses-request.ts';
import { renderChatRequest } from '../../src/wire/render-chat-request.ts';
import { isSvcError, type SvcError } from '../../src/wire/svc-error.ts';

const BASE = { model: 'svc:auto', input: 'Hi' };

function parse(more: object) {
  return parseResponsesRequest({ ...BASE, ...more });
}

function messagesOf(input: unknown) {
  return parse({ input }).messages;
}

/** The same as Chat messages, for what an upstream gets. */
function chatOf(input: unknown, model = 'openai/gpt-5'): unknown {
  const options = { model, dialect: 'openrouter', sandboxField: false } as const;
  return renderChatRequest(parse({ input }), options).body['messages'];
}

function refusal(run: () => unknown): SvcError {
  try {
    run();
  } catch (error) {
    if (isSvcError(error)) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

const userText = (text: string): object => ({ role: 'user', content: [{ type: 'text', text }] });

describe('a Responses request', () => {
  it('of the least there can be is one turn of the user', () => {
    expect(parseResponsesRequest(BASE)).toEqual({
      dialect: 'responses',
      model: 'svc:auto',
      messages: [userText('Hi')],
      tools: [],
      stream: false,
      includeUsage: true,
      choices: 1,
      given: BASE,
      toolkit: { tools: [], kept: [], dropped: [], byName: new Map() },
      includeEncrypted: false,
    });
  });

  const fields: readonly (readonly [string, object, object])[] = [
    ['stream', { stream: true }, { stream: true }],
    ['max_output_tokens', { max_output_tokens: 5 }, { maxTokens: 5 }],
    ['temperature 0', { temperature: 0 }, { temperature: 0 }],
    ['top_p', { top_p: 0.5 }, { topP: 0.5 }],
    ['parallel_tool_calls', { parallel_tool_calls: false }, { parallelToolCalls: false }],
    ['reasoning.effort', { reasoning: { effort: 'high', summary: 'auto' } }, { reasoning: { effort: 'high' } }],
    ['the effort none', { reasoning: { effort: 'none' } }, { reasoning: { enabled: false } }],
    [
      'a JSON schema',
      { text: { format: { type: 'json_schema', name: 'n', schema: { a: 1 }, strict: true } } },
      {
        responseFormat: { type: 'json_schema', name: 'n', schema: { a: 1 }, strict: true },
      },
    ],
    ['JSON mode', { text: { format: { type: 'json_object' } } }, { responseFormat: { type: 'json_object' } }],
    ['prompt_cache_key', { prompt_cache_key: 'k' }, { session: 'k' }],
    ['session_id before it', { prompt_cache_key: 'k', session_id: 's' }, { session: 's' }],
    ['user', { user: 'u' }, { user: 'u' }],
    ['safety_identifier', { safety_identifier: 'u' }, { user: 'u' }],
    ['service_tier', { service_tier: 'auto' }, { serviceTier: 'auto' }],
    ['svc', { svc: { max_cost: '1' } }, { svc: { max_cost: '1' } }],
    ['sandbox', { sandbox: { pace: 0 } }, { sandbox: { pace: 0 } }],
    ['include', { include: ['reasoning.encrypted_content', 'other'] }, { includeEncrypted: true }],
    [
      'instructions as the first turn',
      { instructions: 'Be kind.' },
      {
        messages: [{ role: 'system', content: [{ type: 'text', text: 'Be kind.' }] }, userText('Hi')],
      },
    ],
  ];
  it.each(fields)('carries %s', (_name, given, expected) => {
    expect(parse(given)).toMatchObject(expected);
  });

  const ignored: readonly (readonly [string, object])[] = [
    ['store: false', { store: false }],
    ['store: true, which changes nothing', { store: true }],
    ['a null for what is left out', { instructions: null, previous_response_id: null, tools: null, text: null }],
    ['empty instructions', { instructions: '' }],
    ['background: false', { background: false }],
    ['plain text as the format', { text: { format: { type: 'text' }, verbosity: 'low' } }],
    ['a summary of reasoning without an effort', { reasoning: { summary: 'auto' } }],
    ['metadata', { metadata: { a: 'b' } }],
    ['stream_options', { stream_options: { include_obfuscation: false } }],
    ['unknown fields', { client_metadata: { a: 1 }, truncation: 'auto', whatever: [] }],
  ];
  it.each(ignored)('takes %s', (_name, given) => {
    const { given: _given, ...parsed } = parse(given);
    const { given: _base, ...expected } = parseResponsesRequest(BASE);
    expect(parsed).toEqual(expected);
  });

  const refused: readonly (readonly [string, unknown, string, string])[] = [
    ['no object', [], 'INVALID_REQUEST', 'body must be a JSON object'],
    ['no model', { input: 'Hi' }, 'INVALID_REQUEST', 'model is required'],
    ['no input', { model: 'm' }, 'INVALID_REQUEST', 'input is required'],
    ['an input of another type', { ...BASE, input: 7 }, 'INVALID_REQUEST', 'input must be a string or an array'],
    ['an empty input', { ...BASE, input: [] }, 'INVALID_REQUEST', 'input must have at least one item'],
    ['too many items', { ...BASE, input: Array(10_001).fill({}) }, 'INVALID_REQUEST', 'input must have at most 10000'],
    ['an item that is no object', { ...BASE, input: ['Hi'] }, 'INVALID_REQUEST', 'input[0] must be an object'],
    ['an item without a type', { ...BASE, input: [{}] }, 'INVALID_REQUEST', 'input[0].type is required'],
    ['an unknown item', { ...BASE, input: [{ type: 'odd' }] }, 'UNSUPPORTED_FEATURE', 'input[0] is of the type "odd"'],
    [
      'compacted conversation',
      { ...BASE, input: [{ type: 'compaction', encrypted_content: 'x' }] },
      'UNSUPPORTED_FEATURE',
      '"compaction"',
    ],
    [
      'a reference to a stored item',
      { ...BASE, input: [{ type: 'item_reference', id: 'msg_1' }] },
      'UNSUPPORTED_FEATURE',
      'input[0] refers to a stored item',
    ],
    [
      'a role of another kind',
      { ...BASE, input: [{ role: 'tool', content: 'x' }] },
      'INVALID_REQUEST',
      'input[0].role',
    ],
    ['a message without content', { ...BASE, input: [{ role: 'user' }] }, 'INVALID_REQUEST', 'input[0].content is req'],
    [
      'a part without a type',
      { ...BASE, input: [{ role: 'user', content: [{}] }] },
      'INVALID_REQUEST',
      'input[0].content[0] must be an object with a type',
    ],
    [
      'a text that is none',
      { ...BASE, input: [{ role: 'user', content: [{ type: 'input_text', text: 1 }] }] },
      'INVALID_REQUEST',
      'input[0].content[0].text',
    ],
    [
      'an image by file id',
      { ...BASE, input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }] },
      'UNSUPPORTED_FEATURE',
      'file_id is not available: no files are stored here. Send image_url.',
    ],
    [
      'an image of nothing',
      { ...BASE, input: [{ role: 'user', content: [{ type: 'input_image' }] }] },
      'INVALID_REQUEST',
      'image_url is required',
    ],
    [
      'a file by id',
      { ...BASE, input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'f' }] }] },
      'UNSUPPORTED_FEATURE',
      'Send file_data.',
    ],
    [
      'a file of nothing',
      { ...BASE, input: [{ role: 'user', content: [{ type: 'input_file' }] }] },
      'INVALID_REQUEST',
      'must have file_data or file_url',
    ],
    [
      'a call without an id',
      { ...BASE, input: [{ type: 'function_call', name: 'f', arguments: '' }] },
      'INVALID_REQUEST',
      'input[0].call_id',
    ],
    [
      'a call without arguments',
      { ...BASE, input: [{ type: 'function_call', name: 'f', call_id: 'c' }] },
      'INVALID_REQUEST',
      'input[0].arguments',
    ],
    [
      'a result without a call',
      { ...BASE, input: [{ type: 'function_call_output', output: '' }] },
      'INVALID_REQUEST',
      'input[0].call_id',
    ],
    [
      'a result of nothing',
      { ...BASE, input: [{ type: 'function_call_output', call_id: 'c' }] },
      'INVALID_REQUEST',
      'input[0].output is required',
    ],
    [
      'previous_response_id',
      { ...BASE, previous_response_id: 'resp_1' },
      'UNSUPPORTED_FEATURE',
      'send the whole conversation in input',
    ],
    [
      'conversation',
      { ...BASE, conversation: { id: 'conv_1' } },
      'UNSUPPORTED_FEATURE',
      'send the whole conversation in input',
    ],
    ['a stored prompt', { ...BASE, prompt: { id: 'pmpt_1' } }, 'UNSUPPORTED_FEATURE', 'send instructions and input'],
    ['background', { ...BASE, background: true }, 'UNSUPPORTED_FEATURE', 'wait for the answer, or stream it'],
    ['a store that is no boolean', { ...BASE, store: 'yes' }, 'INVALID_REQUEST', 'store must be true or false'],
    ['a temperature out of range', { ...BASE, temperature: 3 }, 'INVALID_REQUEST', 'temperature must be a number'],
    ['max_output_tokens of 0', { ...BASE, max_output_tokens: 0 }, 'INVALID_REQUEST', 'max_output_tokens must be'],
    ['an unknown format', { ...BASE, text: { format: { type: 'xml' } } }, 'INVALID_REQUEST', 'text.format.type'],
    [
      'a schema of nothing',
      { ...BASE, text: { format: { type: 'json_schema', name: 'n' } } },
      'INVALID_REQUEST',
      'text.format.schema',
    ],
    [
      'a schema without a name',
      { ...BASE, text: { format: { type: 'json_schema', schema: {} } } },
      'INVALID_REQUEST',
      'text.format.name',
    ],
    [
      'a list of includes that is none',
      { ...BASE, include: [1] },
      'INVALID_REQUEST',
      'include must be an array of strings',
    ],
  ];
  it.each(refused)('is refused with %s', (_name, body, code, wording) => {
    const error = refusal(() => parseResponsesRequest(body));
    expect(error.code).toBe(code);
    expect(error.message).toContain(wording);
  });

  it('is told from one of another dialect', () => {
    const chat = parseChatRequest({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] });
    expect(() => toResponsesRequest(chat)).toThrow('a request of the dialect chat');
    const own = parseResponsesRequest(BASE);
    expect(toResponsesRequest(own)).toBe(own);
  });
});

describe('the items of the input', () => {
  const rows: readonly (readonly [string, readonly object[], readonly unknown[]])[] = [
    ['a message without a type', [{ role: 'user', content: 'Hi' }], [{ role: 'user', content: 'Hi' }]],
    [
      'developer and system as system',
      [
        { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'a' }] },
        { type: 'message', role: 'system', content: 'b' },
        { role: 'user', content: 'c' },
      ],
      [
        { role: 'system', content: 'a' },
        { role: 'system', content: 'b' },
        { role: 'user', content: 'c' },
      ],
    ],
    [
      'what the assistant said',
      [
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'a', annotations: [] }],
        },
      ],
      [{ role: 'assistant', content: 'a' }],
    ],
    [
      'what the assistant refused',
      [{ role: 'assistant', content: [{ type: 'refusal', refusal: 'no' }] }],
      [{ role: 'assistant', content: 'no' }],
    ],
    [
      'two messages of the assistant as two turns',
      [
        { role: 'assistant', content: 'a' },
        { role: 'assistant', content: 'b' },
      ],
      [
        { role: 'assistant', content: 'a' },
        { role: 'assistant', content: 'b' },
      ],
    ],
    [
      'thinking, a message and calls as one turn',
      [
        { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }] },
        { role: 'assistant', content: 'a' },
        { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{"x":1}' },
        { type: 'function_call', call_id: 'c2', name: 'g', arguments: '' },
        { type: 'function_call_output', call_id: 'c1', output: 'one' },
        { type: 'function_call_output', call_id: 'c2', output: [{ type: 'input_text', text: 'two' }] },
      ],
      [
        {
          role: 'assistant',
          content: 'a',
          reasoning: 'hm',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
            { id: 'c2', type: 'function', function: { name: 'g', arguments: '' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'one' },
        { role: 'tool', tool_call_id: 'c2', content: 'two' },
      ],
    ],
    [
      'results right after the turn that called, whatever came in between',
      [
        { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
        { role: 'user', content: 'wait' },
        { role: 'assistant', content: 'on it' },
        { type: 'function_call', call_id: 'c2', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c2', output: 'two' },
        { type: 'function_call_output', call_id: 'c1', output: 'one' },
      ],
      [
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'one' },
        { role: 'user', content: 'wait' },
        {
          role: 'assistant',
          content: 'on it',
          tool_calls: [{ id: 'c2', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c2', content: 'two' },
      ],
    ],
    [
      'a call after a result as another turn',
      [
        { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: 'one' },
        { type: 'function_call', call_id: 'c2', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c2', output: 'two' },
      ],
      [
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'one' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c2', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c2', content: 'two' },
      ],
    ],
    [
      'a result nobody called for where it stands',
      [
        { role: 'user', content: 'a' },
        { type: 'function_call_output', call_id: 'c9', output: 'x' },
      ],
      [
        { role: 'user', content: 'a' },
        { role: 'tool', tool_call_id: 'c9', content: 'x' },
      ],
    ],
    [
      'custom calls as calls with one text',
      [
        { type: 'custom_tool_call', call_id: 'c1', name: 'apply_patch', input: '*** Begin\n"x"' },
        { type: 'custom_tool_call_output', call_id: 'c1', output: 'done' },
      ],
      [
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            {
              id: 'c1',
              type: 'function',
              function: { name: 'apply_patch', arguments: '{"input":"*** Begin\\n\\"x\\""}' },
            },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'done' },
      ],
    ],
    [
      'calls of a namespace under one name',
      [
        { type: 'function_call', call_id: 'c1', namespace: 'agents', name: 'close', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: '' },
      ],
      [
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'agents__close', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: '' },
      ],
    ],
    [
      'images, as data and by address',
      [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'a' },
            { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'low' },
            { type: 'input_image', image_url: 'https://example.com/a.png', detail: 'original' },
            { type: 'input_image', image_url: 'https://example.com/b.png', file_id: null },
          ],
        },
      ],
      [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
            { type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'high' } },
            { type: 'image_url', image_url: { url: 'https://example.com/b.png' } },
          ],
        },
      ],
    ],
    [
      'files, as data and by address',
      [
        {
          role: 'user',
          content: [
            { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' },
            { type: 'input_file', filename: 'b.pdf', file_data: 'BBBB' },
            { type: 'input_file', file_url: 'https://example.com/c.pdf' },
          ],
        },
      ],
      [
        {
          role: 'user',
          content: [
            { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' } },
            { type: 'file', file: { filename: 'b.pdf', file_data: 'data:application/pdf;base64,BBBB' } },
            { type: 'file', file: { filename: 'document.pdf', file_data: 'https://example.com/c.pdf' } },
          ],
        },
      ],
    ],
    [
      'sound as Chat has it',
      [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } }] }],
      [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } }] }],
    ],
    [
      'an image that a tool returned',
      [
        { type: 'function_call', call_id: 'c1', name: 'view', arguments: '{}' },
        {
          type: 'function_call_output',
          call_id: 'c1',
          output: [{ type: 'input_image', image_url: 'data:image/png;base64,AAAA' }],
        },
      ],
      [
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'view', arguments: '{}' } }],
        },
        {
          role: 'tool',
          tool_call_id: 'c1',
          content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }],
        },
      ],
    ],
    [
      'a part of an unknown type as the JSON it was',
      [{ role: 'user', content: [{ type: 'input_hologram', x: 1 }] }],
      [{ role: 'user', content: [{ type: 'text', text: '{"type":"input_hologram","x":1}' }] }],
    ],
    [
      'a search that ran elsewhere as the JSON it was',
      [
        { type: 'web_search_call', id: 'ws_1', status: 'completed' },
        { role: 'user', content: 'and?' },
      ],
      [
        { role: 'assistant', content: '{"type":"web_search_call","id":"ws_1","status":"completed"}' },
        { role: 'user', content: 'and?' },
      ],
    ],
    [
      'nothing for thinking without content',
      [
        { type: 'reasoning', id: 'rs_1', summary: [], content: null, encrypted_content: null },
        { role: 'user', content: 'a' },
      ],
      [{ role: 'user', content: 'a' }],
    ],
  ];
  it.each(rows)('become Chat messages: %s', (_name, input, messages) => {
    expect(chatOf(input)).toEqual(messages);
  });

  const format = 'openai-responses-v1';
  const details = [
    { type: 'reasoning.summary', summary: 'hm', format, index: 0 },
    { type: 'reasoning.encrypted', data: 'X', id: 'rs_9', format, index: 0 },
  ];
  const thought = (encrypted: string): object => ({
    type: 'reasoning',
    id: 'rs_1',
    summary: [{ type: 'summary_text', text: 'hm' }],
    content: null,
    encrypted_content: encrypted,
  });

  it('give sealed reasoning back to its maker, byte for byte', () => {
    expect(chatOf([thought(sealReasoning(details)), { role: 'assistant', content: 'a' }])).toEqual([
      { role: 'assistant', content: 'a', reasoning: 'hm', reasoning_details: details },
    ]);
  });

  it('give it to no other vendor', () => {
    const messages = chatOf([thought(sealReasoning(details)), { role: 'assistant', content: 'a' }], 'google/gemini');
    expect(JSON.stringify(messages)).not.toContain('"X"');
  });

  it("take encrypted reasoning that is no seal for OpenAI's own", () => {
    const raw = [{ type: 'reasoning.encrypted', data: 'gAAAA', id: 'rs_1', format, index: 0 }];
    const input = [thought('gAAAA'), { role: 'assistant', content: 'a' }];
    expect(chatOf(input)).toEqual([{ role: 'assistant', content: 'a', reasoning: 'hm', reasoning_details: raw }]);
    expect(JSON.stringify(chatOf(input, 'anthropic/claude-opus-4'))).not.toContain('gAAAA');
  });

  it('keep hidden reasoning that has no text', () => {
    const hidden = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: sealReasoning(details) };
    expect(messagesOf([hidden])).toEqual([
      { role: 'assistant', content: [{ type: 'thinking', text: '', encrypted: sealReasoning(details) }] },
    ]);
  });

  it('prefer the thinking itself to its summary, and join the pieces of one', () => {
    const full = {
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 's' }],
      content: [
        { type: 'reasoning_text', text: 'a' },
        { type: 'reasoning_text', text: 'b' },
      ],
    };
    expect(messagesOf([full])).toEqual([{ role: 'assistant', content: [{ type: 'thinking', text: 'a\n\nb' }] }]);
  });

  it('keep every result with its call, in any order', () => {
    const kinds = fc.array(fc.constantFrom('call', 'user', 'say', 'think'), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(kinds, fc.array(fc.nat(40), { maxLength: 12 }), (order, places) => {
        const input = order.map(itemOf);
        const ids = order.flatMap((kind, index) => (kind === 'call' ? [`c${index}`] : []));
        for (const [index, id] of ids.entries()) insertResult(input, id, places[index] ?? 0);
        checkCallsAnswered(messagesOf(input));
      }),
    );
  });
});

type InputItem = Readonly<Record<string, unknown>>;

function itemOf(kind: string, index: number): InputItem {
  if (kind === 'user') return { role: 'user', content: `u${index}` };
  if (kind === 'say') return { role: 'assistant', content: `a${index}` };
  if (kind === 'think') return { type: 'reasoning', summary: [{ type: 'summary_text', text: 'r' }] };
  return { type: 'function_call', call_id: `c${index}`, name: 'f', arguments: '{}' };
}

/** So many items after its call, or at the end. */
function insertResult(input: InputItem[], id: string, after: number): void {
  const place = input.findIndex((item) => item['call_id'] === id) + 1 + after;
  input.splice(place, 0, { type: 'function_call_output', call_id: id, output: 'x' });
}

/** What Chat upstreams ask for: right after a turn with calls their results, all of them, and no other. */
function checkCallsAnswered(messages: ReturnType<typeof messagesOf>): void {
  let waiting = new Set<string>();
  for (const message of messages) {
    if (message.role === 'tool') {
      expect(waiting.delete(message.toolCallId)).toBe(true);
      continue;
    }
    expect([...waiting]).toEqual([]);
    if (message.role !== 'assistant') continue;
    waiting = new Set(message.content.flatMap((part) => (part.type === 'tool_call' ? [part.id] : [])));
  }
  expect([...waiting]).toEqual([]);
}

describe('the tools', () => {
  const LOOK = { type: 'function', name: 'look', description: 'Looks.', parameters: { type: 'object' }, strict: true };
  const SEARCH = { type: 'web_search', external_web_access: false };
  const INPUT = { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] };

  const rows: readonly (readonly [string, readonly object[], readonly object[]])[] = [
    ['a function', [LOOK], [{ name: 'look', description: 'Looks.', parameters: { type: 'object' }, strict: true }]],
    ['a function of a name alone', [{ type: 'function', name: 'look' }], [{ name: 'look' }]],
    [
      'a function with nulls for what it lacks',
      [{ type: 'function', name: 'look', description: null, parameters: null, strict: null }],
      [{ name: 'look' }],
    ],
    [
      'a function wrapped as in Chat',
      [{ type: 'function', function: { name: 'look', parameters: { a: 1 } } }],
      [{ name: 'look', parameters: { a: 1 } }],
    ],
    ['a custom tool', [{ type: 'custom', name: 'say' }], [{ name: 'say', parameters: INPUT }]],
    [
      'a custom tool with a grammar',
      [
        {
          type: 'custom',
          name: 'patch',
          description: 'Patches.',
          format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
        },
      ],
      [
        {
          name: 'patch',
          description: 'Patches.\n\nThe input must follow this lark grammar:\nstart: "x"',
          parameters: INPUT,
        },
      ],
    ],
    [
      'those of a namespace',
      [
        {
          type: 'namespace',
          name: 'agents',
          description: 'Agents.',
          tools: [
            { type: 'function', name: 'close', strict: false },
            { type: 'custom', name: 'say' },
          ],
        },
      ],
      [
        { name: 'agents__close', strict: false },
        { name: 'agents__say', parameters: INPUT },
      ],
    ],
  ];
  it.each(rows)('are made neutral: %s', (_name, tools, expected) => {
    expect(parse({ tools }).tools).toEqual(expected);
  });

  it('lead the calls back to what the caller gave', () => {
    const tools = [
      LOOK,
      { type: 'custom', name: 'patch' },
      { type: 'namespace', name: 'agents', tools: [{ type: 'function', name: 'close' }] },
    ];
    expect([...parse({ tools }).toolkit.byName]).toEqual([
      ['look', { kind: 'function', name: 'look' }],
      ['patch', { kind: 'custom', name: 'patch' }],
      ['agents__close', { kind: 'function', name: 'close', namespace: 'agents' }],
    ]);
  });

  it.each([['web_search'], ['web_search_2025_08_26'], ['web_search_preview'], ['image_generation'], ['tool_search']])(
    'do without %s where there are others',
    (type) => {
      const { tools, toolkit } = parse({ tools: [LOOK, { type }], tool_choice: 'auto' });
      expect(tools.map(({ name }) => name)).toEqual(['look']);
      expect([toolkit.kept, toolkit.dropped]).toEqual([[LOOK], [type]]);
    },
  );

  it('do without a search that must not be made anyway', () => {
    expect(parse({ tools: [SEARCH], tool_choice: 'none' }).toolkit.dropped).toEqual(['web_search']);
  });

  const choices: readonly (readonly [string, unknown, unknown, readonly string[]])[] = [
    ['auto', 'auto', { type: 'auto' }, ['look', 'patch', 'agents__close']],
    ['none', 'none', { type: 'none' }, ['look', 'patch', 'agents__close']],
    ['required', 'required', { type: 'required' }, ['look', 'patch', 'agents__close']],
    [
      'a function',
      { type: 'function', name: 'look' },
      { type: 'tool', name: 'look' },
      ['look', 'patch', 'agents__close'],
    ],
    [
      'a custom tool',
      { type: 'custom', name: 'patch' },
      { type: 'tool', name: 'patch' },
      ['look', 'patch', 'agents__close'],
    ],
    [
      'one of a namespace',
      { type: 'function', namespace: 'agents', name: 'close' },
      { type: 'tool', name: 'agents__close' },
      ['look', 'patch', 'agents__close'],
    ],
    [
      'some of them',
      { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'look' }, { type: 'web_search' }] },
      { type: 'required' },
      ['look'],
    ],
    [
      'some without a mode',
      { type: 'allowed_tools', tools: [{ type: 'custom', name: 'patch' }] },
      { type: 'auto' },
      ['patch'],
    ],
  ];
  it.each(choices)('are chosen by %s', (_name, tool_choice, choice, names) => {
    const tools = [
      LOOK,
      { type: 'custom', name: 'patch' },
      { type: 'namespace', name: 'agents', tools: [{ type: 'function', name: 'close' }] },
      SEARCH,
    ];
    const parsed = parse({ tools, tool_choice });
    expect(parsed.toolChoice).toEqual(choice);
    expect(parsed.tools.map(({ name }) => name)).toEqual(names);
  });

  const refused: readonly (readonly [string, object, string, string])[] = [
    ['that are no array', { tools: {} }, 'INVALID_REQUEST', 'tools must be an array'],
    ['of no type', { tools: [{}] }, 'INVALID_REQUEST', 'tools[0].type is required'],
    ['that are no objects', { tools: ['look'] }, 'INVALID_REQUEST', 'tools[0] must be an object'],
    ['without a name', { tools: [{ type: 'function' }] }, 'INVALID_REQUEST', 'tools[0].name is required'],
    ['of one name', { tools: [LOOK, LOOK] }, 'INVALID_REQUEST', 'tools[1].name is used twice: look'],
    [
      'of one name once the namespace is in it',
      {
        tools: [
          { type: 'function', name: 'a__b' },
          { type: 'namespace', name: 'a', tools: [{ type: 'function', name: 'b' }] },
        ],
      },
      'INVALID_REQUEST',
      'tools[1].tools[0].name is used twice: a__b',
    ],
    [
      'of a namespace that are no objects',
      { tools: [{ type: 'namespace', name: 'a', tools: [1] }] },
      'INVALID_REQUEST',
      'tools[0].tools[0] must be an object',
    ],
    ['that search files', { tools: [LOOK, { type: 'file_search' }] }, 'UNSUPPORTED_FEATURE', '"file_search"'],
    ['of a remote server', { tools: [LOOK, { type: 'mcp' }] }, 'UNSUPPORTED_FEATURE', '"mcp"'],
    ['that run code', { tools: [LOOK, { type: 'code_interpreter' }] }, 'UNSUPPORTED_FEATURE', '"code_interpreter"'],
    ['that use a computer', { tools: [{ type: 'computer_use_preview' }] }, 'UNSUPPORTED_FEATURE', 'computer_use'],
    ['that search the web and nothing else', { tools: [SEARCH] }, 'UNSUPPORTED_FEATURE', '"web_search"'],
    [
      'of which the search is forced',
      { tools: [LOOK, SEARCH], tool_choice: { type: 'web_search' } },
      'UNSUPPORTED_FEATURE',
      '"web_search"',
    ],
    ['chosen by an odd word', { tools: [LOOK], tool_choice: 'maybe' }, 'INVALID_REQUEST', 'tool_choice must be'],
    ['chosen by a number', { tools: [LOOK], tool_choice: 1 }, 'INVALID_REQUEST', 'tool_choice must be'],
    [
      'chosen without a name',
      { tools: [LOOK], tool_choice: { type: 'function' } },
      'INVALID_REQUEST',
      'tool_choice.name',
    ],
    [
      'allowed in an odd mode',
      { tools: [LOOK], tool_choice: { type: 'allowed_tools', mode: 'x', tools: [] } },
      'INVALID_REQUEST',
      'tool_choice.mode must be',
    ],
  ];
  it.each(refused)('are refused: %s', (_name, given, code, wording) => {
    const error = refusal(() => parse(given));
    expect(error.code).toBe(code);
    expect(error.message).toContain(wording);
  });

  it('of an odd type are named without what a message can carry no end of', () => {
    const error = refusal(() => parse({ tools: [{ type: 'x'.repeat(5000) }] }));
    expect(error.message.length).toBeLessThan(300);
  });
});

it('whatever is sent, it is read or refused with words', () => {
  const anyItem = fc.oneof(
    fc.record(
      {
        type: fc.constantFrom('message', 'reasoning', 'function_call', 'function_call_output', 'custom_tool_call', 'x'),
        role: fc.constantFrom('user', 'assistant', 'developer', 'x', null),
        content: fc.oneof(
          fc.string(),
          fc.array(fc.dictionary(fc.constantFrom('type', 'text'), fc.string())),
          fc.anything(),
        ),
        call_id: fc.oneof(fc.string(), fc.constant(null)),
        name: fc.string(),
        arguments: fc.oneof(fc.string(), fc.anything()),
        output: fc.oneof(fc.string(), fc.anything()),
        summary: fc.anything(),
        encrypted_content: fc.oneof(fc.string(), fc.constant('gw1:broken')),
      },
      { requiredKeys: [] },
    ),
    fc.anything(),
  );
  const anyBody = fc.record(
    {
      model: fc.constant('m'),
      input: fc.oneof(fc.string(), fc.array(anyItem, { maxLength: 4 })),
      tools: fc.anything(),
      tool_choice: fc.anything(),
      text: fc.anything(),
      reasoning: fc.anything(),
      include: fc.anything(),
    },
    { requiredKeys: ['model', 'input'] },
  );
  fc.assert(
    fc.property(anyBody, (body) => {
      try {
        parseResponsesRequest(body);
      } catch (error) {
        expect(isSvcError(error)).toBe(true);
      }
    }),
    { numRuns: 500 },
  );
});

import { describe, expect, it } from 'vitest';
import { parseChatRequest } from '../../src/wire/parse-chat-request.ts';
import { SvcError } from '../../src/wire/svc-error.ts';

const HELLO = [{ role: 'user', content: 'Hello' }];
const LOOK = { type: 'function', function: { name: 'look', description: 'Looks', parameters: { type: 'object' } } };
const CALL = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"a":1}' } };

function parse(more: object) {
  return parseChatRequest({ model: 'm', messages: HELLO, ...more });
}

function messages(...list: readonly unknown[]) {
  return parse({ messages: list }).messages;
}

function refusal(value: unknown): SvcError {
  try {
    parseChatRequest(value);
  } catch (error) {
    if (error instanceof SvcError) return error;
    throw error;
  }
  throw new Error('was not refused');
}

describe('a Chat request', () => {
  it('is parsed with defaults', () => {
    expect(parse({})).toEqual({
      dialect: 'chat',
      model: 'm',
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
      tools: [],
      stream: false,
      includeUsage: false,
      choices: 1,
    });
  });

  it('is parsed with everything known', () => {
    const parsed = parse({
      stream: true,
      stream_options: { include_usage: true },
      temperature: 0,
      top_p: 0.5,
      top_k: 3,
      max_tokens: 10,
      stop: 'END',
      n: 2,
      tools: [LOOK],
      tool_choice: 'required',
      parallel_tool_calls: false,
      response_format: { type: 'json_schema', json_schema: { name: 'r', schema: { type: 'object' }, strict: true } },
      reasoning_effort: 'high',
      user: 'u',
      service_tier: 'auto',
      prompt_cache_key: 'k',
      svc: { max_cost: '1' },
      sandbox: { fail: 1 },
      presence_penalty: -2,
      seed: -1,
      logprobs: true,
      top_logprobs: 20,
      logit_bias: {},
      metadata: {},
    });
    expect(parsed).toMatchObject({
      stream: true,
      includeUsage: true,
      temperature: 0,
      topP: 0.5,
      topK: 3,
      maxTokens: 10,
      stop: ['END'],
      choices: 2,
      tools: [{ name: 'look', description: 'Looks', parameters: { type: 'object' } }],
      toolChoice: { type: 'required' },
      parallelToolCalls: false,
      responseFormat: { type: 'json_schema', name: 'r', schema: { type: 'object' }, strict: true },
      reasoning: { effort: 'high' },
      user: 'u',
      serviceTier: 'auto',
      session: 'k',
      svc: { max_cost: '1' },
      sandbox: { fail: 1 },
    });
  });

  const refused: readonly (readonly [string, unknown, string])[] = [
    ['no object', [], 'body'],
    ['no model', { messages: HELLO }, 'model'],
    ['an empty model', { model: '', messages: HELLO }, 'model'],
    ['a numeric model', { model: 5, messages: HELLO }, 'model'],
    ['no messages', { model: 'm' }, 'messages'],
    ['messages null', { model: 'm', messages: null }, 'messages'],
    ['messages as text', { model: 'm', messages: 'hi' }, 'messages'],
    ['empty messages', { model: 'm', messages: [] }, 'messages'],
    ...(
      [
        ['a message that is text', ['hi'], 'messages[0]'],
        ['an unknown role', [{ role: 'robot', content: 'x' }], 'messages[0].role'],
        ['no role', [{ content: 'x' }], 'messages[0].role'],
        ['no content', [{ role: 'user' }], 'messages[0].content'],
        ['content null of a user', [...HELLO, { role: 'user', content: null }], 'messages[1].content'],
        ['numeric content', [{ role: 'user', content: 7 }], 'messages[0].content'],
        ['content as an object', [{ role: 'system', content: {} }], 'messages[0].content'],
        ['a part that is text', [{ role: 'user', content: ['x'] }], 'messages[0].content[0]'],
        ['a part without type', [{ role: 'user', content: [{ text: 'x' }] }], 'messages[0].content[0]'],
        ['a text part without text', [{ role: 'user', content: [{ type: 'text' }] }], 'messages[0].content[0].text'],
        [
          'an image without url',
          [{ role: 'user', content: [{ type: 'image_url', image_url: {} }] }],
          'messages[0].content[0].image_url.url',
        ],
        [
          'an image as text',
          [{ role: 'user', content: [{ type: 'image_url', image_url: 'http://x' }] }],
          'messages[0].content[0].image_url',
        ],
        ['a file without file', [{ role: 'user', content: [{ type: 'file' }] }], 'messages[0].content[0].file'],
        ['a tool result without id', [{ role: 'tool', content: 'x' }], 'messages[0].tool_call_id'],
        ['a name that is a number', [{ role: 'user', name: 1, content: 'x' }], 'messages[0].name'],
        ['tool_calls as an object', [{ role: 'assistant', tool_calls: {} }], 'messages[0].tool_calls'],
        [
          'a call without id',
          [{ role: 'assistant', tool_calls: [{ ...CALL, id: undefined }] }],
          'messages[0].tool_calls[0].id',
        ],
        [
          'a call without function',
          [{ role: 'assistant', tool_calls: [{ id: 'c' }] }],
          'messages[0].tool_calls[0].function',
        ],
        [
          'arguments as an object',
          [{ role: 'assistant', tool_calls: [{ id: 'c', function: { name: 'x', arguments: {} } }] }],
          'messages[0].tool_calls[0].function.arguments',
        ],
        ['a function result without name', [{ role: 'function', content: 'x' }], 'messages[0].name'],
      ] as const
    ).map(([name, list, param]) => [name, { model: 'm', messages: list }, param] as const),
    ...(
      [
        ['temperature above 2', { temperature: 2.1 }, 'temperature'],
        ['temperature below 0', { temperature: -0.1 }, 'temperature'],
        ['temperature as text', { temperature: '1' }, 'temperature'],
        ['top_p above 1', { top_p: 1.1 }, 'top_p'],
        ['max_tokens 0', { max_tokens: 0 }, 'max_tokens'],
        ['negative max_tokens', { max_tokens: -5 }, 'max_tokens'],
        ['fractional max_tokens', { max_tokens: 1.5 }, 'max_tokens'],
        ['max_tokens as text', { max_tokens: '10' }, 'max_tokens'],
        ['absurd max_tokens', { max_tokens: 1e300 }, 'max_tokens'],
        ['max_completion_tokens 0', { max_completion_tokens: 0 }, 'max_completion_tokens'],
        ['stream as text', { stream: 'true' }, 'stream'],
        ['stream_options as text', { stream_options: 'x' }, 'stream_options'],
        ['include_usage as a number', { stream_options: { include_usage: 1 } }, 'stream_options.include_usage'],
        ['n 0', { n: 0 }, 'n'],
        ['n 129', { n: 129 }, 'n'],
        ['stop as a number', { stop: 3 }, 'stop'],
        ['stop with numbers', { stop: ['a', 3] }, 'stop'],
        ['tools as an object', { tools: {} }, 'tools'],
        ['a tool as text', { tools: ['look'] }, 'tools[0]'],
        ['a tool without type', { tools: [{ function: LOOK.function }] }, 'tools[0].type'],
        ['a flat tool', { tools: [{ type: 'function', name: 'look' }] }, 'tools[0].function'],
        ['a tool without name', { tools: [LOOK, { type: 'function', function: {} }] }, 'tools[1].function.name'],
        [
          'parameters as text',
          { tools: [{ type: 'function', function: { name: 'a', parameters: 'x' } }] },
          'tools[0].function.parameters',
        ],
        ['an unknown tool_choice', { tool_choice: 'any' }, 'tool_choice'],
        ['a numeric tool_choice', { tool_choice: 1 }, 'tool_choice'],
        ['a tool_choice without function', { tool_choice: { type: 'function' } }, 'tool_choice.function'],
        ['parallel_tool_calls as text', { parallel_tool_calls: 'no' }, 'parallel_tool_calls'],
        ['response_format as text', { response_format: 'json' }, 'response_format'],
        ['response_format without type', { response_format: {} }, 'response_format.type'],
        ['json_schema without its object', { response_format: { type: 'json_schema' } }, 'response_format.json_schema'],
        [
          'json_schema without name',
          { response_format: { type: 'json_schema', json_schema: {} } },
          'response_format.json_schema.name',
        ],
        ['presence_penalty 3', { presence_penalty: 3 }, 'presence_penalty'],
        ['a fractional seed', { seed: 1.5 }, 'seed'],
        ['user as a number', { user: 1 }, 'user'],
        ['reasoning as text', { reasoning: 'high' }, 'reasoning'],
        ['svc as text', { svc: 'fast' }, 'svc'],
        ['svc as an array', { svc: [] }, 'svc'],
        ['svc null', { svc: null }, 'svc'],
      ] as const
    ).map(([name, more, param]) => [name, { model: 'm', messages: HELLO, ...more }, param] as const),
  ];
  it.each(refused)('is refused with %s, naming the field', (_name, value, param) => {
    const error = refusal(value);
    expect([error.code, error.status, error.param]).toEqual(['INVALID_REQUEST', 400, param]);
    expect(error.message.startsWith(`${param} `)).toBe(true);
  });

  it('ignores fields it does not know and nulls for what is left out', () => {
    const nulls = [
      'temperature',
      'top_p',
      'max_tokens',
      'stop',
      'n',
      'tools',
      'tool_choice',
      'stream',
      'stream_options',
      'user',
      'seed',
      'response_format',
      'reasoning',
      'parallel_tool_calls',
    ];
    const parsed = parse({
      ...Object.fromEntries(nulls.map((key) => [key, null])),
      provider: { order: [] },
      future: [1],
    });
    expect(parsed).toEqual(parse({}));
  });

  it('takes seeds of 64 bits, which no JavaScript number holds exactly', () => {
    const seeds = ['18446744073709551615', '-9223372036854775808', '9007199254740993'];
    for (const seed of seeds) expect(parse({ seed: JSON.parse(seed) })).toEqual(parse({}));
    expect(refusal({ model: 'm', messages: HELLO, seed: 1e30 }).param).toBe('seed');
  });

  it('takes the larger of both token limits', () => {
    expect(parse({ max_tokens: 5, max_completion_tokens: 9 }).maxTokens).toBe(9);
    expect(parse({ max_tokens: 9, max_completion_tokens: 5 }).maxTokens).toBe(9);
    expect(parse({ max_completion_tokens: 5 }).maxTokens).toBe(5);
  });

  it('makes every role neutral', () => {
    const parsed = messages(
      { role: 'system', content: 's', name: 'n' },
      { role: 'developer', content: [{ type: 'text', text: 'd', cache_control: { type: 'ephemeral' } }] },
      { role: 'user', content: 'u' },
      { role: 'assistant', content: null, tool_calls: [CALL] },
      { role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: 'r' }] },
      { role: 'assistant', function_call: { name: 'look', arguments: '{}' } },
      { role: 'function', name: 'look', content: 'fr' },
    );
    expect(parsed).toEqual([
      { role: 'system', name: 'n', content: [{ type: 'text', text: 's' }] },
      { role: 'system', content: [{ type: 'text', text: 'd', cacheControl: { type: 'ephemeral' } }] },
      { role: 'user', content: [{ type: 'text', text: 'u' }] },
      { role: 'assistant', content: [{ type: 'tool_call', id: 'c1', name: 'look', arguments: '{"a":1}' }] },
      { role: 'tool', toolCallId: 'c1', isError: false, content: [{ type: 'text', text: 'r' }] },
      { role: 'assistant', content: [{ type: 'tool_call', id: 'function_call_1', name: 'look', arguments: '{}' }] },
      { role: 'tool', toolCallId: 'function_call_1', isError: false, content: [{ type: 'text', text: 'fr' }] },
    ]);
  });

  it('keeps the reasoning of earlier turns', () => {
    const details = [{ type: 'reasoning.text', text: 'hm', signature: 's', format: 'anthropic-claude-v1' }];
    expect(messages({ role: 'assistant', content: 'a', reasoning: 'hm', reasoning_details: details })).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'thinking', text: 'hm', signature: 's' },
          { type: 'text', text: 'a' },
        ],
      },
    ]);
  });

  const parts: readonly (readonly [string, object, object])[] = [
    [
      'an image by url',
      { type: 'image_url', image_url: { url: 'https://x/y.png', detail: 'low' } },
      { type: 'image', url: 'https://x/y.png', detail: 'low' },
    ],
    [
      'an image as data',
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
      { type: 'image', mediaType: 'image/png', data: 'AAAA' },
    ],
    [
      'data with parameters',
      { type: 'image_url', image_url: { url: 'DATA:image/png;name=a.png;charset=x;BASE64,AAAA' } },
      { type: 'image', mediaType: 'image/png', data: 'AAAA' },
    ],
    [
      'data that is not base64',
      { type: 'image_url', image_url: { url: 'data:image/svg+xml,%3Csvg/%3E' } },
      { type: 'image', url: 'data:image/svg+xml,%3Csvg/%3E' },
    ],
    [
      'a file',
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA' } },
      { type: 'file', mediaType: 'application/pdf', data: 'AA', filename: 'a.pdf' },
    ],
    [
      'a file by id',
      { type: 'file', file: { file_id: 'f' } },
      { type: 'opaque', dialect: 'chat', value: { type: 'file', file: { file_id: 'f' } } },
    ],
    [
      'audio',
      { type: 'input_audio', input_audio: {} },
      { type: 'opaque', dialect: 'chat', value: { type: 'input_audio', input_audio: {} } },
    ],
  ];
  it.each(parts)('makes %s neutral', (_name, part, expected) => {
    expect(messages({ role: 'user', content: [part] })[0]?.content).toEqual([expected]);
  });

  const choices: readonly (readonly [unknown, unknown])[] = [
    ['auto', { type: 'auto' }],
    ['none', { type: 'none' }],
    ['required', { type: 'required' }],
    [
      { type: 'function', function: { name: 'look' } },
      { type: 'tool', name: 'look' },
    ],
    [{ type: 'allowed_tools', allowed_tools: {} }, undefined],
  ];
  it.each(choices)('reads tool_choice %j', (choice, expected) => {
    expect(parse({ tool_choice: choice }).toolChoice).toEqual(expected);
  });

  it('reads the older functions and tools of other kinds', () => {
    const parsed = parse({
      functions: [{ name: 'old' }],
      function_call: { name: 'old' },
      tools: [LOOK, { type: 'custom', custom: { name: 'grep' } }, { type: 'openrouter:web_search' }],
    });
    expect(parsed.tools.map((tool) => tool.name)).toEqual(['look', 'grep', 'openrouter:web_search', 'old']);
    expect(parsed.toolChoice).toEqual({ type: 'tool', name: 'old' });
  });

  it.each([
    [{ reasoning: { effort: 'low', max_tokens: 5, enabled: true } }, { effort: 'low', maxTokens: 5, enabled: true }],
    [{ reasoning_effort: 'none' }, { enabled: false }],
    [{ reasoning: {} }, undefined],
  ])('reads reasoning %j', (more, expected) => {
    expect(parse(more).reasoning).toEqual(expected);
  });

  it.each([
    [{ type: 'text' }, undefined],
    [{ type: 'json_object' }, { type: 'json_object' }],
  ])('reads response_format %j', (format, expected) => {
    expect(parse({ response_format: format }).responseFormat).toEqual(expected);
  });
});

describe('a Chat request of many parts', () => {
  it('is refused beyond the limits, which are named', () => {
    const text = { type: 'text', text: 'a' };
    const parts = (length: number) => [{ role: 'user', content: Array.from({ length }, () => text) }];
    const list = (length: number) => Array.from({ length }, () => HELLO[0]);
    expect(messages(...list(10_000))).toHaveLength(10_000);
    expect(messages(...parts(10_000))[0]?.content).toHaveLength(10_000);
    const tooMany = refusal({ model: 'm', messages: list(10_001) });
    expect([tooMany.code, tooMany.message]).toEqual(['INVALID_REQUEST', 'messages must have at most 10000 entries']);
    const tooLong = refusal({ model: 'm', messages: parts(10_001) });
    expect(tooLong.message).toBe('messages[0].content must have at most 10000 entries');
  });
});

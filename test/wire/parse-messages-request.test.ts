import { describe, expect, it } from 'vitest';
import { parseMessagesRequest } from '../../src/wire/parse-messages-request.ts';
import { SvcError } from '../../src/wire/svc-error.ts';

const HELLO = [{ role: 'user', content: 'Hello' }];
const LOOK = { name: 'look', description: 'Looks', input_schema: { type: 'object' } };
const MARK = { type: 'ephemeral', ttl: '1h' };

function parse(more: object) {
  return parseMessagesRequest({ model: 'm', max_tokens: 10, messages: HELLO, ...more });
}

function turns(...messages: readonly unknown[]) {
  return parse({ messages }).messages;
}

function user(...content: readonly unknown[]) {
  return turns({ role: 'user', content });
}

function refusal(value: unknown): SvcError {
  try {
    parseMessagesRequest(value);
  } catch (error) {
    if (error instanceof SvcError) return error;
    throw error;
  }
  throw new Error('was not refused');
}

describe('a Messages request', () => {
  it('is parsed with defaults', () => {
    expect(parse({})).toEqual({
      dialect: 'messages',
      model: 'm',
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
      tools: [],
      maxTokens: 10,
      stream: false,
      includeUsage: true,
      choices: 1,
    });
  });

  const base = { model: 'm', max_tokens: 10, messages: HELLO };
  const inUser = (block: unknown) => ({ ...base, messages: [{ role: 'user', content: [block] }] });
  const inAssistant = (block: unknown) => ({ ...base, messages: [{ role: 'assistant', content: [block] }] });
  const refused: readonly (readonly [string, unknown, string])[] = [
    ['no object', 'x', 'body'],
    ['no model', { ...base, model: undefined }, 'model'],
    ['no max_tokens', { ...base, max_tokens: undefined }, 'max_tokens'],
    ['max_tokens null', { ...base, max_tokens: null }, 'max_tokens'],
    ['negative max_tokens', { ...base, max_tokens: -1 }, 'max_tokens'],
    ['fractional max_tokens', { ...base, max_tokens: 1.5 }, 'max_tokens'],
    ['max_tokens as text', { ...base, max_tokens: '9' }, 'max_tokens'],
    ['no messages', { ...base, messages: undefined }, 'messages'],
    ['empty messages', { ...base, messages: [] }, 'messages'],
    ['messages as an object', { ...base, messages: {} }, 'messages'],
    ['a message as text', { ...base, messages: ['x'] }, 'messages[0]'],
    ['an unknown role', { ...base, messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].role'],
    ['no content', { ...base, messages: [{ role: 'user' }] }, 'messages[0].content'],
    ['numeric content', { ...base, messages: [{ role: 'assistant', content: 3 }] }, 'messages[0].content'],
    ['a block as text', inUser('x'), 'messages[0].content[0]'],
    ['a block without type', inUser({ text: 'x' }), 'messages[0].content[0]'],
    ['a text block without text', inUser({ type: 'text' }), 'messages[0].content[0].text'],
    ['an image without source', inUser({ type: 'image' }), 'messages[0].content[0].source'],
    [
      'an image of unknown source',
      inUser({ type: 'image', source: { type: 'x' } }),
      'messages[0].content[0].source.type',
    ],
    [
      'base64 without media type',
      inUser({ type: 'image', source: { type: 'base64', data: 'A' } }),
      'messages[0].content[0].source.media_type',
    ],
    ['an image url missing', inUser({ type: 'image', source: { type: 'url' } }), 'messages[0].content[0].source.url'],
    [
      'a document of unknown source',
      inUser({ type: 'document', source: { type: 'x' } }),
      'messages[0].content[0].source.type',
    ],
    ['a tool_result without id', inUser({ type: 'tool_result', content: 'x' }), 'messages[0].content[0].tool_use_id'],
    [
      'a tool_result with numeric content',
      inUser({ type: 'tool_result', tool_use_id: 'a', content: 4 }),
      'messages[0].content[0].content',
    ],
    [
      'is_error as text',
      inUser({ type: 'tool_result', tool_use_id: 'a', is_error: 'yes' }),
      'messages[0].content[0].is_error',
    ],
    ['tool_use of a user', inUser({ type: 'tool_use', id: 'a', name: 'b', input: {} }), 'messages[0].content[0].type'],
    [
      'tool_result of an assistant',
      inAssistant({ type: 'tool_result', tool_use_id: 'a' }),
      'messages[0].content[0].type',
    ],
    ['tool_use without id', inAssistant({ type: 'tool_use', name: 'b', input: {} }), 'messages[0].content[0].id'],
    [
      'tool_use with text input',
      inAssistant({ type: 'tool_use', id: 'a', name: 'b', input: 'x' }),
      'messages[0].content[0].input',
    ],
    ['thinking without text', inAssistant({ type: 'thinking', signature: 's' }), 'messages[0].content[0].thinking'],
    ['redacted thinking without data', inAssistant({ type: 'redacted_thinking' }), 'messages[0].content[0].data'],
    ['system as a number', { ...base, system: 5 }, 'system'],
    ['an image in system', { ...base, system: [{ type: 'image' }] }, 'system[0].type'],
    ['temperature above 1', { ...base, temperature: 1.5 }, 'temperature'],
    ['negative temperature', { ...base, temperature: -1 }, 'temperature'],
    ['top_p above 1', { ...base, top_p: 2 }, 'top_p'],
    ['fractional top_k', { ...base, top_k: 0.5 }, 'top_k'],
    ['stream as text', { ...base, stream: 'yes' }, 'stream'],
    ['stop_sequences as text', { ...base, stop_sequences: 'x' }, 'stop_sequences'],
    ['stop_sequences with numbers', { ...base, stop_sequences: [1] }, 'stop_sequences'],
    ['tools as an object', { ...base, tools: {} }, 'tools'],
    ['a tool without name', { ...base, tools: [{ input_schema: {} }] }, 'tools[0].name'],
    ['a tool without schema', { ...base, tools: [LOOK, { name: 'a' }] }, 'tools[1].input_schema'],
    ['a Chat tool', { ...base, tools: [{ type: 'custom', function: {} }] }, 'tools[0].input_schema'],
    ['an unknown tool_choice', { ...base, tool_choice: { type: 'required' } }, 'tool_choice.type'],
    ['tool_choice as text', { ...base, tool_choice: 'auto' }, 'tool_choice'],
    ['tool_choice without name', { ...base, tool_choice: { type: 'tool' } }, 'tool_choice.name'],
    ['thinking as text', { ...base, thinking: 'on' }, 'thinking'],
    ['thinking without budget', { ...base, thinking: { type: 'enabled' } }, 'thinking.budget_tokens'],
    ['metadata as text', { ...base, metadata: 'u' }, 'metadata'],
    ['a numeric user_id', { ...base, metadata: { user_id: 1 } }, 'metadata.user_id'],
    [
      'a format without schema',
      { ...base, output_config: { format: { type: 'json_schema' } } },
      'output_config.format.schema',
    ],
    ['svc as text', { ...base, svc: 'x' }, 'svc'],
  ];
  it.each(refused)('is refused with %s, naming the field', (_name, value, param) => {
    const error = refusal(value);
    expect([error.code, error.status, error.param]).toEqual(['INVALID_REQUEST', 400, param]);
  });

  const unsupported: readonly (readonly [string, object, string])[] = [
    [
      'web search',
      { tools: [LOOK, { type: 'web_search_20250305', name: 'web_search', max_uses: 8 }] },
      'web_search_20250305',
    ],
    ['code execution', { tools: [{ type: 'code_execution_20250825', name: 'code' }] }, 'code_execution_20250825'],
    ['a toolset without a name', { tools: [{ type: 'mcp_toolset' }] }, 'mcp_toolset'],
    [
      'a file by id',
      { messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'file', file_id: 'f' } }] }] },
      'source.type',
    ],
    [
      'a document by id',
      { messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'file', file_id: 'f' } }] }] },
      'source.type',
    ],
  ];
  it.each(unsupported)('is refused as unsupported with %s, saying what', (_name, more, words) => {
    const error = refusal({ ...base, ...more });
    expect([error.code, error.status]).toEqual(['UNSUPPORTED_FEATURE', 400]);
    expect(error.message).toContain(words);
  });

  it('ignores what it does not know and what only the vendor knows', () => {
    const more = {
      context_management: { edits: [] },
      betas: ['x'],
      mcp_servers: [],
      container: null,
      speed: 'fast',
      future: 1,
    };
    expect(parse(more)).toEqual(parse({}));
  });

  it('lets max_tokens be 0: some upstreams warm their cache with it', () => {
    expect(parse({ max_tokens: 0 }).maxTokens).toBe(0);
  });

  it('makes the system prompt one message in blocks, kept apart', () => {
    const system = [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b', cache_control: MARK },
    ];
    expect(parse({ system }).messages[0]).toEqual({
      role: 'system',
      content: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b', cacheControl: MARK },
      ],
    });
    expect(parse({ system: 's' }).messages[0]).toEqual({ role: 'system', content: [{ type: 'text', text: 's' }] });
  });

  it.each([[''], [[]], [null]])('makes no message of the empty system prompt %j', (system) => {
    expect(parse({ system }).messages).toHaveLength(1);
  });

  it('takes system messages in the middle', () => {
    expect(turns(...HELLO, { role: 'system', content: 'now' }).map((message) => message.role)).toEqual([
      'user',
      'system',
    ]);
  });

  it('puts tool results before the rest of their turn, in their order', () => {
    const parsed = user(
      { type: 'text', text: 'first' },
      { type: 'tool_result', tool_use_id: 'a', content: 'A' },
      { type: 'text', text: 'second' },
      { type: 'tool_result', tool_use_id: 'b', content: [{ type: 'text', text: 'B' }], is_error: true },
      { type: 'tool_result', tool_use_id: 'c', is_error: false },
    );
    expect(parsed).toEqual([
      { role: 'tool', toolCallId: 'a', isError: false, content: [{ type: 'text', text: 'A' }] },
      { role: 'tool', toolCallId: 'b', isError: true, content: [{ type: 'text', text: 'B' }] },
      { role: 'tool', toolCallId: 'c', isError: false, content: [] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'first' },
          { type: 'text', text: 'second' },
        ],
      },
    ]);
  });

  it('makes an assistant turn neutral', () => {
    const content = [
      { type: 'thinking', thinking: ' hm ', signature: 'S' },
      { type: 'thinking', thinking: 'x', signature: '' },
      { type: 'redacted_thinking', data: 'D' },
      { type: 'text', text: 'a' },
      { type: 'tool_use', id: 't', name: 'look', input: { b: [1, 'é'], a: null } },
      { type: 'tool_use', id: 'u', name: 'look' },
    ];
    expect(turns({ role: 'assistant', content })).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'thinking', text: ' hm ', signature: 'S' },
          { type: 'thinking', text: 'x', signature: '' },
          { type: 'thinking', text: '', encrypted: 'D' },
          { type: 'text', text: 'a' },
          { type: 'tool_call', id: 't', name: 'look', arguments: '{"b":[1,"é"],"a":null}' },
          { type: 'tool_call', id: 'u', name: 'look', arguments: '{}' },
        ],
      },
    ]);
  });

  const blocks: readonly (readonly [string, object, readonly object[]])[] = [
    [
      'an image',
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA' }, cache_control: MARK },
      [{ type: 'image', mediaType: 'image/png', data: 'AA', cacheControl: MARK }],
    ],
    [
      'an image by url',
      { type: 'image', source: { type: 'url', url: 'https://x' } },
      [{ type: 'image', url: 'https://x' }],
    ],
    [
      'a PDF',
      { type: 'document', title: 'T', source: { type: 'base64', media_type: 'application/pdf', data: 'AA' } },
      [{ type: 'file', mediaType: 'application/pdf', data: 'AA', filename: 'T' }],
    ],
    [
      'a PDF by url',
      { type: 'document', source: { type: 'url', url: 'https://x' } },
      [{ type: 'file', url: 'https://x' }],
    ],
    [
      'a text document',
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'words' } },
      [{ type: 'text', text: 'words' }],
    ],
    [
      'a document of blocks',
      {
        type: 'document',
        cache_control: MARK,
        source: {
          type: 'content',
          content: [
            { type: 'text', text: 'a' },
            { type: 'image', source: { type: 'url', url: 'u' } },
          ],
        },
      },
      [
        { type: 'text', text: 'a' },
        { type: 'image', url: 'u', cacheControl: MARK },
      ],
    ],
    [
      'a document of one text',
      { type: 'document', source: { type: 'content', content: 'a' } },
      [{ type: 'text', text: 'a' }],
    ],
    [
      'a search result',
      { type: 'search_result', title: 't' },
      [{ type: 'opaque', dialect: 'messages', value: { type: 'search_result', title: 't' } }],
    ],
  ];
  it.each(blocks)('makes %s neutral', (_name, block, parts) => {
    expect(user(block)[0]?.content).toEqual(parts);
  });

  it('makes images inside tool results neutral and marks their last part', () => {
    const content = [
      { type: 'text', text: 'a' },
      { type: 'image', source: { type: 'url', url: 'u' } },
    ];
    expect(user({ type: 'tool_result', tool_use_id: 'a', content, cache_control: MARK })[0]?.content).toEqual([
      { type: 'text', text: 'a' },
      { type: 'image', url: 'u', cacheControl: MARK },
    ]);
  });

  it('gives a cache mark on the whole request to its last part, unless it has one', () => {
    expect(parse({ cache_control: MARK }).messages[0]?.content).toEqual([
      { type: 'text', text: 'Hello', cacheControl: MARK },
    ]);
    const own = [{ role: 'user', content: [{ type: 'text', text: 'a', cache_control: { type: 'own' } }] }];
    expect(parse({ cache_control: MARK, messages: own }).messages[0]?.content).toEqual([
      { type: 'text', text: 'a', cacheControl: { type: 'own' } },
    ]);
  });

  it('reads tools with their schema verbatim', () => {
    const input_schema = { $schema: 'x', type: 'object', $defs: { a: {} }, anyOf: [{}] };
    const tools = [
      { ...LOOK, type: 'custom', input_schema, strict: true, cache_control: MARK, eager_input_streaming: true },
      { name: 'bare', input_schema: {} },
    ];
    expect(parse({ tools }).tools).toEqual([
      { name: 'look', description: 'Looks', parameters: input_schema, strict: true, cacheControl: MARK },
      { name: 'bare', parameters: {} },
    ]);
  });

  it.each([
    [{ type: 'auto' }, { type: 'auto' }, undefined],
    [{ type: 'any', disable_parallel_tool_use: true }, { type: 'required' }, false],
    [{ type: 'tool', name: 'look', disable_parallel_tool_use: false }, { type: 'tool', name: 'look' }, undefined],
    [{ type: 'none' }, { type: 'none' }, undefined],
  ])('reads tool_choice %j', (choice, toolChoice, parallel) => {
    const parsed = parse({ tool_choice: choice });
    expect([parsed.toolChoice, parsed.parallelToolCalls]).toEqual([toolChoice, parallel]);
  });

  it.each([
    [{ thinking: { type: 'enabled', budget_tokens: 2048 } }, { enabled: true, maxTokens: 2048 }],
    [
      { thinking: { type: 'adaptive', display: 'omitted' }, output_config: { effort: 'max' } },
      { enabled: true, effort: 'max' },
    ],
    [{ thinking: { type: 'between_tools' } }, { enabled: true }],
    [{ thinking: { type: 'disabled' }, output_config: { effort: 'low' } }, { enabled: false }],
    [{ output_config: { effort: 'low' } }, { effort: 'low' }],
    [{}, undefined],
  ])('reads thinking %j', (more, expected) => {
    expect(parse(more).reasoning).toEqual(expected);
  });

  it('reads the output format in both places it has been', () => {
    const format = { type: 'json_schema', schema: { type: 'object' } };
    const expected = { type: 'json_schema', name: 'response', schema: { type: 'object' } };
    expect(parse({ output_config: { format } }).responseFormat).toEqual(expected);
    expect(parse({ output_format: format }).responseFormat).toEqual(expected);
  });

  it('carries user, session, svc and sandbox', () => {
    const parsed = parse({
      metadata: { user_id: 'u' },
      session_id: 's',
      svc: { models: {} },
      sandbox: 1,
      service_tier: 'auto',
      stop_sequences: ['x'],
    });
    expect(parsed).toMatchObject({
      user: 'u',
      session: 's',
      svc: { models: {} },
      sandbox: 1,
      serviceTier: 'auto',
      stop: ['x'],
    });
  });
});

describe('a Messages request of many parts', () => {
  const request = (messages: unknown, more: object = {}) => ({ model: 'm', max_tokens: 10, messages, ...more });
  const texts = (length: number) => Array.from({ length }, () => ({ type: 'text', text: 'a' }));
  const list = (length: number) => Array.from({ length }, () => HELLO[0]);

  it('is taken up to the limits', () => {
    expect(turns(...list(10_000))).toHaveLength(10_000);
    expect(user(...texts(10_000))[0]?.content).toHaveLength(10_000);
  });

  const document = { type: 'document', source: { type: 'content', content: texts(10_001) } };
  const result = { type: 'tool_result', tool_use_id: 't', content: texts(10_001) };
  it.each([
    ['messages', request(list(10_001))],
    ['messages[0].content', request([{ role: 'user', content: texts(10_001) }])],
    ['messages[0].content[0].content', request([{ role: 'user', content: [result] }])],
    ['messages[0].content[0].source.content', request([{ role: 'user', content: [document] }])],
    ['system', request(HELLO, { system: texts(10_001) })],
  ])('is refused beyond the limit of %s', (param, value) => {
    const error = refusal(value);
    expect([error.code, error.message]).toEqual(['INVALID_REQUEST', `${param} must have at most 10000 entries`]);
  });
});

import { describe, expect, it } from 'vitest';
import { parseChatRequest } from '../../src/wire/parse-chat-request.ts';
import { parseMessagesRequest } from '../../src/wire/parse-messages-request.ts';
import { sealReasoning } from '../../src/wire/parse-reasoning.ts';
import { renderChatRequest } from '../../src/wire/render-chat-request.ts';
import type { SvcError } from '../../src/wire/svc-error.ts';

type Options = Partial<Parameters<typeof renderChatRequest>[1]>;

const MARK = { type: 'ephemeral', ttl: '1h' };
const HELLO = { role: 'user', content: 'Hello' };
const LOOK = { name: 'look', description: 'Looks', input_schema: { type: 'object' } };
const USE = { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'look', input: {} }] };
const RESULT = { type: 'tool_result', tool_use_id: 't1', content: 'ok' };
const PNG = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA' } };
const PNG_PART = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } };

function render(more: object, options: Options = {}) {
  const request = parseMessagesRequest({ model: 'svc:auto', max_tokens: 1000, messages: [HELLO], ...more });
  return renderChatRequest(request, { model: 'openai/gpt-4o', dialect: 'openrouter', sandboxField: false, ...options });
}

function body(more: object, options: Options = {}) {
  return render(more, options).body;
}

function messages(list: readonly unknown[], options: Options = {}) {
  return body({ messages: list }, options)['messages'];
}

function refusal(more: object, options: Options = {}): SvcError {
  try {
    render(more, options);
  } catch (error) {
    return error as SvcError;
  }
  throw new Error('was not refused');
}

describe('a Messages request for a Chat upstream', () => {
  it('is small where little was asked', () => {
    expect(body({})).toEqual({ model: 'openai/gpt-4o', messages: [HELLO], max_tokens: 1000 });
  });

  it('asks for usage in every stream', () => {
    expect(body({ stream: true })).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  });

  it('sends the cap instead of the caller’s max_tokens', () => {
    expect(body({}, { maxTokens: 5 })['max_tokens']).toBe(5);
  });

  it('has no words for max_tokens 0', () => {
    expect(refusal({ max_tokens: 0 })).toMatchObject({ code: 'INVALID_REQUEST', param: 'max_tokens' });
    expect(body({ max_tokens: 0 }, { maxTokens: 7 })['max_tokens']).toBe(7);
  });

  it('passes the sandbox field only to an upstream that takes it, and never svc', () => {
    const more = { sandbox: { fail: 500 }, svc: { max_cost: '1' } };
    expect(body(more, { sandboxField: true })['sandbox']).toEqual({ fail: 500 });
    expect(Object.keys(body(more))).toEqual(['model', 'messages', 'max_tokens']);
  });

  const systems: readonly (readonly [string, unknown, unknown])[] = [
    ['a string', 'Be brief', { role: 'system', content: 'Be brief' }],
    ['one block', [{ type: 'text', text: 'a' }], { role: 'system', content: 'a' }],
    [
      'blocks, unjoined',
      [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b', cache_control: MARK },
      ],
      {
        role: 'system',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b', cache_control: MARK },
        ],
      },
    ],
    [
      'one marked block',
      [{ type: 'text', text: 'a', cache_control: MARK }],
      { role: 'system', content: [{ type: 'text', text: 'a', cache_control: MARK }] },
    ],
    [
      'a billing header besides',
      [
        { type: 'text', text: 'x-anthropic-billing-header: v=1.0df' },
        { type: 'text', text: 'b' },
      ],
      { role: 'system', content: 'b' },
    ],
  ];
  it.each(systems)('renders a system prompt of %s', (_name, system, expected) => {
    expect(body({ system })['messages']).toEqual([expected, HELLO]);
  });

  it.each([[''], [[]], [[{ type: 'text', text: '' }]]])('leaves out the empty system prompt %j', (system) => {
    expect(body({ system })['messages']).toEqual([HELLO]);
  });

  it('keeps the billing header for Claude', () => {
    const system = [{ type: 'text', text: 'x-anthropic-billing-header: v=1' }];
    expect(body({ system }, { model: 'anthropic/claude-sonnet-4.5' })['messages']).toHaveLength(2);
  });

  it('drops cache marks for the plain schema', () => {
    const content = [
      { type: 'text', text: 'a', cache_control: MARK },
      { type: 'text', text: 'b' },
    ];
    const more = { messages: [{ role: 'user', content }], tools: [{ ...LOOK, cache_control: MARK }] };
    expect(JSON.stringify(body(more, { dialect: 'openai' }))).not.toContain('cache_control');
    expect(JSON.stringify(body(more)).match(/cache_control/g)).toHaveLength(2);
  });

  const users: readonly (readonly [string, unknown, unknown])[] = [
    ['one text as a string', [{ type: 'text', text: 'a' }], 'a'],
    [
      'texts as parts',
      [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
      [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
    ],
    [
      'no empty texts',
      [
        { type: 'text', text: '' },
        { type: 'text', text: 'b' },
      ],
      'b',
    ],
    ['nothing as ""', [{ type: 'text', text: '' }], ''],
    ['no blocks as ""', [], ''],
    ['an image', [PNG], [PNG_PART]],
    [
      'an image by url',
      [{ type: 'image', source: { type: 'url', url: 'https://x' } }],
      [{ type: 'image_url', image_url: { url: 'https://x' } }],
    ],
    ['a marked image', [{ ...PNG, cache_control: MARK }], [{ ...PNG_PART, cache_control: MARK }]],
    [
      'a PDF',
      [{ type: 'document', title: 'T.pdf', source: { type: 'base64', media_type: 'application/pdf', data: 'AA' } }],
      [{ type: 'file', file: { filename: 'T.pdf', file_data: 'data:application/pdf;base64,AA' } }],
    ],
    [
      'a PDF without title',
      [{ type: 'document', source: { type: 'url', url: 'https://x' } }],
      [{ type: 'file', file: { filename: 'document.pdf', file_data: 'https://x' } }],
    ],
    ['a text document', [{ type: 'document', source: { type: 'text', data: 'words' } }], 'words'],
    [
      'what Chat has no part for as JSON',
      [{ type: 'search_result', title: 't' }],
      [{ type: 'text', text: '{"type":"search_result","title":"t"}' }],
    ],
  ];
  it.each(users)('renders %s', (_name, content, expected) => {
    expect(messages([{ role: 'user', content }])).toEqual([{ role: 'user', content: expected }]);
  });

  it('keeps turns of the same role apart and a prefill last', () => {
    const list = [HELLO, HELLO, { role: 'assistant', content: 'So' }];
    expect(messages(list)).toEqual(list);
  });

  it('keeps a system message where it stood', () => {
    const list = [HELLO, { role: 'system', content: 'now' }, HELLO];
    expect(messages(list)).toEqual(list);
  });

  it('moves a system message from between calls and results behind the results', () => {
    const list = [
      USE,
      { role: 'system', content: 'now' },
      { role: 'user', content: [{ type: 'text', text: 'go' }, RESULT] },
    ];
    expect((messages(list) as { role: string }[]).map((message) => message.role)).toEqual([
      'assistant',
      'tool',
      'system',
      'user',
    ]);
  });

  const results: readonly (readonly [string, object, unknown])[] = [
    ['text', { content: 'ok' }, 'ok'],
    ['nothing', { content: undefined }, ''],
    ['one block', { content: [{ type: 'text', text: 'ok' }] }, 'ok'],
    [
      'blocks',
      {
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
    ],
    ['an error', { is_error: true }, '[tool error] ok'],
    ['no error', { is_error: false }, 'ok'],
    ['an error without words', { content: '', is_error: true }, '[tool error] '],
    ['an error without content', { content: undefined, is_error: true }, '[tool error]'],
    [
      'an error in blocks',
      { content: [PNG, { type: 'text', text: 'a' }], is_error: true },
      [PNG_PART, { type: 'text', text: '[tool error] a' }],
    ],
    ['an image', { content: [{ type: 'text', text: 'a' }, PNG] }, [{ type: 'text', text: 'a' }, PNG_PART]],
  ];
  it.each(results)('renders a tool result with %s', (_name, more, content) => {
    expect(messages([USE, { role: 'user', content: [{ ...RESULT, ...more }] }])).toEqual([
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 't1', type: 'function', function: { name: 'look', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 't1', content },
    ]);
  });

  it('shows images of tool results in one place behind all results where tools can only return text', () => {
    const content = [
      { ...RESULT, content: [PNG] },
      { ...RESULT, tool_use_id: 't2' },
      { type: 'text', text: 'see?' },
    ];
    const rendered = messages([USE, { role: 'user', content }], { dialect: 'openai' }) as {
      role: string;
      content: unknown;
    }[];
    expect(rendered.map((message) => message.role)).toEqual(['assistant', 'tool', 'tool', 'user', 'user']);
    expect(rendered[1]?.content).toContain('1 attachment');
    expect(rendered[3]?.content).toEqual([{ type: 'text', text: expect.stringContaining('t1') }, PNG_PART]);
    expect(rendered[4]?.content).toBe('see?');
  });

  /** The last is for Claude, where it gets another turn than GPT. */
  const assistants: readonly (readonly [string, unknown, object, object?])[] = [
    ['a string', 'a', { content: 'a' }],
    [
      'texts, unjoined',
      [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
      {
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
    ],
    [
      'text and a call, in whatever order',
      [
        { type: 'tool_use', id: 't', name: 'look', input: { z: 1, a: 'é' } },
        { type: 'text', text: 'a' },
      ],
      {
        content: 'a',
        tool_calls: [{ id: 't', type: 'function', function: { name: 'look', arguments: '{"z":1,"a":"é"}' } }],
      },
    ],
    ['nothing', [], { content: '' }],
    [
      'signed thinking, byte for byte',
      [
        { type: 'thinking', thinking: ' hm\n', signature: 'S=' },
        { type: 'text', text: 'a' },
      ],
      { content: 'a', reasoning: ' hm\n' },
      {
        content: 'a',
        reasoning: ' hm\n',
        reasoning_details: [
          { type: 'reasoning.text', text: ' hm\n', signature: 'S=', format: 'anthropic-claude-v1', index: 0 },
        ],
      },
    ],
    [
      'redacted thinking',
      [
        { type: 'redacted_thinking', data: 'D' },
        { type: 'text', text: 'a' },
      ],
      { content: 'a' },
      {
        content: 'a',
        reasoning_details: [{ type: 'reasoning.encrypted', data: 'D', format: 'anthropic-claude-v1', index: 0 }],
      },
    ],
    [
      'unsigned thinking as words',
      [
        { type: 'thinking', thinking: 'hm', signature: '' },
        { type: 'text', text: 'a' },
      ],
      { content: 'a', reasoning: 'hm' },
    ],
    [
      'thinking without a signature',
      [
        { type: 'thinking', thinking: 'hm' },
        { type: 'text', text: 'a' },
      ],
      { content: 'a', reasoning: 'hm' },
    ],
  ];
  it.each(assistants.map(([name, content, turn, forClaude]) => [name, content, turn, forClaude ?? turn] as const))(
    'renders an assistant turn of %s',
    (_name, content, expected, forClaude) => {
      const turn = [{ role: 'assistant', content }];
      expect(messages(turn)).toEqual([{ role: 'assistant', ...expected }]);
      if (forClaude === expected) return;
      for (const model of ['anthropic/claude-opus-4', 'claude-opus-4', 'deepseek/r1']) {
        expect(messages(turn, { model })).toEqual([{ role: 'assistant', ...forClaude }]);
      }
    },
  );

  it('drops unsigned thinking for Claude, which refuses it', () => {
    const content = [
      { type: 'thinking', thinking: 'hm', signature: '' },
      { type: 'text', text: 'a' },
    ];
    expect(messages([{ role: 'assistant', content }], { model: 'anthropic/claude-opus-4' })).toEqual([
      { role: 'assistant', content: 'a' },
    ]);
  });

  it('gives sealed reasoning back to its maker and to nobody else', () => {
    const details = [
      { type: 'reasoning.summary', summary: 'hm', format: 'openai-responses-v1' },
      { type: 'reasoning.encrypted', data: 'X', id: 'rs', format: 'openai-responses-v1' },
    ];
    const list = [
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', signature: sealReasoning(details) },
          { type: 'text', text: 'a' },
        ],
      },
    ];
    expect(messages(list)).toEqual([{ role: 'assistant', content: 'a', reasoning: 'hm', reasoning_details: details }]);
    expect(messages(list, { model: 'google/gemini-3' })).toEqual([
      { role: 'assistant', content: 'a', reasoning: 'hm' },
    ]);
    expect(messages(list, { model: 'anthropic/claude-opus-4' })).toEqual([{ role: 'assistant', content: 'a' }]);
    const hidden = [{ role: 'assistant', content: [{ type: 'redacted_thinking', data: sealReasoning(details) }] }];
    expect(messages(hidden)).toEqual([{ role: 'assistant', content: '', reasoning_details: details }]);
  });

  it('drops a broken seal', () => {
    const list = [{ role: 'assistant', content: [{ type: 'thinking', thinking: 'hm', signature: 'gw1:%%%' }] }];
    expect(messages(list)).toEqual([{ role: 'assistant', content: '', reasoning: 'hm' }]);
  });

  it('has no place for thinking in the plain schema', () => {
    const list = [
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', signature: 'S' },
          { type: 'text', text: 'a' },
        ],
      },
    ];
    expect(messages(list, { dialect: 'openai' })).toEqual([{ role: 'assistant', content: 'a' }]);
  });

  it('renders tools with their schema verbatim and without what Chat does not know', () => {
    const input_schema = { $schema: 's', $defs: { a: {} }, anyOf: [{ type: 'object' }] };
    const tools = [
      { type: 'custom', name: 'look', input_schema, strict: true, cache_control: MARK, defer_loading: true },
    ];
    expect(body({ tools })['tools']).toEqual([
      { type: 'function', function: { name: 'look', parameters: input_schema, strict: true }, cache_control: MARK },
    ]);
  });

  const choices: readonly (readonly [object, unknown])[] = [
    [{ type: 'auto' }, 'auto'],
    [{ type: 'any' }, 'required'],
    [{ type: 'none' }, 'none'],
    [
      { type: 'tool', name: 'look' },
      { type: 'function', function: { name: 'look' } },
    ],
  ];
  it.each(choices)('renders tool_choice %j', (choice, expected) => {
    expect(body({ tools: [LOOK], tool_choice: choice })['tool_choice']).toEqual(expected);
  });

  it('renders disable_parallel_tool_use, and nothing of a choice without tools', () => {
    const tool_choice = { type: 'auto', disable_parallel_tool_use: true };
    expect(body({ tools: [LOOK], tool_choice })['parallel_tool_calls']).toBe(false);
    expect(body({ tools: [], tool_choice })).toEqual(body({}));
  });

  it('maps names Chat does not take, everywhere, and back', () => {
    const long = `mcp__a.b__${'x'.repeat(80)}`;
    const history = { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: long, input: {} }] };
    const { body: rendered, toolNames } = render({
      tools: [{ ...LOOK, name: long }],
      tool_choice: { type: 'tool', name: long },
      messages: [HELLO, history],
    });
    const mapped = toolNames.toUpstream(long);
    expect(mapped).toMatch(/^[a-zA-Z0-9_-]{64}$/);
    expect(JSON.stringify(rendered).split(mapped)).toHaveLength(4);
    expect(JSON.stringify(rendered)).not.toContain(long);
    expect(toolNames.toCaller(mapped)).toBe(long);
    expect(toolNames.toCaller('other')).toBe('other');
  });

  it('passes sampling fields, zeros too, and drops top_k for the plain schema', () => {
    const more = { temperature: 0, top_p: 0, top_k: 0, stop_sequences: ['a'] };
    expect(body(more)).toMatchObject({ temperature: 0, top_p: 0, top_k: 0, stop: ['a'] });
    expect(body(more, { dialect: 'openai' })).not.toHaveProperty('top_k');
    expect(body({ stop_sequences: [] })).not.toHaveProperty('stop');
  });

  it('takes only four stop sequences in the plain schema', () => {
    const more = { stop_sequences: ['a', 'b', 'c', 'd', 'e'] };
    expect(body(more)['stop']).toHaveLength(5);
    expect(refusal(more, { dialect: 'openai' })).toMatchObject({
      code: 'UNSUPPORTED_FEATURE',
      param: 'stop_sequences',
    });
  });

  it('takes no document by url in the plain schema', () => {
    const content = [{ type: 'document', source: { type: 'url', url: 'https://x' } }];
    expect(refusal({ messages: [{ role: 'user', content }] }, { dialect: 'openai' }).code).toBe('UNSUPPORTED_FEATURE');
  });

  const thinking: readonly (readonly [object, unknown, unknown])[] = [
    [{ thinking: { type: 'enabled', budget_tokens: 500 } }, { max_tokens: 500 }, 'low'],
    [{ thinking: { type: 'enabled', budget_tokens: 32_000 } }, { max_tokens: 999 }, 'high'],
    [{ thinking: { type: 'enabled', budget_tokens: 32_000 }, max_tokens: 1 }, undefined, 'high'],
    [{ thinking: { type: 'adaptive' } }, { enabled: true }, undefined],
    [{ thinking: { type: 'adaptive' }, output_config: { effort: 'max' } }, { enabled: true, effort: 'xhigh' }, 'high'],
    [{ thinking: { type: 'disabled' } }, { enabled: false }, 'none'],
    [{ thinking: { type: 'between_tools', display: 'omitted' } }, { enabled: true }, undefined],
    [{ output_config: { effort: 'medium' } }, { effort: 'medium' }, 'medium'],
    [{}, undefined, undefined],
  ];
  it.each(thinking)('renders thinking %j', (more, reasoning, effort) => {
    expect(body(more)['reasoning']).toEqual(reasoning);
    const plain = body(more, { dialect: 'openai' });
    expect([plain['reasoning'], plain['reasoning_effort']]).toEqual([undefined, effort]);
  });

  it('asks for strictness only where the schema is strict already', () => {
    const loose = { type: 'object', properties: { a: { type: 'string' } } };
    const strict = { ...loose, required: ['a'], additionalProperties: false };
    const nested = { ...strict, properties: { a: loose } };
    const format = (schema: object) =>
      body({ output_config: { format: { type: 'json_schema', schema } } })['response_format'];
    expect(format(loose)).toEqual({ type: 'json_schema', json_schema: { name: 'response', schema: loose } });
    expect(format(strict)).toEqual({
      type: 'json_schema',
      json_schema: { name: 'response', schema: strict, strict: true },
    });
    expect(format(nested)).toEqual({ type: 'json_schema', json_schema: { name: 'response', schema: nested } });
  });

  it('passes a short user id and hashes a long one', () => {
    expect(body({ metadata: { user_id: 'u'.repeat(128) } })['user']).toBe('u'.repeat(128));
    const hashed = body({ metadata: { user_id: 'u'.repeat(150) } })['user'];
    expect(hashed).toMatch(/^[0-9a-f]{64}$/);
    expect(body({ metadata: { user_id: 'u'.repeat(150) } })['user']).toBe(hashed);
  });

  it('names the session as each dialect does', () => {
    expect(body({ session_id: 's' })['session_id']).toBe('s');
    expect(body({ session_id: 's' }, { dialect: 'openai' })['prompt_cache_key']).toBe('s');
    expect(body({ session_id: 's'.repeat(65) }, { dialect: 'openai' })['prompt_cache_key']).toMatch(/^[0-9a-f]{64}$/);
  });

  it.each([
    ['auto', 'auto'],
    ['standard_only', 'default'],
    ['other', undefined],
  ])('renders service_tier %s', (tier, expected) => {
    expect(body({ service_tier: tier })['service_tier']).toBe(expected);
  });

  it('renders a request that came as Chat, too', () => {
    const list = [
      {
        role: 'user',
        content: [
          { type: 'input_audio', input_audio: { data: 'A' } },
          { type: 'image_url', image_url: { url: 'https://x', detail: 'low' } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'look', arguments: '{bad' } }],
      },
      { role: 'tool', tool_call_id: 'c', content: 'r' },
    ];
    const request = parseChatRequest({ model: 'm', messages: list, n: 2, response_format: { type: 'json_object' } });
    const { body: rendered } = renderChatRequest(request, { model: 'x', dialect: 'openrouter', sandboxField: false });
    expect(rendered).toEqual({ model: 'x', messages: list, n: 2, response_format: { type: 'json_object' } });
  });
});

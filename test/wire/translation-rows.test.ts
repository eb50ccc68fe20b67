// The rows of the translation table that a Messages caller sees at a Chat upstream: bytes in, bytes out, both ways.

import { describe, expect, it } from 'vitest';
import { chatOverChat } from '../../src/service/pairs/chat-over-chat.ts';
import { messagesOverChat } from '../../src/service/pairs/messages-over-chat.ts';
import { parseJsonBody } from '../../src/wire/json-scan.ts';
import { parseChatRequest } from '../../src/wire/parse-chat-request.ts';
import { parseMessagesRequest } from '../../src/wire/parse-messages-request.ts';
import { sealReasoning } from '../../src/wire/parse-reasoning.ts';
import { SvcError } from '../../src/wire/svc-error.ts';
import { PNG_BASE64, PNG_DATA_URL } from '../helpers/samples.ts';

type Target = { readonly model?: string; readonly dialect?: 'openrouter' | 'openai' };

const CLAUDE: Target = { model: 'anthropic/claude-sonnet-4.5' };
const GPT: Target = { model: 'openai/gpt-5' };
const STRICT: Target = { dialect: 'openai' };
const MARK = { type: 'ephemeral', ttl: '1h' };
const LOOK = { name: 'look', input_schema: { type: 'object' } };
const ASK = { role: 'user', content: 'Hello' };
const USE = { type: 'tool_use', id: 't1', name: 'look', input: {} };
const CALLED = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 't1', type: 'function', function: { name: 'look', arguments: '{}' } }],
};
const PNG = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG_BASE64 } };
const PNG_PART = { type: 'image_url', image_url: { url: PNG_DATA_URL } };
const PDF = { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' } };
const PDF_PART = {
  type: 'file',
  file: { filename: 'document.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' },
};
const text = (words: string, more: object = {}) => ({ type: 'text', text: words, ...more });
const result = (content: unknown, more: object = {}) => ({ type: 'tool_result', tool_use_id: 't1', content, ...more });

/** A body as text, and what the upstream gets for it. */
function translate(body: string, target: Target = {}) {
  const parsedBody = parseJsonBody(Buffer.from(body));
  const request = parseMessagesRequest(parsedBody.value);
  const sent = messagesOverChat.body({
    parsed: { body: parsedBody, request },
    model: target.model ?? 'some/model',
    injectedMaxTokens: undefined,
    outputTokensHeld: 4_096,
    upstream: { dialect: target.dialect ?? 'openrouter', takesSandboxField: false },
    callerHeaders: {},
  });
  return { ...sent, request, text: Buffer.from(sent.bytes).toString() };
}

/** Of a request that is ordinary but for `fields`. */
function sent(fields: object, target: Target = {}): Record<string, unknown> {
  const body = JSON.stringify({ model: 'svc:auto', max_tokens: 2000, messages: [ASK], ...fields });
  return JSON.parse(translate(body, target).text) as Record<string, unknown>;
}

function refused(fields: object, target: Target = {}): SvcError {
  try {
    sent(fields, target);
  } catch (error) {
    if (error instanceof SvcError) return error;
    throw error;
  }
  throw new Error('was not refused');
}

type Row = readonly [name: string, messages: object, chat: object, target?: Target];

const BILLING = 'x-anthropic-billing-header: cc_version=2.1; suffix=.0df';

const FIELDS: readonly Row[] = [
  ['max_tokens is sent once', {}, { max_tokens: 2000, max_completion_tokens: undefined }],
  ['max_tokens stays for plain servers', {}, { max_tokens: 2000, max_completion_tokens: undefined }, STRICT],
  ...['gpt-5-mini', 'openai/gpt-5.1', 'o3', 'o4-mini', 'openai/o1', 'gpt-12', 'codex-mini-latest'].map(
    (model): Row => [
      `${model} of a strict upstream wants max_completion_tokens`,
      {},
      { max_tokens: undefined, max_completion_tokens: 2000 },
      { model, dialect: 'openai' },
    ],
  ),
  ...['gpt-4o', 'gpt-oss-120b', 'openai/gpt-oss-20b', 'qwen/o1-like', 'olmo-2'].map(
    (model): Row => [
      `${model} of a strict upstream takes max_tokens`,
      {},
      { max_tokens: 2000, max_completion_tokens: undefined },
      { model, dialect: 'openai' },
    ],
  ),
  ['an aggregator takes max_tokens for every model', {}, { max_tokens: 2000, max_completion_tokens: undefined }, GPT],
  ['a stream asks for usage', { stream: true }, { stream: true, stream_options: { include_usage: true } }],
  ['no stream asks for none', { stream: false }, { stream: undefined, stream_options: undefined }],
  ['stop_sequences stay an array', { stop_sequences: ['END'] }, { stop: ['END'] }],
  [
    'many stop_sequences pass where they may',
    { stop_sequences: ['1', '2', '3', '4', '5'] },
    { stop: ['1', '2', '3', '4', '5'] },
  ],
  ['no stop_sequences are nothing', { stop_sequences: [] }, { stop: undefined }],
  ['zeros are values', { temperature: 0, top_p: 0, top_k: 0 }, { temperature: 0, top_p: 0, top_k: 0 }],
  ['top_k is an extension', { top_k: 5 }, { top_k: undefined }, STRICT],
  ['a budget', { thinking: { type: 'enabled', budget_tokens: 1500 } }, { reasoning: { max_tokens: 1500 } }],
  [
    'a budget over max_tokens',
    { thinking: { type: 'enabled', budget_tokens: 32000 } },
    { reasoning: { max_tokens: 1999 } },
  ],
  [
    'a budget equal to max_tokens',
    { thinking: { type: 'enabled', budget_tokens: 2000 } },
    { reasoning: { max_tokens: 1999 } },
  ],
  [
    'a budget that leaves Claude less than its least',
    { max_tokens: 1024, thinking: { type: 'enabled', budget_tokens: 32000 } },
    { reasoning: undefined },
    CLAUDE,
  ],
  [
    'a budget that just leaves Claude its least',
    { max_tokens: 1025, thinking: { type: 'enabled', budget_tokens: 32000 } },
    { reasoning: { max_tokens: 1024 } },
    CLAUDE,
  ],
  [
    'a budget with one token to answer',
    { max_tokens: 1, thinking: { type: 'enabled', budget_tokens: 32000 } },
    { reasoning: undefined },
  ],
  [
    'a small budget as a word',
    { thinking: { type: 'enabled', budget_tokens: 1024 } },
    { reasoning_effort: 'low', reasoning: undefined },
    STRICT,
  ],
  ['adaptive thinking', { thinking: { type: 'adaptive' } }, { reasoning: { enabled: true } }],
  [
    'adaptive thinking with an effort',
    { thinking: { type: 'adaptive', display: 'omitted' }, output_config: { effort: 'low' } },
    { reasoning: { enabled: true, effort: 'low' } },
  ],
  ['the greatest effort', { output_config: { effort: 'max' } }, { reasoning: { effort: 'xhigh' } }],
  [
    'the greatest effort of the plain schema',
    { output_config: { effort: 'max' } },
    { reasoning_effort: 'high' },
    STRICT,
  ],
  ['thinking off', { thinking: { type: 'disabled' } }, { reasoning: { enabled: false } }],
  ['thinking off in the plain schema', { thinking: { type: 'disabled' } }, { reasoning_effort: 'none' }, STRICT],
  ['thinking between tools', { thinking: { type: 'between_tools' } }, { reasoning: { enabled: true } }],
  ['service_tier auto', { service_tier: 'auto' }, { service_tier: 'auto' }],
  ['service_tier standard_only', { service_tier: 'standard_only' }, { service_tier: 'default' }],
  [
    'a long user id becomes its hash',
    { metadata: { user_id: JSON.stringify({ device_id: 'd'.repeat(64), session_id: 's'.repeat(80) }) } },
    { user: expect.stringMatching(/^[0-9a-f]{64}$/), metadata: undefined },
  ],
  ['a short user id', { metadata: { user_id: 'someone' } }, { user: 'someone' }],
  [
    'a loose schema of the answer is not made strict',
    { output_config: { format: { type: 'json_schema', schema: { type: 'object', properties: { a: {} } } } } },
    {
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'response', schema: { type: 'object', properties: { a: {} } } },
      },
    },
  ],
  [
    'fields of Claude Code alone and unknown ones are left out',
    {
      context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
      speed: 'fast',
      container: 'c',
      diagnostics: {},
      inference_geo: 'eu',
      mcp_servers: [],
      betas: ['x'],
      never_heard_of: 1,
    },
    {
      context_management: undefined,
      speed: undefined,
      container: undefined,
      diagnostics: undefined,
      inference_geo: undefined,
      mcp_servers: undefined,
      betas: undefined,
      never_heard_of: undefined,
    },
  ],
  ['tool_choice any', { tools: [LOOK], tool_choice: { type: 'any' } }, { tool_choice: 'required' }],
  ['tool_choice none', { tools: [LOOK], tool_choice: { type: 'none' } }, { tool_choice: 'none' }],
  [
    'tool_choice without tools',
    { tools: [], tool_choice: { type: 'any' } },
    { tool_choice: undefined, tools: undefined },
  ],
  ...['auto', 'any', 'tool'].map(
    (type): Row => [
      `one tool at a time, within ${type}`,
      { tools: [LOOK], tool_choice: { type, name: 'look', disable_parallel_tool_use: true } },
      { parallel_tool_calls: false },
    ],
  ),
  [
    'tools lose what only the vendor reads',
    {
      tools: [
        {
          ...LOOK,
          type: 'custom',
          eager_input_streaming: true,
          defer_loading: true,
          input_examples: [],
          allowed_callers: [],
          toolset_name: 'x',
        },
      ],
    },
    { tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }] },
  ],
];

/** Rows with a target each. */
function targeted(rows: readonly Row[]) {
  return rows.map(([name, messages, chat, target]) => [name, messages, chat, target ?? {}] as const);
}

describe('a field of a Messages request', () => {
  it.each(targeted(FIELDS))('%s', (_name, messages, chat, target) => {
    const body = sent(messages, target);
    for (const [field, expected] of Object.entries(chat)) expect([field, body[field]]).toEqual([field, expected]);
  });

  it('is refused where the plain schema has no words for it: five stop sequences', () => {
    expect(refused({ stop_sequences: ['1', '2', '3', '4', '5'] }, STRICT)).toMatchObject({
      code: 'UNSUPPORTED_FEATURE',
      param: 'stop_sequences',
    });
  });

  // What an upstream's web search costs is in no price list, and nothing runs here that can't be charged exactly.
  it.each(['web_search_20250305', 'web_fetch_20250910', 'code_execution_20250825', 'mcp_toolset'])(
    'is refused by name where it is the tool %s, which the vendor runs',
    (type) => {
      const error = refused({ tools: [{ type, name: 'the_tool', max_uses: 8 }] });
      expect(error).toMatchObject({ code: 'UNSUPPORTED_FEATURE', status: 400, retryable: false });
      expect(error.message).toContain('the_tool');
      expect(error.message).toContain(type);
    },
  );
});

const SYSTEM: readonly Row[] = [
  ['a string', { system: 'Be brief' }, [{ role: 'system', content: 'Be brief' }, ASK]],
  [
    'blocks keep their boundaries and marks',
    { system: [text('a'), text('b', { cache_control: MARK })] },
    [{ role: 'system', content: [text('a'), text('b', { cache_control: MARK })] }, ASK],
  ],
  ['the billing block goes', { system: [text(BILLING), text('a')] }, [{ role: 'system', content: 'a' }, ASK]],
  [
    'the billing line goes, the prompt behind it stays',
    { system: `${BILLING}\nBe brief` },
    [{ role: 'system', content: 'Be brief' }, ASK],
  ],
  ['nothing but billing is no system prompt', { system: [text(BILLING)] }, [ASK]],
  [
    'the billing block stays for Claude',
    { system: [text(BILLING), text('a')] },
    [{ role: 'system', content: [text(BILLING), text('a')] }, ASK],
    CLAUDE,
  ],
  [
    'a system message in the middle stays there',
    { messages: [ASK, { role: 'system', content: 'now' }, ASK] },
    [ASK, { role: 'system', content: 'now' }, ASK],
  ],
];

const TURNS: readonly Row[] = [
  [
    'system messages between a call and its results wait, in order',
    {
      messages: [
        { role: 'assistant', content: [USE] },
        { role: 'system', content: 'one' },
        { role: 'system', content: 'two' },
        { role: 'user', content: [result('ok'), text('and?')] },
      ],
    },
    [
      CALLED,
      { role: 'tool', tool_call_id: 't1', content: 'ok' },
      { role: 'system', content: 'one' },
      { role: 'system', content: 'two' },
      { role: 'user', content: 'and?' },
    ],
  ],
  [
    'results come before what stood before them',
    { messages: [{ role: 'user', content: [text('x'), result('1'), text('y'), result('2', { tool_use_id: 't2' })] }] },
    [
      { role: 'tool', tool_call_id: 't1', content: '1' },
      { role: 'tool', tool_call_id: 't2', content: '2' },
      { role: 'user', content: [text('x'), text('y')] },
    ],
  ],
  [
    'text after a call is kept with the text before it',
    { messages: [{ role: 'assistant', content: [text('a'), USE, text('b')] }] },
    [{ ...CALLED, content: [text('a'), text('b')] }],
  ],
  [
    'a mark on a call goes to the text before it',
    { messages: [{ role: 'assistant', content: [text('a'), { ...USE, cache_control: MARK }] }] },
    [{ ...CALLED, content: [text('a', { cache_control: MARK })] }],
  ],
  [
    'a mark on a call does not replace one',
    {
      messages: [
        {
          role: 'assistant',
          content: [text('a', { cache_control: { type: 'ephemeral' } }), { ...USE, cache_control: MARK }],
        },
      ],
    },
    [{ ...CALLED, content: [text('a', { cache_control: { type: 'ephemeral' } })] }],
  ],
  [
    'a mark on the whole request goes to its last part',
    { cache_control: MARK, messages: [ASK] },
    [{ role: 'user', content: [text('Hello', { cache_control: MARK })] }],
  ],
  [
    'a mark on the whole request skips an empty last turn',
    { cache_control: MARK, messages: [ASK, { role: 'assistant', content: [text('')] }] },
    [
      { role: 'user', content: [text('Hello', { cache_control: MARK })] },
      { role: 'assistant', content: '' },
    ],
  ],
  [
    'a mark on the whole request reaches a tool result',
    { cache_control: MARK, messages: [{ role: 'user', content: [result('ok')] }] },
    [{ role: 'tool', tool_call_id: 't1', content: [text('ok', { cache_control: MARK })] }],
  ],
  [
    'turns of one role stay two, a prefill stays last',
    { messages: [ASK, ASK, { role: 'assistant', content: 'So' }] },
    [ASK, ASK, { role: 'assistant', content: 'So' }],
  ],
  [
    'a PDF beside its result',
    { messages: [{ role: 'user', content: [result('read it'), { ...PDF, title: 'T.pdf', cache_control: MARK }] }] },
    [
      { role: 'tool', tool_call_id: 't1', content: 'read it' },
      {
        role: 'user',
        content: [{ type: 'file', file: { ...PDF_PART.file, filename: 'T.pdf' }, cache_control: MARK }],
      },
    ],
  ],
  [
    'a text document keeps title and context',
    {
      messages: [
        {
          role: 'user',
          content: [{ type: 'document', title: 'T', context: 'old', source: { type: 'text', data: 'words' } }],
        },
      ],
    },
    [{ role: 'user', content: [text('[document: T]\nold'), text('words')] }],
  ],
  [
    'a PDF keeps its context',
    { messages: [{ role: 'user', content: [{ ...PDF, context: 'old' }] }] },
    [{ role: 'user', content: [text('old'), PDF_PART] }],
  ],
  [
    'a document of blocks keeps title and the marks of its blocks',
    {
      messages: [
        {
          role: 'user',
          content: [
            {
              type: 'document',
              title: 'T',
              source: { type: 'content', content: [text('a', { cache_control: MARK }), PNG] },
            },
          ],
        },
      ],
    },
    [{ role: 'user', content: [text('[document: T]'), text('a', { cache_control: MARK }), PNG_PART] }],
  ],
  [
    'a block nobody knows is shown as JSON and keeps its mark',
    { messages: [{ role: 'user', content: [{ type: 'search_result', title: 't', cache_control: MARK }] }] },
    [{ role: 'user', content: [text('{"type":"search_result","title":"t"}', { cache_control: MARK })] }],
  ],
  [
    'an image and a PDF inside a result stay there',
    { messages: [{ role: 'user', content: [result([text('a'), PNG, PDF])] }] },
    [{ role: 'tool', tool_call_id: 't1', content: [text('a'), PNG_PART, PDF_PART] }],
  ],
  [
    'the plain schema shows what tools returned in one message after all results',
    {
      messages: [
        { role: 'assistant', content: [USE, { ...USE, id: 't2' }] },
        { role: 'system', content: 'note' },
        {
          role: 'user',
          content: [result([text('a'), PNG]), result([PDF], { tool_use_id: 't2', is_error: true }), text('so?')],
        },
      ],
    },
    [
      { ...CALLED, tool_calls: [CALLED.tool_calls[0], { ...CALLED.tool_calls[0], id: 't2' }] },
      {
        role: 'tool',
        tool_call_id: 't1',
        content: [text('a'), text('[1 attachment(s) shown after the tool results]')],
      },
      { role: 'tool', tool_call_id: 't2', content: '[tool error] [1 attachment(s) shown after the tool results]' },
      {
        role: 'user',
        content: [
          text('[attachment(s) of the tool result t1]'),
          PNG_PART,
          text('[attachment(s) of the tool result t2]'),
          PDF_PART,
        ],
      },
      { role: 'system', content: 'note' },
      { role: 'user', content: 'so?' },
    ],
    STRICT,
  ],
  [
    'an error is marked, no error is not',
    { messages: [{ role: 'user', content: [result('bad', { is_error: true }), result('good', { is_error: false })] }] },
    [
      { role: 'tool', tool_call_id: 't1', content: '[tool error] bad' },
      { role: 'tool', tool_call_id: 't1', content: 'good' },
    ],
  ],
  [
    'a result without content is empty',
    { messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1' }] }] },
    [{ role: 'tool', tool_call_id: 't1', content: '' }],
  ],
  [
    'an empty turn stays, empty texts go',
    {
      messages: [
        { role: 'user', content: [text(''), text('')] },
        { role: 'user', content: [text(''), text('x')] },
      ],
    },
    [
      { role: 'user', content: '' },
      { role: 'user', content: 'x' },
    ],
  ],
];

const THOUGHT = { type: 'thinking', thinking: ' hm\n', signature: 'EqQB==' };
const DETAIL = { type: 'reasoning.text', text: ' hm\n', signature: 'EqQB==', format: 'anthropic-claude-v1', index: 0 };
const GPT_DETAILS = [
  { type: 'reasoning.summary', summary: 'hm', format: 'openai-responses-v1', index: 0 },
  { type: 'reasoning.encrypted', data: 'X', id: 'rs_1', format: 'openai-responses-v1', index: 1 },
];
const SEALED = { type: 'thinking', thinking: 'hm', signature: sealReasoning(GPT_DETAILS) };

/** The assistant turn of these blocks, and what a model gets for it. */
function thought(name: string, blocks: readonly object[], turn: object, target: Target): Row {
  return [
    name,
    { messages: [{ role: 'assistant', content: [...blocks, text('a')] }] },
    [{ role: 'assistant', content: 'a', ...turn }],
    target,
  ];
}

const THINKING: readonly Row[] = [
  thought('signed, to Claude', [THOUGHT], { reasoning: ' hm\n', reasoning_details: [DETAIL] }, CLAUDE),
  thought('signed by Claude, to GPT', [THOUGHT], { reasoning: ' hm\n' }, GPT),
  thought('signed, in the plain schema', [THOUGHT], {}, STRICT),
  thought('unsigned, to Claude', [{ ...THOUGHT, signature: '' }], {}, CLAUDE),
  thought('unsigned, to GPT', [{ ...THOUGHT, signature: '' }], { reasoning: ' hm\n' }, GPT),
  thought(
    'redacted, to Claude',
    [{ type: 'redacted_thinking', data: 'D' }],
    { reasoning_details: [{ type: 'reasoning.encrypted', data: 'D', format: 'anthropic-claude-v1', index: 0 }] },
    CLAUDE,
  ),
  thought('redacted by Claude, to GPT', [{ type: 'redacted_thinking', data: 'D' }], {}, GPT),
  thought('sealed, to its maker', [SEALED], { reasoning: 'hm', reasoning_details: GPT_DETAILS }, GPT),
  thought('sealed, to Claude', [SEALED], {}, CLAUDE),
  thought('sealed, to another vendor', [SEALED], { reasoning: 'hm' }, { model: 'google/gemini-3-pro' }),
];

describe('the messages of a Messages request', () => {
  it.each(targeted([...SYSTEM, ...TURNS]))('%s', (_name, messages, chat, target) => {
    expect(sent(messages, target)['messages']).toEqual(chat);
  });

  it.each(targeted(THINKING))('thinking %s', (_name, messages, chat, target) => {
    expect(sent(messages, target)['messages']).toEqual(chat);
  });

  it.each([['image'], ['document']])('%s by file id is refused', (type) => {
    const content = [{ type, source: { type: 'file', file_id: 'f' } }];
    expect(refused({ messages: [{ role: 'user', content }] })).toMatchObject({
      code: 'UNSUPPORTED_FEATURE',
      status: 400,
    });
  });

  it('stay linear with thousands of system messages between calls and results', () => {
    const notes = Array.from({ length: 9000 }, () => ({ role: 'system', content: 'n' }));
    const messages = [{ role: 'assistant', content: [USE] }, ...notes, { role: 'user', content: [result('ok')] }];
    expect((sent({ messages })['messages'] as unknown[]).length).toBe(9002);
  });
});

const EXACT =
  '{"$schema":"s","$defs":{"n":{"type":"integer","maximum":18446744073709551615}},"anyOf":[{"minimum":1.0},{"multipleOf":1e3}],"enum":[{"10":1,"2":2}]}';

describe('a cap that svc puts into a Chat request', () => {
  it.each([
    ['gpt-5', 'openai', 'max_completion_tokens'],
    ['gpt-4o', 'openai', 'max_tokens'],
    ['openai/gpt-5', 'openrouter', 'max_tokens'],
  ] as const)('for %s of a %s upstream is %s', (model, dialect, field) => {
    const body = parseJsonBody(Buffer.from(JSON.stringify({ model, messages: [ASK] })));
    const { bytes } = chatOverChat.body({
      parsed: { body, request: parseChatRequest(body.value) },
      model,
      injectedMaxTokens: 77,
      outputTokensHeld: 4_096,
      upstream: { dialect, takesSandboxField: false },
      callerHeaders: {},
    });
    expect(JSON.parse(Buffer.from(bytes).toString())).toEqual({ model, messages: [ASK], [field]: 77 });
  });
});

describe('JSON of the caller that a number cannot hold', () => {
  const head = '{"model":"m","max_tokens":9,';
  const hello = '"messages":[{"role":"user","content":"x"}]';

  it('passes in a tool schema, digit by digit', () => {
    const { text: out } = translate(`${head}${hello},"tools":[{"name":"look","input_schema":${EXACT}}]}`);
    expect(out).toContain(`"parameters":${EXACT}`);
  });

  it('passes in a schema of the answer', () => {
    const format = `{"type":"json_schema","schema":${EXACT}}`;
    expect(translate(`${head}${hello},"output_config":{"format":${format}}}`).text).toContain(`"schema":${EXACT}`);
  });

  it('passes in the input of an earlier call', () => {
    const input = '{"id":12345678901234567890,"x":1.0,"y":1e3,"z":-0,"é":"\\u00e9"}';
    const turn = `{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"look","input":${input}}]}`;
    const [message] = JSON.parse(translate(`${head}"messages":[${turn}]}`).text).messages;
    expect(message.tool_calls[0].function.arguments).toBe(input);
  });

  it('passes in a block nobody knows', () => {
    const block = '{"type":"search_result","id":12345678901234567890}';
    const { text: out } = translate(`${head}"messages":[{"role":"user","content":[${block}]}]}`);
    expect(JSON.parse(out).messages[0].content[0].text).toBe(block);
  });
});

/** What the caller gets for a Chat answer, as text. */
function answered(
  chat: object | string,
  request = translate(JSON.stringify({ model: 'm', max_tokens: 9, messages: [ASK] })),
) {
  let made = 0;
  const whole = messagesOverChat.whole(
    {
      request: request.request,
      model: 'some/model',
      inputTokensEstimate: 1,
      toolNames: request.toolNames,
      requestId: 'req_1',
      makeId: (prefix) => `${prefix}_${made++}`,
      nowMs: 0,
    },
    Buffer.from(typeof chat === 'string' ? chat : JSON.stringify(chat)),
  );
  const usage = { inputTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 0, reasoningTokens: 0 };
  return Buffer.from(whole.finish('0', whole.usage ?? usage)).toString();
}

function answerOf(message: object, finish: string | null = 'stop', choice: object = {}, more: object = {}) {
  const choices = [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finish, ...choice }];
  const chat = { id: 'gen-1', created: 5, model: 'a/b', choices, ...more };
  return JSON.parse(answered(chat)) as Record<string, unknown>;
}

const CALL = { id: 'c', type: 'function', function: { name: 'look', arguments: '{}' } };

const ENDS: readonly (readonly [name: string, message: object, finish: string, choice: object, expected: object])[] = [
  ['a matched string', {}, 'stop', { stop_reason: 'END' }, { stop_reason: 'stop_sequence', stop_sequence: 'END' }],
  [
    'SGLang’s matched string',
    {},
    'stop',
    { matched_stop: 'END' },
    { stop_reason: 'stop_sequence', stop_sequence: 'END' },
  ],
  ['a matched token', {}, 'stop', { matched_stop: 7 }, { stop_reason: 'end_turn', stop_sequence: null }],
  ['a word for the end', {}, 'stop', { stop_reason: 'end_turn' }, { stop_reason: 'end_turn', stop_sequence: null }],
  ['an empty word', {}, 'stop', { stop_reason: '' }, { stop_reason: 'end_turn', stop_sequence: null }],
  [
    'the model’s own word for a stop string',
    {},
    'stop',
    { native_finish_reason: 'stop_sequence' },
    { stop_reason: 'stop_sequence', stop_sequence: null },
  ],
  ['no hint', {}, 'stop', { native_finish_reason: 'stop' }, { stop_reason: 'end_turn', stop_sequence: null }],
  ['a call that ended as stop', { tool_calls: [CALL] }, 'stop', {}, { stop_reason: 'tool_use' }],
  ['tool_calls without any', { content: 'a' }, 'tool_calls', {}, { stop_reason: 'end_turn' }],
  ['a cut call', { tool_calls: [CALL] }, 'length', {}, { stop_reason: 'max_tokens' }],
  ['a filter', {}, 'content_filter', {}, { stop_reason: 'refusal' }],
  [
    'a refusal',
    { refusal: 'No.' },
    'stop',
    {},
    { stop_reason: 'refusal', stop_details: { type: 'refusal', category: null, explanation: 'No.' }, content: [] },
  ],
];

describe('a whole Chat answer', () => {
  it.each(ENDS)('that ends with %s', (_name, message, finish, choice, expected) => {
    expect(answerOf({ content: 'x', ...message }, finish, choice)).toMatchObject(expected);
  });

  it('counts choice 0 alone, wherever it stands', () => {
    const choices = [1, 0].map((index) => ({ index, message: { content: `choice ${index}` }, finish_reason: 'stop' }));
    expect(JSON.parse(answered({ choices })).content).toEqual([text('choice 0', { citations: null })]);
  });

  it('is never asked to have several', () => {
    expect(sent({ n: 3 })['n']).toBeUndefined();
  });

  it('keeps the order thinking, text, calls', () => {
    const { content } = answerOf({ tool_calls: [CALL], content: 'a', reasoning: 'hm' }, 'tool_calls');
    expect(content).toEqual([
      { type: 'thinking', thinking: 'hm', signature: '' },
      text('a', { citations: null }),
      { type: 'tool_use', id: 'c', name: 'look', input: {}, caller: { type: 'direct' } },
    ]);
  });

  it.each([
    ['{"id":12345678901234567890}', '{"id":12345678901234567890}'],
    ['{ "x" : 1.0 }', '{ "x" : 1.0 }'],
    ['', '{}'],
    ['{"a":', '{"raw_arguments":"{\\"a\\":"}'],
    ['[1]', '{"raw_arguments":"[1]"}'],
  ])('gives the arguments %j as the input %s', (args, input) => {
    const call = { ...CALL, function: { name: 'look', arguments: args } };
    const out = answered({ choices: [{ message: { tool_calls: [call] }, finish_reason: 'tool_calls' }] });
    expect(out).toContain(`"input":${input},"caller":{"type":"direct"}}`);
  });

  it('joins a signature that came by itself to its text', () => {
    const details = [
      { type: 'reasoning.text', text: 'hm', format: 'anthropic-claude-v1', index: 0 },
      { type: 'reasoning.text', signature: 'S', format: 'anthropic-claude-v1', index: 0 },
      { type: 'reasoning.text', text: 'more', signature: 'T', format: 'anthropic-claude-v1', index: 1 },
    ];
    expect(answerOf({ content: null, reasoning: 'hmmore', reasoning_details: details })['content']).toEqual([
      { type: 'thinking', thinking: 'hm', signature: 'S' },
      { type: 'thinking', thinking: 'more', signature: 'T' },
    ]);
  });

  it('subtracts read and written cache tokens, and shows zeros where nothing was counted', () => {
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 7,
      prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
      completion_tokens_details: { reasoning_tokens: 3 },
    };
    expect(answerOf({ content: 'a' }, 'stop', {}, { usage })['usage']).toMatchObject({
      input_tokens: 10,
      cache_read_input_tokens: 60,
      cache_creation_input_tokens: 30,
      output_tokens: 7,
      output_tokens_details: { thinking_tokens: 3 },
    });
    expect(answerOf({ content: 'a' })['usage']).toMatchObject({
      input_tokens: 0,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 0,
      output_tokens: 0,
    });
  });

  it('restores tool names and replaces ids that the conversation has used', () => {
    const name = `mcp__files.read/${'x'.repeat(60)}`;
    const history = { role: 'assistant', content: [{ type: 'tool_use', id: 'used', name, input: {} }] };
    const request = translate(
      JSON.stringify({ model: 'm', max_tokens: 9, messages: [history], tools: [{ ...LOOK, name }] }),
    );
    const chat = JSON.parse(request.text);
    const mapped = chat.tools[0].function.name;
    expect(mapped).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(chat.messages[0].tool_calls[0].function.name).toBe(mapped);
    const calls = ['used', '', 'odd:1', 'odd:1'].map((id) => ({
      ...CALL,
      id,
      function: { name: mapped, arguments: '' },
    }));
    const out = JSON.parse(
      answered({ choices: [{ message: { tool_calls: calls }, finish_reason: 'tool_calls' }] }, request),
    );
    const ids = out.content.map((block: { id: string }) => block.id);
    expect(out.content.every((block: { name: string }) => block.name === name)).toBe(true);
    expect(new Set(ids).size).toBe(4);
    expect(ids).not.toContain('used');
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9_-]+$/);
  });
});

import { describe, expect, it } from 'vitest';
import { inspectChatResponse, parseChatResponse } from '../../src/wire/chat-response.ts';
import type { Usage } from '../../src/wire/neutral.ts';
import { unsealReasoning } from '../../src/wire/parse-reasoning.ts';
import { renderMessagesResponse } from '../../src/wire/render-messages-response.ts';
import { SvcError } from '../../src/wire/svc-error.ts';
import { createToolNameMap } from '../../src/wire/tool-names.ts';

const LONG = `${'x'.repeat(70)}`;
const DIRECT = { type: 'direct' };
/** What nobody counts, null because clients' types promise it. */
const UNCOUNTED = { cache_creation: null, inference_geo: null, server_tool_use: null, service_tier: null, speed: null };

function answer(message: object, finish: unknown = 'stop', more: object = {}, choice: object = {}) {
  const choices = [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finish, ...choice }];
  return { id: 'gen-1', object: 'chat.completion', created: 5, model: 'a/b', choices, ...more };
}

function call(id: unknown, name: string, args: unknown) {
  return { id, type: 'function', function: { name, arguments: args } };
}

function toMessages(value: object, more: { readonly model?: string; readonly usage?: Usage } = {}) {
  let made = 0;
  return renderMessagesResponse(parseChatResponse(value), {
    ...more,
    id: 'msg_1',
    cost: '0.000123',
    toolNames: createToolNameMap([LONG]),
    usedToolIds: new Set(['used']),
    newToolId: () => {
      made += 1;
      return `toolu_${made}`;
    },
  });
}

function errorOf(run: () => unknown): SvcError {
  try {
    run();
  } catch (error) {
    if (error instanceof SvcError) return error;
    throw error;
  }
  throw new Error('did not throw');
}

describe('a Chat answer for a Messages caller', () => {
  it('becomes a message', () => {
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 9,
      prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
      completion_tokens_details: { reasoning_tokens: 4 },
    };
    expect(toMessages(answer({ content: 'Hi' }, 'stop', { usage, system_fingerprint: 'x', provider: 'p' }))).toEqual({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'a/b',
      content: [{ type: 'text', text: 'Hi', citations: null }],
      container: null,
      diagnostics: null,
      stop_details: null,
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: {
        ...UNCOUNTED,
        input_tokens: 10,
        cache_creation_input_tokens: 30,
        cache_read_input_tokens: 60,
        output_tokens: 9,
        output_tokens_details: { thinking_tokens: 4 },
        cost: 0.000123,
      },
    });
  });

  it('has usage even where the upstream sent none', () => {
    expect(toMessages(answer({ content: 'a' }))['usage']).toEqual({
      ...UNCOUNTED,
      output_tokens_details: null,
      input_tokens: 0,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: 0,
      cost: 0.000123,
    });
  });

  const contents: readonly (readonly [string, object, readonly object[]])[] = [
    ['null', { content: null }, []],
    ['""', { content: '' }, []],
    [
      'parts',
      {
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      [{ type: 'text', text: 'ab', citations: null }],
    ],
    [
      'reasoning',
      { content: 'a', reasoning: 'r' },
      [
        { type: 'thinking', thinking: 'r', signature: '' },
        { type: 'text', text: 'a', citations: null },
      ],
    ],
    [
      'reasoning_content',
      { content: 'a', reasoning_content: 'r' },
      [
        { type: 'thinking', thinking: 'r', signature: '' },
        { type: 'text', text: 'a', citations: null },
      ],
    ],
    [
      'signed details, once',
      {
        content: 'a',
        reasoning: 'r',
        reasoning_details: [{ type: 'reasoning.text', text: 'r', signature: 'S', format: 'anthropic-claude-v1' }],
      },
      [
        { type: 'thinking', thinking: 'r', signature: 'S' },
        { type: 'text', text: 'a', citations: null },
      ],
    ],
    [
      'encrypted details',
      { content: 'a', reasoning_details: [{ type: 'reasoning.encrypted', data: 'D' }] },
      [
        { type: 'redacted_thinking', data: 'D' },
        { type: 'text', text: 'a', citations: null },
      ],
    ],
    [
      'a call',
      { tool_calls: [call('c', 'look', '{"a":1}')] },
      [{ type: 'tool_use', id: 'c', name: 'look', input: { a: 1 }, caller: DIRECT }],
    ],
    [
      'a call without arguments',
      { tool_calls: [call('c', 'look', '')] },
      [{ type: 'tool_use', id: 'c', name: 'look', input: {}, caller: DIRECT }],
    ],
    [
      'a call with null',
      { tool_calls: [call('c', 'look', null)] },
      [{ type: 'tool_use', id: 'c', name: 'look', input: {}, caller: DIRECT }],
    ],
    [
      'a call with an object',
      { tool_calls: [call('c', 'look', { a: 1 })] },
      [{ type: 'tool_use', id: 'c', name: 'look', input: { a: 1 }, caller: DIRECT }],
    ],
    [
      'a call with bad JSON',
      { tool_calls: [call('c', 'look', '{"a":')] },
      [{ type: 'tool_use', id: 'c', name: 'look', input: { raw_arguments: '{"a":' }, caller: DIRECT }],
    ],
    [
      'a call with an array',
      { tool_calls: [call('c', 'look', '[1]')] },
      [{ type: 'tool_use', id: 'c', name: 'look', input: { raw_arguments: '[1]' }, caller: DIRECT }],
    ],
    [
      'a call without id',
      { tool_calls: [call(undefined, 'look', '{}')] },
      [{ type: 'tool_use', id: 'toolu_1', name: 'look', input: {}, caller: DIRECT }],
    ],
    [
      'a call with an old id',
      { tool_calls: [call('used', 'look', '{}')] },
      [{ type: 'tool_use', id: 'toolu_1', name: 'look', input: {}, caller: DIRECT }],
    ],
    [
      'calls with the same id',
      { tool_calls: [call('c', 'look', '{}'), call('c', 'look', '{}')] },
      [
        { type: 'tool_use', id: 'c', name: 'look', input: {}, caller: DIRECT },
        { type: 'tool_use', id: 'toolu_1', name: 'look', input: {}, caller: DIRECT },
      ],
    ],
    [
      'a function_call',
      { function_call: { name: 'look', arguments: '{}' } },
      [{ type: 'tool_use', id: 'toolu_1', name: 'look', input: {}, caller: DIRECT }],
    ],
    [
      'a mapped name',
      { tool_calls: [call('c', createToolNameMap([]).toUpstream(LONG), '{}')] },
      [{ type: 'tool_use', id: 'c', name: LONG, input: {}, caller: DIRECT }],
    ],
    ['a refusal', { content: 'x', refusal: 'No' }, []],
  ];
  it.each(contents)('reads content: %s', (_name, message, expected) => {
    expect(toMessages(answer(message))['content']).toEqual(expected);
  });

  it('cleans an odd tool id the same way each time', () => {
    const ids = [1, 2].map(
      () => toMessages(answer({ tool_calls: [call('functions.look:0', 'look', '{}')] }))['content'],
    );
    expect(ids[0]).toEqual(ids[1]);
    expect(JSON.stringify(ids[0])).toMatch(/"id":"functions_look_0_[0-9a-f]{8}"/);
  });

  it('seals the reasoning of other vendors, with or without words', () => {
    const details = [
      { type: 'reasoning.summary', summary: 'hm', format: 'openai-responses-v1' },
      { type: 'reasoning.encrypted', data: 'X', format: 'openai-responses-v1' },
    ];
    const [shown] = toMessages(answer({ content: 'a', reasoning: 'hm', reasoning_details: details }))[
      'content'
    ] as Record<string, string>[];
    expect([shown?.['type'], shown?.['thinking'], unsealReasoning(shown?.['signature'] ?? '')]).toEqual([
      'thinking',
      'hm',
      details,
    ]);
    const [hidden] = toMessages(answer({ reasoning_details: details.slice(1) }))['content'] as Record<string, string>[];
    expect([hidden?.['type'], unsealReasoning(hidden?.['data'] ?? '')]).toEqual([
      'redacted_thinking',
      details.slice(1),
    ]);
  });

  const stops: readonly (readonly [string, object, unknown, object, string])[] = [
    ['stop', { content: 'a' }, 'stop', {}, 'end_turn'],
    ['length', { content: 'a' }, 'length', {}, 'max_tokens'],
    ['tool_calls', { tool_calls: [call('c', 'l', '{}')] }, 'tool_calls', {}, 'tool_use'],
    ['function_call', { function_call: { name: 'l', arguments: '{}' } }, 'function_call', {}, 'tool_use'],
    ['tool_calls without any', { content: 'a' }, 'tool_calls', {}, 'end_turn'],
    ['stop with a call', { tool_calls: [call('c', 'l', '{}')] }, 'stop', {}, 'tool_use'],
    ['length with a cut call', { tool_calls: [call('c', 'l', '{')] }, 'length', {}, 'max_tokens'],
    ['content_filter', { content: '' }, 'content_filter', {}, 'refusal'],
    ['a refusal', { refusal: 'no' }, 'stop', {}, 'refusal'],
    ['a refusal cut short', { refusal: 'no' }, 'length', {}, 'max_tokens'],
    ['an unknown word', { content: 'a' }, 'eos', {}, 'end_turn'],
    ['a stop string', { content: 'a' }, 'stop', { stop_reason: 'END' }, 'stop_sequence'],
    ['a stop token', { content: 'a' }, 'stop', { stop_reason: 7 }, 'end_turn'],
    ['a matched stop', { content: 'a' }, 'stop', { matched_stop: 'END' }, 'stop_sequence'],
    ['a pause', { content: 'a' }, 'stop', { native_finish_reason: 'pause_turn' }, 'pause_turn'],
    [
      'a full context',
      { content: 'a' },
      'length',
      { native_finish_reason: 'model_context_window_exceeded' },
      'model_context_window_exceeded',
    ],
    [
      'a native end alone',
      { content: 'a' },
      null,
      { finish_reason: undefined, native_finish_reason: 'MAX_TOKENS' },
      'max_tokens',
    ],
    ['a native end', { content: 'a' }, 'stop', { native_finish_reason: 'completed' }, 'end_turn'],
  ];
  it.each(stops)('ends for %s', (_name, message, finish, choice, expected) => {
    expect(toMessages(answer(message, finish, {}, choice))['stop_reason']).toBe(expected);
  });

  it('names the model asked where the upstream names none', () => {
    const asked = { model: 'real/model' };
    expect(toMessages(answer({ content: 'a' }, 'stop', { model: '' }), asked)['model']).toBe('real/model');
    expect(toMessages(answer({ content: 'a' }, 'stop', { model: undefined }), asked)['model']).toBe('real/model');
    expect(toMessages(answer({ content: 'a' }), asked)['model']).toBe('a/b');
    expect(toMessages(answer({ content: 'a' }, 'stop', { model: undefined }))['model']).toBe('');
  });

  it('tells the usage charged instead of the upstream’s', () => {
    const usage = { inputTokens: 8, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 6, reasoningTokens: 0 };
    const expected = { input_tokens: 8, output_tokens: 6 };
    expect(toMessages(answer({ content: 'a' }), { usage })['usage']).toMatchObject(expected);
    const counted = { usage: { prompt_tokens: 1, completion_tokens: 1 } };
    expect(toMessages(answer({ content: 'a' }, 'stop', counted), { usage })['usage']).toMatchObject(expected);
  });

  it('explains a refusal', () => {
    expect(toMessages(answer({ refusal: 'Not that' }))['stop_details']).toEqual({
      type: 'refusal',
      category: null,
      explanation: 'Not that',
    });
  });
});

const broken: readonly (readonly [string, unknown, string, string])[] = [
  ['an array', [], 'UPSTREAM_INVALID_RESPONSE', 'object'],
  ['a string', 'hi', 'UPSTREAM_INVALID_RESPONSE', 'object'],
  ['nothing in it', {}, 'UPSTREAM_INVALID_RESPONSE', 'no choices'],
  ['empty choices', { choices: [] }, 'UPSTREAM_INVALID_RESPONSE', 'no choices'],
  ['choices null', { choices: null }, 'UPSTREAM_INVALID_RESPONSE', 'no choices'],
  ['a choice without message', { choices: [{ index: 0 }] }, 'UPSTREAM_INVALID_RESPONSE', 'message'],
  ['an error', { error: { message: 'It broke', code: 502 } }, 'UPSTREAM_ERROR', 'It broke'],
  ['an error as text', { error: 'It broke' }, 'UPSTREAM_ERROR', 'It broke'],
  [
    'an error beside choices',
    { ...answer({ content: 'a' }), error: { message: 'It broke' } },
    'UPSTREAM_ERROR',
    'It broke',
  ],
  [
    'an error in the choice',
    answer({ content: 'a' }, 'stop', {}, { error: { message: 'It broke' } }),
    'UPSTREAM_ERROR',
    'It broke',
  ],
  ['no end: null', answer({ content: 'a' }, null), 'UPSTREAM_INVALID_RESPONSE', 'ended without a finish reason'],
  [
    'no end: absent',
    answer({ content: 'a' }, null, {}, { finish_reason: undefined }),
    'UPSTREAM_INVALID_RESPONSE',
    'ended without a finish reason',
  ],
  ['no end: empty', answer({ content: 'a' }, ''), 'UPSTREAM_INVALID_RESPONSE', 'ended without a finish reason'],
  [
    'no end: null beside a native word',
    answer({ content: 'a' }, null, {}, { native_finish_reason: 'stop' }),
    'UPSTREAM_INVALID_RESPONSE',
    'ended without a finish reason',
  ],
  [
    'no end: a native failure',
    answer({ content: 'a' }, null, {}, { finish_reason: undefined, native_finish_reason: 'error' }),
    'UPSTREAM_INVALID_RESPONSE',
    'ended without a finish reason',
  ],
  ['the finish reason "error"', answer({ content: 'a' }, 'error'), 'UPSTREAM_ERROR', 'failed'],
  ['a limit', { error: { message: 'Slow', code: 429 } }, 'UPSTREAM_RATE_LIMITED', 'Slow'],
  ['a timeout', { error: { message: 'Late', code: 504 } }, 'UPSTREAM_TIMEOUT', 'Late'],
  ['the client’s fault', { error: { message: 'Bad schema', code: 400 } }, 'INVALID_REQUEST', 'Bad schema'],
  [
    'too long a prompt',
    { error: { message: 'prompt is too long: 9 tokens > 8 maximum', code: '400' } },
    'CONTEXT_LENGTH_EXCEEDED',
    'prompt is too long: 9 tokens > 8 maximum',
  ],
  [
    'a refused credential',
    { error: { message: 'Incorrect API key: sk-abc', code: 401 } },
    'UPSTREAM_ERROR',
    "svc's own credential",
  ],
];

describe('a Chat answer that is none', () => {
  it.each(broken)('is an error: %s', (_name, value, code, words) => {
    for (const run of [() => parseChatResponse(value), () => inspectChatResponse(Buffer.from(JSON.stringify(value)))]) {
      const error = errorOf(run);
      expect(error.code).toBe(code);
      expect(error.message).toContain(words);
      expect(error.message).not.toContain('sk-abc');
    }
  });

  it.each([['<html>'], [''], ['{"choices":'], [`{"a":${'['.repeat(100)}${']'.repeat(100)}}`]])(
    'is an error: the bytes %j',
    (text) => {
      expect(errorOf(() => inspectChatResponse(Buffer.from(text))).code).toBe('UPSTREAM_INVALID_RESPONSE');
    },
  );

  it('takes "error": null for no error', () => {
    expect(parseChatResponse({ ...answer({ content: 'a' }), error: null }).finishReason).toBe('stop');
  });
});

describe('a Chat answer that passes through', () => {
  const text = JSON.stringify(
    answer({ content: 'é', reasoning: 'abc', tool_calls: [call('c', 'lo', '{}')] }, 'tool_calls', {
      usage: { prompt_tokens: 3, completion_tokens: 2 },
    }),
  );

  it('is read without being changed', () => {
    const inspection = inspectChatResponse(Buffer.from(text));
    expect(inspection).toMatchObject({
      usage: { inputTokens: 3, outputTokens: 2 },
      anomalies: [],
      finishReason: 'tool_calls',
      model: 'a/b',
      textBytes: 9,
    });
  });

  const costs: readonly (readonly [string, string, string])[] = [
    [
      'adds it',
      '{"prompt_tokens":3,"completion_tokens":2}',
      '{"prompt_tokens":3,"completion_tokens":2,"cost":0.000123}',
    ],
    [
      'replaces it',
      '{ "cost" : 9e1 ,"prompt_tokens":3,"completion_tokens":2}',
      '{ "cost" : 0.000123 ,"prompt_tokens":3,"completion_tokens":2}',
    ],
    [
      'keeps a nested one',
      '{"prompt_tokens":3,"completion_tokens":2,"cost_details":{"cost":1}}',
      '{"prompt_tokens":3,"completion_tokens":2,"cost_details":{"cost":1},"cost":0.000123}',
    ],
  ];
  it.each(costs)('gets its cost: %s', (_name, usage, expected) => {
    const bytes = (inside: string) =>
      ` {"big":12345678901234567890, "usage": ${inside} ,"choices":[{"finish_reason":"stop","message":{"content":"\\u00e9 \\"usage\\":{}"}}]}\n`;
    expect(Buffer.from(inspectChatResponse(Buffer.from(bytes(usage))).withCost('0.000123')).toString()).toBe(
      bytes(expected),
    );
  });

  it.each([
    ['absent', {}],
    ['null', { usage: null }],
    ['empty', { usage: {} }],
  ])('stays byte for byte where usage is %s', (_name, more) => {
    const bytes = Buffer.from(JSON.stringify(answer({ content: 'a' }, 'stop', more)));
    const inspection = inspectChatResponse(bytes);
    expect(inspection.withCost('1')).toBe(bytes);
    expect(inspection).not.toHaveProperty('usage');
  });

  it.each([
    [{ prompt_tokens: 3, completion_tokens: null }, ['outputTokens']],
    [{ completion_tokens: 2 }, ['inputTokens']],
    [{ prompt_tokens: 3, completion_tokens: 2 }, []],
    [null, []],
    [{}, []],
  ])('says what cannot be charged by %j', (usage, missing) => {
    const bytes = Buffer.from(JSON.stringify(answer({ content: 'a' }, 'stop', { usage })));
    expect(inspectChatResponse(bytes).usageMissing).toEqual(missing);
  });

  it('counts images and sound, a thousandth of their bytes', () => {
    const images = [{ type: 'image_url', image_url: { url: `data:image/png;base64,${'x'.repeat(9000)}` } }];
    const bytes = (message: object) => Buffer.from(JSON.stringify(answer(message)));
    expect(inspectChatResponse(bytes({ content: 'ab', images })).textBytes).toBe(2 + 10);
    expect(inspectChatResponse(bytes({ content: null, audio: { data: 'xx' } })).textBytes).toBe(1);
    expect(inspectChatResponse(bytes({ content: '', images: [], audio: null })).textBytes).toBe(0);
  });

  it('counts the text of all choices', () => {
    const value = answer({ content: 'ab' });
    const both = {
      ...value,
      choices: [...value.choices, { index: 1, message: { content: 'cde' }, finish_reason: 'stop' }],
    };
    expect(inspectChatResponse(Buffer.from(JSON.stringify(both))).textBytes).toBe(5);
  });
});

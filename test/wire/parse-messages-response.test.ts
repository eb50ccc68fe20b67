import { describe, expect, it } from 'vitest';
import { parseMessagesUsage } from '../../src/wire/messages-usage.ts';
import { inspectMessagesResponse, parseMessagesResponse } from '../../src/wire/parse-messages-response.ts';
import { SvcError } from '../../src/wire/svc-error.ts';

const USAGE = { input_tokens: 30, cache_creation_input_tokens: 200, cache_read_input_tokens: 1000, output_tokens: 42 };
const COUNTED = { inputTokens: 1230, cachedTokens: 1000, cacheWriteTokens: 200, outputTokens: 42, reasoningTokens: 0 };

function message(fields: object = {}): Record<string, unknown> {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-real',
    content: [{ type: 'text', text: 'Hi' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: USAGE,
    ...fields,
  };
}

function inspect(value: unknown): ReturnType<typeof inspectMessagesResponse> {
  return inspectMessagesResponse(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)));
}

describe('a Messages answer made neutral', () => {
  it('has all of it', () => {
    expect(parseMessagesResponse(message())).toEqual({
      id: 'msg_1',
      model: 'claude-real',
      created: 0,
      content: [{ type: 'text', text: 'Hi' }],
      finishReason: 'stop',
      nativeFinish: 'end_turn',
      usage: COUNTED,
    });
  });

  it.each<[string, object, unknown[]]>([
    [
      'thinking',
      { type: 'thinking', thinking: ' t', signature: 'S=' },
      [{ type: 'thinking', text: ' t', signature: 'S=' }],
    ],
    ['hidden thinking', { type: 'redacted_thinking', data: 'D' }, [{ type: 'thinking', text: '', encrypted: 'D' }]],
    [
      'a call',
      { type: 'tool_use', id: 'toolu_1', name: 'look', input: { a: 1 } },
      [{ type: 'tool_call', id: 'toolu_1', name: 'look', arguments: '{"a":1}' }],
    ],
    [
      'a call without input',
      { type: 'tool_use', id: 'toolu_1', name: 'look' },
      [{ type: 'tool_call', id: 'toolu_1', name: 'look', arguments: '{}' }],
    ],
    ['an empty text', { type: 'text', text: '' }, []],
    ["a call of the upstream's own", { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }, []],
    ['its result', { type: 'web_search_tool_result', tool_use_id: 's', content: [] }, []],
  ])('%s', (_name, block, expected) => {
    expect(parseMessagesResponse(message({ content: [block] })).content).toEqual(expected);
  });

  it.each<[string, object, object]>([
    ['end_turn', {}, { finishReason: 'stop' }],
    ['stop_sequence', { stop_sequence: 'END' }, { finishReason: 'stop', stopSequence: 'END' }],
    ['max_tokens', {}, { finishReason: 'length' }],
    ['model_context_window_exceeded', {}, { finishReason: 'length' }],
    ['tool_use', {}, { finishReason: 'tool_calls' }],
    ['pause_turn', {}, { finishReason: 'stop' }],
    [
      'refusal',
      { stop_details: { type: 'refusal', category: null, explanation: 'No.' } },
      { finishReason: 'content_filter', refusal: 'No.' },
    ],
    ['refusal', {}, { finishReason: 'content_filter' }],
    ['a_word_to_come', {}, { finishReason: 'stop' }],
  ])('stop reason %s', (reason, fields, expected) => {
    expect(parseMessagesResponse(message({ stop_reason: reason, ...fields }))).toMatchObject({
      ...expected,
      nativeFinish: reason,
    });
  });

  it('arguments keep their numbers', () => {
    const text = JSON.stringify(message()).replace(
      '{"type":"text","text":"Hi"}',
      '{"type":"tool_use","id":"t","name":"n","input":{"x": 1.0,"y":12345678901234567890}}',
    );
    expect(inspect(text).response.content[0]).toMatchObject({ arguments: '{"x": 1.0,"y":12345678901234567890}' });
  });

  it.each<[string, unknown, string, RegExp]>([
    [
      'an error under 200',
      { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
      'UPSTREAM_ERROR',
      /^Overloaded$/,
    ],
    ['an error without its kind', { error: { message: 'no' } }, 'UPSTREAM_ERROR', /^no$/],
    ['a list', [], 'UPSTREAM_INVALID_RESPONSE', /JSON object/],
    ['no JSON', '<html>', 'UPSTREAM_INVALID_RESPONSE', /JSON object/],
    ['no content', message({ content: undefined }), 'UPSTREAM_INVALID_RESPONSE', /no content/],
    ['no end', message({ stop_reason: null }), 'UPSTREAM_INVALID_RESPONSE', /stop reason/],
  ])('throws for %s', (_name, value, code, words) => {
    expect(() => inspect(value)).toThrow(expect.objectContaining({ code, message: expect.stringMatching(words) }));
    expect(() => inspect(value)).toThrow(SvcError);
  });
});

describe('a Messages answer that passes', () => {
  it('changes by its cost alone', () => {
    const text = `{ "id" : "msg_1","n":1.0, "content":[{"type":"text","text":"\\u0041"}],\n"stop_reason":"end_turn","usage":{"input_tokens": 3,"output_tokens":4} }`;
    const seen = inspect(text);
    expect(Buffer.from(seen.withCost('0.00042', COUNTED)).toString()).toBe(
      text.replace('"output_tokens":4', '"output_tokens":4,"cost":0.00042'),
    );
    expect(seen).toMatchObject({
      usage: { inputTokens: 3, outputTokens: 4 },
      usageMissing: [],
      anomalies: [],
      finishReason: 'stop',
      textBytes: 1,
    });
  });

  it('gets the charged usage where it had none', () => {
    const seen = inspect(message({ usage: undefined }));
    expect(seen.usage).toBeUndefined();
    expect(JSON.parse(Buffer.from(seen.withCost('0.5', COUNTED)).toString()).usage).toEqual({ ...USAGE, cost: 0.5 });
  });

  it('weighs what the model said', () => {
    const content = [
      { type: 'thinking', thinking: 'abc', signature: 'x'.repeat(99) },
      { type: 'text', text: 'é' },
      { type: 'tool_use', id: 'toolu_long_id', name: 'ab', input: { a: 1 } },
      { type: 'web_search_tool_result', content: 'x'.repeat(99) },
    ];
    expect(inspect(message({ content })).textBytes).toBe(3 + 2 + 2 + '{"a":1}'.length);
  });
});

describe('usage', () => {
  it.each<[string, object, object, string[], string[]]>([
    ['counts everything read', USAGE, COUNTED, [], []],
    [
      'without a cache',
      { input_tokens: 3, output_tokens: 4 },
      { inputTokens: 3, cachedTokens: 0, cacheWriteTokens: 0 },
      [],
      [],
    ],
    [
      'with nulls',
      { input_tokens: 3, cache_read_input_tokens: null, output_tokens: 4 },
      { inputTokens: 3, cachedTokens: 0 },
      [],
      [],
    ],
    [
      'written by age',
      {
        input_tokens: 3,
        output_tokens: 4,
        cache_creation: { ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 6 },
      },
      { inputTokens: 14, cacheWriteTokens: 11 },
      [],
      [],
    ],
    [
      'the sum beats the ages',
      {
        input_tokens: 3,
        output_tokens: 4,
        cache_creation_input_tokens: 7,
        cache_creation: { ephemeral_5m_input_tokens: 5 },
      },
      { cacheWriteTokens: 7 },
      [],
      [],
    ],
    [
      'thinking within the output',
      { input_tokens: 3, output_tokens: 4, output_tokens_details: { thinking_tokens: 9 } },
      { reasoningTokens: 4 },
      [],
      [],
    ],
    ['no input', { output_tokens: 4 }, { inputTokens: 0 }, ['inputTokens'], []],
    ['no output', { input_tokens: 4 }, { outputTokens: 0 }, ['outputTokens'], []],
    [
      'a negative count',
      { input_tokens: -1, output_tokens: 4 },
      { inputTokens: 0 },
      ['inputTokens'],
      ['usage_invalid:input_tokens'],
    ],
    ['half a token', { input_tokens: 1.5, output_tokens: 4 }, { inputTokens: 2 }, [], ['usage_invalid:input_tokens']],
    [
      'a word',
      { input_tokens: 1, output_tokens: '4' },
      { outputTokens: 0 },
      ['outputTokens'],
      ['usage_invalid:output_tokens'],
    ],
    ['too many', { input_tokens: 1, output_tokens: 1e12 }, { outputTokens: 1e9 }, [], ['usage_invalid:output_tokens']],
    ['a cost', { input_tokens: 1, output_tokens: 1, cost: 0.5 }, { upstreamCost: 0.5 }, [], []],
    [
      'a wrong cost',
      { input_tokens: 1, output_tokens: 1, cost: -1 },
      { inputTokens: 1 },
      [],
      ['upstream_cost_invalid'],
    ],
  ])('%s', (_name, value, usage, missing, anomalies) => {
    const parsed = parseMessagesUsage(value);
    expect(parsed).toMatchObject({ usage, missing, anomalies });
    for (const count of Object.values(parsed?.usage ?? {})) expect(count).toBeGreaterThanOrEqual(0);
  });

  it.each([undefined, null, 3, [], {}, { input_tokens: null }])('%j is none', (value) => {
    expect(parseMessagesUsage(value)).toBeUndefined();
  });
});

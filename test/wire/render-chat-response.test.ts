import { describe, expect, it } from 'vitest';
import { parseChatResponse } from '../../src/wire/chat-response.ts';
import type { NeutralResponse } from '../../src/wire/neutral.ts';
import { renderChatResponse } from '../../src/wire/render-chat-response.ts';
import { createToolNameMap } from '../../src/wire/tool-names.ts';

const LONG_NAME = `mcp__server__${'x'.repeat(80)}`;
const toolNames = createToolNameMap([LONG_NAME]);
const USAGE = { inputTokens: 1230, cachedTokens: 1000, cacheWriteTokens: 200, outputTokens: 42, reasoningTokens: 7 };
const ANSWER: NeutralResponse = {
  id: 'up',
  model: 'claude-real',
  created: 0,
  content: [{ type: 'text', text: 'Hi' }],
  finishReason: 'stop',
};

function render(fields: Partial<NeutralResponse>): Record<string, unknown> {
  const options = {
    id: 'chatcmpl_1',
    createdMs: 1_700_000_000_999,
    cost: '0.00042',
    model: 'asked',
    usage: USAGE,
    toolNames,
  };
  return renderChatResponse({ ...ANSWER, ...fields }, options);
}

function choice(fields: Partial<NeutralResponse>): Record<string, unknown> & { message: Record<string, unknown> } {
  return (render(fields)['choices'] as never[])[0] as never;
}

const call = (name: string): NeutralResponse['content'][number] => ({
  type: 'tool_call',
  id: `id_${name}`,
  name,
  arguments: '{"a":1.0}',
});

describe('a neutral answer as a Chat completion', () => {
  it('is whole', () => {
    expect(render({ nativeFinish: 'end_turn' })).toEqual({
      id: 'chatcmpl_1',
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'claude-real',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hi', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
          native_finish_reason: 'end_turn',
        },
      ],
      usage: {
        prompt_tokens: 1230,
        completion_tokens: 42,
        total_tokens: 1272,
        prompt_tokens_details: { cached_tokens: 1000, cache_write_tokens: 200 },
        completion_tokens_details: { reasoning_tokens: 7 },
        cost: 0.00042,
      },
    });
  });

  it('names the model asked for where the upstream named none', () => {
    expect(render({ model: '' })['model']).toBe('asked');
  });

  it.each<[string, Partial<NeutralResponse>, object]>([
    [
      'texts are joined as they are',
      {
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      { content: 'ab' },
    ],
    ['no text is null', { content: [] }, { content: null }],
    ['a refusal', { content: [], refusal: 'No.', finishReason: 'content_filter' }, { refusal: 'No.', content: null }],
    [
      'signed thinking',
      { content: [{ type: 'thinking', text: 't', signature: 'S=' }] },
      {
        reasoning: 't',
        reasoning_details: [
          { type: 'reasoning.text', text: 't', signature: 'S=', format: 'anthropic-claude-v1', index: 0 },
        ],
      },
    ],
    [
      'unsigned thinking',
      { content: [{ type: 'thinking', text: 't', signature: '' }] },
      { reasoning_details: [{ type: 'reasoning.text', text: 't', format: 'anthropic-claude-v1', index: 0 }] },
    ],
    [
      'thinking that is hidden in part',
      {
        content: [
          { type: 'thinking', text: '', encrypted: 'D' },
          { type: 'thinking', text: 't', signature: 's' },
        ],
      },
      {
        reasoning: 't',
        reasoning_details: [
          { type: 'reasoning.encrypted', data: 'D', format: 'anthropic-claude-v1', index: 0 },
          { type: 'reasoning.text', text: 't', signature: 's', format: 'anthropic-claude-v1', index: 1 },
        ],
      },
    ],
    [
      'calls',
      { content: [call('look'), call(toolNames.toUpstream(LONG_NAME))] },
      {
        tool_calls: [
          { id: 'id_look', type: 'function', function: { name: 'look', arguments: '{"a":1.0}' } },
          { id: expect.any(String), type: 'function', function: { name: LONG_NAME, arguments: '{"a":1.0}' } },
        ],
      },
    ],
  ])('%s', (_name, fields, expected) => {
    expect(choice(fields).message).toMatchObject(expected);
  });

  it.each<[NeutralResponse['finishReason'], number, string]>([
    ['stop', 0, 'stop'],
    ['stop', 1, 'tool_calls'],
    ['tool_calls', 1, 'tool_calls'],
    ['tool_calls', 0, 'stop'],
    ['length', 1, 'length'],
    ['content_filter', 0, 'content_filter'],
  ])('%s with %i calls ends with %s', (finishReason, calls, expected) => {
    const content = Array.from({ length: calls }, () => call('look'));
    expect(choice({ finishReason, content })['finish_reason']).toBe(expected);
  });

  it('reads back as it was', () => {
    const content: NeutralResponse['content'] = [
      { type: 'thinking', text: 't', signature: 'S' },
      { type: 'text', text: 'Hi' },
      call('look'),
    ];
    const back = parseChatResponse(render({ content, finishReason: 'tool_calls' }));
    expect(back.content).toEqual(content);
    expect(back.usage).toEqual({ ...USAGE, upstreamCost: 0.00042 });
  });
});

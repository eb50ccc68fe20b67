import { describe, expect, it } from 'vitest';
import { renderExactJson } from '../../src/wire/exact-json.ts';
import type { NeutralRequest } from '../../src/wire/neutral.ts';
import { parseChatRequest } from '../../src/wire/parse-chat-request.ts';
import { parseMessagesRequest } from '../../src/wire/parse-messages-request.ts';
import { sealReasoning } from '../../src/wire/parse-reasoning.ts';
import { type MessagesRequestOptions, renderMessagesRequest } from '../../src/wire/render-messages-request.ts';
import { sha256Hex } from '../../src/wire/sha256.ts';
import { SvcError } from '../../src/wire/svc-error.ts';

const OPTIONS: MessagesRequestOptions = {
  model: 'anthropic/real',
  defaultMaxTokens: 4096,
  takesMidSystem: false,
  takesSampling: true,
  sandboxField: false,
};
const USER = { role: 'user', content: 'Hi' };
const CALL = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"b":1.0,"a":2}' } };
const TOOL = { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } };
const SCHEMA = { type: 'object', properties: { a: { type: 'string' } } };

/** The body as it goes upstream. */
function render(fields: object, options: Partial<MessagesRequestOptions> = {}): Record<string, unknown> {
  const request = parseChatRequest({ model: 'svc:auto', messages: [USER], ...fields });
  return JSON.parse(renderExactJson(renderMessagesRequest(request, { ...OPTIONS, ...options }).body));
}

function turns(...messages: object[]): unknown {
  return render({ messages })['messages'];
}

function text(value: string, more: object = {}): object {
  return { type: 'text', text: value, ...more };
}

describe('fields of a Chat request at a Messages upstream', () => {
  it('are exactly these for a plain request', () => {
    expect(render({})).toEqual({
      model: 'anthropic/real',
      max_tokens: 4096,
      messages: [{ role: 'user', content: [text('Hi')] }],
    });
  });

  it.each<[string, object, object]>([
    ['max_tokens', { max_tokens: 7 }, { max_tokens: 7 }],
    ['max_completion_tokens', { max_completion_tokens: 8 }, { max_tokens: 8 }],
    [
      'stream, without its options',
      { stream: true, stream_options: { include_usage: true } },
      { stream: true, stream_options: undefined },
    ],
    ['stop as a string', { stop: 'END' }, { stop_sequences: ['END'], stop: undefined }],
    ['stop as a list', { stop: ['A', 'B'] }, { stop_sequences: ['A', 'B'] }],
    ['an empty stop', { stop: [] }, { stop_sequences: undefined }],
    ['temperature', { temperature: 0 }, { temperature: 0 }],
    ['temperature above 1', { temperature: 1.7 }, { temperature: 1 }],
    ['top_p', { top_p: 0.9 }, { top_p: 0.9 }],
    ['top_p beside temperature', { top_p: 0.9, temperature: 0.5 }, { temperature: 0.5, top_p: undefined }],
    ['top_k', { top_k: 5 }, { top_k: 5 }],
    [
      'penalties, seed, logprobs, bias',
      { presence_penalty: 1, frequency_penalty: 1, seed: 4, logprobs: true, top_logprobs: 2, logit_bias: {} },
      {
        presence_penalty: undefined,
        frequency_penalty: undefined,
        seed: undefined,
        logprobs: undefined,
        top_logprobs: undefined,
        logit_bias: undefined,
      },
    ],
    ['n: 1', { n: 1 }, { n: undefined }],
    ['user', { user: 'u1' }, { metadata: { user_id: 'u1' }, user: undefined }],
    ['a long user', { user: 'u'.repeat(257) }, { metadata: { user_id: sha256Hex('u'.repeat(257)) } }],
    ['service_tier auto', { service_tier: 'auto' }, { service_tier: 'auto' }],
    ['service_tier default', { service_tier: 'default' }, { service_tier: 'standard_only' }],
    ['service_tier flex', { service_tier: 'flex' }, { service_tier: undefined }],
    ['svc and sandbox', { svc: { max_cost: '1' }, sandbox: { pace: 0 } }, { svc: undefined, sandbox: undefined }],
    ['effort', { reasoning_effort: 'high' }, { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } }],
    ['minimal effort', { reasoning_effort: 'minimal' }, { output_config: { effort: 'low' } }],
    [
      'a strange effort',
      { reasoning_effort: 'galactic' },
      { thinking: { type: 'adaptive' }, output_config: undefined },
    ],
    ['no reasoning', { reasoning_effort: 'none' }, { thinking: { type: 'disabled' }, output_config: undefined }],
    ['reasoning switched on', { reasoning: { enabled: true } }, { thinking: { type: 'adaptive' } }],
    ['a budget', { reasoning: { max_tokens: 2000 } }, { thinking: { type: 'enabled', budget_tokens: 2000 } }],
    [
      'a budget over max_tokens',
      { reasoning: { max_tokens: 9000 }, max_tokens: 3000 },
      { thinking: { type: 'enabled', budget_tokens: 2999 } },
    ],
    ['a small budget', { reasoning: { max_tokens: 10 } }, { thinking: { type: 'enabled', budget_tokens: 1024 } }],
    ['a budget without room', { reasoning: { max_tokens: 2000 }, max_tokens: 1024 }, { thinking: undefined }],
    [
      'temperature beside thinking',
      { reasoning_effort: 'low', temperature: 0.2, top_p: 0.2, top_k: 3 },
      { temperature: undefined, top_p: undefined, top_k: undefined },
    ],
    ['temperature beside no thinking', { reasoning_effort: 'none', temperature: 0.2 }, { temperature: 0.2 }],
    [
      'a schema',
      { response_format: { type: 'json_schema', json_schema: { name: 'x', schema: SCHEMA } } },
      { output_config: { format: { type: 'json_schema', schema: SCHEMA } } },
    ],
    [
      'JSON mode',
      { response_format: { type: 'json_object' } },
      { system: [text('Answer with one JSON object and nothing else.')] },
    ],
  ])('%s', (_name, fields, expected) => {
    const body = render(fields);
    for (const [key, value] of Object.entries(expected)) expect(body[key], key).toEqual(value);
  });

  it('more than one answer is refused', () => {
    expect(() => render({ n: 2 })).toThrow(expect.objectContaining({ code: 'UNSUPPORTED_FEATURE', param: 'n' }));
  });

  it('sampling is dropped for versions that refuse it', () => {
    const body = render({ temperature: 0.5, top_p: 0.5, top_k: 5 }, { takesSampling: false });
    expect(Object.keys(body)).toEqual(['model', 'max_tokens', 'messages']);
  });

  it('the sandbox gets its field', () => {
    expect(render({ sandbox: { pace: 0 } }, { sandboxField: true })['sandbox']).toEqual({ pace: 0 });
  });
});

describe('tools', () => {
  const tools = [TOOL];
  it.each<[string, object, unknown]>([
    ['none', {}, undefined],
    ['auto', { tool_choice: 'auto' }, { type: 'auto' }],
    ['required', { tool_choice: 'required' }, { type: 'any' }],
    ['none at all', { tool_choice: 'none', parallel_tool_calls: false }, { type: 'none' }],
    ['one by name', { tool_choice: { type: 'function', function: { name: 'look' } } }, { type: 'tool', name: 'look' }],
    ['one at a time', { parallel_tool_calls: false }, { type: 'auto', disable_parallel_tool_use: true }],
    ['several at a time', { parallel_tool_calls: true }, undefined],
    [
      'one, required',
      { tool_choice: 'required', parallel_tool_calls: false },
      { type: 'any', disable_parallel_tool_use: true },
    ],
  ])('choice: %s', (_name, fields, expected) => {
    expect(render({ tools, ...fields })['tool_choice']).toEqual(expected);
  });

  it('no choice without tools', () => {
    expect(render({ tool_choice: 'auto' })).not.toHaveProperty('tool_choice');
    expect(render({ tools: [], tool_choice: 'auto' })).not.toHaveProperty('tools');
  });

  it.each<[string, object, object]>([
    [
      'schema, word for word',
      { function: { name: 'a', description: 'd', parameters: { $schema: 'x', type: 'object', anyOf: [] } } },
      { name: 'a', description: 'd', input_schema: { $schema: 'x', type: 'object', anyOf: [] } },
    ],
    ['no schema', { function: { name: 'a' } }, { name: 'a', input_schema: { type: 'object' } }],
    [
      'a schema without a type',
      { function: { name: 'a', parameters: { properties: {} } } },
      { name: 'a', input_schema: { type: 'object', properties: {} } },
    ],
    [
      'strict',
      { function: { name: 'a', strict: true } },
      { name: 'a', strict: true, input_schema: { type: 'object' } },
    ],
    ['not strict', { function: { name: 'a', strict: false } }, { name: 'a', input_schema: { type: 'object' } }],
    [
      'a mark',
      { function: { name: 'a' }, cache_control: { type: 'ephemeral', ttl: '1h' } },
      { name: 'a', input_schema: { type: 'object' }, cache_control: { type: 'ephemeral', ttl: '1h' } },
    ],
  ])('%s', (_name, tool, expected) => {
    expect(render({ tools: [{ type: 'function', ...tool }] })['tools']).toEqual([expected]);
  });

  it('a forced tool switches thinking off, which excludes it', () => {
    expect(render({ tools, tool_choice: 'required', reasoning: { max_tokens: 2000 } })).not.toHaveProperty('thinking');
  });

  it('names that are too long are mapped, and back', () => {
    const name = `mcp.server.${'x'.repeat(70)}`;
    const request = parseChatRequest({
      model: 'm',
      messages: [USER, { role: 'assistant', tool_calls: [{ ...CALL, function: { name, arguments: '{}' } }] }],
      tools: [{ type: 'function', function: { name } }],
      tool_choice: { type: 'function', function: { name } },
    });
    const { body, toolNames } = renderMessagesRequest(request, OPTIONS);
    const short = toolNames.toUpstream(name);
    expect(short).toMatch(/^[\w-]{1,64}$/);
    expect(toolNames.toCaller(short)).toBe(name);
    expect(body).toMatchObject({
      tools: [{ name: short }],
      tool_choice: { name: short },
      messages: [{}, { content: [{ type: 'tool_use', name: short }] }],
    });
  });
});

describe('turns', () => {
  it('leading system and developer messages are the prompt, block by block', () => {
    const mark = { cache_control: { type: 'ephemeral' } };
    const body = render({
      messages: [
        { role: 'system', content: 'One' },
        { role: 'developer', content: [text('Two', mark), text('')] },
        USER,
      ],
    });
    expect(body['system']).toEqual([text('One'), text('Two', mark)]);
    expect(body['messages']).toEqual([{ role: 'user', content: [text('Hi')] }]);
  });

  it('system messages alone leave the last one as the turn there has to be', () => {
    const messages = ['One', 'Two'].map((content) => ({ role: 'system', content }));
    expect(render({ messages })).toMatchObject({
      system: [text('One')],
      messages: [{ role: 'user', content: [text('Two')] }],
    });
  });

  const middle = [USER, { role: 'assistant', content: 'Yes' }, { role: 'system', content: 'Now' }, USER];

  it('a system message in the middle becomes marked text of the user', () => {
    expect(turns(...middle)).toEqual([
      { role: 'user', content: [text('Hi')] },
      { role: 'assistant', content: [text('Yes')] },
      { role: 'user', content: [text('[system] Now')] },
      { role: 'user', content: [text('Hi')] },
    ]);
  });

  it('or keeps its role and place where the upstream takes it', () => {
    const roles = (render({ messages: middle }, { takesMidSystem: true })['messages'] as { role: string }[]).map(
      ({ role }) => role,
    );
    expect(roles).toEqual(['user', 'assistant', 'system', 'user']);
  });

  const called = { role: 'assistant', content: null, tool_calls: [CALL, { ...CALL, id: 'call:2' }] };

  it('results are one turn, in their order, before what the user says', () => {
    expect(
      turns(
        USER,
        called,
        { role: 'system', content: 'Sys' },
        { role: 'tool', tool_call_id: 'call_1', content: '7' },
        { role: 'tool', tool_call_id: 'call:2', content: [text('8'), text('9')] },
        USER,
      ),
    ).toEqual([
      { role: 'user', content: [text('Hi')] },
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 'call_1', name: 'look', input: { b: 1, a: 2 } },
          { type: 'tool_use', id: expect.stringMatching(/^call_2_\w{8}$/), name: 'look', input: { b: 1, a: 2 } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'call_1', content: '7' },
          {
            type: 'tool_result',
            tool_use_id: expect.stringMatching(/^call_2_\w{8}$/),
            content: [text('8'), text('9')],
          },
          text('[system] Sys'),
          text('Hi'),
        ],
      },
    ]);
  });

  it('a kept system message stands after the results', () => {
    const messages = [
      USER,
      called,
      { role: 'system', content: 'Sys' },
      { role: 'tool', tool_call_id: 'call_1', content: '7' },
      USER,
    ];
    const rendered = render({ messages }, { takesMidSystem: true })['messages'] as {
      role: string;
      content: unknown[];
    }[];
    expect(rendered.slice(2).map(({ role, content }) => [role, content.length])).toEqual([
      ['user', 1],
      ['system', 1],
      ['user', 1],
    ]);
  });

  it('an error and a result of nothing', () => {
    const request = parseMessagesRequest({
      model: 'm',
      max_tokens: 1,
      messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', is_error: true }] }],
    });
    expect(renderMessagesRequest(request, OPTIONS).body['messages']).toEqual([
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', is_error: true }] },
    ]);
  });

  it.each<[string, string, unknown]>([
    ['nothing', '', {}],
    ['an object', '{"a":[1]}', { a: [1] }],
    ['half an object', '{"a":', { raw_arguments: '{"a":' }],
    ['a list', '[1]', { raw_arguments: '[1]' }],
  ])('arguments: %s', (_name, args, input) => {
    const assistant = { role: 'assistant', tool_calls: [{ ...CALL, function: { name: 'look', arguments: args } }] };
    expect(turns(USER, assistant)).toMatchObject([{}, { content: [{ input }] }]);
  });

  it('arguments keep their numbers and the order of their keys', () => {
    const args = '{"2":1.0,"1":12345678901234567890}';
    const assistant = { role: 'assistant', tool_calls: [{ ...CALL, function: { name: 'look', arguments: args } }] };
    const request = parseChatRequest({ model: 'm', messages: [USER, assistant] });
    expect(renderExactJson(renderMessagesRequest(request, OPTIONS).body)).toContain(`"input":${args}`);
  });

  it('an empty turn of the assistant goes, as it is refused', () => {
    expect(turns(USER, { role: 'assistant', content: '' }, USER)).toHaveLength(2);
  });

  it('a trailing turn of the assistant stays', () => {
    expect(turns(USER, { role: 'assistant', content: 'It is' })).toMatchObject([{}, { role: 'assistant' }]);
  });

  const CLAUDE = 'anthropic-claude-v1';
  it.each<[string, object, unknown[]]>([
    [
      'signed',
      { reasoning_details: [{ type: 'reasoning.text', text: ' t\n', signature: 'S+/=', format: CLAUDE }] },
      [{ type: 'thinking', thinking: ' t\n', signature: 'S+/=' }],
    ],
    [
      'signed after several pieces',
      {
        reasoning_details: [
          { type: 'reasoning.text', text: 'a', format: CLAUDE, index: 0 },
          { type: 'reasoning.text', text: 'b', format: CLAUDE, index: 0 },
          { type: 'reasoning.text', signature: 'S', format: CLAUDE, index: 0 },
          { type: 'reasoning.text', text: 'c', signature: 'S2', format: CLAUDE, index: 1 },
        ],
      },
      [
        { type: 'thinking', thinking: 'ab', signature: 'S' },
        { type: 'thinking', thinking: 'c', signature: 'S2' },
      ],
    ],
    [
      'hidden',
      { reasoning_details: [{ type: 'reasoning.encrypted', data: 'D', format: CLAUDE }] },
      [{ type: 'redacted_thinking', data: 'D' }],
    ],
    ['unsigned', { reasoning: 'hm' }, []],
    [
      "another vendor's",
      { reasoning_details: [{ type: 'reasoning.encrypted', data: 'D', format: 'openai-responses-v1' }] },
      [],
    ],
    [
      'sealed by svc',
      {
        reasoning_details: [
          { type: 'reasoning.text', text: 't', signature: sealReasoning([{ a: 1 }]), format: CLAUDE },
        ],
      },
      [],
    ],
  ])('thinking: %s', (_name, fields, expected) => {
    expect(turns(USER, { role: 'assistant', content: 'x', ...fields })).toEqual([
      expect.anything(),
      { role: 'assistant', content: [...expected, text('x')] },
    ]);
  });

  it('a budget is left out where the call in progress came without thinking', () => {
    const result = { role: 'tool', tool_call_id: 'call_1', content: '7' };
    const loop = (more: object): unknown =>
      render({ reasoning: { max_tokens: 2000 }, messages: [USER, { ...called, ...more }, result] })['thinking'];
    expect(loop({})).toBeUndefined();
    const details = [{ type: 'reasoning.text', text: 't', signature: 's', format: CLAUDE }];
    expect(loop({ reasoning_details: details })).toEqual({ type: 'enabled', budget_tokens: 2000 });
  });
});

describe('parts', () => {
  const image = (url: string): object => ({ type: 'image_url', image_url: { url } });
  const file = (fields: object): object => ({ type: 'file', file: fields });
  const mark = { cache_control: { type: 'ephemeral' } };

  it.each<[string, object, object]>([
    [
      'an image',
      image('data:image/png;base64,AAAA'),
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
    ],
    [
      'parameters in a data URL',
      image('data:image/jpeg;name=a.jpg;charset=x;base64,AAAA'),
      { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: 'AAAA' } },
    ],
    [
      'an image without its type',
      image('data:;base64,AAAA'),
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
    ],
    [
      'an image by URL',
      { ...image('https://x/y.png'), ...mark },
      { type: 'image', source: { type: 'url', url: 'https://x/y.png' }, ...mark },
    ],
    [
      'a PDF',
      file({ filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' }),
      { type: 'document', title: 'a.pdf', source: { type: 'base64', media_type: 'application/pdf', data: 'AAAA' } },
    ],
    [
      'a text file',
      file({ file_data: 'data:text/markdown;base64,w6k=' }),
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'é' } },
    ],
    [
      'a file by URL',
      file({ file_data: 'https://x/y.pdf' }),
      { type: 'document', source: { type: 'url', url: 'https://x/y.pdf' } },
    ],
    ['what nobody knows', { type: 'hologram', x: 1 }, text('{"type":"hologram","x":1}')],
  ])('%s', (_name, part, expected) => {
    expect(turns({ role: 'user', content: [part] })).toEqual([{ role: 'user', content: [expected] }]);
  });

  it('an image in a result stays in it', () => {
    const result = { role: 'tool', tool_call_id: 'call_1', content: [image('https://x/y.png')] };
    expect(turns(USER, { role: 'assistant', tool_calls: [CALL] }, result)).toMatchObject([
      {},
      {},
      { content: [{ content: [{ type: 'image' }] }] },
    ]);
  });

  it('a refusal given back is what the assistant said', () => {
    expect(turns(USER, { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] })).toMatchObject([
      {},
      { content: [text('No.')] },
    ]);
  });

  it.each([{ type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } }, file({ file_id: 'file-1' })])(
    '%j is refused',
    (part) => {
      expect(() => turns({ role: 'user', content: [part] })).toThrow(SvcError);
      expect(() => turns({ role: 'user', content: [part] })).toThrow(/is not available at the upstream/);
    },
  );

  it('a block of the dialect itself passes as it is', () => {
    const block = { type: 'search_result', source: 's', title: 't', content: [] };
    const request: NeutralRequest = parseMessagesRequest({
      model: 'm',
      max_tokens: 1,
      messages: [{ role: 'user', content: [block] }],
    });
    expect(renderMessagesRequest(request, OPTIONS).body['messages']).toEqual([{ role: 'user', content: [block] }]);
  });
});

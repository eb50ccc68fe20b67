// Upstreams that speak Messages themselves: bytes through for Messages callers, translated for Chat callers.

import Anthropic, { APIError, BadRequestError, RateLimitError } from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_MODELS, type FakeReply, type FakeUpstream, startFakeUpstream } from '../helpers/fake-upstream.ts';
import { type Gateway, nanoOf, startGateway } from '../helpers/gateway.ts';
import { type InProcessGateway, startInProcess } from '../helpers/in-process.ts';
import { checkOrder } from '../wire/message-order.ts';
import {
  MESSAGE_STOP,
  messageDelta,
  messageStart,
  nativeSse,
  PING,
  textBlock,
  thinkingBlock,
  toolBlock,
} from '../wire/native-streams.ts';

/** 18 tokens read, 10 of them from the cache and 5 into it. */
const USAGE = { input_tokens: 3, cache_read_input_tokens: 10, cache_creation_input_tokens: 5, output_tokens: 4 };
/** At the prices of test/cheap: 0.1 and 0.4 USD per million, with none of its own for cached tokens. */
const COST_NANO = 18n * 100n + 4n * 400n;

type Fields = Record<string, unknown>;

function answer(content: readonly Fields[], stopReason = 'end_turn', more: Fields = {}): Fields {
  const head = { id: 'msg_up', type: 'message', role: 'assistant', model: 'test/cheap', content };
  return { ...head, stop_reason: stopReason, stop_sequence: null, usage: USAGE, ...more };
}

function stream(...blocks: readonly Fields[]): string[] {
  const stop = blocks.some(({ content_block: block }) => (block as Fields | undefined)?.['type'] === 'tool_use');
  const events = [
    messageStart({ ...USAGE, output_tokens: 1 }),
    PING,
    ...blocks,
    messageDelta(stop ? 'tool_use' : 'end_turn', USAGE),
    MESSAGE_STOP,
  ];
  return events.map((event) => nativeSse(event).toString());
}

const TOOL_USE = { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Oslo' } };
const THINKING = { type: 'thinking', thinking: 'Hm.', signature: 'SIG+/=' };

describe('a Messages caller of an upstream that speaks Messages', () => {
  let gateway: Gateway;
  let client: Anthropic;

  beforeAll(async () => {
    gateway = await startGateway({ env: { SVC_UPSTREAM_FORMATS: 'chat,messages' } });
    gateway.upstream.respond(() => ({ json: answer([{ type: 'text', text: 'Hi' }]) }));
    client = new Anthropic({ baseURL: gateway.daemon.url, apiKey: gateway.daemon.key, maxRetries: 0 });
  });
  afterAll(() => gateway.close());

  const lastRequest = (): FakeUpstream['requests'][number] => {
    const request = gateway.upstream.requests.at(-1);
    if (request === undefined) throw new Error('nothing came upstream');
    return request;
  };
  const plain = { model: 'test/cheap', max_tokens: 50, messages: [{ role: 'user' as const, content: 'Hello there' }] };

  it.each<[string, string, (sent: string) => string]>([
    [
      'every byte of a body for a real model',
      `{ "model" : "test/cheap",\t"max_tokens": 5e1, "top_p":0.50,"messages":[{"role":"user","content":[{"type":"text","text":"\\u0048i","cache_control":{"type":"ephemeral","ttl":"1h"}}]},{"role":"assistant","content":[${JSON.stringify(THINKING)},{"type":"text","text":"x"}]},{"role":"user","content":"y"}],"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]},"thinking":{"type":"adaptive","display":"omitted"},"metadata":{"user_id":"u"},"x_new":12345678901234567890}\n`,
      (sent) => sent,
    ],
    [
      'a cache warm-up',
      '{"model":"test/cheap","max_tokens":0,"messages":[{"role":"user","content":"Hi"}]}',
      (sent) => sent,
    ],
    [
      'all but the routed model and the fields of svc',
      '{"svc":{"models":{"allow":["test/cheap"]}}, "model":"svc:auto","max_tokens":1.0e2,"sandbox":{"pace":0},"messages":[{"role":"user","content":"Hi"}]}',
      (sent) =>
        sent
          .replace('"svc":{"models":{"allow":["test/cheap"]}}, ', '')
          .replace('svc:auto', 'test/cheap')
          .replace(',"sandbox":{"pace":0}', ''),
    ],
    [
      'all but thinking that nobody signed',
      '{"model":"test/cheap","max_tokens":9,"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":""}, {"type":"text","text":"x"}]},{"role":"user","content":"y"}]}',
      (sent) => sent.replace('{"type":"thinking","thinking":"t","signature":""}, ', ''),
    ],
  ])('sends upstream %s', async (_name, sent, expected) => {
    const response = await gateway.post('/v1/messages?beta=true', sent);
    expect(response.status).toBe(200);
    const { path, body } = lastRequest();
    expect(path).toBe('/api/v1/messages');
    expect(body.toString()).toBe(expected(sent));
  });

  it.each<[string, Fields, Fields]>([
    ['none', {}, { 'anthropic-version': '2023-06-01', 'anthropic-beta': undefined }],
    [
      'both',
      { 'anthropic-version': '2026-10-21', 'anthropic-beta': 'a-1, b-2' },
      { 'anthropic-version': '2026-10-21', 'anthropic-beta': 'a-1, b-2' },
    ],
    ["the caller's own key", { 'x-api-key': '' }, {}],
  ])("sends the headers of the dialect, with svc's own credential: %s", async (_name, headers, expected) => {
    const own = 'x-api-key' in headers ? { 'x-api-key': gateway.daemon.key } : {};
    await gateway.post('/v1/messages', plain, { ...(headers as Record<string, string>), ...own });
    expect(lastRequest().headers).toMatchObject({
      authorization: 'Bearer upstream-secret',
      'x-api-key': 'upstream-secret',
      ...Object.fromEntries(Object.entries(expected).filter(([, value]) => value !== undefined)),
    });
    if (!('anthropic-beta' in headers)) expect(lastRequest().headers).not.toHaveProperty('anthropic-beta');
  });

  it('no key is sent twice to another path', async () => {
    gateway.upstream.queue({
      json: {
        id: 'x',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 3, completion_tokens: 1 },
      },
    });
    expect((await gateway.post('/v1/chat/completions', plain)).status).toBe(200);
    expect(lastRequest().path).toBe('/api/v1/chat/completions');
    expect(lastRequest().headers).not.toHaveProperty('x-api-key');
  });

  it("gives the answer's bytes with its cost, and charges cached tokens once", async () => {
    const before = await gateway.balance();
    const text = `{"type":"message", "id":"msg_up","content":[{"type":"text","text":"\\u0048i","n":1.0}],"stop_reason":"end_turn","usage":${JSON.stringify(USAGE)}}`;
    gateway.upstream.queue({ raw: [text], headers: { 'content-type': 'application/json' } });
    const response = await gateway.post('/v1/messages', plain);
    expect(await response.text()).toBe(text.replace('"output_tokens":4', '"output_tokens":4,"cost":0.0000034'));
    const after = await gateway.balance();
    expect(nanoOf(before.balance) - nanoOf(after.balance)).toBe(COST_NANO);
    expect(after.held).toBe('0');
    expect((await gateway.usage())[0]).toMatchObject({
      cost: '0.0000034',
      settle_reason: 'completed',
    });
  });

  it("gives a stream's bytes, the last ones once they are settled", async () => {
    const before = await gateway.balance();
    const sse = stream(...thinkingBlock(0, 'Hm.', 'SIG+/='), ...textBlock(1, 'Hi ', 'there'));
    gateway.upstream.queue({ sse });
    const response = await gateway.post('/v1/messages', { ...plain, stream: true });
    const text = await response.text();
    expect(text).toBe(
      sse.join('').replace(/("output_tokens":4)(?=\}\}\n\nevent: message_stop)/, '$1,"cost":0.0000034'),
    );
    checkOrder(text, true);
    expect(nanoOf(before.balance) - nanoOf((await gateway.balance()).balance)).toBe(COST_NANO);
  });

  it.each([false, true])(
    'the official client goes through a loop of tools and thinking (stream: %s)',
    async (isStream) => {
      const tools: Anthropic.Tool[] = [{ name: 'get_weather', input_schema: { type: 'object' } }];
      const ask = (messages: Anthropic.MessageParam[]): Promise<Anthropic.Message> => {
        const params = {
          model: 'test/cheap',
          max_tokens: 2000,
          messages,
          tools,
          thinking: { type: 'enabled' as const, budget_tokens: 1024 },
        };
        return isStream ? client.messages.stream(params).finalMessage() : client.messages.create(params);
      };
      const call = [
        ...thinkingBlock(0, 'Hm.', 'SIG+/='),
        ...toolBlock(1, 'toolu_1', 'get_weather', '', '{"city":', '"Oslo"}'),
      ];
      const replies: FakeReply[] = isStream
        ? [{ sse: stream(...call) }, { sse: stream(...textBlock(0, '7 degrees')) }]
        : [{ json: answer([THINKING, TOOL_USE], 'tool_use') }, { json: answer([{ type: 'text', text: '7 degrees' }]) }];
      gateway.upstream.queue(...replies);
      const question: Anthropic.MessageParam = { role: 'user', content: 'Weather in Oslo?' };
      const first = await ask([question]);
      expect(first.stop_reason).toBe('tool_use');
      expect(first.content).toEqual([THINKING, TOOL_USE]);
      expect(first.usage).toMatchObject(USAGE);
      const result: Anthropic.MessageParam = {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: '7' }],
      };
      const second = await ask([question, { role: 'assistant', content: first.content }, result]);
      expect(second.content).toEqual([{ type: 'text', text: '7 degrees' }]);
      expect(lastRequest().json).toMatchObject({ messages: [question, { content: [THINKING, TOOL_USE] }, result] });
    },
  );

  const refusal = (type: string, message: string): Fields => ({
    type: 'error',
    error: { type, message },
    request_id: 'req_up',
  });

  it.each<[string, FakeReply, number, string, string]>([
    [
      'a prompt that is too long',
      { status: 400, json: refusal('invalid_request_error', 'prompt is too long: 212345 tokens > 200000 maximum') },
      400,
      'CONTEXT_LENGTH_EXCEEDED',
      'prompt is too long: 212345 tokens > 200000 maximum',
    ],
    [
      'max_tokens beyond the context',
      {
        status: 400,
        json: refusal(
          'invalid_request_error',
          'input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000',
        ),
      },
      400,
      'CONTEXT_LENGTH_EXCEEDED',
      'input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000',
    ],
    [
      'a wrong field',
      { status: 400, json: refusal('invalid_request_error', 'tools.0: bad') },
      400,
      'INVALID_REQUEST',
      'tools.0: bad',
    ],
    ['overload', { status: 529, json: refusal('overloaded_error', 'Overloaded') }, 502, 'UPSTREAM_ERROR', 'Overloaded'],
    ['an error under 200', { json: refusal('overloaded_error', 'Overloaded') }, 502, 'UPSTREAM_ERROR', 'Overloaded'],
    [
      'an answer cut off',
      { raw: ['{"type":"message","content":[]'] },
      502,
      'UPSTREAM_INVALID_RESPONSE',
      "The upstream's answer is not a JSON object.",
    ],
  ])('is told of %s in its own words, and pays nothing', async (_name, reply, status, code, message) => {
    const before = await gateway.balance();
    gateway.upstream.queue(reply);
    const response = await gateway.post('/v1/messages', plain);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ type: 'error', error: { code, message } });
    expect((await gateway.balance()).balance).toBe(before.balance);
  });

  it.each([false, true])('hears when to come again (stream: %s)', async (isStream) => {
    gateway.upstream.queue({
      status: 429,
      headers: { 'retry-after': '7' },
      json: refusal('rate_limit_error', 'slow down'),
    });
    const error = await client.messages.create({ ...plain, stream: isStream }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RateLimitError);
    expect((error as RateLimitError).headers?.get('retry-after')).toBe('7');
    expect(String(error)).toContain('slow down');
  });

  it('an error before the first event has a status of its own', async () => {
    gateway.upstream.queue({ sse: [nativeSse(PING, refusal('invalid_request_error', 'no')).toString()] });
    await expect(client.messages.create({ ...plain, stream: true })).rejects.toBeInstanceOf(BadRequestError);
  });

  const half = stream(...textBlock(0, 'Hi ', 'there')).slice(0, 4);

  it.each<[string, FakeReply]>([
    ['an error event', { sse: [...half, nativeSse(refusal('overloaded_error', 'Overloaded')).toString()] }],
    ['a proper end', { sse: half }],
    ['a lost message_stop', { sse: stream(...textBlock(0, 'Hi')).slice(0, -1) }],
    ['a reset', { sse: half, ending: 'reset' }],
    ['a closed connection', { sse: half, ending: 'cut' }],
  ])('a stream that breaks by %s never looks whole', async (_name, reply) => {
    gateway.upstream.queue(reply);
    const running = client.messages.stream(plain);
    const types: string[] = [];
    running.on('streamEvent', ({ type }) => types.push(type));
    await expect(running.finalMessage()).rejects.toBeInstanceOf(APIError);
    expect(types).not.toContain('message_stop');
    await expect.poll(async () => (await gateway.balance()).held).toBe('0');
    expect((await gateway.usage())[0]).toMatchObject({ settle_reason: 'upstream_truncated' });
  });
});

describe('a Chat caller of an upstream that speaks Messages', () => {
  let upstream: FakeUpstream;
  let gateway: InProcessGateway;
  let client: OpenAI;
  const balance = async (): Promise<bigint> => {
    const row = await gateway.get(`/workspaces/${gateway.workspaceId}/balance`);
    return nanoOf((row as { balance: string }).balance);
  };

  beforeAll(async () => {
    upstream = await startFakeUpstream();
    gateway = await startInProcess(upstream, Date.now(), ['messages']);
    gateway.list(DEFAULT_MODELS);
    client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0 });
  });
  afterEach(() => expect(upstream.requests.at(-1)?.path).toBe('/api/v1/messages'));
  afterAll(async () => {
    await gateway.close();
    await upstream.close();
  });

  const tools: OpenAI.ChatCompletionTool[] = [
    { type: 'function', function: { name: 'get_weather', parameters: { type: 'object' } } },
  ];
  const question: OpenAI.ChatCompletionMessageParam = { role: 'user', content: 'Weather in Oslo?' };

  it('goes through a loop of tools with the official client', async () => {
    const before = await balance();
    upstream.queue(
      { json: answer([THINKING, TOOL_USE], 'tool_use') },
      { json: answer([{ type: 'text', text: '7 degrees' }]) },
    );
    const first = await client.chat.completions.create({ model: 'test/cheap', messages: [question], tools });
    const message = first.choices[0]?.message;
    expect(first.choices[0]?.finish_reason).toBe('tool_calls');
    expect(message?.tool_calls).toEqual([
      { id: 'toolu_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } },
    ]);
    expect(first.usage).toMatchObject({
      prompt_tokens: 18,
      completion_tokens: 4,
      total_tokens: 22,
      prompt_tokens_details: { cached_tokens: 10, cache_write_tokens: 5 },
      cost: 0.0000034,
    });
    expect(before - (await balance())).toBe(COST_NANO);
    if (message === undefined) throw new Error('no message');
    const second = await client.chat.completions.create({
      model: 'test/cheap',
      tools,
      messages: [question, message, { role: 'tool', tool_call_id: 'toolu_1', content: '7' }],
    });
    expect(second.choices[0]?.message.content).toBe('7 degrees');
    expect(upstream.requests.at(-1)?.headers).toMatchObject({ 'anthropic-version': '2023-06-01' });
    expect(upstream.requests.at(-1)?.json).toEqual({
      model: 'test/cheap',
      max_tokens: expect.any(Number),
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Weather in Oslo?' }] },
        { role: 'assistant', content: [THINKING, TOOL_USE] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: '7' }] },
      ],
      tools: [{ name: 'get_weather', input_schema: { type: 'object' } }],
    });
  });

  it('streams text, thinking and calls to the strict helper', async () => {
    const before = await balance();
    upstream.queue({
      sse: stream(
        ...thinkingBlock(0, 'Hm.', 'S'),
        ...textBlock(1, 'Let me ', 'look.'),
        ...toolBlock(2, 'toolu_1', 'get_weather', '', '{"city":', '"Oslo"}'),
        ...toolBlock(3, 'toolu_2', 'get_weather', ''),
      ),
    });
    const running = client.chat.completions.stream({
      model: 'test/cheap',
      messages: [question],
      tools,
      stream_options: { include_usage: true },
    });
    const final = await running.finalChatCompletion();
    expect(final.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        role: 'assistant',
        content: 'Let me look.',
        tool_calls: [
          { id: 'toolu_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } },
          { id: 'toolu_2', type: 'function', function: { name: 'get_weather', arguments: '{}' } },
        ],
      },
    });
    expect(await running.totalUsage()).toMatchObject({ prompt_tokens: 18, completion_tokens: 4, total_tokens: 22 });
    expect(before - (await balance())).toBe(COST_NANO);
  });

  it('is refused more than one answer, and pays nothing', async () => {
    const before = await balance();
    const count = upstream.requests.length;
    await expect(
      client.chat.completions.create({ model: 'test/cheap', messages: [question], n: 2 }),
    ).rejects.toMatchObject({ status: 400, code: 'UNSUPPORTED_FEATURE', param: 'n' });
    expect(await balance()).toBe(before);
    expect(upstream.requests).toHaveLength(count);
  });

  it.each<[string, FakeReply]>([
    [
      'an error event',
      {
        sse: [
          ...stream(...textBlock(0, 'Hi')).slice(0, 4),
          nativeSse({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }).toString(),
        ],
      },
    ],
    ['a lost message_stop', { sse: stream(...textBlock(0, 'Hi')).slice(0, -1) }],
  ])('a stream that breaks by %s never looks whole', async (_name, reply) => {
    upstream.queue(reply);
    const running = await client.chat.completions.create({ model: 'test/cheap', messages: [question], stream: true });
    const finishes: unknown[] = [];
    const read = async (): Promise<void> => {
      for await (const chunk of running) finishes.push(chunk.choices[0]?.finish_reason);
    };
    await expect(read()).rejects.toBeInstanceOf(OpenAI.APIError);
    expect(finishes.every((finish) => finish === null)).toBe(true);
  });
});

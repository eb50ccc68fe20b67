// The official OpenAI client against the running daemon on its sandbox.

import OpenAI, { APIError, AuthenticationError, BadRequestError, InternalServerError, RateLimitError } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { removeHome, startDaemon, type TestDaemon } from '../helpers/daemon.ts';
import { PNG_DATA_URL, WEATHER_PARAMETERS } from '../helpers/samples.ts';

const REAL = 'openai/gpt-5.4-mini';
const MODELS = ['svc:auto', 'svc:fast', 'svc:balanced', 'svc:best', REAL];

let daemon: TestDaemon;
let client: OpenAI;

beforeAll(async () => {
  daemon = await startDaemon();
  client = new OpenAI({ baseURL: `${daemon.url}/v1`, apiKey: daemon.key, maxRetries: 0 });
});

afterAll(async () => {
  await daemon.stop();
  await removeHome(daemon.home);
});

const fast = { sandbox: { pace: 0 } };

describe.each(MODELS)('%s', (model) => {
  it('answers a completion with usage and cost', async () => {
    const { data, response } = await client.chat.completions
      .create({ model, messages: [{ role: 'user', content: 'Hello there' }], ...fast })
      .withResponse();
    expect(data.object).toBe('chat.completion');
    expect(data.choices[0]?.message.role).toBe('assistant');
    expect(data.choices[0]?.message.content).toContain('sandbox');
    expect(data.choices[0]?.finish_reason).toBe('stop');
    expect(data.usage?.total_tokens).toBe((data.usage?.prompt_tokens ?? 0) + (data.usage?.completion_tokens ?? 0));
    expect(data.usage).toHaveProperty('cost', expect.any(Number));
    expect(response.headers.get('x-svc-model')).toBe(data.model);
    expect(response.headers.get('x-svc-virtual-model')).toBe(model.startsWith('svc:') ? model : null);
  });

  it('streams the same kind of answer, with usage when asked for', async () => {
    const stream = await client.chat.completions.create({
      model,
      messages: [{ role: 'user', content: 'Hello there' }],
      stream: true,
      stream_options: { include_usage: true },
      ...fast,
    });
    let text = '';
    let finish: string | null = null;
    let usage: unknown;
    for await (const chunk of stream) {
      expect(chunk.object).toBe('chat.completion.chunk');
      text += chunk.choices[0]?.delta.content ?? '';
      finish = chunk.choices[0]?.finish_reason ?? finish;
      usage = chunk.usage ?? usage;
    }
    expect(text).toContain('sandbox');
    expect(finish).toBe('stop');
    expect(usage).toMatchObject({ prompt_tokens: expect.any(Number), cost: expect.any(Number) });
  });
});

describe('tools', () => {
  const tools: OpenAI.ChatCompletionTool[] = [
    {
      type: 'function',
      function: { name: 'get_weather', description: 'Get the weather of a city', parameters: WEATHER_PARAMETERS },
    },
  ];

  it.each(['svc:auto', REAL])('make a round trip through %s', async (model) => {
    const question: OpenAI.ChatCompletionMessageParam = { role: 'user', content: 'What is the weather in Oslo?' };
    const first = await client.chat.completions.create({ model, messages: [question], tools, ...fast });
    const call = first.choices[0]?.message.tool_calls?.[0];
    expect(first.choices[0]?.finish_reason).toBe('tool_calls');
    if (call?.type !== 'function') throw new Error('no function call');
    expect(JSON.parse(call.function.arguments)).toHaveProperty('city', expect.any(String));
    const second = await client.chat.completions.create({
      model,
      messages: [
        question,
        { role: 'assistant', tool_calls: [call] },
        { role: 'tool', tool_call_id: call.id, content: '7 degrees and rain' },
      ],
      tools,
      ...fast,
    });
    expect(second.choices[0]?.message.content).toContain('7 degrees and rain');
  });

  it('are assembled by the streaming helper', async () => {
    const runner = client.chat.completions.stream({
      model: 'svc:auto',
      messages: [{ role: 'user', content: 'What is the weather in Oslo?' }],
      tools,
      ...fast,
    });
    const final = await runner.finalChatCompletion();
    const call = final.choices[0]?.message.tool_calls?.[0];
    expect(call).toMatchObject({ type: 'function', function: { name: 'get_weather' } });
  });
});

it('images are seen', async () => {
  const answer = await client.chat.completions.create({
    model: 'svc:auto',
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is in this picture?' },
          { type: 'image_url', image_url: { url: PNG_DATA_URL } },
        ],
      },
    ],
    ...fast,
  });
  expect(answer.choices[0]?.message.content).toMatch(/png/i);
});

it('JSON mode gives JSON', async () => {
  const answer = await client.chat.completions.create({
    model: REAL,
    messages: [{ role: 'user', content: 'Give me a JSON object about rivers' }],
    response_format: { type: 'json_object' },
    ...fast,
  });
  expect(typeof JSON.parse(answer.choices[0]?.message.content ?? '')).toBe('object');
});

it('lists the models', async () => {
  const ids: string[] = [];
  for await (const model of client.models.list()) ids.push(model.id);
  expect(ids).toEqual(expect.arrayContaining(['svc:auto', 'svc:fast', 'svc:balanced', 'svc:best']));
  expect((await client.models.retrieve('svc:auto')).owned_by).toBe('svc');
});

describe('errors arrive as typed exceptions', () => {
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Hello' }];
  const create = (body: object): Promise<unknown> =>
    client.chat.completions.create({ model: REAL, messages, ...body } as OpenAI.ChatCompletionCreateParamsNonStreaming);

  it.each([
    ['an unknown model', { model: 'nobody/nothing' }, BadRequestError, 'INVALID_MODEL', 400],
    ['a field out of range', { temperature: 3 }, BadRequestError, 'INVALID_REQUEST', 400],
    [
      'an upstream that limits',
      { sandbox: { fail: 'status', status: 429 } },
      RateLimitError,
      'UPSTREAM_RATE_LIMITED',
      429,
    ],
    [
      'an upstream that fails',
      { sandbox: { fail: 'status', status: 500 } },
      InternalServerError,
      'UPSTREAM_ERROR',
      502,
    ],
    ['an upstream that resets', { sandbox: { fail: 'reset' } }, InternalServerError, 'UPSTREAM_ERROR', 502],
    [
      'an upstream that sends a page',
      { sandbox: { fail: 'html' } },
      InternalServerError,
      'UPSTREAM_INVALID_RESPONSE',
      502,
    ],
    [
      'an upstream that sends nothing',
      { sandbox: { fail: 'empty' } },
      InternalServerError,
      'UPSTREAM_INVALID_RESPONSE',
      502,
    ],
    ['an error under status 200', { sandbox: { fail: 'error_200' } }, InternalServerError, 'UPSTREAM_ERROR', 502],
  ])('%s', async (_name, body, kind, code, status) => {
    const error = await create(body).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(kind);
    expect(error).toMatchObject({ status, code });
  });

  it('a wrong key', async () => {
    const stranger = new OpenAI({ baseURL: `${daemon.url}/v1`, apiKey: 'svc_sk_wrong', maxRetries: 0 });
    await expect(stranger.chat.completions.create({ model: REAL, messages })).rejects.toBeInstanceOf(
      AuthenticationError,
    );
  });

  it.each(['truncate', 'reset', 'broken_sse', 'error_event'])(
    'a stream that breaks by %s never looks whole',
    async (fail) => {
      const stream = await client.chat.completions.create({
        model: REAL,
        messages,
        stream: true,
        sandbox: { fail, after_chunks: 2, pace: 0 },
      } as OpenAI.ChatCompletionCreateParamsStreaming);
      const seen: string[] = [];
      const error = await (async () => {
        for await (const chunk of stream) seen.push(chunk.choices[0]?.finish_reason ?? '');
      })().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(APIError);
      expect(seen).not.toContain('stop');
    },
  );
});

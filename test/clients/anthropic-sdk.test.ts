// The official Anthropic client against the running daemon on its sandbox: Messages in, Chat upstream.

import Anthropic, {
  APIError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  RateLimitError,
} from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { removeHome, startDaemon, type TestDaemon } from '../helpers/daemon.ts';
import { PNG_BASE64, WEATHER_PARAMETERS } from '../helpers/samples.ts';

const REAL = 'anthropic/claude-haiku-5.5';
const MODELS = ['svc:auto', 'svc:fast', 'svc:balanced', 'svc:best', REAL];

let daemon: TestDaemon;
let client: Anthropic;

beforeAll(async () => {
  daemon = await startDaemon();
  client = new Anthropic({ baseURL: daemon.url, apiKey: daemon.key, maxRetries: 0 });
});

afterAll(async () => {
  await daemon.stop();
  await removeHome(daemon.home);
});

const fast = { sandbox: { pace: 0 } };

describe.each(MODELS)('%s', (model) => {
  it('answers a message with usage', async () => {
    const { data, response } = await client.messages
      .create({
        model,
        max_tokens: 300,
        system: 'Be brief.',
        messages: [{ role: 'user', content: 'Hello there' }],
        ...fast,
      })
      .withResponse();
    expect(data).toMatchObject({ type: 'message', role: 'assistant', stop_reason: 'end_turn' });
    expect(data.content[0]).toMatchObject({ type: 'text', text: expect.stringContaining('sandbox') });
    expect(data.usage.input_tokens + (data.usage.cache_read_input_tokens ?? 0)).toBeGreaterThan(0);
    expect(data.usage.output_tokens).toBeGreaterThan(0);
    expect(data.usage).toHaveProperty('cost', expect.any(Number));
    expect(response.headers.get('x-svc-model')).toBe(data.model);
  });

  it('streams events in the order of the format', async () => {
    const stream = await client.messages.create({
      model,
      max_tokens: 300,
      messages: [{ role: 'user', content: 'Hello there' }],
      stream: true,
      ...fast,
    });
    const types: string[] = [];
    for await (const event of stream) if (types.at(-1) !== event.type) types.push(event.type);
    expect(types).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
  });
});

describe('tools', () => {
  const tools: Anthropic.Tool[] = [
    {
      name: 'get_weather',
      description: 'Get the weather of a city',
      input_schema: WEATHER_PARAMETERS,
    },
  ];

  it.each(['svc:auto', REAL])('make a round trip through %s', async (model) => {
    const question: Anthropic.MessageParam = { role: 'user', content: 'What is the weather in Oslo?' };
    const first = await client.messages.create({ model, max_tokens: 300, messages: [question], tools, ...fast });
    expect(first.stop_reason).toBe('tool_use');
    const call = first.content.find((block) => block.type === 'tool_use');
    if (call?.type !== 'tool_use') throw new Error('no tool use');
    expect(call.input).toHaveProperty('city', expect.any(String));
    const second = await client.messages.create({
      model,
      max_tokens: 300,
      messages: [
        question,
        { role: 'assistant', content: first.content },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, content: '7 degrees and rain' }] },
      ],
      tools,
      ...fast,
    });
    expect(second.content[0]).toMatchObject({ type: 'text', text: expect.stringContaining('7 degrees and rain') });
  });

  it('are assembled by the streaming helper', async () => {
    const stream = client.messages.stream({
      model: 'svc:auto',
      max_tokens: 300,
      messages: [{ role: 'user', content: 'What is the weather in Oslo?' }],
      tools,
      ...fast,
    });
    const final = await stream.finalMessage();
    expect(final.stop_reason).toBe('tool_use');
    expect(final.content.find((block) => block.type === 'tool_use')).toMatchObject({
      name: 'get_weather',
      input: { city: expect.any(String) },
    });
  });
});

it('images are seen', async () => {
  const answer = await client.messages.create({
    model: 'svc:auto',
    max_tokens: 300,
    messages: [
      {
        role: 'user',
        content: [
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG_BASE64 } },
          { type: 'text', text: 'What is in this picture?' },
        ],
      },
    ],
    ...fast,
  });
  expect(answer.content[0]).toMatchObject({ type: 'text', text: expect.stringMatching(/png/i) });
});

describe('errors arrive as typed exceptions', () => {
  const base = { model: REAL, max_tokens: 100, messages: [{ role: 'user' as const, content: 'Hello' }] };
  const create = (body: object): Promise<unknown> =>
    client.messages.create({ ...base, ...body } as Anthropic.MessageCreateParamsNonStreaming);

  it.each([
    ['an unknown model', { model: 'nobody/nothing' }, BadRequestError, 400, 'INVALID_MODEL'],
    ['a field out of range', { temperature: 1.5 }, BadRequestError, 400, 'INVALID_REQUEST'],
    [
      'an upstream that limits',
      { sandbox: { fail: 'status', status: 429 } },
      RateLimitError,
      429,
      'UPSTREAM_RATE_LIMITED',
    ],
    [
      'an upstream that fails',
      { sandbox: { fail: 'status', status: 503 } },
      InternalServerError,
      502,
      'UPSTREAM_ERROR',
    ],
    ['an error under status 200', { sandbox: { fail: 'error_200' } }, InternalServerError, 502, 'UPSTREAM_ERROR'],
  ])('%s', async (_name, body, kind, status, code) => {
    const error = await create(body).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(kind);
    expect(error).toMatchObject({ status, error: { type: 'error', error: { code, retryable: expect.any(Boolean) } } });
  });

  it('a missing max_tokens names the field', async () => {
    const error = await create({ max_tokens: undefined }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(BadRequestError);
    expect(String(error)).toContain('max_tokens');
  });

  it('a wrong key', async () => {
    const stranger = new Anthropic({ baseURL: daemon.url, apiKey: 'svc_sk_wrong', maxRetries: 0 });
    await expect(stranger.messages.create(base)).rejects.toBeInstanceOf(AuthenticationError);
  });

  it.each(['truncate', 'reset', 'broken_sse', 'error_event'])(
    'a stream that breaks by %s never looks whole',
    async (fail) => {
      const stream = client.messages.stream({
        ...base,
        sandbox: { fail, after_chunks: 2, pace: 0 },
      } as Anthropic.MessageStreamParams);
      const types: string[] = [];
      stream.on('streamEvent', (event) => types.push(event.type));
      const error = await stream.finalMessage().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(APIError);
      expect(types).not.toContain('message_stop');
    },
  );
});

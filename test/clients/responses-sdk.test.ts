// The official OpenAI client's Responses API against the running daemon on its sandbox.

import OpenAI, { APIError, BadRequestError, InternalServerError, NotFoundError, RateLimitError } from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { removeHome, startDaemon, type TestDaemon } from '../helpers/daemon.ts';
import { PNG_DATA_URL, WEATHER_PARAMETERS } from '../helpers/samples.ts';

const REAL = 'openai/gpt-5.4-mini';

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
const WEATHER: OpenAI.Responses.FunctionTool = {
  type: 'function',
  name: 'get_weather',
  description: 'Get the weather of a city',
  parameters: WEATHER_PARAMETERS,
  strict: false,
};
const QUESTION: OpenAI.Responses.ResponseInputItem = { role: 'user', content: 'What is the weather in Oslo?' };

describe.each(['svc:auto', REAL])('%s', (model) => {
  it('answers with text, usage and cost', async () => {
    const { data, response } = await client.responses
      .create({ model, instructions: 'Be brief.', input: 'Hello there', ...fast })
      .withResponse();
    expect(data.object).toBe('response');
    expect(data.status).toBe('completed');
    expect(data.output_text).toContain('sandbox');
    expect(data.usage?.total_tokens).toBe((data.usage?.input_tokens ?? 0) + (data.usage?.output_tokens ?? 0));
    expect(data.usage).toHaveProperty('cost', expect.any(Number));
    expect(data.model).toBe(response.headers.get('x-svc-model'));
    expect(data.instructions).toBe('Be brief.');
  });

  it('streams the same kind of answer', async () => {
    const stream = await client.responses.create({ model, input: 'Hello there', stream: true, ...fast });
    let text = '';
    let number = 0;
    let last: OpenAI.Responses.ResponseStreamEvent | undefined;
    for await (const event of stream) {
      if ('sequence_number' in event) expect(event.sequence_number).toBe(number);
      number += 1;
      if (event.type === 'response.output_text.delta') text += event.delta;
      last = event;
    }
    if (last?.type !== 'response.completed') throw new Error(`the stream ended with ${last?.type}`);
    expect(text).toContain('sandbox');
    expect(last.response.output).toMatchObject([{ type: 'message', content: [{ type: 'output_text', text }] }]);
    expect(last.response.usage).toMatchObject({ output_tokens: expect.any(Number), cost: expect.any(Number) });
  });

  it('makes a round trip with a function', async () => {
    const first = await client.responses.create({ model, input: [QUESTION], tools: [WEATHER], ...fast });
    const call = first.output.find((item) => item.type === 'function_call');
    if (call === undefined) throw new Error('no function call');
    expect(JSON.parse(call.arguments)).toHaveProperty('city', expect.any(String));
    const second = await client.responses.create({
      model,
      input: [QUESTION, call, { type: 'function_call_output', call_id: call.call_id, output: '7 degrees and rain' }],
      tools: [WEATHER],
      ...fast,
    });
    expect(second.output_text).toContain('7 degrees and rain');
  });
});

describe('the streaming helper', () => {
  it('assembles the text of an answer', async () => {
    const deltas: string[] = [];
    const runner = client.responses.stream({ model: 'svc:auto', input: 'Hello there', ...fast });
    runner.on('response.output_text.delta', ({ delta }) => deltas.push(delta));
    const final = await runner.finalResponse();
    expect(final.status).toBe('completed');
    expect(final.output_text).toBe(deltas.join(''));
    expect(final.output_text).toContain('sandbox');
  });

  it('assembles a function call', async () => {
    const snapshots: string[] = [];
    const runner = client.responses.stream({ model: 'svc:auto', input: [QUESTION], tools: [WEATHER], ...fast });
    runner.on('response.function_call_arguments.delta', ({ snapshot }) => snapshots.push(snapshot));
    const { output } = await runner.finalResponse();
    expect(output).toMatchObject([{ type: 'function_call', name: 'get_weather', arguments: snapshots.at(-1) }]);
  });
});

describe('structured output', () => {
  const River = z.object({ name: z.string(), length: z.number() });
  const text = { format: zodTextFormat(River, 'river') };

  it('is parsed from a whole answer', async () => {
    const answer = await client.responses.parse({ model: REAL, input: 'A river', text, ...fast });
    expect(River.safeParse(answer.output_parsed).success).toBe(true);
    expect(answer.text?.format).toMatchObject({ type: 'json_schema', name: 'river', strict: true });
  });

  it('is parsed from a stream', async () => {
    const runner = client.responses.stream({ model: REAL, input: 'A river', text, ...fast });
    expect(River.safeParse((await runner.finalResponse()).output_parsed).success).toBe(true);
  });
});

it('images are seen', async () => {
  const answer = await client.responses.create({
    model: 'svc:auto',
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'What is in this picture?' },
          { type: 'input_image', image_url: PNG_DATA_URL, detail: 'auto' },
        ],
      },
    ],
    ...fast,
  });
  expect(answer.output_text).toMatch(/png/i);
});

describe('errors arrive as typed exceptions', () => {
  const create = (body: object): Promise<unknown> =>
    client.responses.create({ model: REAL, input: 'Hello', ...body } as OpenAI.Responses.ResponseCreateParams);

  it.each([
    ['an unknown model', { model: 'nobody/nothing' }, BadRequestError, 'INVALID_MODEL', 400],
    ['a field out of range', { temperature: 3 }, BadRequestError, 'INVALID_REQUEST', 400],
    ['a stored response', { previous_response_id: 'resp_1' }, BadRequestError, 'UNSUPPORTED_FEATURE', 400],
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
    [
      'an upstream that sends a page',
      { sandbox: { fail: 'html' } },
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

  it('a response that is not stored', async () => {
    await expect(client.responses.retrieve('resp_1')).rejects.toBeInstanceOf(NotFoundError);
    await expect(client.responses.delete('resp_1')).rejects.toBeInstanceOf(NotFoundError);
  });

  it.each(['truncate', 'reset', 'broken_sse', 'error_event'])(
    'a stream that breaks by %s never looks whole',
    async (fail) => {
      const body = { model: REAL, input: 'Hello', sandbox: { fail, after_chunks: 2, pace: 0 } };
      const stream = await client.responses.create({ ...body, stream: true });
      const seen: string[] = [];
      const error = await (async () => {
        for await (const event of stream) seen.push(event.type);
      })().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(APIError);
      expect(seen).not.toContain('response.completed');
      const helped = client.responses.stream(body);
      await expect(helped.finalResponse()).rejects.toBeInstanceOf(APIError);
    },
  );
});

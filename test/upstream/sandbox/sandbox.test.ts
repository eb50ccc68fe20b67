import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fetchModels } from '../../../src/upstream/fetch-models.ts';
import type { Sandbox } from '../../../src/upstream/sandbox/sandbox.ts';
import { countTokens } from '../../../src/upstream/sandbox/sandbox-tokens.ts';
import { call, type Json, joinStream, parse, readEvents, startTestSandbox, tool, user } from './sandbox-client.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.close());

async function ask(body: Json): Promise<Json> {
  return parse(await call(sandbox.url, { model: 'test/all', ...body }));
}

async function askStream(body: Json): Promise<{ events: Json[]; done: boolean } & ReturnType<typeof joinStream>> {
  const answered = await call(sandbox.url, { model: 'test/all', stream: true, ...body });
  const { events, done } = readEvents(answered.text);
  return { events, done, ...joinStream(events) };
}

function textOf(answer: Json): string {
  return answer.choices[0].message.content;
}

describe('the list of models', () => {
  it('has the catalogue’s models in OpenRouter’s shape, with defaults for what is missing', async () => {
    const list = (await fetchModels({ baseUrl: sandbox.url, apiKey: undefined }, new AbortController().signal)) as Json;
    expect(list.data.map((model: Json) => model.id)).toEqual([
      'test/plain',
      'test/all',
      'test/bare',
      'sandbox/text-embedding',
    ]);
    expect(list.data[1]).toMatchObject({
      name: 'All',
      context_length: 200_000,
      architecture: { input_modalities: ['text', 'image', 'file'] },
      pricing: { prompt: '0.000003', completion: '0.000015' },
      supported_parameters: ['tools', 'tool_choice', 'response_format'],
      expiration_date: '2030-01-01',
    });
    expect(list.data[0].top_provider.max_completion_tokens).toBe(500);
    expect(list.data[2]).toMatchObject({ name: 'test/bare', architecture: { input_modalities: ['text'] } });
    expect(list.data[2]).not.toHaveProperty('pricing');
  });
});

describe('an answer', () => {
  it('says that it is the sandbox, names the model and repeats what was asked', async () => {
    const answer = await ask({ messages: user('How do magnets work?') });
    expect(answer).toMatchObject({ object: 'chat.completion', model: 'test/all', created: 1_800_000_000 });
    expect(answer.id).toMatch(/^gen-[\da-f]{24}$/);
    expect(textOf(answer)).toContain('svc sandbox');
    expect(textOf(answer)).toContain('test/all');
    expect(textOf(answer)).toContain('“How do magnets work?”');
    expect(answer.choices[0].finish_reason).toBe('stop');
  });

  it('is the same for the same request, and another for another model or message', async () => {
    const [one, same, otherModel, otherMessage] = await Promise.all([
      ask({ messages: user('Tell me a joke') }),
      ask({ messages: user('Tell me a joke') }),
      ask({ model: 'test/plain', messages: user('Tell me a joke') }),
      ask({ messages: user('Tell me a story') }),
    ]);
    expect(same.choices).toEqual(one.choices);
    expect(same.id).toBe(one.id);
    expect(new Set([one.id, otherModel.id, otherMessage.id]).size).toBe(3);
  });

  it('is longer where a text is asked for', async () => {
    const short = await ask({ messages: user('hi') });
    const long = await ask({ messages: user('Write an essay about rivers') });
    expect(long.usage.completion_tokens).toBeGreaterThan(short.usage.completion_tokens + 50);
  });

  it('is cut at max_tokens, or the model’s own limit, with finish_reason length', async () => {
    for (const field of ['max_tokens', 'max_completion_tokens']) {
      const answer = await ask({ messages: user('hi'), [field]: 5 });
      expect(answer.choices[0].finish_reason).toBe('length');
      expect(answer.usage.completion_tokens).toBe(5);
      expect(countTokens(textOf(answer))).toBe(5);
    }
  });

  it.each<[string | string[], string]>([
    ['sandbox', 'a text'],
    [['zzz', 'model', 'sandbox', 'real'], 'the first of several that comes'],
  ])('ends before a stop sequence: %j', async (stop) => {
    const answer = await ask({ messages: user('hi'), stop });
    expect(textOf(answer)).toBe('This is the svc ');
    expect(answer.choices[0].finish_reason).toBe('stop');
  });

  it.each([
    ['no messages of a user', [{ role: 'system', content: 'Be brief.' }], 'no message of a user'],
    ['an empty message', user(''), 'You wrote no text'],
    [
      'text parts',
      user([
        { type: 'text', text: 'context' },
        { type: 'text', text: 'the question' },
      ]),
      '“the question”',
    ],
    ['a long message', user('word '.repeat(500)), '…”'],
    ['a file', user([{ type: 'file', file: { filename: 'a.pdf', file_data: 'x' } }]), 'a file named a.pdf'],
    [
      'an image by URL',
      user([{ type: 'image_url', image_url: { url: 'http://127.0.0.1:1/a.png' } }]),
      'does not fetch',
    ],
    ['an emoji at the cut', user('😀'.repeat(300)), '😀…”'],
  ])('copes with %s', async (_, messages, says) => {
    const answer = await ask({ messages });
    expect(textOf(answer)).toContain(says);
    expect(textOf(answer)).toBe(Buffer.from(textOf(answer)).toString());
  });

  it('tells what an image in the request is', async () => {
    const url =
      'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA2iEnWAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg==';
    const answer = await ask({
      messages: user([
        { type: 'text', text: 'What is it?' },
        { type: 'image_url', image_url: { url } },
      ]),
    });
    expect(textOf(answer)).toMatch(/a PNG image of 2 × 3 pixels \(\d+ bytes\)/);
  });
});

describe('a stream', () => {
  it('has the text, finish reason and ids of the whole answer, whatever the request', async () => {
    const request = fc.record(
      {
        messages: fc.string({ unit: 'grapheme', maxLength: 300 }).map(user),
        max_tokens: fc.integer({ min: 1, max: 120 }),
        stop: fc.constantFrom('model', ' the ', 'zzz'),
        response_format: fc.constantFrom({ type: 'text' }, { type: 'json_object' }),
      },
      { requiredKeys: ['messages'] },
    );
    await fc.assert(
      fc.asyncProperty(request, async (body) => {
        const whole = await ask(body);
        const stream = await askStream({ ...body, stream_options: { include_usage: true } });
        expect(stream.text).toBe(textOf(whole));
        expect(stream.finish).toBe(whole.choices[0].finish_reason);
        expect(new Set(stream.events.map(({ id }) => id))).toEqual(new Set([whole.id]));
        expect(stream.usage.completion_tokens).toBe(whole.usage.completion_tokens);
        expect(stream.usage.prompt_tokens).toBe(whole.usage.prompt_tokens);
        expect(stream.done).toBe(true);
      }),
      { numRuns: 40 },
    );
  });

  it('gives the role once, a few words at a time, and usage last and only when asked for', async () => {
    const { events, usage } = await askStream({ messages: user('hello there') });
    expect(events.filter(({ choices }) => choices[0].delta.role === 'assistant')).toHaveLength(1);
    expect(events[0].choices[0].delta.role).toBe('assistant');
    expect(events.length).toBeGreaterThan(5);
    expect(usage).toBeUndefined();
    const counted = await askStream({ messages: user('hello there'), stream_options: { include_usage: true } });
    expect(counted.events.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: expect.any(Number) } });
  });

  it('carries tool calls: id and name once, arguments in pieces', async () => {
    const body = {
      messages: user('What is the weather in Paris and Berlin?'),
      tools: [tool('get_weather', 'Weather of a city', { city: { type: 'string' } })],
    };
    const whole = await ask(body);
    const stream = await askStream(body);
    expect(stream.calls).toEqual(whole.choices[0].message.tool_calls);
    expect(stream.calls).toHaveLength(2);
    expect(stream.finish).toBe('tool_calls');
    const named = stream.events.flatMap(({ choices }) => choices[0].delta.tool_calls ?? []).filter(({ id }) => id);
    expect(named).toHaveLength(2);
  });
});

describe('JSON mode', () => {
  it('json_object gives an object', async () => {
    const answer = await ask({ messages: user('hi'), response_format: { type: 'json_object' } });
    expect(JSON.parse(textOf(answer))).toMatchObject({ sandbox: true, model: 'test/all' });
  });

  it('json_schema gives what the schema says', async () => {
    const schema = {
      type: 'object',
      properties: {
        name: { type: 'string' },
        age: { type: 'integer', minimum: 18 },
        tags: { type: 'array', items: { enum: ['a', 'b'] }, minItems: 2 },
      },
      required: ['name', 'age', 'tags'],
    };
    const answer = await ask({
      messages: user('The person is called Ada and is 36 years old'),
      response_format: { type: 'json_schema', json_schema: { name: 'person', schema } },
    });
    expect(JSON.parse(textOf(answer))).toEqual({ name: 'Ada', age: 36, tags: ['a', 'b'] });
  });
});

describe('usage', () => {
  it('counts prompt and answer, and costs what the catalogue says', async () => {
    const answer = await ask({ model: 'test/plain', messages: user('count me') });
    const { usage } = answer;
    expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens);
    expect(usage.completion_tokens).toBe(countTokens(textOf(answer)));
    expect(usage.cost).toBeCloseTo(usage.prompt_tokens * 1e-6 + usage.completion_tokens * 2e-6, 12);
  });

  it('counts a repeated beginning as cached, in steps of 64 tokens, at its own price', async () => {
    const system = { role: 'system', content: 'cached words '.repeat(100) };
    const first = await ask({ messages: [system, ...user('one')] });
    const second = await ask({ messages: [system, ...user('two')] });
    expect(first.usage.prompt_tokens_details.cached_tokens).toBe(0);
    const cached = second.usage.prompt_tokens_details.cached_tokens;
    expect(cached).toBe(192);
    const expected =
      0.01 + (second.usage.prompt_tokens - cached) * 3e-6 + cached * 0.3e-6 + second.usage.completion_tokens * 15e-6;
    expect(second.usage.cost).toBeCloseTo(expected, 10);
    const elsewhere = await ask({ model: 'test/plain', messages: [system, ...user('one')] });
    expect(elsewhere.usage.prompt_tokens_details.cached_tokens).toBe(0);
  });

  it('takes the long-context price, images and requests into account', async () => {
    const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'low' } };
    const { usage } = await ask({
      messages: user([{ type: 'text', text: 'many different words '.repeat(1200) }, image]),
    });
    expect(usage.prompt_tokens).toBeGreaterThan(3000);
    expect(usage.cost).toBeCloseTo(0.011 + usage.prompt_tokens * 6e-6 + usage.completion_tokens * 15e-6, 10);
  });

  it('is free where the model has no price', async () => {
    expect((await ask({ model: 'test/bare', messages: user('hi') })).usage.cost).toBe(0);
  });
});

describe('the reader', () => {
  it('who goes away ends the stream, and the sandbox goes on with others', async () => {
    const slow = await startTestSandbox(1);
    await expect(
      call(slow.url, { model: 'test/all', stream: true, messages: user('Write an essay') }, () => true),
    ).resolves.toMatchObject({ end: 'broken' });
    const rest = { model: 'test/all', messages: user('hi'), sandbox: { pace: 0 } };
    expect(await call(slow.url, rest)).toMatchObject({ status: 200 });
    await slow.close();
  });

  it('meets an unusable catalogue as a sandbox without models', async () => {
    const { startSandbox } = await import('../../../src/upstream/sandbox/sandbox.ts');
    const empty = await startSandbox({ catalogJson: 'nonsense', now: () => 0 });
    expect(await (await fetch(`${empty.url}/models`)).json()).toEqual({ data: [] });
    await empty.close();
  });
});

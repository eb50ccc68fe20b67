// What service.md and the contract promise of completions: headers, bytes that pass, event order, money on every answer.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chatAnswer, chatEvents } from '../helpers/fake-upstream.ts';
import { type Gateway, nanoOf, startGateway } from '../helpers/gateway.ts';
import { readJson } from '../helpers/read-json.ts';

let gateway: Gateway;
let seen = 0;

beforeAll(async () => {
  gateway = await startGateway();
});

afterAll(async () => {
  await gateway.close();
});

beforeEach(() => {
  seen = gateway.upstream.requests.length;
});

const CHAT = '/v1/chat/completions';
const MESSAGES = '/v1/messages';
const user = [{ role: 'user', content: 'Hi' }];
const chatBody = { model: 'test/cheap', messages: user };
const messagesBody = { model: 'test/cheap', max_tokens: 50, messages: user };

/** What the upstream got for the last request. */
const arrived = () => gateway.upstream.requests[seen];

describe('routing headers', () => {
  const rows = [
    ['svc:auto', 'auto'],
    ['svc:fast', 'virtual'],
    ['svc:balanced', 'virtual'],
    ['svc:best', 'virtual'],
    ['test/cheap', 'passthrough'],
  ] as const;

  it.each(
    rows.flatMap(
      (row) =>
        [
          [...row, CHAT],
          [...row, MESSAGES],
        ] as const,
    ),
  )('of %s (%s) at %s', async (model, classifier, path) => {
    for (const stream of [false, true]) {
      const answer = await gateway.post(path, { model, max_tokens: 50, messages: user, stream });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('x-svc-model')).toMatch(/^test\//);
      expect(answer.headers.get('x-svc-virtual-model')).toBe(model.startsWith('svc:') ? model : null);
      expect(answer.headers.get('x-svc-classifier')).toBe(classifier);
      expect(answer.headers.get('x-svc-task-type')).toBe('chat');
      expect(['simple', 'medium', 'complex']).toContain(answer.headers.get('x-svc-complexity'));
      expect(answer.headers.get('x-svc-tokens-saved')).toBe('0');
      expect(answer.headers.get('x-svc-upstream')).toBe(new URL(gateway.upstream.url).host);
      expect(answer.headers.get('x-request-id')).toMatch(/^req_[0-9A-Za-z]+$/);
      for (const name of ['limit', 'remaining', 'reset']) {
        expect(answer.headers.get(`x-ratelimit-${name}-requests`)).toBeTruthy();
        expect(answer.headers.get(`x-ratelimit-${name}-tokens`)).toBeTruthy();
      }
      expect(answer.headers.get('ratelimit')).toContain('"requests"');
      expect(answer.headers.get('ratelimit-policy')).toContain('q=600;w=60');
      await answer.text();
    }
  });

  it('come with an error after routing too', async () => {
    gateway.upstream.queue({ status: 500, json: { error: { message: 'the model fell over' } } });
    const answer = await gateway.post(CHAT, chatBody);
    expect(answer.status).toBe(502);
    expect(answer.headers.get('x-svc-model')).toBe('test/cheap');
    expect((await readJson(answer)).error).toMatchObject({
      code: 'UPSTREAM_ERROR',
      message: 'the model fell over',
      retryable: true,
    });
  });
});

describe('X-Svc-Skip-Routing', () => {
  it('uses a real model as given', async () => {
    const answer = await gateway.post(CHAT, chatBody, { 'x-svc-skip-routing': 'true' });
    expect(answer.headers.get('x-svc-classifier')).toBe('passthrough');
  });

  it('refuses a virtual model', async () => {
    const answer = await gateway.post(CHAT, { ...chatBody, model: 'svc:auto' }, { 'x-svc-skip-routing': 'true' });
    expect([answer.status, (await readJson(answer)).error.code]).toEqual([400, 'INVALID_MODEL']);
  });
});

describe('Chat to Chat', () => {
  it('passes the body byte for byte', async () => {
    const body =
      '{ "model":"test/cheap",\n "messages":[{"role":"user","content":"caf\\u00e9 \\ud83d\\ude00"}], "seed": 12345678901234567890, "unknown_field": {"b":1.0,"a":[ ]} }';
    await gateway.post(CHAT, body);
    expect(arrived()?.body.toString()).toBe(body);
  });

  it.each([
    ['left out', '"q": 1.50}', '"q": 1.50,'],
    ['null', '"usage":null, "q": 1.50}', ''],
    ['empty', '"usage": {}}', ''],
  ])('tells the caller what it is charged for where the usage is %s', async (_name, end, kept) => {
    const choice = '{"index":0,"message":{"role":"assistant","content":"One two three."},"finish_reason":"stop"}';
    const raw = `{"id":"g", "choices":[${choice}],${end}`;
    gateway.upstream.queue({ raw: [raw], headers: { 'content-type': 'application/json' } });
    const answer = await gateway.post(CHAT, chatBody);
    const text = await answer.text();
    expect(text).toContain(`{"id":"g", "choices":[${choice}],${kept}`);
    const id = answer.headers.get('x-request-id');
    const entry = (await gateway.usage()).find(({ request_id }) => request_id === id);
    const { usage } = JSON.parse(text);
    expect(usage).toMatchObject({
      prompt_tokens: entry?.['input_tokens'],
      completion_tokens: entry?.['output_tokens'],
      total_tokens: usage.prompt_tokens + usage.completion_tokens,
      cost: Number(entry?.cost),
    });
    expect(usage.completion_tokens).toBeGreaterThan(0);
    expect(usage.cost).toBeGreaterThan(0);
  });

  it('changes only what must change', async () => {
    const body =
      '{"svc":{"weights":{"speed":0,"quality":0,"cost":100}},"model":"svc:auto","messages":[{"role":"user","content":"Hi"}],"big": 9007199254740993,"stream":true}';
    const answer = await gateway.post(CHAT, body);
    await answer.text();
    const sent = arrived()?.body.toString() ?? '';
    expect(sent).toContain('"big": 9007199254740993');
    expect(sent).not.toContain('svc');
    expect(arrived()?.json).toMatchObject({ model: 'test/cheap', stream_options: { include_usage: true } });
  });

  it('sends no header of the caller upstream but its own credential', async () => {
    await gateway.post(CHAT, chatBody, { 'x-svc-source': 'unit-test', cookie: 'a=b', 'x-forwarded-for': '1.2.3.4' });
    const headers = arrived()?.headers ?? {};
    expect(headers['authorization']).toBe('Bearer upstream-secret');
    expect(JSON.stringify(headers)).not.toMatch(/unit-test|a=b|1\.2\.3\.4|svc_sk_/);
  });

  it('passes the answer byte for byte, with the cost put in', async () => {
    const raw =
      '{"id":"gen-1","object":"chat.completion","created":1,"model":"test/cheap","weird":1e2,"choices":[{"index":0,"message":{"role":"assistant","content":"\\u0048i"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1000,"completion_tokens":100,"total_tokens":1100}}';
    gateway.upstream.queue({ raw: [raw], headers: { 'content-type': 'application/json' } });
    // 1000 × $0.0000001 + 100 × $0.0000004
    expect(await (await gateway.post(CHAT, { ...chatBody, max_tokens: 200 })).text()).toBe(
      raw.replace('1100}', '1100,"cost":0.00014}'),
    );
  });

  it('streams the events as they are, without usage unless asked', async () => {
    const events = chatEvents({ text: 'One two three.' });
    gateway.upstream.queue({ sse: events });
    const answer = await gateway.post(CHAT, { ...chatBody, stream: true });
    expect(answer.headers.get('content-type')).toContain('text/event-stream');
    const expected = events.filter((event) => !event.includes('"choices":[]')).join('');
    expect(await answer.text()).toBe(expected);
  });

  it('streams usage with cost before [DONE] when asked', async () => {
    gateway.upstream.queue({ sse: chatEvents({ text: 'One two three.' }) });
    const answer = await gateway.post(CHAT, { ...chatBody, stream: true, stream_options: { include_usage: true } });
    const lines = (await answer.text()).trim().split('\n\n');
    expect(lines.at(-1)).toBe('data: [DONE]');
    expect(JSON.parse(lines.at(-2)?.slice(6) ?? '')).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 10, cost: 0.000003 },
    });
  });
});

describe('Messages to Chat', () => {
  it('translates system, images, tools and results', async () => {
    const tool = {
      name: 'look',
      description: 'Look it up',
      input_schema: { type: 'object', properties: { q: { type: 'string' } } },
    };
    await gateway.post(MESSAGES, {
      ...messagesBody,
      model: 'test/vision',
      system: 'Be brief.',
      tools: [tool],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: 'AAAA' } },
            { type: 'text', text: 'What?' },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'tool_use', id: 'toolu_1', name: 'look', input: { q: 'a' } },
            { type: 'tool_use', id: 'toolu_2', name: 'look', input: { q: 'b' } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'toolu_1', content: 'A' },
            { type: 'tool_result', tool_use_id: 'toolu_2', content: [{ type: 'text', text: 'B' }] },
          ],
        },
      ],
    });
    expect(arrived()?.json).toMatchObject({
      model: 'test/vision',
      max_tokens: 50,
      tools: [
        { type: 'function', function: { name: 'look', description: 'Look it up', parameters: tool.input_schema } },
      ],
      messages: [
        { role: 'system' },
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url: 'data:image/jpeg;base64,AAAA' } },
            { type: 'text', text: 'What?' },
          ],
        },
        {
          role: 'assistant',
          tool_calls: [{ id: 'toolu_1', function: { name: 'look', arguments: '{"q":"a"}' } }, { id: 'toolu_2' }],
        },
        { role: 'tool', tool_call_id: 'toolu_1', content: 'A' },
        { role: 'tool', tool_call_id: 'toolu_2' },
      ],
    });
  });

  it.each([
    ['stop', 'end_turn'],
    ['length', 'max_tokens'],
    ['content_filter', 'refusal'],
  ])('turns finish reason %s into stop reason %s', async (finishReason, stopReason) => {
    gateway.upstream.queue(
      { json: chatAnswer({ text: 'Hello', finishReason }) },
      { sse: chatEvents({ text: 'Hello', finishReason }) },
    );
    expect(await readJson(await gateway.post(MESSAGES, messagesBody))).toMatchObject({
      type: 'message',
      role: 'assistant',
      stop_reason: stopReason,
      usage: { input_tokens: 10, output_tokens: 5 },
    });
    const text = await (await gateway.post(MESSAGES, { ...messagesBody, stream: true })).text();
    expect(text).toContain(`"stop_reason":"${stopReason}"`);
  });

  it('sends events in the order of the format, each with its name', async () => {
    gateway.upstream.queue({ sse: chatEvents({ text: 'One two.' }) });
    const text = await (await gateway.post(MESSAGES, { ...messagesBody, stream: true })).text();
    const events = text
      .trim()
      .split('\n\n')
      .map((frame) => {
        const [name = '', data = ''] = frame.split('\n');
        const payload = JSON.parse(data.replace('data: ', ''));
        expect(name).toBe(`event: ${payload.type}`);
        return payload;
      });
    expect(events.map(({ type }) => type)).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    expect(events[0].message).toMatchObject({
      type: 'message',
      role: 'assistant',
      content: [],
      stop_reason: null,
      usage: { output_tokens: 0 },
    });
    expect(events[5]).toMatchObject({
      delta: { stop_reason: 'end_turn' },
      usage: { input_tokens: 10, output_tokens: 5 },
    });
  });

  it('keeps parallel tool calls apart', async () => {
    const toolCalls = [
      { id: 'call_1', name: 'look', arguments: '{"q":1}' },
      { id: 'call_2', name: 'look', arguments: '{"q":2}' },
    ];
    gateway.upstream.queue({ json: chatAnswer({ toolCalls }) });
    const answer = await readJson(await gateway.post(MESSAGES, messagesBody));
    expect(answer.stop_reason).toBe('tool_use');
    expect(answer.content).toMatchObject([
      { type: 'tool_use', id: 'call_1', name: 'look', input: { q: 1 } },
      { type: 'tool_use', id: 'call_2', name: 'look', input: { q: 2 } },
    ]);
  });
});

describe('money', () => {
  it('is on disk as a usage entry with every field, for each answer', async () => {
    const answer = await gateway.post(CHAT, { ...chatBody, model: 'svc:auto' }, { 'x-svc-source': 'my app' });
    const [entry] = (await gateway.usage()).filter(
      ({ request_id }) => request_id === answer.headers.get('x-request-id'),
    );
    expect(entry).toMatchObject({
      id: expect.stringMatching(/^ue_/),
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      api_key_id: expect.stringMatching(/^key_/),
      format: 'chat',
      source: 'my app',
      stream: false,
      requested_model: 'svc:auto',
      virtual_model: 'svc:auto',
      model: answer.headers.get('x-svc-model'),
      upstream: new URL(gateway.upstream.url).host,
      task_type: 'chat',
      complexity: expect.any(String),
      classifier: 'auto',
      status: 200,
      error_code: null,
      finish_reason: 'stop',
      input_tokens: 10,
      cached_tokens: 0,
      cache_write_tokens: 0,
      output_tokens: 5,
      reasoning_tokens: 0,
      tokens_saved: 0,
      cost_kind: 'measured',
      settle_reason: 'completed',
      latency_ms: expect.any(Number),
      ttft_ms: expect.any(Number),
      gateway_ms: expect.any(Number),
      attempts: 1,
      decision: { chosen: answer.headers.get('x-svc-model'), preset: 'svc:auto' },
    });
  });

  it.each([
    ['the upstream fails', { status: 500, json: { error: { message: 'no' } } }, 502, 'failed', '0'],
    ['the upstream refuses', { status: 418, json: { error: 'a teapot' } }, 400, 'failed', '0'],
    ['the upstream hangs up', { raw: ['{'], ending: 'reset' as const }, 502, 'failed', '0'],
    [
      'the stream breaks after text',
      { sse: chatEvents({ text: 'One two three four.' }).slice(0, 3), ending: 'cut' as const },
      200,
      'upstream_truncated',
      'some',
    ],
    [
      'the upstream reports no usage',
      { sse: chatEvents({ text: 'One two three four.', usage: null }) },
      200,
      'completed',
      'some',
    ],
  ])('when %s', async (_name, reply, status, reason, cost) => {
    gateway.upstream.queue(reply);
    const answer = await gateway.post(CHAT, { ...chatBody, stream: true });
    const text = await answer.text();
    expect(answer.status).toBe(status);
    if (reason !== 'completed') expect(text).not.toContain('[DONE]');
    const [entry] = (await gateway.usage()).filter(
      ({ request_id }) => request_id === answer.headers.get('x-request-id'),
    );
    expect(entry?.settle_reason).toBe(reason);
    if (cost === '0') expect(entry).toMatchObject({ cost: '0', output_tokens: 0 });
    else expect(entry).toMatchObject({ cost: expect.not.stringMatching(/^0$/), cost_kind: 'estimated' });
  });

  it('charges what a client that left had got, and stops the upstream', async () => {
    const never = new Promise(() => undefined);
    gateway.upstream.queue({ sse: [...chatEvents({ text: 'One two three four.' }).slice(0, 3), never] });
    const abort = new AbortController();
    const answer = await fetch(gateway.daemon.url + CHAT, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.daemon.key}` },
      body: JSON.stringify({ ...chatBody, stream: true }),
      signal: abort.signal,
    });
    const reader = answer.body?.getReader();
    await reader?.read();
    abort.abort();
    expect(await arrived()?.closed).toBe('early');
    const id = answer.headers.get('x-request-id');
    await expect
      .poll(async () => (await gateway.usage()).find(({ request_id }) => request_id === id))
      .toMatchObject({
        status: 499,
        settle_reason: 'client_closed',
        cost_kind: 'estimated',
      });
  });

  it('never believes a usage that is not one', async () => {
    const before = nanoOf((await gateway.balance()).charged);
    for (const prompt_tokens of [-5, 1.5, 1e308, '12', null]) {
      gateway.upstream.queue({
        json: chatAnswer({ usage: { prompt_tokens, completion_tokens: -1, total_tokens: 0 } }),
      });
      expect((await gateway.post(CHAT, chatBody)).status).toBe(200);
    }
    expect(nanoOf((await gateway.balance()).charged)).toBeGreaterThanOrEqual(before);
  });

  it('adds up: charged is the sum of the entries, and nothing stays held', async () => {
    const { granted, charged, balance, held } = await gateway.balance();
    const sum = (await gateway.usage()).reduce((total, { cost }) => total + nanoOf(cost), 0n);
    expect(nanoOf(charged)).toBe(sum);
    expect(nanoOf(granted) - nanoOf(charged)).toBe(nanoOf(balance));
    expect(held).toBe('0');
  });
});

describe('GET /v1/models', () => {
  it('lists the four virtual models with the fields of the list', async () => {
    const answer = await fetch(`${gateway.daemon.url}/v1/models`, {
      headers: { authorization: `Bearer ${gateway.daemon.key}` },
    });
    const { object, data } = await readJson(answer);
    expect(object).toBe('list');
    for (const id of ['svc:auto', 'svc:fast', 'svc:balanced', 'svc:best']) {
      expect(data.find((model: { id: string }) => model.id === id)).toMatchObject({
        object: 'model',
        created: expect.any(Number),
        owned_by: expect.any(String),
        description: expect.any(String),
      });
    }
  });
});

describe('POST /v1/route', () => {
  it('says that reasoning was asked for and nobody has it', async () => {
    const asked = { model: 'svc:fast', messages: user, reasoning_effort: 'high' };
    const decide = async (body: object): Promise<Record<string, unknown>> =>
      (await (await gateway.post('/v1/route', body)).json()) as Record<string, unknown>;
    const without = await decide({ ...asked, reasoning_effort: 'none' });
    const { why, needs, chosen } = await decide(asked);
    expect(why).toBe(`${without['why']} No model that can serve it has reasoning, so it goes without.`);
    expect([needs, chosen]).toMatchObject([{ reasoning: false }, without['chosen']]);
    const answer = await gateway.post(CHAT, asked);
    const id = answer.headers.get('x-request-id');
    const entry = (await gateway.usage()).find(({ request_id }) => request_id === id);
    expect(entry?.['decision']).toMatchObject({ why, needs: { reasoning: false } });
  });

  it.each([
    ['a Chat body', { model: 'svc:auto', messages: user }],
    ['a Messages body', { model: 'svc:auto', system: 'Be brief.', messages: user }],
    ['a real model', { model: 'test/good', messages: user }],
  ])('answers the decision for %s and sends nothing', async (_name, body) => {
    const decision = await readJson(await gateway.post('/v1/route', body));
    expect(decision).toMatchObject({
      id: expect.any(String),
      requested: body.model,
      classification: {
        task_type: 'chat',
        domain: expect.any(String),
        complexity: expect.any(String),
        confidence: expect.any(Number),
      },
      needs: { input_tokens: expect.any(Number), vision: false, tools: false },
      chosen: expect.stringMatching(/^test\//),
      why: expect.any(String),
      sticky: false,
    });
    expect(decision.candidates[0]?.model).toBe(decision.chosen);
    expect(gateway.upstream.requests.length).toBe(seen);
  });

  it('agrees with what a completion does', async () => {
    const body = {
      model: 'svc:best',
      messages: [{ role: 'user', content: 'Prove that the square root of two is irrational.' }],
    };
    const decision = await readJson(await gateway.post('/v1/route', body));
    const answer = await gateway.post(CHAT, body);
    expect(answer.headers.get('x-svc-model')).toBe(decision.chosen);
    expect(answer.headers.get('x-svc-task-type')).toBe(decision.classification.task_type);
  });
});

it.each([
  ['GET', '/healthz', { status: 'ok' }],
  ['GET', '/readyz', { status: 'ready', store: 'ok', draining: false, upstream: { state: 'ok', models: 3 } }],
  ['GET', '/', { name: 'svc' }],
])('%s %s needs no key', async (_method, path, expected) => {
  const answer = await fetch(gateway.daemon.url + path);
  expect([answer.status, await readJson(answer)]).toMatchObject([200, expected]);
  expect((await fetch(gateway.daemon.url + path, { method: 'HEAD' })).status).toBe(200);
});

// What the contract promises of POST /v1/responses: what goes upstream, what comes back, money, and nothing stored.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chatAnswer, chatEvents } from '../helpers/fake-upstream.ts';
import { type Gateway, startGateway, type UsageRow } from '../helpers/gateway.ts';
import { type CollectedResponse, checkResponsesOrder } from '../wire/responses-order.ts';

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

const PATH = '/v1/responses';
const BODY = { model: 'test/cheap', input: 'Hi' };
const LOOK = { type: 'function', name: 'look', description: 'Looks.', parameters: { type: 'object' }, strict: false };

/** What the upstream got for the last request. */
const arrived = () => gateway.upstream.requests[seen];

/** A response, or an error body. */
type Answer = {
  readonly status: string;
  readonly incomplete_details: unknown;
  readonly created_at: number;
  readonly store: boolean;
  readonly tools: unknown;
  readonly output: readonly { readonly type: string; readonly summary?: unknown }[];
  readonly error: { readonly code: string } | null;
};

async function readAnswer(answer: Response): Promise<Answer> {
  return (await answer.json()) as Answer;
}

async function entryOf(answer: Response): Promise<UsageRow | undefined> {
  const id = answer.headers.get('x-request-id');
  return (await gateway.usage()).find(({ request_id }) => request_id === id);
}

async function stream(body: object, isWhole = true): Promise<CollectedResponse> {
  const answer = await gateway.post(PATH, { ...BODY, stream: true, ...body });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
  return checkResponsesOrder(await answer.text(), isWhole);
}

describe('what goes upstream', () => {
  it('is exactly a Chat request', async () => {
    const answer = await gateway.post(PATH, {
      ...BODY,
      instructions: 'Be brief.',
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'Look for a and b.' }] },
        { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{"q":"a"}' },
        { type: 'function_call', call_id: 'c2', name: 'look', arguments: '{"q":"b"}' },
        { type: 'function_call_output', call_id: 'c1', output: 'A' },
        { type: 'function_call_output', call_id: 'c2', output: 'B' },
      ],
      tools: [LOOK],
      tool_choice: { type: 'function', name: 'look' },
      parallel_tool_calls: false,
      max_output_tokens: 50,
      temperature: 0,
      top_p: 0.5,
      reasoning: { effort: 'low' },
      text: { format: { type: 'json_schema', name: 'n', schema: { type: 'string' }, strict: true } },
      prompt_cache_key: 'k',
      safety_identifier: 'u',
      store: false,
      include: ['reasoning.encrypted_content'],
      metadata: { a: 'b' },
      client_metadata: { a: 'b' },
      svc: { weights: { cost: 1 } },
    });
    expect(answer.status).toBe(200);
    expect(arrived()?.path).toBe('/api/v1/chat/completions');
    const call = (id: string, args: string) => ({ id, type: 'function', function: { name: 'look', arguments: args } });
    expect(arrived()?.json).toEqual({
      model: 'test/cheap',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Look for a and b.' },
        { role: 'assistant', content: null, tool_calls: [call('c1', '{"q":"a"}'), call('c2', '{"q":"b"}')] },
        { role: 'tool', tool_call_id: 'c1', content: 'A' },
        { role: 'tool', tool_call_id: 'c2', content: 'B' },
      ],
      max_tokens: 50,
      temperature: 0,
      top_p: 0.5,
      tools: [
        {
          type: 'function',
          function: { name: 'look', description: 'Looks.', parameters: { type: 'object' }, strict: false },
        },
      ],
      tool_choice: { type: 'function', function: { name: 'look' } },
      parallel_tool_calls: false,
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'string' }, strict: true } },
      reasoning: { effort: 'low' },
      user: 'u',
      session_id: 'k',
    });
  });

  it('asks for usage in a stream', async () => {
    await stream({});
    expect(arrived()?.json).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  });

  it('lacks the tools that run at OpenAI, which the answer says', async () => {
    const tools = [LOOK, { type: 'web_search' }, { type: 'image_generation' }, { type: 'web_search' }];
    const answer = await gateway.post(PATH, { ...BODY, tools });
    expect(answer.headers.get('x-svc-dropped-tools')).toBe('web_search, image_generation');
    expect((await readAnswer(answer)).tools).toEqual([LOOK]);
    expect(arrived()?.json).toMatchObject({ tools: [{ function: { name: 'look' } }] });
  });

  it('says nothing of dropped tools where there are none', async () => {
    const answer = await gateway.post(PATH, { ...BODY, tools: [LOOK] });
    expect(answer.headers.has('x-svc-dropped-tools')).toBe(false);
  });

  it('has names an upstream takes, and the caller gets its own back', async () => {
    const name = `mcp.server/${'x'.repeat(80)}`;
    gateway.upstream.queue((request) => {
      const { tools } = request.json as { tools: { function: { name: string } }[] };
      const upstreamName = tools[0]?.function.name ?? '';
      expect(upstreamName).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
      return { json: chatAnswer({ toolCalls: [{ id: 'c1', name: upstreamName, arguments: '{}' }] }) };
    });
    const answer = await readAnswer(await gateway.post(PATH, { ...BODY, tools: [{ type: 'function', name }] }));
    expect(answer.output).toMatchObject([{ type: 'function_call', call_id: 'c1', name }]);
  });
});

describe('what comes back', () => {
  it('is a response with usage and cost', async () => {
    gateway.upstream.queue({ json: chatAnswer({ text: 'Hello.' }) });
    const answer = await gateway.post(PATH, BODY);
    const body = await readAnswer(answer);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(body).toMatchObject({
      id: expect.stringMatching(/^resp_\w+$/),
      object: 'response',
      created_at: expect.any(Number),
      status: 'completed',
      model: 'test/cheap',
      output: [
        {
          id: expect.stringMatching(/^msg_\w+$/),
          type: 'message',
          status: 'completed',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Hello.', annotations: [] }],
        },
      ],
      // 10 × $0.0000001 + 5 × $0.0000004
      usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15, cost: 0.000003 },
    });
    expect(Math.abs(body.created_at - Date.now() / 1000)).toBeLessThan(600);
  });

  it('is a stream of named and numbered events, the last with usage and cost', async () => {
    gateway.upstream.queue({ sse: chatEvents({ text: 'One two three.' }) });
    const { items, last, names } = await stream({});
    expect(items).toMatchObject([{ type: 'message', content: [{ text: 'One two three.' }] }]);
    expect(names.at(-1)).toBe('response.completed');
    expect(last).toMatchObject({
      model: 'test/cheap',
      status: 'completed',
      usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15, cost: 0.000003 },
    });
  });

  it.each([
    ['stop', 'completed', null],
    ['length', 'incomplete', { reason: 'max_output_tokens' }],
    ['content_filter', 'incomplete', { reason: 'content_filter' }],
  ])('says how it ended: %s', async (finishReason, status, details) => {
    const given = { text: 'Hello', finishReason };
    gateway.upstream.queue({ json: chatAnswer(given) }, { sse: chatEvents(given) });
    const whole = await readAnswer(await gateway.post(PATH, BODY));
    expect([whole.status, whole.incomplete_details]).toEqual([status, details]);
    const { names, last } = await stream({});
    expect(names.at(-1)).toBe(`response.${status}`);
    expect(last).toMatchObject({ status, incomplete_details: details });
  });

  it('keeps parallel calls apart, whole and streamed', async () => {
    const toolCalls = [
      { id: 'call_1', name: 'look', arguments: '{"q":1}' },
      { id: 'call_2', name: 'agents__close', arguments: '{"q":2}' },
      { id: 'call_3', name: 'patch', arguments: '{"input":"*** Begin"}' },
    ];
    const tools = [
      LOOK,
      { type: 'custom', name: 'patch', format: { type: 'text' } },
      { type: 'namespace', name: 'agents', description: 'Agents.', tools: [{ type: 'function', name: 'close' }] },
    ];
    const expected = [
      { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{"q":1}' },
      { type: 'function_call', call_id: 'call_2', namespace: 'agents', name: 'close', arguments: '{"q":2}' },
      { type: 'custom_tool_call', call_id: 'call_3', name: 'patch', input: '*** Begin' },
    ];
    gateway.upstream.queue({ json: chatAnswer({ toolCalls }) }, { sse: chatEvents({ toolCalls }) });
    expect((await readAnswer(await gateway.post(PATH, { ...BODY, tools }))).output).toMatchObject(expected);
    expect((await stream({ tools })).items).toMatchObject(expected);
  });

  it('carries reasoning to the client and back, byte for byte', async () => {
    const format = 'vendor-v1';
    const details = [{ type: 'reasoning.text', text: 'hm', signature: 'sig==', format, index: 0 }];
    const message = { role: 'assistant', content: 'Hi.', reasoning: 'hm', reasoning_details: details };
    const choices = [{ index: 0, message, finish_reason: 'stop' }];
    gateway.upstream.queue({ json: { ...chatAnswer(), choices } });
    const include = ['reasoning.encrypted_content'];
    const first = await readAnswer(await gateway.post(PATH, { ...BODY, include }));
    expect(first.output.map(({ type }) => type)).toEqual(['reasoning', 'message']);
    expect(first.output[0]?.summary).toEqual([{ type: 'summary_text', text: 'hm' }]);
    const input = [{ role: 'user', content: 'Hi' }, ...first.output, { role: 'user', content: 'And?' }];
    await gateway.post(PATH, { ...BODY, input, include });
    expect(gateway.upstream.requests[seen + 1]?.json).toMatchObject({
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'Hi.', reasoning: 'hm', reasoning_details: details },
        { role: 'user', content: 'And?' },
      ],
    });
  });

  it.each(['svc:auto', 'svc:best'])('has the routing headers with %s', async (model) => {
    for (const streamed of [false, true]) {
      const answer = await gateway.post(PATH, { ...BODY, model, stream: streamed });
      expect(answer.headers.get('x-svc-virtual-model')).toBe(model);
      expect(answer.headers.get('x-svc-model')).toMatch(/^test\//);
      expect(await answer.text()).toContain(`"model":"${answer.headers.get('x-svc-model')}"`);
    }
  });
});

describe('what goes wrong', () => {
  it.each([
    ['an unknown model', { ...BODY, model: 'nobody/nothing' }, 400, 'INVALID_MODEL'],
    ['no input', { model: 'test/cheap' }, 400, 'INVALID_REQUEST'],
    ['broken JSON', '{"model":', 400, 'INVALID_JSON'],
    ['a stored response to go on from', { ...BODY, previous_response_id: 'resp_1' }, 400, 'UNSUPPORTED_FEATURE'],
    ['work in the background', { ...BODY, background: true }, 400, 'UNSUPPORTED_FEATURE'],
    ['a forced search', { ...BODY, tools: [{ type: 'web_search' }] }, 400, 'UNSUPPORTED_FEATURE'],
  ])('is refused as everywhere: %s', async (_name, body, status, code) => {
    const answer = await gateway.post(PATH, body);
    expect(answer.status).toBe(status);
    expect(answer.headers.get('x-should-retry')).toBe('false');
    expect(await readAnswer(answer)).toMatchObject({ error: { code, message: expect.any(String), retryable: false } });
    expect(arrived()).toBeUndefined();
  });

  it('needs a key', async () => {
    const answer = await gateway.post(PATH, BODY, { authorization: '' });
    expect([answer.status, (await readAnswer(answer)).error?.code]).toEqual([401, 'MISSING_API_KEY']);
  });

  it.each([false, true])('upstream is an HTTP error before the first event (stream: %s)', async (streamed) => {
    gateway.upstream.queue({ status: 429, json: { error: { message: 'slow down' } } });
    const answer = await gateway.post(PATH, { ...BODY, stream: streamed });
    expect([answer.status, (await readAnswer(answer)).error?.code]).toEqual([429, 'UPSTREAM_RATE_LIMITED']);
    expect(await entryOf(answer)).toMatchObject({ format: 'responses', cost: '0', settle_reason: 'failed' });
  });

  it('in the middle of a stream ends it with an error and a failed response', async () => {
    const events = chatEvents({ text: 'One two three four.' }).slice(0, 3);
    gateway.upstream.queue({ sse: events, ending: 'cut' });
    const answer = await gateway.post(PATH, { ...BODY, stream: true });
    const { error, last } = checkResponsesOrder(await answer.text(), false);
    expect(error).toMatchObject({ error: { code: 'UPSTREAM_ERROR', retryable: true } });
    expect(last).toMatchObject({ status: 'failed', error: { code: 'server_error' } });
    expect(await entryOf(answer)).toMatchObject({
      format: 'responses',
      settle_reason: 'upstream_truncated',
      error_code: 'UPSTREAM_ERROR',
      cost: expect.not.stringMatching(/^0$/),
    });
  });

  it('in the words of the upstream when the context is full, as agents look for it', async () => {
    const message = 'This endpoint’s maximum context length is 10 tokens.';
    const events = [
      ...chatEvents({ text: 'One' }).slice(0, 1),
      `data: {"error":{"code":400,"message":"${message}"}}\n\n`,
    ];
    gateway.upstream.queue({ sse: events });
    const { last } = await stream({}, false);
    expect(last?.['error']).toEqual({ code: 'context_length_exceeded', message });
  });
});

describe('money', () => {
  it.each([false, true])('is settled once, under the name of the format (stream: %s)', async (streamed) => {
    const before = await gateway.balance();
    const answer = await gateway.post(PATH, { ...BODY, stream: streamed });
    await answer.text();
    const after = await gateway.balance();
    expect(await entryOf(answer)).toMatchObject({
      format: 'responses',
      stream: streamed,
      status: 200,
      finish_reason: 'stop',
      input_tokens: 10,
      output_tokens: 5,
      cost: '0.000003',
      cost_kind: 'measured',
      settle_reason: 'completed',
    });
    expect(after.held).toBe('0');
    expect((Number(after.charged) - Number(before.charged)).toFixed(9)).toBe('0.000003000');
  });

  it('is estimated from what was delivered where the upstream counts nothing', async () => {
    gateway.upstream.queue({ sse: chatEvents({ text: 'x'.repeat(400), usage: null }) });
    const answer = await gateway.post(PATH, { ...BODY, stream: true });
    const { last } = checkResponsesOrder(await answer.text(), true);
    const entry = await entryOf(answer);
    expect(entry).toMatchObject({ cost_kind: 'estimated', output_tokens: 100 });
    expect(last?.['usage']).toMatchObject({ output_tokens: 100, cost: Number(entry?.cost) });
  });
});

describe('a stored response', () => {
  it.each(['GET', 'DELETE'])('is not there to %s, and the answer says why', async (method) => {
    const answer = await fetch(`${gateway.daemon.url}${PATH}/resp_1`, {
      method,
      headers: { authorization: `Bearer ${gateway.daemon.key}` },
    });
    expect(answer.status).toBe(404);
    expect((await readAnswer(answer)).error).toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringContaining('No responses are stored here'),
      retryable: false,
    });
  });

  it('is not made by store: true, as the answer says', async () => {
    const answer = await gateway.post(PATH, { ...BODY, store: true });
    expect([answer.status, (await readAnswer(answer)).store]).toEqual([200, false]);
  });

  it('cannot be listed', async () => {
    const answer = await fetch(`${gateway.daemon.url}${PATH}`);
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
  });
});

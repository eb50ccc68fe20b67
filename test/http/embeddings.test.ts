// POST /v1/embeddings: bytes that pass, money on every answer, and the official client against both upstreams.

import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { removeHome, startDaemon, type TestDaemon } from '../helpers/daemon.ts';
import { DEFAULT_MODELS, type FakeUpstream, startFakeUpstream } from '../helpers/fake-upstream.ts';
import { type Gateway, gatewayOf, nanoOf } from '../helpers/gateway.ts';
import { readJson } from '../helpers/read-json.ts';

const PATH = '/v1/embeddings';
const PRICE_NANO = 20;
const listed = (id: string, pricing: object | undefined): object => ({
  id,
  context_length: 8192,
  architecture: { input_modalities: ['text'], output_modalities: ['embeddings'] },
  ...(pricing === undefined ? {} : { pricing }),
});

let upstream: FakeUpstream;
let gateway: Gateway;
let seen = 0;

beforeAll(async () => {
  upstream = await startFakeUpstream(() => ({ json: vectors(1, { prompt_tokens: 7, total_tokens: 7 }) }));
  upstream.models([
    ...DEFAULT_MODELS,
    listed('test/embed', { prompt: '0.00000002', completion: '0' }),
    listed('test/unpriced', undefined),
  ]);
  const daemon = await startDaemon({
    env: { SVC_UPSTREAM_URL: upstream.url, SVC_UPSTREAM_API_KEY: 'upstream-secret' },
  });
  gateway = gatewayOf(daemon, upstream);
});

afterAll(async () => {
  await gateway.close();
});

beforeEach(() => {
  seen = upstream.requests.length;
});

function vectors(count: number, usage?: object): Record<string, unknown> {
  const data = Array.from({ length: count }, (_each, index) => ({
    object: 'embedding',
    index,
    embedding: [0.5, -0.25],
  }));
  return { object: 'list', model: 'test/embed', data, ...(usage === undefined ? {} : { usage }) };
}

const body = { model: 'test/embed', input: 'Hello.' };

/** The newest usage entry, and that the balance is what was granted less what was charged. */
async function settled(): Promise<Record<string, unknown>> {
  const { balance, held, granted, charged } = await gateway.balance();
  const entries = await gateway.usage();
  const sum = entries.reduce((total, { cost }) => total + nanoOf(cost), 0n);
  expect(nanoOf(balance)).toBe(nanoOf(granted) - nanoOf(charged));
  expect([nanoOf(charged), nanoOf(held)]).toEqual([sum, 0n]);
  return entries[0] ?? {};
}

describe('what goes upstream', () => {
  it.each([
    [
      'as it came',
      '{ "model":"test/embed",\n"input":"H\\u00e9", "dimensions":2.0e0, "x":1e400, "y":"\\/" }',
      undefined,
    ],
    [
      'without svc and sandbox',
      '{"svc":{},"model":"test/embed","input":["a"],"sandbox":1}',
      '{"model":"test/embed","input":["a"]}',
    ],
  ])('is the body %s', async (_name, sent, expected) => {
    expect((await gateway.post(PATH, sent)).status).toBe(200);
    const arrived = upstream.requests[seen];
    expect(arrived?.path).toBe('/api/v1/embeddings');
    expect(arrived?.body.toString()).toBe(expected ?? sent);
    expect(arrived?.headers['authorization']).toBe('Bearer upstream-secret');
  });

  it('is sent once, whatever comes back', async () => {
    upstream.queue({ status: 500, json: { error: { message: 'fell over' } } });
    expect((await gateway.post(PATH, body)).status).toBe(502);
    expect(upstream.requests.length).toBe(seen + 1);
  });
});

describe('what comes back', () => {
  it('is the answer’s bytes with the cost in its usage', async () => {
    const raw =
      '{"object":"list", "data":[{"embedding":"AACAPw==","index":0,"z":1.50}],\n"usage":{"prompt_tokens":16},"q":[]}';
    upstream.queue({ raw: [raw], headers: { 'content-type': 'application/json' } });
    const answer = await gateway.post(PATH, body);
    expect(await answer.text()).toBe(raw.replace('16}', '16,"cost":0.00000032}'));
    expect(answer.headers.get('x-svc-model')).toBe('test/embed');
    expect(answer.headers.get('x-svc-classifier')).toBe('passthrough');
    expect(answer.headers.get('x-svc-task-type')).toBeNull();
    expect(answer.headers.get('x-svc-complexity')).toBeNull();
    expect(answer.headers.get('x-ratelimit-remaining-tokens')).toBeTruthy();
  });

  it.each([
    ['measured', { prompt_tokens: 5, total_tokens: 5 }, 'measured', 5],
    ['of the total where that is all there is', { total_tokens: 6 }, 'measured', 6],
    ['estimated where there is no usage', undefined, 'estimated', 4],
    ['estimated where the usage is nonsense', { prompt_tokens: 'many' }, 'estimated', 4],
    ['never more than is held', { prompt_tokens: 1_000_000 }, 'measured', 64 + 4 * 4],
  ])('is charged: %s', async (_name, usage, kind, tokens) => {
    upstream.queue({ json: vectors(1, usage) });
    const ids = Array.from({ length: 4 * 4 }, (_each, index) => index);
    const input = tokens === 4 ? ids.slice(0, 4) : ids;
    expect((await gateway.post(PATH, { ...body, input })).status).toBe(200);
    expect(await settled()).toMatchObject({
      format: 'embeddings',
      stream: false,
      model: 'test/embed',
      requested_model: 'test/embed',
      task_type: null,
      complexity: null,
      status: 200,
      settle_reason: 'completed',
      input_tokens: tokens,
      output_tokens: 0,
      cost_kind: kind,
      cost: String(tokens * PRICE_NANO)
        .padStart(9, '0')
        .replace(/^/, '0.')
        .replace(/0+$/, ''),
      attempts: 1,
    });
  });
});

describe('a request that can’t be served', () => {
  it.each<[string, object, number, string, string | RegExp]>([
    ['a virtual model', { model: 'svc:auto', input: 'a' }, 400, 'INVALID_MODEL', /svc:auto is virtual/],
    ['a model nobody lists', { model: 'test/embe', input: 'a' }, 400, 'INVALID_MODEL', /test\/embed/],
    ['an unknown price', { model: 'test/unpriced', input: 'a' }, 403, 'MODEL_NOT_ALLOWED', /price/],
    ['no input', { model: 'test/embed' }, 400, 'INVALID_REQUEST', /^input is required/],
    ['a second model', { model: 'test/embed', input: 'a', models: ['x'] }, 400, 'UNSUPPORTED_FEATURE', /models/],
  ])('of %s is refused and costs nothing', async (_name, sent, status, code, message) => {
    const answer = await gateway.post(PATH, sent);
    expect(answer.status).toBe(status);
    expect((await readJson(answer)).error).toMatchObject({ code, message: expect.stringMatching(message) });
    expect(upstream.requests.length).toBe(seen);
    await settled();
  });

  it.each([
    ['another status', { status: 400, json: { error: { message: 'too many inputs' } } }, 400, 'INVALID_REQUEST'],
    ['a rate limit', { status: 429, json: { error: { message: 'slow down' } } }, 429, 'UPSTREAM_RATE_LIMITED'],
    ['its own credential refused', { status: 401, json: { error: { message: 'no' } } }, 502, 'UPSTREAM_ERROR'],
    ['an error in a 200', { json: { error: { message: 'no', code: 502 } } }, 502, 'UPSTREAM_ERROR'],
    ['no JSON', { raw: ['<html>'] }, 502, 'UPSTREAM_INVALID_RESPONSE'],
    ['no vectors', { json: { object: 'list', data: [] } }, 502, 'UPSTREAM_INVALID_RESPONSE'],
    ['too few vectors', { json: vectors(2) }, 502, 'UPSTREAM_INVALID_RESPONSE'],
    ['half an answer', { raw: ['{'], ending: 'cut' as const }, 502, 'UPSTREAM_ERROR'],
  ])('by an upstream with %s costs nothing', async (_name, reply, status, code) => {
    upstream.queue(reply);
    const answer = await gateway.post(PATH, body);
    expect([answer.status, (await readJson(answer)).error.code]).toEqual([status, code]);
    expect(await settled()).toMatchObject({
      format: 'embeddings',
      status,
      error_code: code,
      cost: '0',
      settle_reason: 'failed',
    });
  });

  it('by a client that has gone is aborted upstream and costs nothing', async () => {
    upstream.queue({ ending: 'hang' });
    const controller = new AbortController();
    const answer = fetch(gateway.daemon.url + PATH, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.daemon.key}` },
      body: JSON.stringify(body),
      signal: controller.signal,
    }).catch(() => undefined);
    const arrived = await upstream.arrived(seen + 1);
    controller.abort();
    await answer;
    expect(await arrived.closed).toBe('early');
    await expect.poll(settled).toMatchObject({ status: 499, settle_reason: 'client_closed', cost: '0' });
  });

  it('under a key that allows other models is refused', async () => {
    const { token, workspaceId } = await gateway.operator();
    const make = async (models: string[]): Promise<string> => {
      const made = await fetch(`${gateway.daemon.url}/workspaces/${workspaceId}/api-keys`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: JSON.stringify({ name: models.join(), models, tokens_per_minute: 100 }),
      });
      return ((await made.json()) as { key: string }).key;
    };
    const withKey = async (key: string, input: unknown): Promise<number> =>
      (await gateway.post(PATH, { ...body, input }, { authorization: `Bearer ${key}` })).status;
    expect(await withKey(await make(['test/cheap']), 'a')).toBe(403);
    const key = await make(['test/embed']);
    expect(await withKey(key, 'a')).toBe(200);
    expect(await withKey(key, 'a long text '.repeat(100))).toBe(429);
  });

  it('without a key is refused before its body is read', async () => {
    const answer = await gateway.post(PATH, 'no JSON', { authorization: '' });
    expect([answer.status, (await readJson(answer)).error.code]).toEqual([401, 'MISSING_API_KEY']);
  });
});

describe('the official client', () => {
  const clientOf = (daemon: TestDaemon): OpenAI =>
    new OpenAI({ baseURL: `${daemon.url}/v1`, apiKey: daemon.key, maxRetries: 0 });

  it('asks for base64 and reads the numbers', async () => {
    const packed = Buffer.from(Float32Array.from([0.5, -0.25]).buffer).toString('base64');
    upstream.queue({
      json: {
        object: 'list',
        data: [{ object: 'embedding', index: 0, embedding: packed }],
        usage: { prompt_tokens: 3, total_tokens: 3 },
      },
    });
    const answer = await clientOf(gateway.daemon).embeddings.create(body);
    expect(upstream.requests[seen]?.json).toMatchObject({ encoding_format: 'base64' });
    expect(answer.data[0]?.embedding).toEqual([0.5, -0.25]);
    expect(answer.usage).toMatchObject({ prompt_tokens: 3, cost: 6e-8 });
  });

  it('gets the same vectors for the same text from the sandbox, in every form', async () => {
    const daemon = await startDaemon();
    try {
      const client = clientOf(daemon);
      const model = 'sandbox/text-embedding';
      const base64 = await client.embeddings.create({ model, input: ['a cat', 'a dog', 'a cat'], dimensions: 8 });
      const floats = await client.embeddings.create({ model, input: 'a cat', dimensions: 8, encoding_format: 'float' });
      const [cat, dog, again] = base64.data.map(({ embedding }) => embedding);
      expect(cat).toHaveLength(8);
      expect(again).toEqual(cat);
      expect(floats.data[0]?.embedding).toEqual(cat);
      expect(dog).not.toEqual(cat);
      expect(base64.usage.prompt_tokens).toBe(6);
      expect(base64.usage).toHaveProperty('cost', 1.2e-7);
      const ids = await client.embeddings.create({ model, input: [[1, 2, 3], [4]] });
      expect([ids.data.length, ids.usage.prompt_tokens]).toEqual([2, 4]);
      const failing = { model, input: 'a', sandbox: { fail: 'status', status: 503 } } as never;
      await expect(client.embeddings.create(failing)).rejects.toMatchObject({ status: 502 });
      await expect(client.embeddings.create({ model: 'openai/gpt-5.4-mini', input: 'a' })).rejects.toMatchObject({
        status: 400,
      });
      const chat = { model, messages: [{ role: 'user' as const, content: 'Hi' }] };
      await expect(client.chat.completions.create(chat)).rejects.toMatchObject({ status: 400 });
    } finally {
      await daemon.stop();
      await removeHome(daemon.home);
    }
  });
});

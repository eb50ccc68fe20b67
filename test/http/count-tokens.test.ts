// POST /v1/messages/count_tokens: the upstream's count where it has one, ours where not, and never a charge.

import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chatAnswer, DEFAULT_MODELS, type FakeUpstream, startFakeUpstream } from '../helpers/fake-upstream.ts';
import { type InProcessGateway, startInProcess } from '../helpers/in-process.ts';
import { readJson } from '../helpers/read-json.ts';
import { WEATHER_PARAMETERS } from '../helpers/samples.ts';

const PATH = '/v1/messages/count_tokens';
const body = { model: 'test/good', messages: [{ role: 'user', content: 'How many tokens is this?' }] };

let upstream: FakeUpstream;
/** In front of an upstream that speaks Messages, and of one that does not. */
let native: InProcessGateway;
let chatOnly: InProcessGateway;
let seen = 0;

beforeAll(async () => {
  upstream = await startFakeUpstream(({ path }) => ({
    json: path.endsWith('/count_tokens') ? { input_tokens: 4321 } : chatAnswer(),
  }));
  const startMs = Date.parse('2026-03-04T12:00:00Z');
  native = await startInProcess(upstream, startMs, ['chat', 'messages']);
  chatOnly = await startInProcess(upstream, startMs);
  native.list(DEFAULT_MODELS);
  chatOnly.list(DEFAULT_MODELS);
});

afterAll(async () => {
  await native.close();
  await chatOnly.close();
  await upstream.close();
});

beforeEach(() => {
  seen = upstream.requests.length;
});

async function count(gateway: InProcessGateway, sent: unknown) {
  const answer = await gateway.post(PATH, sent);
  const source = answer.headers.get('x-svc-token-count');
  return { status: answer.status, source, ...((await answer.json()) as { input_tokens?: number }) };
}

describe('an upstream that speaks Messages', () => {
  it('is asked, with the bytes as they came and the caller’s version', async () => {
    const sent = '{ "model":"test/good",\n"messages":[{"role":"user","content":"H\\u00e9"}], "x_new":1.50 }';
    const answer = await fetch(`${native.url}${PATH}?beta=true`, {
      method: 'POST',
      headers: {
        'x-api-key': native.key,
        'content-type': 'application/json',
        'anthropic-version': '2023-06-01',
        'anthropic-beta': 'a,b',
      },
      body: sent,
    });
    expect(await answer.json()).toEqual({ input_tokens: 4321 });
    expect(answer.headers.get('x-svc-token-count')).toBe('upstream');
    const arrived = upstream.requests[seen];
    expect([arrived?.path, arrived?.body.toString()]).toEqual(['/api/v1/messages/count_tokens', sent]);
    expect(arrived?.headers).toMatchObject({ 'anthropic-version': '2023-06-01', 'anthropic-beta': 'a,b' });
    expect(arrived?.headers).not.toHaveProperty('x-api-key');
  });

  it('is asked about the model that would be routed to', async () => {
    expect(
      await count(native, { ...body, model: 'svc:best', svc: { models: { allow: ['test/vision'] } } }),
    ).toMatchObject({ source: 'upstream' });
    expect(upstream.requests[seen]?.json).toEqual({ ...body, model: 'test/vision' });
  });

  it.each([
    ['refuses', { status: 400, json: { error: { message: 'no' } } }],
    ['falls over', { status: 500, json: {} }],
    ['has no such route', { status: 404, raw: ['not found'] }],
    ['answers no JSON', { raw: ['<html>'] }],
    ['answers no count', { json: { tokens: 5 } }],
    ['answers half a token', { json: { input_tokens: 0.5 } }],
    ['answers a count below 0', { json: { input_tokens: -1 } }],
    ['answers without end', { raw: ['x'.repeat(70_000)], ending: 'hang' as const }],
    ['breaks off', { raw: ['{'], ending: 'cut' as const }],
  ])('that %s is replaced by the estimate', async (_name, reply) => {
    upstream.queue(reply);
    expect(await count(native, body)).toMatchObject({
      status: 200,
      source: 'estimate',
      input_tokens: expect.any(Number),
    });
    expect(upstream.requests.length).toBe(seen + 1);
  });

  it('is let go when the client leaves', async () => {
    upstream.queue({ ending: 'hang' });
    const controller = new AbortController();
    const answer = fetch(native.url + PATH, {
      method: 'POST',
      headers: { 'x-api-key': native.key, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: controller.signal,
    }).catch(() => undefined);
    const arrived = await upstream.arrived(seen + 1);
    controller.abort();
    await answer;
    expect(await arrived.closed).toBe('early');
  });
});

describe('an upstream that does not', () => {
  it('is not asked', async () => {
    expect(await count(chatOnly, body)).toEqual({ status: 200, source: 'estimate', input_tokens: 13 });
    expect(upstream.requests.length).toBe(seen);
  });

  it.each([
    ['an empty list of tools', { tools: [] }, 0],
    ['one tool', { tools: [{ name: 'weather', input_schema: WEATHER_PARAMETERS }] }, 346],
    [
      'a tool that must be called',
      { tools: [{ name: 'weather', input_schema: WEATHER_PARAMETERS }], tool_choice: { type: 'any' } },
      313,
    ],
  ])('counts %s with its overhead', async (_name, more, least) => {
    const { input_tokens: plain = 0 } = await count(chatOnly, body);
    const { input_tokens: tokens = 0 } = await count(chatOnly, { ...body, ...more });
    expect(tokens - plain).toBeGreaterThanOrEqual(least);
    expect(tokens - plain).toBeLessThan(least === 0 ? 1 : least + 80);
  });

  it('counts even what no model has room for', async () => {
    const content = 'a long story, '.repeat(100_000);
    const answer = await count(chatOnly, { model: 'svc:auto', messages: [{ role: 'user', content }] });
    expect(answer).toMatchObject({ status: 200, source: 'estimate' });
    expect(answer.input_tokens).toBeGreaterThan(300_000);
  });
});

describe('a count', () => {
  it('costs nothing, and counts as a request', async () => {
    const before = await native.get(`/workspaces/${native.workspaceId}/balance`);
    const remaining = async (): Promise<number> =>
      Number((await native.post(PATH, body)).headers.get('x-ratelimit-remaining-requests'));
    const first = await remaining();
    expect(await remaining()).toBe(first - 1);
    expect(await native.get(`/workspaces/${native.workspaceId}/balance`)).toEqual(before);
    expect(await native.get(`/workspaces/${native.workspaceId}/usage`)).toMatchObject({ data: [] });
  });

  it.each([
    ['no model', { messages: body.messages }, 'INVALID_REQUEST'],
    ['no messages', { model: 'test/good' }, 'INVALID_REQUEST'],
    ['an unknown model', { ...body, model: 'test/bad' }, 'INVALID_MODEL'],
    ['no object', [], 'INVALID_REQUEST'],
  ])('of %s is refused as a message would be', async (_name, sent, code) => {
    const answer = await native.post(PATH, sent);
    expect([answer.status, (await readJson(answer)).error.code]).toEqual([400, code]);
  });

  it('needs a key', async () => {
    const answer = await fetch(native.url + PATH, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    });
    expect([answer.status, (await readJson(answer)).error.code]).toEqual([401, 'MISSING_API_KEY']);
  });

  it('is what the official client expects, nineteen at once', async () => {
    for (const gateway of [native, chatOnly]) {
      const client = new Anthropic({ baseURL: gateway.url, apiKey: gateway.key, maxRetries: 0 });
      const counts = await Promise.all(
        Array.from({ length: 19 }, () =>
          client.messages.countTokens({ model: 'svc:auto', tools: [], messages: [{ role: 'user', content: 'Hello' }] }),
        ),
      );
      expect(new Set(counts.map(({ input_tokens }) => input_tokens)).size).toBe(1);
      expect(counts[0]?.input_tokens).toBe(gateway === native ? 4321 : 9);
    }
  });
});

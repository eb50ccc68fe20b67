// The typed client against a real HTTP server: what it sends, and what it makes of every kind of answer.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type ApiClient, type ClientOptions, createClient } from '../../src/api/client.ts';
import { ApiClientError, DaemonUnreachableError } from '../../src/api/client-errors.ts';
import { type Answers, type ApiServer, apiError, startApiServer } from '../cli/helpers/api-server.ts';
import { SAMPLE_ANSWERS } from '../cli/helpers/samples.ts';

const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function serve(answers: Answers): Promise<ApiServer> {
  const server = await startApiServer(answers);
  closers.push(server.close);
  return server;
}

async function clientFor(answers: Answers, options: Partial<ClientOptions> = {}) {
  const server = await serve(answers);
  return { server, client: createClient({ baseUrl: server.url, token: 'svc_st_t', ...options }) };
}

const failureOf = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => expect.fail('it should have failed'),
    (error: unknown) => error,
  );

describe('each method', () => {
  const CALLS: readonly [name: string, call: (client: ApiClient) => Promise<unknown>, expected: object][] = [
    [
      'register',
      (client) => client.register({ email: 'a@b.c', password: 'p' }),
      { method: 'POST', path: '/auth/register', body: { email: 'a@b.c', password: 'p' } },
    ],
    [
      'login',
      (client) => client.login({ email: 'a@b.c', password: 'p' }),
      { method: 'POST', path: '/auth/login', body: { email: 'a@b.c', password: 'p' } },
    ],
    ['logout', (client) => client.logout(), { method: 'POST', path: '/auth/logout', body: undefined }],
    ['me', (client) => client.me(), { method: 'GET', path: '/auth/me' }],
    ['workspaces', (client) => client.workspaces({ limit: 5 }), { path: '/workspaces', query: { limit: '5' } }],
    ['balance', (client) => client.balance('ws_1'), { path: '/workspaces/ws_1/balance' }],
    [
      'grant',
      (client) => client.grant('ws_1', { amount: '1' }, 'key-1'),
      { path: '/workspaces/ws_1/credits', body: { amount: '1' } },
    ],
    [
      'usage',
      (client) => client.usage('ws_1', { model: 'a/b', from: undefined }),
      { path: '/workspaces/ws_1/usage', query: { model: 'a/b' } },
    ],
    [
      'usageSums',
      (client) => client.usageSums('ws_1', 'day', { limit: 3 }),
      { path: '/workspaces/ws_1/usage', query: { group_by: 'day', limit: '3' } },
    ],
    [
      'apiKeys',
      (client) => client.apiKeys('ws_1', { cursor: 'c' }),
      { path: '/workspaces/ws_1/api-keys', query: { cursor: 'c' } },
    ],
    [
      'createApiKey',
      (client) => client.createApiKey('ws_1', { name: 'n' }),
      { method: 'POST', path: '/workspaces/ws_1/api-keys', body: { name: 'n' } },
    ],
    [
      'revokeApiKey',
      (client) => client.revokeApiKey('ws_1', 'key_1'),
      { method: 'DELETE', path: '/workspaces/ws_1/api-keys/key_1' },
    ],
    ['models', (client) => client.models(), { method: 'GET', path: '/v1/models' }],
    [
      'route',
      (client) => client.route({ model: 'svc:auto', messages: [{ role: 'user', content: 'x' }] }),
      {
        method: 'POST',
        path: '/v1/route',
        body: { model: 'svc:auto', messages: [{ role: 'user', content: 'x' }] },
      },
    ],
    ['health', (client) => client.health(), { method: 'GET', path: '/healthz' }],
    ['ready', (client) => client.ready(), { method: 'GET', path: '/readyz' }],
  ];

  it.each(CALLS)('%s asks the right route, once', async (_name, call, expected) => {
    const { server, client } = await clientFor(SAMPLE_ANSWERS);
    await call(client);
    expect(server.asked).toHaveLength(1);
    expect(server.asked[0]).toMatchObject(expected);
  });
});

describe('credentials', () => {
  it('sends the session token on account routes and the API key on /v1', async () => {
    const { server, client } = await clientFor(SAMPLE_ANSWERS, { apiKey: 'svc_sk_k', workspaceId: 'ws_1' });
    await client.me();
    await client.models();
    expect(server.asked.map(({ headers }) => headers.authorization)).toEqual(['Bearer svc_st_t', 'Bearer svc_sk_k']);
    expect(server.asked[1]?.headers['x-svc-workspace']).toBeUndefined();
  });

  it('names the workspace where a session stands in for an API key', async () => {
    const { server, client } = await clientFor(SAMPLE_ANSWERS, { workspaceId: 'ws_2' });
    await client.models();
    expect(server.asked[0]?.headers).toMatchObject({ authorization: 'Bearer svc_st_t', 'x-svc-workspace': 'ws_2' });
  });

  it('sends no credential where none is needed', async () => {
    const { server, client } = await clientFor(SAMPLE_ANSWERS);
    await client.login({ email: 'a@b.c', password: 'p' });
    await client.health();
    expect(server.asked.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined]);
  });

  it('sends the idempotency key of a grant and its own name', async () => {
    const { server, client } = await clientFor(SAMPLE_ANSWERS, { userAgent: 'svc-cli/1' });
    await client.grant('ws_1', { amount: '1' }, 'once');
    expect(server.asked[0]?.headers).toMatchObject({ 'idempotency-key': 'once', 'user-agent': 'svc-cli/1' });
  });

  it('keeps ids inside their part of the path', async () => {
    const { server, client } = await clientFor({});
    await failureOf(client.balance('../../admin?x=1#y'));
    await failureOf(client.revokeApiKey('ws_1', 'a/b'));
    expect(server.asked.map(({ path }) => path)).toEqual([
      '/workspaces/..%2F..%2Fadmin%3Fx%3D1%23y/balance',
      '/workspaces/ws_1/api-keys/a%2Fb',
    ]);
  });

  it('follows no redirect, which could carry the token elsewhere', async () => {
    const other = await serve(SAMPLE_ANSWERS);
    const { client } = await clientFor({
      'GET /auth/me': { status: 307, headers: { location: `${other.url}/auth/me` } },
    });
    expect(await failureOf(client.me())).toMatchObject({ code: 'UNEXPECTED_ANSWER', status: 307 });
    expect(other.asked).toEqual([]);
  });
});

describe('answers', () => {
  it('turns an error body into one error with all its parts', async () => {
    const answer = apiError(429, 'RATE_LIMITED', 'slow down', { 'x-request-id': 'req_9', 'retry-after': '7' });
    const { client } = await clientFor({ 'GET /auth/me': answer });
    const error = await failureOf(client.me());
    expect(error).toBeInstanceOf(ApiClientError);
    expect(error).toMatchObject({
      status: 429,
      code: 'RATE_LIMITED',
      message: 'slow down',
      retryable: true,
      requestId: 'req_9',
      retryAfterSeconds: 7,
    });
  });

  it.each([
    ['HTML with status 200', { text: '<html></html>' }],
    ['HTML with status 404', { status: 404, text: '<html></html>' }],
    ['JSON without the fields', { body: { hello: 'world' } }],
    ['a JSON array', { body: [] }],
    ['nothing', { text: '' }],
    ['an error that is a string', { status: 500, body: { error: 'boom' } }],
  ])('says that %s is not from svc', async (_name, answer) => {
    const { server, client } = await clientFor({ 'GET /auth/me': answer });
    const error = await failureOf(client.me());
    expect(error).toMatchObject({ code: 'UNEXPECTED_ANSWER', retryable: false });
    expect(String(error)).toContain(server.url);
  });

  it.each([500, 502, 503])('asks only once when a POST fails with %i', async (status) => {
    const { server, client } = await clientFor({ 'POST /v1/route': apiError(status, 'INTERNAL_ERROR', 'oh') });
    await failureOf(client.route({ model: 'm', messages: [] }));
    expect(server.asked).toHaveLength(1);
  });

  it.each([
    [200, { status: 'ready' }, true],
    [503, { status: 'not_ready', draining: true }, false],
    [503, { error: { code: 'SHUTTING_DOWN', message: 'bye', retryable: true } }, false],
  ])('takes /readyz with status %i as an answer', async (status, body, ready) => {
    const { client } = await clientFor({ 'GET /readyz': { status, body } });
    expect(await client.ready()).toMatchObject({ ready, body: { status: expect.any(String) } });
  });

  it('takes a base URL with slashes at its end', async () => {
    const server = await serve(SAMPLE_ANSWERS);
    await createClient({ baseUrl: `${server.url}//` }).health();
    expect(server.asked[0]?.path).toBe('/healthz');
  });
});

describe('no answer', () => {
  it('says that nothing listens, with a hint', async () => {
    const server = await startApiServer({});
    await server.close();
    const error = await failureOf(createClient({ baseUrl: server.url }).health());
    expect(error).toBeInstanceOf(DaemonUnreachableError);
    expect(error).toMatchObject({
      message: `no answer from ${server.url}: connection refused`,
      hint: expect.stringContaining('svc serve'),
    });
  });

  it.each(['headers', 'the rest of the body'])('gives up after its time limit waiting for %s', async (until) => {
    const server = createServer((_request, response) => {
      if (until !== 'headers') response.write('{"status":');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closers.push(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, timeoutMs: 50 });
    expect(String(await failureOf(client.health()))).toContain('nothing came within 0.05 s');
  });

  it('says that the connection broke', async () => {
    const server = createServer((request) => request.socket.destroy());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closers.push(() => {
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    const error = await failureOf(createClient({ baseUrl: `http://127.0.0.1:${port}` }).health());
    expect(String(error)).toContain('the connection broke');
  });

  it('uses the fetch it is given', async () => {
    const asked: string[] = [];
    const client = createClient({
      baseUrl: 'http://elsewhere',
      fetch: async (url) => {
        asked.push(String(url));
        return new Response('{"status":"ok"}');
      },
    });
    expect(await client.health()).toEqual({ status: 'ok' });
    expect(asked).toEqual(['http://elsewhere/healthz']);
  });
});

// `/auth` over HTTP: the contract's rows, its errors, and what no answer gives away.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeSecret } from '../../src/identity/secrets.ts';
import { type ControlApp, openControlApp, textAt } from '../helpers/control-app.ts';
import { PASSWORD } from '../helpers/control-fixture.ts';

let app: ControlApp;

beforeAll(async () => {
  app = await openControlApp();
});
afterAll(() => app.close());

const account = {
  id: expect.stringMatching(/^acc_[0-9A-Za-z]{1,64}$/),
  email: 'ada@example.com',
  name: 'Ada',
  role: 'operator',
  created_at: '2026-01-15T12:00:00.000Z',
};

it('a person registers, is logged in, asks who they are, logs out and in again', async () => {
  const registered = await app.call('POST', '/auth/register', {
    body: { email: 'ada@example.com', password: PASSWORD, name: 'Ada' },
  });
  expect(registered).toMatchObject({ status: 201 });
  expect(registered.body).toEqual({
    account,
    workspace: { id: expect.stringMatching(/^ws_[0-9A-Za-z]{1,64}$/), name: 'Ada', role: 'owner' },
    token: expect.stringMatching(/^svc_st_[0-9A-Za-z]{49}$/),
    expires_at: '2026-04-15T12:00:00.000Z',
  });
  const token = textAt(registered.body, 'token');

  const me = await app.call('GET', '/auth/me', { token });
  expect(me.status).toBe(200);
  expect(me.body).toEqual({
    account,
    workspaces: [{ id: textAt(registered.body, 'workspace.id'), name: 'Ada', role: 'owner' }],
  });

  const left = await app.call('POST', '/auth/logout', { token });
  expect(left).toMatchObject({ status: 204, body: undefined });
  expect(await app.call('GET', '/auth/me', { token })).toMatchObject({
    status: 401,
    body: { error: { code: 'INVALID_SESSION' } },
  });

  const again = await app.call('POST', '/auth/login', { body: { email: 'ada@example.com', password: PASSWORD } });
  expect(again.status).toBe(200);
  expect(again.body).toEqual({
    account,
    token: expect.stringMatching(/^svc_st_/),
    expires_at: '2026-04-15T12:00:00.000Z',
  });
  expect(textAt(again.body, 'token')).not.toBe(token);
});

describe('errors', () => {
  const good = { email: 'bob@example.com', password: PASSWORD };

  it.each([
    ['/auth/register', { raw: '{' }, 400, 'INVALID_JSON'],
    ['/auth/register', {}, 400, 'INVALID_JSON'],
    ['/auth/register', { body: [] }, 400, 'INVALID_REQUEST'],
    ['/auth/register', { body: 'x' }, 400, 'INVALID_REQUEST'],
    ['/auth/register', { body: { ...good, email: 'bob' } }, 400, 'INVALID_REQUEST'],
    ['/auth/register', { body: { ...good, password: 'short' } }, 400, 'INVALID_REQUEST'],
    ['/auth/register', { body: { ...good, operator: true } }, 400, 'INVALID_REQUEST'],
    ['/auth/register', { raw: '{"__proto__":{"operator":true}}' }, 400, 'INVALID_REQUEST'],
    ['/auth/register', { body: { ...good, email: 'ADA@example.com' } }, 409, 'CONFLICT'],
    ['/auth/register', { body: good, headers: { 'content-type': 'text/plain' } }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['/auth/register', { body: good, headers: { 'content-encoding': 'gzip' } }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['/auth/register', { body: { ...good, name: 'x'.repeat(70_000) } }, 413, 'REQUEST_TOO_LARGE'],
    ['/auth/login', { body: { email: 'ada@example.com', password: 'wrong horse' } }, 401, 'INVALID_CREDENTIALS'],
    ['/auth/login', { body: good }, 401, 'INVALID_CREDENTIALS'],
    ['/auth/login', { body: { email: 'ada@example.com' } }, 400, 'INVALID_REQUEST'],
    ['/auth/login', { body: { email: { $ne: '' }, password: { $ne: '' } } }, 400, 'INVALID_REQUEST'],
    ['/auth/logout', {}, 401, 'INVALID_SESSION'],
  ] as const)('POST %s with %j is %i %s', async (path, call, status, code) => {
    const answer = await app.call('POST', path, call);
    expect(answer).toMatchObject({
      status,
      body: { error: { code, retryable: false, message: expect.stringMatching(/\.$/) } },
    });
  });

  it.each([
    ['nothing', {}],
    ['an empty credential', { authorization: '' }],
    ['only the scheme', { authorization: 'Bearer ' }],
    ['another scheme', { authorization: 'Basic YWRhOnB3' }],
    ['nonsense', { authorization: 'Bearer nonsense' }],
    ['a token of nobody', { authorization: `Bearer ${makeSecret('svc_st_', new Uint8Array(32))}` }],
    ['an API key', { authorization: `Bearer ${makeSecret('svc_sk_', new Uint8Array(32))}` }],
    ['a cookie', { cookie: 'session=svc_st_x; token=svc_st_x' }],
    ['very much', { authorization: `Bearer ${'x'.repeat(10_000)}` }],
  ])('GET /auth/me with %s is 401', async (_name, headers) => {
    expect(await app.call('GET', '/auth/me', { headers })).toMatchObject({
      status: 401,
      body: { error: { code: 'INVALID_SESSION' } },
    });
  });

  it('takes the scheme in any case', async () => {
    const { token } = await app.tenant('case');
    for (const scheme of ['bearer', 'BEARER', 'Bearer']) {
      expect((await app.call('GET', '/auth/me', { headers: { authorization: `${scheme} ${token}` } })).status).toBe(
        200,
      );
    }
  });
});

it('no answer may be kept by a cache, and each has its request id', async () => {
  const { token } = await app.tenant('cache');
  const answers = [await app.call('GET', '/auth/me', { token }), await app.call('POST', '/auth/logout', { token })];
  for (const { headers } of answers) {
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-request-id')).toBe('req_test');
  }
});

it('no answer holds a hash or a password', async () => {
  const { token, account: stored } = await app.tenant('hash');
  const calls = [
    await app.call('GET', '/auth/me', { token }),
    await app.call('POST', '/auth/login', { body: { email: stored.email, password: PASSWORD } }),
    await app.call('POST', '/auth/login', { body: { email: stored.email, password: stored.passwordHash } }),
    await app.call('POST', '/auth/register', { body: { email: stored.email, password: PASSWORD } }),
  ];
  expect(calls.map(({ status }) => status)).toEqual([200, 200, 401, 409]);
  for (const { body } of calls) {
    expect(JSON.stringify(body)).not.toContain('argon2');
    expect(JSON.stringify(body)).not.toContain(PASSWORD);
  }
});

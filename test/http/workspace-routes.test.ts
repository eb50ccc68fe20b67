// `/workspaces` over HTTP: a row per route of the contract, errors, and the wall between tenants.

import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Call, type ControlApp, openControlApp, textAt } from '../helpers/control-app.ts';
import { spend, type Tenant, USD } from '../helpers/control-fixture.ts';

let app: ControlApp;
let operator: Tenant;
let bob: Tenant;
/** A key of bob's, in its view without the secret. */
let keyId: string;

beforeAll(async () => {
  app = await openControlApp();
  operator = await app.tenant('operator');
});
beforeEach(async () => {
  bob = await app.tenant('bob');
  const made = await app.call('POST', `/workspaces/${bob.workspaceId}/api-keys`, {
    token: bob.token,
    body: { name: 'ci' },
  });
  keyId = textAt(made.body, 'id');
});
afterAll(() => app.close());

const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const workspace = {
  id: expect.stringMatching(/^ws_/),
  name: 'bob',
  role: 'owner',
  created_at: timestamp,
  requests_per_minute: null,
  tokens_per_minute: null,
};
const keyView = {
  id: expect.stringMatching(/^key_/),
  name: 'ci',
  prefix: expect.stringMatching(/^svc_sk_.{4}$/),
  last4: expect.stringMatching(/^.{4}$/),
  created_at: timestamp,
  expires_at: null,
  revoked_at: null,
  models: null,
  requests_per_minute: 600,
  tokens_per_minute: 2_000_000,
  budget: null,
  budget_period: 'total',
  spent: '0',
};
const key = expect.stringMatching(/^svc_sk_[0-9A-Za-z]{49}$/);
const list = (...data: unknown[]) => ({ object: 'list', data, has_more: false, next_cursor: null });
const preferences = {
  weights: null,
  models: { allow: [], deny: [] },
  max_price: { input: null, output: null },
  list_real_models: expect.any(Boolean),
  optimize: 'off',
  fallback: expect.any(Boolean),
  sticky: expect.any(Boolean),
};

type Row = readonly [method: string, path: string, body: unknown, status: number, answer: unknown];

/** Every route with an id in it; `:ws` and `:key` are bob's. */
const ROUTES: readonly Row[] = [
  ['GET', '/workspaces/:ws', undefined, 200, workspace],
  ['PATCH', '/workspaces/:ws', { name: 'new' }, 200, { ...workspace, name: 'new' }],
  [
    'GET',
    '/workspaces/:ws/balance',
    undefined,
    200,
    {
      workspace_id: workspace.id,
      currency: 'USD',
      balance: '10',
      held: '0',
      available: '10',
      granted: '10',
      charged: '0',
    },
  ],
  ['GET', '/workspaces/:ws/usage', undefined, 200, list()],
  ['GET', '/workspaces/:ws/usage?group_by=model', undefined, 200, list()],
  ['GET', '/workspaces/:ws/api-keys', undefined, 200, list(keyView)],
  ['POST', '/workspaces/:ws/api-keys', { name: 'ci', budget: '5' }, 201, { ...keyView, budget: '5', key }],
  ['PATCH', '/workspaces/:ws/api-keys/:key', { requests_per_minute: 5 }, 200, { ...keyView, requests_per_minute: 5 }],
  ['DELETE', '/workspaces/:ws/api-keys/:key', undefined, 204, undefined],
  ['POST', '/workspaces/:ws/api-keys/:key/rotate', undefined, 200, { ...keyView, key }],
  ['POST', '/workspaces/:ws/api-keys/:key/rotate', {}, 200, { ...keyView, key }],
  ['GET', '/workspaces/:ws/preferences', undefined, 200, preferences],
  ['PUT', '/workspaces/:ws/preferences', { sticky: false }, 200, { ...preferences, sticky: false }],
];

const bodyOf = (body: unknown): Call => (body === undefined ? {} : { body });
const pathOf = (path: string): string => path.replace(':ws', bob.workspaceId).replace(':key', keyId);

describe('the routes', () => {
  it.each(ROUTES)('%s %s with %j answers %i', async (method, path, body, status, answer) => {
    const given = await app.call(method, pathOf(path), { token: bob.token, ...bodyOf(body) });
    expect(given.body).toEqual(answer);
    expect(given.status).toBe(status);
    expect(given.headers.get('cache-control')).toBe('no-store');
  });

  it('GET and POST /workspaces list mine and create one', async () => {
    const made = await app.call('POST', '/workspaces', { token: bob.token, body: { name: 'Second' } });
    expect(made).toMatchObject({ status: 201, body: { ...workspace, name: 'Second' } });
    const mine = await app.call('GET', '/workspaces', { token: bob.token });
    expect(mine.status).toBe(200);
    expect(mine.body).toEqual(
      list(
        { id: bob.workspaceId, name: 'bob', role: 'owner' },
        { id: textAt(made.body, 'id'), name: 'Second', role: 'owner' },
      ),
    );
  });

  it('POST /workspaces/:id/credits grants once per Idempotency-Key, for the operator', async () => {
    const call = {
      token: operator.token,
      body: { amount: '2.50', note: 'thanks' },
      headers: { 'idempotency-key': 'once' },
    };
    const path = `/workspaces/${bob.workspaceId}/credits`;
    const first = await app.call('POST', path, call);
    expect(first).toMatchObject({
      status: 201,
      body: { id: expect.stringMatching(/^gr_/), amount: '2.5', balance: '12.5' },
    });
    expect(await app.call('POST', path, call)).toMatchObject({ status: 201, body: first.body });
    const other = await app.call('POST', path, { ...call, body: { amount: '3' } });
    expect(other).toMatchObject({ status: 422, body: { error: { code: 'IDEMPOTENCY_MISMATCH' } } });
    const balance = await app.call('GET', `/workspaces/${bob.workspaceId}/balance`, { token: bob.token });
    expect(balance.body).toMatchObject({ balance: '12.5' });
  });

  it('an Idempotency-Key makes one API key of several requests', async () => {
    const call = { token: bob.token, body: { name: 'retried' }, headers: { 'idempotency-key': 'once' } };
    const path = `/workspaces/${bob.workspaceId}/api-keys`;
    const answers = await Promise.all([
      app.call('POST', path, call),
      app.call('POST', path, call),
      app.call('POST', path, call),
    ]);
    expect(new Set(answers.map(({ body }) => textAt(body, 'key'))).size).toBe(1);
    expect(await app.call('POST', path, { ...call, headers: { 'idempotency-key': '' } })).toMatchObject({
      status: 400,
    });
  });

  it('HEAD works where GET does', async () => {
    const response = await fetch(`${app.url}/workspaces`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${bob.token}` },
    });
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('');
  });
});

describe('usage', () => {
  it('is filtered, paged and summed by the query string', async () => {
    for (let i = 1; i <= 3; i += 1) {
      const change = {
        id: `ue_${i}`,
        request_id: `req_${bob.workspaceId}_${i}`,
        cost: USD / 1000,
        status: i === 2 ? 502 : 200,
      };
      await spend(app.store, bob.workspaceId, keyId, change);
    }
    const ask = async (query: string) =>
      (await app.call('GET', `/workspaces/${bob.workspaceId}/usage?${query}`, { token: bob.token })).body;
    expect(await ask('status=502')).toMatchObject({
      data: [{ id: 'ue_2', cost: '0.001', created_at: timestamp }],
      has_more: false,
    });
    const page = await ask('limit=2');
    expect(page).toMatchObject({
      data: [{ id: 'ue_3' }, { id: 'ue_2' }],
      has_more: true,
      next_cursor: expect.any(String),
    });
    const rest = await ask(`limit=2&cursor=${encodeURIComponent(textAt(page, 'next_cursor'))}`);
    expect(rest).toMatchObject({ data: [{ id: 'ue_1' }], has_more: false, next_cursor: null });
    expect(await ask('group_by=key')).toMatchObject({
      data: [{ group: keyId, requests: 3, errors: 1, cost: '0.003' }],
    });
  });

  it.each([
    'limit=0',
    'limit=1001',
    'limit=x',
    'from=7d',
    'to=now',
    'status=ok',
    'group_by=hour',
    'form=2026-01-01',
    'model=a&model=b',
    'cursor=nonsense',
  ])('with ?%s is 400', async (query) => {
    const answer = await app.call('GET', `/workspaces/${bob.workspaceId}/usage?${query}`, { token: bob.token });
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'INVALID_REQUEST' } } });
  });
});

describe('lists', () => {
  it('of keys go page by page', async () => {
    for (const name of ['second', 'third']) {
      await app.call('POST', `/workspaces/${bob.workspaceId}/api-keys`, { token: bob.token, body: { name } });
    }
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const { body } = await app.call('GET', `/workspaces/${bob.workspaceId}/api-keys?limit=2${query}`, {
        token: bob.token,
      });
      const page = body as { data: { name: string }[]; next_cursor: string | null };
      seen.push(...page.data.map(({ name }) => name));
      cursor = page.next_cursor;
    }
    expect(seen.sort()).toEqual(['ci', 'second', 'third']);
  });

  it.each(['?limit=0', '?cursor=nonsense', '?sort=name'])('refuse %s', async (query) => {
    for (const path of ['/workspaces', `/workspaces/${bob.workspaceId}/api-keys`]) {
      expect(await app.call('GET', path + query, { token: bob.token })).toMatchObject({ status: 400 });
    }
  });
});

describe('the wall between tenants', () => {
  const notFound = { status: 404, body: { error: { code: 'NOT_FOUND', retryable: false } } };

  it.each(ROUTES)('%s %s is 404 for a stranger and for the operator', async (method, path, body) => {
    const stranger = await app.tenant('stranger');
    for (const { token, workspaceId } of [stranger, operator]) {
      expect(await app.call(method, pathOf(path), { token, ...bodyOf(body) })).toMatchObject(notFound);
      if (!path.includes(':key')) continue;
      // The id of another's key, in one's own workspace.
      const mixed = pathOf(path).replace(bob.workspaceId, workspaceId);
      expect(await app.call(method, mixed, { token, ...bodyOf(body) })).toMatchObject(notFound);
    }
    expect(app.services.apiKeys.list(bob.account, bob.workspaceId)).toEqual([keyView]);
    expect(app.services.workspaces.read(bob.account, bob.workspaceId)).toEqual(workspace);
  });

  it.each(ROUTES)('%s %s is 401 without a session, whatever else is wrong', async (method, path, body) => {
    const refused = { status: 401, body: { error: { code: 'INVALID_SESSION' } } };
    expect(await app.call(method, pathOf(path), bodyOf(body))).toMatchObject(refused);
    if (body !== undefined) expect(await app.call(method, pathOf(path), { raw: '{' })).toMatchObject(refused);
  });

  it('credits are 403 for an owner and 404 for a stranger', async () => {
    const stranger = await app.tenant('stranger');
    const path = `/workspaces/${bob.workspaceId}/credits`;
    const call = { body: { amount: '1000' } };
    expect(await app.call('POST', path, { token: bob.token, ...call })).toMatchObject({
      status: 403,
      body: { error: { code: 'FORBIDDEN' } },
    });
    expect(await app.call('POST', path, { token: stranger.token, ...call })).toMatchObject(notFound);
    expect(app.services.credits.balance(bob.account, bob.workspaceId).granted).toBe('10');
  });

  it('lists hold nothing of others', async () => {
    const stranger = await app.tenant('stranger');
    const { body } = await app.call('GET', '/workspaces', { token: stranger.token });
    expect(body).toEqual(list({ id: stranger.workspaceId, name: 'stranger', role: 'owner' }));
  });

  it.each([
    '..%2f..%2fetc%2fpasswd',
    '%2e%2e',
    '__proto__',
    'constructor',
    'ws_',
    'ws_%00',
    '%E0%A4%A',
    'ws_a%2fb',
    'x'.repeat(2000),
  ])('the id %s is not found', async (id) => {
    for (const path of [`/workspaces/${id}`, `/workspaces/${id}/balance`]) {
      expect((await app.call('GET', path, { token: bob.token }).catch(() => ({ status: 404 }))).status).toBe(404);
    }
    const answer = await app
      .call('DELETE', `/workspaces/${bob.workspaceId}/api-keys/${id}`, { token: bob.token })
      .catch(() => ({ status: 404 }));
    expect(answer.status).toBe(404);
  });
});

describe('unknown fields', () => {
  const bodies: readonly Row[] = ROUTES.filter(([, , body]) => body !== undefined);

  it.each([...bodies, ['POST', '/workspaces', { name: 'x' }, 201, null] as const])(
    'of %s %s are 400 and change nothing',
    async (method, path, body) => {
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(
            'allowed_routes',
            'workspace_id',
            'id',
            'role',
            'members',
            'digest',
            'key',
            'spent',
            'scopes',
            'isAdmin',
          ),
          fc.jsonValue(),
          async (field, value) => {
            const answer = await app.call(method, pathOf(path), {
              token: bob.token,
              body: { ...(body as object), [field]: value },
            });
            expect(answer).toMatchObject({ status: 400, body: { error: { code: 'INVALID_REQUEST' } } });
          },
        ),
        { numRuns: 10 },
      );
      expect(app.services.apiKeys.list(bob.account, bob.workspaceId)).toEqual([keyView]);
      expect(app.services.workspaces.listOf(bob.account)).toHaveLength(1);
    },
  );
});

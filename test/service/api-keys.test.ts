// API keys: what they may be, that secrets are shown once, and that a revoked one is dead.

import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ApiKeyCreated } from '../../src/api/types.ts';
import { checkSecret, digestOf } from '../../src/identity/secrets.ts';
import { authenticate } from '../../src/service/principal.ts';
import {
  type ControlFixture,
  openControl,
  PASSWORD,
  START_MS,
  spend,
  type Tenant,
  USD,
} from '../helpers/control-fixture.ts';

const DAY_MS = 24 * 3_600_000;
let fixture: ControlFixture;
let ada: Tenant;

beforeAll(async () => {
  fixture = await openControl();
});
beforeEach(async () => {
  fixture.clock.ms = START_MS;
  ada = await fixture.tenant('ada');
});
afterAll(() => fixture.close());

const keys = () => fixture.services.apiKeys;
const create = (body: unknown, idempotencyKey?: string, sessionToken = ada.token): Promise<ApiKeyCreated> =>
  keys().create(ada.account, { workspaceId: ada.workspaceId, body, idempotencyKey, sessionToken });
const patch = (id: string, body: unknown) => keys().patch(ada.account, ada.workspaceId, id, body);
const list = () => keys().list(ada.account, ada.workspaceId);
/** As the inference routes see the key. */
const use = (secret: string) => authenticate(fixture.store.documents, secret, fixture.clock.ms);
const refused = expect.objectContaining({ code: 'INVALID_API_KEY' });

describe('create', () => {
  it('fills in the defaults and shows the secret', async () => {
    const made = await create({ name: ' ci ' });
    expect(made).toEqual({
      id: expect.stringMatching(/^key_[0-9A-Za-z]+$/),
      name: 'ci',
      prefix: made.key.slice(0, 11),
      last4: made.key.slice(-4),
      created_at: '2026-01-15T12:00:00.000Z',
      expires_at: null,
      revoked_at: null,
      models: null,
      requests_per_minute: 600,
      tokens_per_minute: 2_000_000,
      budget: null,
      budget_period: 'total',
      spent: '0',
      key: expect.stringMatching(/^svc_sk_[0-9A-Za-z]{49}$/),
    });
    expect(checkSecret('svc_sk_', made.key)).toBe(true);
    expect(use(made.key).workspace.id).toBe(ada.workspaceId);
  });

  it('takes every option', async () => {
    const options = {
      name: 'ci',
      expires_at: '2026-02-01T00:00:00+01:00',
      models: ['openai/*', 'svc:auto'],
      requests_per_minute: 5,
      tokens_per_minute: 1000,
      budget: '2.500',
      budget_period: 'month',
    } as const;
    expect(await create(options)).toMatchObject({ ...options, expires_at: '2026-01-31T23:00:00.000Z', budget: '2.5' });
  });

  it('takes null for what has no limit', async () => {
    expect(await create({ name: 'ci', expires_at: null, models: null, budget: null })).toMatchObject({
      expires_at: null,
      models: null,
      budget: null,
    });
  });

  it.each([
    ['no name', {}, 'name'],
    ['an empty name', { name: '' }, 'name'],
    ['a long name', { name: 'x'.repeat(101) }, 'name'],
    ['null as name', { name: null }, 'name'],
    ['an expiry in the past', { name: 'a', expires_at: '2026-01-15T12:00:00Z' }, 'expires_at'],
    ['an expiry without an offset', { name: 'a', expires_at: '2027-01-15T12:00:00' }, 'expires_at'],
    ['a date', { name: 'a', expires_at: '2027-01-15' }, 'expires_at'],
    ['a month of 13', { name: 'a', expires_at: '2027-13-15T12:00:00Z' }, 'expires_at'],
    ['seconds as expiry', { name: 'a', expires_at: 1_900_000_000 }, 'expires_at'],
    ['an empty list of models', { name: 'a', models: [] }, 'models'],
    ['a model', { name: 'a', models: 'openai/gpt' }, 'models'],
    ['numbers as models', { name: 'a', models: [1] }, 'models'],
    ['an empty model', { name: 'a', models: [''] }, 'models'],
    ['a very long model', { name: 'a', models: ['x'.repeat(201)] }, 'models'],
    ['too many models', { name: 'a', models: Array.from({ length: 201 }, () => 'x') }, 'models'],
    ['a limit of 0', { name: 'a', requests_per_minute: 0 }, 'requests_per_minute'],
    ['a limit of null', { name: 'a', requests_per_minute: null }, 'requests_per_minute'],
    ['half a token', { name: 'a', tokens_per_minute: 0.5 }, 'tokens_per_minute'],
    ['a huge limit', { name: 'a', tokens_per_minute: 1e12 }, 'tokens_per_minute'],
    ['a number as budget', { name: 'a', budget: 5 }, 'budget'],
    ['a negative budget', { name: 'a', budget: '-5' }, 'budget'],
    ['a budget of too many decimals', { name: 'a', budget: '0.0000000001' }, 'budget'],
    ['an unknown period', { name: 'a', budget_period: 'week' }, 'budget_period'],
    ['a list', [], 'body'],
    ['nothing', null, 'body'],
  ])('refuses %s', async (_name, body, param) => {
    await expect(create(body)).rejects.toMatchObject({ code: 'INVALID_REQUEST', param });
    expect(list()).toEqual([]);
  });

  it('refuses every field it does not know, so that no key widens itself', async () => {
    const known = [
      'name',
      'expires_at',
      'models',
      'requests_per_minute',
      'tokens_per_minute',
      'budget',
      'budget_period',
    ];
    const names = fc.oneof(
      fc.string(),
      fc.constantFrom(
        'allowed_routes',
        'workspace_id',
        'id',
        'digest',
        'key',
        'revoked_at',
        'scopes',
        'role',
        'spent',
        'constructor',
      ),
    );
    await fc.assert(
      fc.asyncProperty(names, fc.jsonValue(), async (name, value) => {
        fc.pre(!known.includes(name));
        const body = Object.fromEntries([
          ['name', 'ci'],
          [name, value],
        ]);
        await expect(create(body)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
      }),
    );
    expect(list()).toEqual([]);
  });

  it('stops at a thousand live keys', async () => {
    const [template] = [await create({ name: 'first' })];
    const stored = fixture.store.documents.apiKeyByDigest(digestOf(template.key));
    if (!stored) throw new Error('no key');
    const copies = Array.from({ length: 999 }, (_, i) => ({ ...stored, id: `key_copy${i}`, digest: `copy${i}` }));
    await Promise.all(copies.map((copy) => fixture.store.documents.putApiKey(copy)));
    await expect(create({ name: 'one more' })).rejects.toMatchObject({ code: 'CONFLICT' });
    await keys().revoke(ada.account, ada.workspaceId, template.id);
    await create({ name: 'one more' });
  });
});

describe('an Idempotency-Key on create', () => {
  it('gives the same key with the same secret again', async () => {
    const first = await create({ name: 'ci' }, 'k1');
    expect(await create({ name: 'ci' }, 'k1')).toEqual(first);
    expect(list()).toHaveLength(1);
    expect(use(first.key).apiKey.id).toBe(first.id);
  });

  it('does so for parallel requests and across a restart', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => create({ name: 'ci' }, 'k1')));
    fixture = await fixture.reopen();
    answers.push(await create({ name: 'ci' }, 'k1'));
    expect(new Set(answers.map(({ key }) => key)).size).toBe(1);
    expect(list()).toHaveLength(1);
  });

  it('refuses another body', async () => {
    await create({ name: 'ci' }, 'k1');
    await expect(create({ name: 'cd' }, 'k1')).rejects.toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' });
  });

  it('does not show the secret to another session, nor after a rotation', async () => {
    const first = await create({ name: 'ci' }, 'k1');
    const other = await fixture.services.accounts.login({ email: ada.account.email, password: PASSWORD }, '');
    await expect(create({ name: 'ci' }, 'k1', other.token)).rejects.toMatchObject({ code: 'CONFLICT' });
    await keys().rotate(ada.account, ada.workspaceId, first.id, {});
    await expect(create({ name: 'ci' }, 'k1')).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(list()).toHaveLength(1);
  });
});

describe('list', () => {
  it('shows all keys newest first, without secrets', async () => {
    const first = await create({ name: 'first' });
    fixture.clock.ms += 1;
    const second = await create({ name: 'second' });
    await keys().revoke(ada.account, ada.workspaceId, first.id);
    expect(list().map(({ name, revoked_at }) => [name, revoked_at])).toEqual([
      ['second', null],
      ['first', '2026-01-15T12:00:00.001Z'],
    ]);
    const text = JSON.stringify(list());
    for (const { key } of [first, second]) {
      expect(text).not.toContain(key);
      expect(text).not.toContain(digestOf(key));
    }
  });

  it('shows what was spent in the running period', async () => {
    const daily = await create({ name: 'daily', budget: '5', budget_period: 'day' });
    await spend(fixture.store, ada.workspaceId, daily.id, {
      request_id: 'req_daily',
      cost: 2 * USD,
      created_at: START_MS,
    });
    expect(list()[0]?.spent).toBe('2');
    fixture.clock.ms += DAY_MS;
    expect(list()[0]?.spent).toBe('0');
  });
});

describe('patch', () => {
  it('changes what is given and nothing else', async () => {
    const { key, ...made } = await create({
      name: 'ci',
      models: ['openai/*'],
      budget: '5',
      expires_at: '2027-01-01T00:00:00Z',
    });
    expect(await patch(made.id, { requests_per_minute: 7 })).toEqual({ ...made, requests_per_minute: 7 });
    expect(await patch(made.id, { models: null, budget: null, expires_at: null })).toEqual({
      ...made,
      requests_per_minute: 7,
      models: null,
      budget: null,
      expires_at: null,
    });
    expect(use(key).apiKey).toMatchObject({ requestsPerMinute: 7, models: null, budgetNano: null });
  });

  it.each([
    [{ workspace_id: 'ws_1' }],
    [{ key: 'x' }],
    [{ revoked_at: null }],
    [{ spent: '0' }],
    [{ name: '' }],
    [{ models: [] }],
    [{ budget_period: null }],
  ])('refuses %j', async (body) => {
    const made = await create({ name: 'ci' });
    await expect(patch(made.id, body)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });

  it('loses none of several changes made at once', async () => {
    const made = await create({ name: 'ci' });
    await Promise.all([
      patch(made.id, { name: 'new' }),
      patch(made.id, { budget: '1' }),
      patch(made.id, { tokens_per_minute: 9 }),
    ]);
    expect(list()[0]).toMatchObject({ name: 'new', budget: '1', tokens_per_minute: 9 });
  });
});

describe('revoke', () => {
  it('ends the key at once and for good', async () => {
    const made = await create({ name: 'ci' });
    await keys().revoke(ada.account, ada.workspaceId, made.id);
    expect(() => use(made.key)).toThrow(refused);
    fixture.clock.ms += 1000;
    await keys().revoke(ada.account, ada.workspaceId, made.id);
    expect(list()[0]?.revoked_at).toBe('2026-01-15T12:00:00.000Z');
    await expect(patch(made.id, { name: 'x' })).rejects.toMatchObject({ code: 'CONFLICT' });
    await expect(keys().rotate(ada.account, ada.workspaceId, made.id, {})).rejects.toMatchObject({ code: 'CONFLICT' });
    fixture = await fixture.reopen();
    expect(() => use(made.key)).toThrow(refused);
  });

  it('wins over changes that come at the same time', async () => {
    const made = await create({ name: 'ci' });
    await Promise.allSettled([
      patch(made.id, { name: 'a' }),
      keys().revoke(ada.account, ada.workspaceId, made.id),
      patch(made.id, { name: 'b' }),
    ]);
    expect(list()[0]).toMatchObject({ name: 'a', revoked_at: expect.any(String) });
    expect(() => use(made.key)).toThrow(refused);
  });
});

describe('rotate', () => {
  it('gives the same key a new secret and ends the old one', async () => {
    const made = await create({ name: 'ci', budget: '5' });
    await spend(fixture.store, ada.workspaceId, made.id, { request_id: 'req_rotated', cost: USD });
    const rotated = await keys().rotate(ada.account, ada.workspaceId, made.id, {});
    expect(rotated).toEqual({
      ...made,
      prefix: rotated.key.slice(0, 11),
      last4: rotated.key.slice(-4),
      key: rotated.key,
      spent: '1',
    });
    expect(rotated.key).not.toBe(made.key);
    expect(() => use(made.key)).toThrow(refused);
    expect(use(rotated.key).apiKey.id).toBe(made.id);
    fixture = await fixture.reopen();
    expect(() => use(made.key)).toThrow(refused);
    expect(use(rotated.key).apiKey.id).toBe(made.id);
  });

  it('takes no fields', async () => {
    const made = await create({ name: 'ci' });
    const attempt = keys().rotate(ada.account, ada.workspaceId, made.id, { name: 'x' });
    await expect(attempt).rejects.toMatchObject({ code: 'INVALID_REQUEST', param: 'name' });
    expect(use(made.key).apiKey.id).toBe(made.id);
  });
});

describe('the keys of others', () => {
  it('cannot be listed, made, changed, revoked or rotated, through either workspace', async () => {
    const made = await create({ name: 'ci' });
    const bob = await fixture.tenant('bob');
    const hidden = { code: 'NOT_FOUND' };
    expect(() => keys().list(bob.account, ada.workspaceId)).toThrow(expect.objectContaining(hidden));
    const call = {
      workspaceId: ada.workspaceId,
      body: { name: 'x' },
      idempotencyKey: undefined,
      sessionToken: bob.token,
    };
    await expect(keys().create(bob.account, call)).rejects.toMatchObject(hidden);
    for (const workspaceId of [ada.workspaceId, bob.workspaceId]) {
      await expect(keys().patch(bob.account, workspaceId, made.id, { name: 'x' })).rejects.toMatchObject(hidden);
      await expect(keys().revoke(bob.account, workspaceId, made.id)).rejects.toMatchObject(hidden);
      await expect(keys().rotate(bob.account, workspaceId, made.id, {})).rejects.toMatchObject(hidden);
    }
    expect(use(made.key).apiKey.name).toBe('ci');
  });

  it.each(['key_nothere', '', '__proto__', '../key_1', 'ws_1', `key_${'x'.repeat(65)}`])(
    '%j is not found',
    async (id) => {
      await expect(patch(id, { name: 'x' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    },
  );
});

it('firstKey makes a key with the defaults for a workspace without members', async () => {
  const workspace = await fixture.services.workspaces.createDefault();
  const secret = await keys().firstKey(workspace.id);
  expect(use(secret)).toMatchObject({
    workspace: { id: workspace.id },
    apiKey: { name: 'default', requestsPerMinute: 600, budgetNano: null },
  });
});

it('no file holds a secret', async () => {
  const secrets = [
    (await create({ name: 'a' })).key,
    (await create({ name: 'b' }, `idempotency-${randomBytes(8).toString('hex')}`)).key,
    await keys().firstKey(ada.workspaceId),
  ];
  let text = '';
  for (const entry of await readdir(fixture.directory, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) text += await readFile(join(entry.parentPath, entry.name), 'latin1');
  }
  for (const secret of secrets) {
    expect(text).toContain(digestOf(secret));
    expect(text).not.toContain(secret.slice(7, 50));
  }
});

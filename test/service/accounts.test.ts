// Accounts: the first one and the others, logging in, and what nobody may learn.

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ControlFixture, openControl, PASSWORD, START_MS, USD } from '../helpers/control-fixture.ts';

let fixture: ControlFixture;

beforeEach(async () => {
  fixture = await openControl();
});
afterEach(() => fixture.close());

const register = (body: unknown) => fixture.services.accounts.register(body, 'vitest');
const login = (body: unknown) => fixture.services.accounts.login(body, 'vitest');

describe('the first account', () => {
  it('is the operator, with a workspace of its own, credits and a session', async () => {
    const answer = await register({ email: 'Ada@Example.com', password: PASSWORD, name: ' Ada ' });
    expect(answer).toEqual({
      account: {
        id: expect.stringMatching(/^acc_[0-9A-Za-z]+$/),
        email: 'ada@example.com',
        name: 'Ada',
        role: 'operator',
        created_at: '2026-01-15T12:00:00.000Z',
      },
      workspace: { id: expect.stringMatching(/^ws_[0-9A-Za-z]+$/), name: 'Ada', role: 'owner' },
      token: expect.stringMatching(/^svc_st_[0-9A-Za-z]{49}$/),
      expires_at: '2026-04-15T12:00:00.000Z',
    });
    expect(fixture.store.ledger.balance(answer.workspace.id).grantedNano).toBe(10 * USD);
  });

  it('takes over the default workspace of the first start, with its key and credits', async () => {
    const made = await fixture.services.workspaces.createDefault();
    const key = await fixture.services.apiKeys.firstKey(made.id);
    const { account, workspaceId, answer } = await fixture.tenant('ada');
    expect(workspaceId).toBe(made.id);
    expect(answer.workspace).toEqual({ id: made.id, name: 'default', role: 'owner' });
    expect(fixture.store.documents.workspaces()).toHaveLength(1);
    expect(fixture.store.ledger.balance(made.id).grantedNano).toBe(10 * USD);
    const [view] = fixture.services.apiKeys.list(account, workspaceId);
    expect(key.endsWith(view?.last4 ?? '-')).toBe(true);
  });

  it('is only one, however many register at once', async () => {
    await fixture.services.workspaces.createDefault();
    const answers = await Promise.all(
      ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => register({ email: `${name}@example.com`, password: PASSWORD })),
    );
    expect(answers.map(({ account }) => account.role).sort()).toEqual([
      'operator',
      'user',
      'user',
      'user',
      'user',
      'user',
    ]);
    expect(new Set(answers.map(({ workspace }) => workspace.id)).size).toBe(6);
    const adopted = answers.filter(({ workspace }) => workspace.name === 'default');
    expect(adopted.map(({ account }) => account.role)).toEqual(['operator']);
  });
});

describe('a later account', () => {
  it('is a user with a new workspace named after it', async () => {
    await fixture.services.workspaces.createDefault();
    await fixture.tenant('ada');
    const named = await register({ email: 'bob@example.com', password: PASSWORD, name: 'Bob B.' });
    const unnamed = await register({ email: 'carol.c@example.com', password: PASSWORD, name: null });
    expect(named.account.role).toBe('user');
    expect(named.workspace).toMatchObject({ name: 'Bob B.', role: 'owner' });
    expect(unnamed.account.name).toBeNull();
    expect(unnamed.workspace.name).toBe('carol.c');
    expect(fixture.store.ledger.balance(named.workspace.id).grantedNano).toBe(10 * USD);
  });

  it('never takes a workspace that has members, whatever its name', async () => {
    const { account } = await fixture.tenant('ada');
    await fixture.services.workspaces.create(account, { name: 'default' });
    const bob = await register({ email: 'bob@example.com', password: PASSWORD, name: 'default' });
    expect(fixture.services.workspaces.listOf(account).map(({ id }) => id)).not.toContain(bob.workspace.id);
  });

  it.each(['ada@example.com', 'ADA@example.com', ' ada@EXAMPLE.com '])(
    'cannot have the email of another: %j',
    async (email) => {
      await fixture.tenant('ada');
      await expect(register({ email, password: PASSWORD })).rejects.toMatchObject({ code: 'CONFLICT', param: 'email' });
      expect(fixture.store.documents.accounts()).toHaveLength(1);
    },
  );

  it('wins an email once when many ask for it together', async () => {
    const attempts = await Promise.allSettled(
      Array.from({ length: 5 }, () => register({ email: 'ada@example.com', password: PASSWORD })),
    );
    expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(fixture.store.documents.workspaces()).toHaveLength(1);
  });

  it('gets no credits where there are none to start with', async () => {
    await fixture.close();
    fixture = await openControl({ startingCreditsNano: 0 });
    const { workspaceId } = await fixture.tenant('ada');
    expect(fixture.store.ledger.balance(workspaceId).grantedNano).toBe(0);
  });
});

describe('registering', () => {
  it.each([
    ['no body', undefined, 'body'],
    ['a list', [], 'body'],
    ['a text', 'x', 'body'],
    ['no email', { password: PASSWORD }, 'email'],
    ['a number as email', { email: 1, password: PASSWORD }, 'email'],
    ['no address', { email: 'ada', password: PASSWORD }, 'email'],
    ['no password', { email: 'a@example.com' }, 'password'],
    ['null as password', { email: 'a@example.com', password: null }, 'password'],
    ['a short password', { email: 'a@example.com', password: 'short' }, 'password'],
    ['a long password', { email: 'a@example.com', password: 'x'.repeat(1025) }, 'password'],
    ['an empty name', { email: 'a@example.com', password: PASSWORD, name: ' ' }, 'name'],
    ['a long name', { email: 'a@example.com', password: PASSWORD, name: 'x'.repeat(101) }, 'name'],
    ['a name with a line break', { email: 'a@example.com', password: PASSWORD, name: 'a\nb' }, 'name'],
    ['a role', { email: 'a@example.com', password: PASSWORD, role: 'operator' }, 'role'],
    ['an operator flag', { email: 'a@example.com', password: PASSWORD, operator: true }, 'operator'],
  ])('is refused with %s, naming the field', async (_name, body, param) => {
    await expect(register(body)).rejects.toMatchObject({ code: 'INVALID_REQUEST', param });
    expect(fixture.store.documents.accounts()).toEqual([]);
  });

  it('is refused where it is closed', async () => {
    await fixture.close();
    fixture = await openControl({ registrationOpen: false });
    await expect(fixture.tenant('ada')).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect(fixture.store.documents.accounts()).toEqual([]);
  });
});

describe('logging in', () => {
  it('gives a new session each time, and the old one stays', async () => {
    const ada = await fixture.tenant('ada');
    fixture.clock.ms += 1000;
    const answer = await login({ email: 'ADA@example.com', password: PASSWORD });
    expect(answer).toEqual({
      account: ada.answer.account,
      token: expect.stringMatching(/^svc_st_/),
      expires_at: expect.any(String),
    });
    expect(answer.token).not.toBe(ada.token);
    for (const token of [ada.token, answer.token]) {
      expect((await fixture.services.accounts.authenticateSession(token)).account.id).toBe(ada.account.id);
    }
  });

  it('tells a wrong password and an unknown email apart in nothing', async () => {
    await fixture.tenant('ada');
    const fail = async (email: string, password: string) => login({ email, password }).catch((error: unknown) => error);
    const wrong = await fail('ada@example.com', 'wrong horse battery');
    const unknown = await fail('eve@example.com', PASSWORD);
    const nonsense = await fail('nonsense', PASSWORD);
    for (const error of [wrong, unknown, nonsense]) {
      expect(error).toMatchObject({
        code: 'INVALID_CREDENTIALS',
        status: 401,
        message: 'Wrong email or password.',
        param: undefined,
      });
    }
  });

  it('takes no hash for a password', async () => {
    const { account } = await fixture.tenant('ada');
    const attempt = login({ email: account.email, password: account.passwordHash });
    await expect(attempt).rejects.toMatchObject({ code: 'INVALID_CREDENTIALS' });
  });

  it.each([
    [undefined, 'body'],
    [{ password: PASSWORD }, 'email'],
    [{ email: 'ada@example.com' }, 'password'],
    [{ email: 'ada@example.com', password: 1 }, 'password'],
    [{ email: 'ada@example.com', password: PASSWORD, remember: true }, 'remember'],
  ])('refuses the body %j', async (body, param) => {
    await expect(login(body)).rejects.toMatchObject({ code: 'INVALID_REQUEST', param });
  });

  it('mends an account that a crash left without a workspace', async () => {
    const { account } = await fixture.tenant('ada');
    const orphan = { ...account, id: 'acc_orphan', email: 'bob@example.com', operator: false };
    await fixture.store.documents.addAccount(orphan);
    await login({ email: 'bob@example.com', password: PASSWORD });
    await login({ email: 'bob@example.com', password: PASSWORD });
    expect(fixture.services.accounts.me(orphan).workspaces).toEqual([
      { id: expect.any(String), name: 'ada', role: 'owner' },
    ]);
  });
});

describe('sessions of accounts', () => {
  it('end with a logout, at once', async () => {
    const { token } = await fixture.tenant('ada');
    const identity = await fixture.services.accounts.authenticateSession(token);
    expect(identity.session.createdAt).toBe(START_MS);
    await fixture.services.accounts.logout(identity);
    await expect(fixture.services.accounts.authenticateSession(token)).rejects.toMatchObject({
      code: 'INVALID_SESSION',
    });
  });

  it('survive a restart', async () => {
    const { token, account } = await fixture.tenant('ada');
    fixture = await fixture.reopen();
    expect((await fixture.services.accounts.authenticateSession(token)).account).toEqual(account);
    expect((await login({ email: 'ada@example.com', password: PASSWORD })).account.id).toBe(account.id);
  });
});

it('me shows the account and its workspaces, oldest first, and no hash', async () => {
  const { account, workspaceId } = await fixture.tenant('ada');
  await fixture.tenant('bob');
  fixture.clock.ms += 1000;
  const second = await fixture.services.workspaces.create(account, { name: 'Second' });
  const me = fixture.services.accounts.me(account);
  expect(me.workspaces).toEqual([
    { id: workspaceId, name: 'ada', role: 'owner' },
    { id: second.id, name: 'Second', role: 'owner' },
  ]);
  expect(JSON.stringify(me)).not.toContain(account.passwordHash);
});

it('no file holds the password or a token', async () => {
  const { token } = await fixture.tenant('ada');
  let text = '';
  for (const entry of await readdir(fixture.directory, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) text += await readFile(join(entry.parentPath, entry.name), 'latin1');
  }
  expect(text).toContain('ada@example.com');
  expect(text).not.toContain(PASSWORD);
  expect(text).not.toContain(token);
});

// Workspaces: who sees them, who changes them, and what a new one comes with.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Action, ROLES } from '../../src/identity/roles.ts';
import { type ControlFixture, openControl, type Tenant, USD } from '../helpers/control-fixture.ts';

let fixture: ControlFixture;
let operator: Tenant;
let bob: Tenant;

beforeAll(async () => {
  fixture = await openControl();
  operator = await fixture.tenant('operator');
});
beforeEach(async () => {
  bob = await fixture.tenant('bob');
});
afterAll(() => fixture.close());

const workspaces = () => fixture.services.workspaces;

describe('create', () => {
  it('makes a workspace that its maker owns, with the starting credits', async () => {
    const made = await workspaces().create(bob.account, { name: '  Research ' });
    expect(made).toEqual({
      id: expect.stringMatching(/^ws_/),
      name: 'Research',
      role: 'owner',
      created_at: '2026-01-15T12:00:00.000Z',
      requests_per_minute: null,
      tokens_per_minute: null,
    });
    expect(fixture.store.ledger.balance(made.id)).toEqual({ grantedNano: 10 * USD, chargedNano: 0, heldNano: 0 });
    expect(workspaces().read(bob.account, made.id)).toEqual(made);
  });

  it.each([
    [{}, 'name'],
    [{ name: '' }, 'name'],
    [{ name: 'x'.repeat(101) }, 'name'],
    [{ name: 7 }, 'name'],
    [{ name: 'a', id: 'ws_mine' }, 'id'],
    [{ name: 'a', members: [] }, 'members'],
    [{ name: 'a', requests_per_minute: 1 }, 'requests_per_minute'],
    [null, 'body'],
  ])('refuses %j', async (body, param) => {
    await expect(workspaces().create(bob.account, body)).rejects.toMatchObject({ code: 'INVALID_REQUEST', param });
  });

  it('stops at a hundred for one account', async () => {
    const attempts = await Promise.allSettled(
      Array.from({ length: 102 }, (_, i) => workspaces().create(bob.account, { name: `w${i}` })),
    );
    expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(99);
    expect(workspaces().listOf(bob.account)).toHaveLength(100);
    await workspaces().create(operator.account, { name: 'still fine' });
  });
});

describe('workspaceFor', () => {
  const actions: readonly Action[] = ['read', 'write', 'manage_keys'];
  const allowed = { owner: actions, member: ['read', 'manage_keys'], viewer: ['read'] };

  it.each(ROLES.flatMap((role) => actions.map((action) => [role, action] as const)))(
    'holds a %s to its role for %s',
    async (role, action) => {
      const workspace = fixture.store.documents.workspaceById(bob.workspaceId);
      if (!workspace) throw new Error('no workspace');
      const carol = await fixture.tenant('carol');
      await fixture.store.documents.putWorkspace({
        ...workspace,
        members: [...workspace.members, { accountId: carol.account.id, role }],
      });
      const ask = () => workspaces().workspaceFor(carol.account, bob.workspaceId, action);
      if (allowed[role].includes(action)) expect(ask().id).toBe(bob.workspaceId);
      else expect(ask).toThrow(expect.objectContaining({ code: 'FORBIDDEN' }));
    },
  );

  it.each(actions)('hides the workspaces of others for %s, from the operator too', (action) => {
    for (const [who, of] of [
      [operator, bob],
      [bob, operator],
    ] as const) {
      expect(() => workspaces().workspaceFor(who.account, of.workspaceId, action)).toThrow(
        expect.objectContaining({ code: 'NOT_FOUND' }),
      );
    }
  });

  it('says the same of what is not there as of what is hidden', () => {
    const messageOf = (id: string): unknown => {
      try {
        return workspaces().workspaceFor(bob.account, id, 'read');
      } catch (error) {
        return String(error);
      }
    };
    const hidden = messageOf(operator.workspaceId);
    for (const id of ['ws_nothere', '', '__proto__', '../ws_1', `ws_${'x'.repeat(100)}`, 'acc_1'])
      expect(messageOf(id)).toBe(hidden);
  });
});

describe('patch', () => {
  it('renames for the owner', async () => {
    const patched = await workspaces().patch(bob.account, bob.workspaceId, { name: 'New name' });
    expect(patched).toMatchObject({ id: bob.workspaceId, name: 'New name', role: 'owner' });
    expect(workspaces().listOf(bob.account)).toEqual([{ id: bob.workspaceId, name: 'New name', role: 'owner' }]);
  });

  it('sets and lifts limits for the operator, in the workspaces of others too', async () => {
    const patched = await workspaces().patch(operator.account, bob.workspaceId, {
      requests_per_minute: 60,
      tokens_per_minute: 1000,
    });
    expect(patched).toMatchObject({ role: 'operator', requests_per_minute: 60, tokens_per_minute: 1000 });
    expect(workspaces().read(bob.account, bob.workspaceId)).toMatchObject({ name: 'bob', requests_per_minute: 60 });
    await workspaces().patch(operator.account, bob.workspaceId, { requests_per_minute: null });
    expect(workspaces().read(bob.account, bob.workspaceId)).toMatchObject({
      requests_per_minute: null,
      tokens_per_minute: 1000,
    });
  });

  it.each([
    ['an owner setting limits', 'bob', 'bob', { requests_per_minute: 1_000_000 }, 'FORBIDDEN'],
    ['an owner lifting limits', 'bob', 'bob', { tokens_per_minute: null }, 'FORBIDDEN'],
    ['an owner doing both', 'bob', 'bob', { name: 'x', tokens_per_minute: null }, 'FORBIDDEN'],
    ['a stranger renaming', 'bob', 'operator', { name: 'x' }, 'NOT_FOUND'],
    ['a stranger setting limits', 'bob', 'operator', { requests_per_minute: 1 }, 'NOT_FOUND'],
    ['a stranger changing nothing', 'bob', 'operator', {}, 'NOT_FOUND'],
    ['the operator renaming what is not theirs', 'operator', 'bob', { name: 'x' }, 'NOT_FOUND'],
    ['the operator doing both', 'operator', 'bob', { name: 'x', requests_per_minute: 1 }, 'NOT_FOUND'],
    ['an unknown field', 'bob', 'bob', { members: [] }, 'INVALID_REQUEST'],
    ['a limit of 0', 'operator', 'bob', { requests_per_minute: 0 }, 'INVALID_REQUEST'],
    ['a limit as text', 'operator', 'bob', { requests_per_minute: '5' }, 'INVALID_REQUEST'],
    ['half a request', 'operator', 'bob', { requests_per_minute: 0.5 }, 'INVALID_REQUEST'],
  ] as const)('refuses %s', async (_name, who, whose, body, code) => {
    const tenants = { operator, bob };
    const attempt = workspaces().patch(tenants[who].account, tenants[whose].workspaceId, body);
    await expect(attempt).rejects.toMatchObject({ code });
    expect(fixture.store.documents.workspaceById(tenants[whose].workspaceId)).toMatchObject({
      name: whose,
      requestsPerMinute: null,
    });
  });

  it('is not found for a workspace that is not there, by the operator too', async () => {
    const attempt = workspaces().patch(operator.account, 'ws_nothere', { requests_per_minute: 1 });
    await expect(attempt).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('loses none of several changes made at once', async () => {
    const { id } = await workspaces().create(operator.account, { name: 'busy' });
    await Promise.all([
      workspaces().patch(operator.account, id, { name: 'renamed' }),
      workspaces().patch(operator.account, id, { requests_per_minute: 5 }),
      workspaces().patch(operator.account, id, { tokens_per_minute: 6 }),
    ]);
    expect(workspaces().read(operator.account, id)).toMatchObject({
      name: 'renamed',
      requests_per_minute: 5,
      tokens_per_minute: 6,
    });
  });
});

describe('the default workspace', () => {
  it('has no members, so nobody sees it', async () => {
    const made = await workspaces().createDefault();
    expect(made).toMatchObject({ name: 'default', members: [] });
    expect(fixture.store.ledger.balance(made.id).grantedNano).toBe(10 * USD);
    for (const { account } of [operator, bob]) {
      expect(() => workspaces().read(account, made.id)).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
    }
  });

  it('goes to nobody who has a workspace or is not the operator', async () => {
    await workspaces().createDefault();
    expect((await workspaces().ensureOwn(operator.account)).id).toBe(operator.workspaceId);
    const carol = await fixture.tenant('carol');
    expect(carol.answer.workspace.name).toBe('carol');
  });
});

// Credits: grants that happen once, and balances that add up.

import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parseUsd, renderUsd } from '../../src/ledger/nano.ts';
import { type ControlFixture, openControl, spend, type Tenant, USD } from '../helpers/control-fixture.ts';

let fixture: ControlFixture;
let operator: Tenant;
let bob: Tenant;

beforeAll(async () => {
  fixture = await openControl({ startingCreditsNano: 0 });
  operator = await fixture.tenant('operator');
});
beforeEach(async () => {
  bob = await fixture.tenant('bob');
});
afterAll(() => fixture.close());

const grant = (body: unknown, idempotencyKey?: string, workspaceId = bob.workspaceId, who = operator) =>
  fixture.services.credits.grant(who.account, { workspaceId, body, idempotencyKey });
const balanceOf = (who: Tenant) => fixture.services.credits.balance(who.account, who.workspaceId);

describe('a grant', () => {
  it('adds to the balance and answers with it', async () => {
    const answer = await grant({ amount: '12.50', note: 'from the till' });
    expect(answer).toEqual({ id: expect.stringMatching(/^gr_/), amount: '12.5', balance: '12.5' });
    expect((await grant({ amount: '0.000000001' })).balance).toBe('12.500000001');
    expect(balanceOf(bob)).toEqual({
      workspace_id: bob.workspaceId,
      currency: 'USD',
      balance: '12.500000001',
      held: '0',
      available: '12.500000001',
      granted: '12.500000001',
      charged: '0',
    });
    expect(balanceOf(operator).balance).toBe('0');
  });

  it.each([
    [{}, 'amount'],
    [{ amount: 5 }, 'amount'],
    [{ amount: '0' }, 'amount'],
    [{ amount: '0.000000000' }, 'amount'],
    [{ amount: '-1' }, 'amount'],
    [{ amount: '+1' }, 'amount'],
    [{ amount: '1e3' }, 'amount'],
    [{ amount: 'NaN' }, 'amount'],
    [{ amount: '1,5' }, 'amount'],
    [{ amount: ' 1' }, 'amount'],
    [{ amount: '' }, 'amount'],
    [{ amount: '0.0000000001' }, 'amount'],
    [{ amount: '1000000.000000001' }, 'amount'],
    [{ amount: '99999999999999999999' }, 'amount'],
    [{ amount: null }, 'amount'],
    [{ amount: ['1'] }, 'amount'],
    [{ amount: '1', note: '' }, 'note'],
    [{ amount: '1', note: 'x'.repeat(201) }, 'note'],
    [{ amount: '1', id: 'gr_mine' }, 'id'],
    [{ amount: '1', workspace_id: 'ws_1' }, 'workspace_id'],
    [[], 'body'],
  ])('of %j is refused', async (body, param) => {
    await expect(grant(body)).rejects.toMatchObject({ code: 'INVALID_REQUEST', param });
    expect(balanceOf(bob).granted).toBe('0');
  });

  it('is the operator’s alone: FORBIDDEN in one’s own workspace, NOT_FOUND elsewhere', async () => {
    await expect(grant({ amount: '1' }, undefined, bob.workspaceId, bob)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(grant({ amount: '1' }, undefined, operator.workspaceId, bob)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    await expect(grant({ amount: '1' }, undefined, 'ws_nothere')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(grant({ amount: '1' }, undefined, '__proto__')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('stops before a balance could become inexact', async () => {
    for (let i = 0; i < 9; i += 1) await grant({ amount: '1000000' });
    await expect(grant({ amount: '1000000' })).rejects.toMatchObject({ code: 'INVALID_REQUEST', param: 'amount' });
    expect(balanceOf(bob).balance).toBe('9000000');
  });
});

describe('an Idempotency-Key', () => {
  it('makes a repeated grant the same grant, with the same answer', async () => {
    const first = await grant({ amount: '5' }, 'k1');
    await grant({ amount: '1' });
    expect(await grant({ amount: '5' }, 'k1')).toEqual(first);
    expect(balanceOf(bob).balance).toBe('6');
  });

  it('is refused with another body', async () => {
    await grant({ amount: '5' }, 'k1');
    await expect(grant({ amount: '6' }, 'k1')).rejects.toMatchObject({ code: 'IDEMPOTENCY_MISMATCH', status: 422 });
    expect(balanceOf(bob).balance).toBe('5');
  });

  it('belongs to one workspace', async () => {
    await grant({ amount: '5' }, 'k1');
    const carol = await fixture.tenant('carol');
    await grant({ amount: '5' }, 'k1', carol.workspaceId);
    expect([balanceOf(bob).balance, balanceOf(carol).balance]).toEqual(['5', '5']);
  });

  it('grants once for a hundred requests at once', async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => grant({ amount: '5' }, 'k1')));
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
    expect(balanceOf(bob).balance).toBe('5');
  });

  it('grants once when the daemon died between the grant and its saved answer', async () => {
    const { documents } = fixture.store;
    const saved = documents.putIdempotent.bind(documents);
    documents.putIdempotent = (scope, answer) =>
      answer.status === 0 ? saved(scope, answer) : Promise.reject(new Error('killed'));
    await expect(grant({ amount: '5' }, 'k1')).rejects.toThrow('killed');
    expect(balanceOf(bob).balance).toBe('5');
    fixture = await fixture.reopen();
    expect(await grant({ amount: '5' }, 'k1')).toMatchObject({ amount: '5', balance: '5' });
    await expect(grant({ amount: '7' }, 'k1')).rejects.toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' });
    expect(balanceOf(bob).balance).toBe('5');
  });

  it('is free again after a day', async () => {
    await grant({ amount: '5' }, 'k1');
    fixture.clock.ms += 24 * 3_600_000;
    await grant({ amount: '7' }, 'k1');
    expect(balanceOf(bob).balance).toBe('12');
  });
});

describe('a balance', () => {
  it('is granted − charged, and available is that − held', async () => {
    await grant({ amount: '10' });
    await spend(fixture.store, bob.workspaceId, 'key_1', { request_id: 'req_1', cost: 2 * USD });
    await fixture.store.ledger.hold({
      record: {
        type: 'hold',
        at: 1,
        requestId: 'req_2',
        workspaceId: bob.workspaceId,
        apiKeyId: 'key_1',
        amountNano: USD / 2,
        model: 'm',
      },
      budget: null,
      minimumNano: USD / 2,
    });
    expect(balanceOf(bob)).toMatchObject({ granted: '10', charged: '2', balance: '8', held: '0.5', available: '7.5' });
  });

  it('is hidden from others, the operator too', () => {
    for (const [who, of] of [
      [operator, bob],
      [bob, operator],
    ] as const) {
      expect(() => fixture.services.credits.balance(who.account, of.workspaceId)).toThrow(
        expect.objectContaining({ code: 'NOT_FOUND' }),
      );
    }
  });

  it('is the exact sum of any grants, across a restart', async () => {
    let expected = 0;
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 10 ** 15 / 100 }), async (nano) => {
        await grant({ amount: renderUsd(nano) });
        expected += nano;
        expect(parseUsd(balanceOf(bob).balance)).toBe(expected);
      }),
      { numRuns: 25 },
    );
    fixture = await fixture.reopen();
    expect(parseUsd(balanceOf(bob).balance)).toBe(expected);
  });
});

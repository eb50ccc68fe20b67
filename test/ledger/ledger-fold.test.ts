// The money state machine, by tables and against a plain model.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LedgerFold, LedgerRuleError } from '../../src/ledger/ledger-fold.ts';
import type { LedgerRecord } from '../../src/ledger/records.ts';
import { DAY_MS, makeGrant, makeHold, makeSettle, NOON } from '../store/fixtures/records.ts';

function foldOf(...records: readonly LedgerRecord[]): LedgerFold {
  const fold = new LedgerFold();
  for (const record of records) fold.apply(record);
  return fold;
}

const ask = (fold: LedgerFold, amountNano: number, minimumNano = amountNano, limitNano?: number) =>
  fold.decideHold({
    record: makeHold('req_new', amountNano),
    minimumNano,
    budget: limitNano === undefined ? null : { limitNano, period: 'day' },
  });

describe('balances', () => {
  it('are all zero for a workspace nobody heard of', () => {
    expect(foldOf().balance('ws_1')).toEqual({ grantedNano: 0, chargedNano: 0, heldNano: 0 });
  });

  it('follow a grant, a hold and its settlement', () => {
    const fold = foldOf(makeGrant(100), makeHold('req_1', 60));
    expect(fold.balance('ws_1')).toEqual({ grantedNano: 100, chargedNano: 0, heldNano: 60 });
    expect(fold.availableNano('ws_1')).toBe(40);
    fold.apply(makeSettle('req_1', 25));
    expect(fold.balance('ws_1')).toEqual({ grantedNano: 100, chargedNano: 25, heldNano: 0 });
    expect(fold.openHolds()).toEqual([]);
    expect(fold.isSettled('req_1')).toBe(true);
  });

  it('are copies', () => {
    const fold = foldOf(makeGrant(100));
    Object.assign(fold.balance('ws_1'), { grantedNano: 1e9 });
    expect(fold.balance('ws_1').grantedNano).toBe(100);
  });

  it('are as before a hold that is undone', () => {
    const fold = foldOf(makeGrant(100), makeHold('req_1', 60));
    fold.undoHold('req_1');
    fold.undoHold('req_1');
    expect(fold.balance('ws_1').heldNano).toBe(0);
    expect(fold.keySpentNano('key_1', 'total', NOON)).toBe(0);
  });
});

describe('a record that may not follow', () => {
  it.each<[string, readonly LedgerRecord[], LedgerRecord]>([
    ['a grant given twice', [makeGrant(1)], makeGrant(1)],
    ['a grant of less than nothing', [], makeGrant(-1)],
    ['a grant that is not whole', [], makeGrant(0.5)],
    ['credits beyond the safe integers', [makeGrant(Number.MAX_SAFE_INTEGER)], makeGrant(1, { id: 'grant_2' })],
    ['a hold beyond the balance', [makeGrant(10)], makeHold('req_1', 11)],
    ['a second hold of a request', [makeGrant(10), makeHold('req_1', 1)], makeHold('req_1', 1)],
    ['a hold of a settled request', [makeGrant(10), makeSettle('req_1', 0)], makeHold('req_1', 1)],
    ['a charge without a hold', [makeGrant(10)], makeSettle('req_1', 1)],
    ['a charge over the hold', [makeGrant(10), makeHold('req_1', 5)], makeSettle('req_1', 6)],
    ['a negative charge', [makeGrant(10), makeHold('req_1', 5)], makeSettle('req_1', -1)],
    ['a second settlement', [makeGrant(10), makeSettle('req_1', 0)], makeSettle('req_1', 0)],
    [
      'a settlement by another workspace',
      [makeGrant(10), makeHold('req_1', 5)],
      { ...makeSettle('req_1', 1), workspaceId: 'ws_2' },
    ],
  ])('is %s, and it changes nothing', (_name, before, record) => {
    const fold = foldOf(...before);
    const balance = fold.balance('ws_1');
    expect(() => fold.apply(record)).toThrow(LedgerRuleError);
    expect(fold.balance('ws_1')).toEqual(balance);
  });
});

describe('decideHold', () => {
  it.each<[string, number, number, number | undefined, object]>([
    ['gives what is asked', 60, 60, undefined, { ok: true, heldNano: 60 }],
    ['gives the very last nano-dollar', 100, 100, undefined, { ok: true, heldNano: 100 }],
    ['gives what is there when that is enough', 150, 50, undefined, { ok: true, heldNano: 100 }],
    ['refuses below the minimum', 150, 101, undefined, { ok: false, reason: 'credits', availableNano: 100 }],
    ['gives what the budget leaves', 60, 20, 30, { ok: true, heldNano: 30 }],
    ['refuses over the budget', 60, 60, 30, { ok: false, reason: 'budget', availableNano: 30 }],
    ['lets a free request through a spent budget', 0, 0, 0, { ok: true, heldNano: 0 }],
    ['takes no more than the amount for the minimum', 10, 500, undefined, { ok: true, heldNano: 10 }],
  ])('%s', (_name, amount, minimum, limit, decision) => {
    expect(ask(foldOf(makeGrant(100)), amount, minimum, limit)).toEqual(decision);
  });

  it('counts open holds against the budget', () => {
    const fold = foldOf(makeGrant(100), makeHold('req_1', 20));
    expect(ask(fold, 15, 15, 30)).toEqual({ ok: false, reason: 'budget', availableNano: 10 });
  });

  it('refuses a request that is open or over', () => {
    const fold = foldOf(makeGrant(100), makeHold('req_new', 20));
    expect(ask(fold, 5)).toMatchObject({ ok: false, reason: 'duplicate' });
    fold.apply(makeSettle('req_new', 5));
    expect(ask(fold, 5)).toMatchObject({ ok: false, reason: 'duplicate' });
  });
});

describe('what a key has spent', () => {
  const spend = (fold: LedgerFold, id: string, at: number) => {
    fold.apply(makeHold(id, 10, { at }));
    fold.apply(makeSettle(id, 10, { created_at: at }));
  };

  it('starts anew with the UTC day and month', () => {
    const fold = foldOf(makeGrant(1_000));
    spend(fold, 'req_1', Date.UTC(2026, 0, 31, 23, 59, 59, 999));
    spend(fold, 'req_2', Date.UTC(2026, 1, 1));
    const spent = (period: 'total' | 'day' | 'month', at: number) => fold.keySpentNano('key_1', period, at);
    expect(spent('total', NOON)).toBe(20);
    expect(spent('day', Date.UTC(2026, 0, 31))).toBe(10);
    expect(spent('day', Date.UTC(2026, 1, 1, 5))).toBe(10);
    expect(spent('day', Date.UTC(2026, 1, 2))).toBe(0);
    expect(spent('month', Date.UTC(2026, 0, 1))).toBe(10);
    expect(spent('month', Date.UTC(2026, 1, 28))).toBe(10);
  });

  it('survives a clock that jumps a year ahead and back', () => {
    const fold = foldOf(makeGrant(1_000));
    spend(fold, 'req_1', NOON);
    spend(fold, 'req_2', NOON + 365 * DAY_MS);
    spend(fold, 'req_3', NOON);
    expect(fold.keySpentNano('key_1', 'day', NOON)).toBe(20);
  });

  it('remembers only a few periods', () => {
    const fold = foldOf(makeGrant(1_000));
    for (let day = 0; day < 10; day += 1) spend(fold, `req_${day}`, NOON + day * DAY_MS);
    expect(fold.keySpentNano('key_1', 'day', NOON)).toBe(0);
    expect(fold.keySpentNano('key_1', 'day', NOON + 9 * DAY_MS)).toBe(10);
    expect(fold.keySpentNano('key_1', 'total', NOON)).toBe(100);
  });
});

describe('settled ids', () => {
  it('are forgotten oldest first, beyond the number kept', () => {
    const fold = new LedgerFold(2);
    for (const id of ['req_1', 'req_2', 'req_3']) fold.apply(makeSettle(id, 0));
    expect(['req_1', 'req_2', 'req_3'].map((id) => fold.isSettled(id))).toEqual([false, true, true]);
  });
});

describe('any sequence of asks', () => {
  const step: fc.Arbitrary<Step> = fc.record({
    kind: fc.constantFrom('grant', 'hold', 'hold', 'settle', 'settle', 'undo'),
    id: fc.nat(6),
    workspaceId: fc.constantFrom('ws_1', 'ws_2'),
    amount: fc.nat(40),
  });

  it('keeps granted − charged − held at or above zero and equal to a plain model', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const fold = new LedgerFold();
        const model = new Model();
        steps.forEach((each, index) => {
          model[each.kind](fold, each, index);
          for (const workspaceId of ['ws_1', 'ws_2']) {
            expect(fold.balance(workspaceId)).toEqual(model.balance(workspaceId));
            expect(fold.availableNano(workspaceId)).toBeGreaterThanOrEqual(0);
          }
        });
      }),
    );
  });
});

type Step = {
  readonly kind: 'grant' | 'hold' | 'settle' | 'undo';
  readonly id: number;
  readonly workspaceId: string;
  readonly amount: number;
};

/** The same steps done to a fold and to lists that are summed up from scratch each time. */
class Model {
  readonly #granted: [workspaceId: string, nano: number][] = [];
  readonly #charged: [workspaceId: string, nano: number][] = [];
  readonly #open = new Map<string, { workspaceId: string; amount: number }>();

  grant(fold: LedgerFold, { workspaceId, amount }: Step, index: number): void {
    fold.apply(makeGrant(amount, { id: `grant_${index}`, workspaceId }));
    this.#granted.push([workspaceId, amount]);
  }

  hold(fold: LedgerFold, { id, workspaceId, amount }: Step): void {
    const record = makeHold(`req_${id}`, amount, { workspaceId });
    if (!fold.decideHold({ record, budget: null, minimumNano: amount }).ok) return;
    fold.apply(record);
    this.#open.set(record.requestId, { workspaceId, amount });
  }

  settle(fold: LedgerFold, { id, amount }: Step): void {
    const open = this.#open.get(`req_${id}`);
    if (open === undefined) return;
    const charge = Math.min(amount, open.amount);
    fold.apply({ ...makeSettle(`req_${id}`, charge), workspaceId: open.workspaceId });
    this.#charged.push([open.workspaceId, charge]);
    this.#open.delete(`req_${id}`);
  }

  undo(fold: LedgerFold, { id }: Step): void {
    fold.undoHold(`req_${id}`);
    this.#open.delete(`req_${id}`);
  }

  balance(workspaceId: string) {
    const held = [...this.#open.values()].map((hold): [string, number] => [hold.workspaceId, hold.amount]);
    const sum = (list: [string, number][]) =>
      list.filter(([id]) => id === workspaceId).reduce((total, [, nano]) => total + nano, 0);
    return { grantedNano: sum(this.#granted), chargedNano: sum(this.#charged), heldNano: sum(held) };
  }
}

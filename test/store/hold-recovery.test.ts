// What becomes of holds that a stopped process left open, with and without a word on what was delivered.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { HoldRecord, ProgressRecord, SettleRecord } from '../../src/ledger/records.ts';
import { type OpenHold, recoverHolds } from '../../src/store/hold-recovery.ts';
import type { Ledger } from '../../src/store/store.ts';
import { SvcError } from '../../src/wire/svc-error.ts';
import { usageEntry } from '../helpers/control-fixture.ts';

const hold = (requestId: string, amountNano = 1_000): HoldRecord => ({
  type: 'hold',
  at: 5,
  requestId,
  workspaceId: 'ws_1',
  apiKeyId: 'key_1',
  amountNano,
  model: 'acme/one',
});
const progress = (requestId: string, chargeNano: number): ProgressRecord => ({
  type: 'progress',
  at: 7,
  requestId,
  workspaceId: 'ws_1',
  chargeNano,
  entry: usageEntry({
    id: `ue_${requestId}`,
    request_id: requestId,
    cost: chargeNano,
    status: 500,
    error_code: 'INTERNAL_ERROR',
    settle_reason: 'recovered',
  }),
});

/** Keeps what is settled; refuses like a full disk where told to. */
function ledgerOf(settled: SettleRecord[], isFull: () => boolean = () => false): Ledger {
  const settle = async (record: SettleRecord): Promise<boolean> => {
    if (isFull()) throw new SvcError('STORAGE_UNAVAILABLE', 'full');
    settled.push(record);
    return true;
  };
  return { settle } as Partial<Ledger> as Ledger;
}

const recover = async (open: readonly OpenHold[]) => {
  const settled: SettleRecord[] = [];
  const notices: string[] = [];
  await recoverHolds(ledgerOf(settled), open, {
    now: () => 9,
    randomId: () => 'use_made',
    onNotice: (notice) => notices.push(notice),
  });
  return { settled, notices };
};

it('charges what was known to be delivered, with the entry as it was written down', async () => {
  const known = progress('req_1', 400);
  const { settled } = await recover([{ hold: hold('req_1'), progress: known }]);
  expect(settled).toEqual([
    { type: 'settle', at: 9, requestId: 'req_1', workspaceId: 'ws_1', chargeNano: 400, entry: known.entry },
  ]);
});

it('releases what nothing is known of', async () => {
  const { settled } = await recover([{ hold: hold('req_1'), progress: undefined }]);
  expect(settled).toMatchObject([
    { chargeNano: 0, entry: { id: 'use_made', cost: 0, cost_kind: 'free', status: 500, settle_reason: 'recovered' } },
  ]);
});

it('never charges more than was held, nor another sum than the entry says', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(10_000), fc.nat(10_000), async (held, charge) => {
      const { settled } = await recover([{ hold: hold('req_1', held), progress: progress('req_1', charge) }]);
      expect(settled[0]?.chargeNano).toBe(Math.min(held, charge));
      expect(settled[0]?.entry.cost).toBe(settled[0]?.chargeNano);
    }),
  );
});

it('says how many it ended, and how many of them cost something', async () => {
  const { notices } = await recover([
    { hold: hold('req_1'), progress: progress('req_1', 400) },
    { hold: hold('req_2'), progress: undefined },
    { hold: hold('req_3'), progress: progress('req_3', 0) },
  ]);
  expect(notices).toEqual([
    'settled 3 holds that a stopped process left open: 1 charged for what was delivered, the others released',
  ]);
  expect((await recover([])).notices).toEqual([]);
});

it('answers what a full disk kept open, and a second try writes the same entry', async () => {
  const settled: SettleRecord[] = [];
  let full = true;
  const ledger = ledgerOf(settled, () => full);
  const open: readonly OpenHold[] = [{ hold: hold('req_1'), progress: progress('req_1', 400) }];
  const left = await recoverHolds(ledger, open, { now: () => 9 });
  expect(left).toEqual(open);
  full = false;
  expect(await recoverHolds(ledger, left, { now: () => 10 })).toEqual([]);
  expect(settled).toMatchObject([{ at: 10, chargeNano: 400, entry: { id: 'ue_req_1' } }]);
});

it('hands on what is no full disk', async () => {
  const ledger = { settle: () => Promise.reject(new Error('broken')) } as Partial<Ledger> as Ledger;
  await expect(recoverHolds(ledger, [{ hold: hold('req_1'), progress: undefined }], { now: () => 9 })).rejects.toThrow(
    'broken',
  );
});

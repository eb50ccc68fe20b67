// Sums beside sums: every request is counted once, in its group, on the right side.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LedgerRecord, UsageEntry } from '../../src/ledger/records.ts';
import { reconcileJournal } from '../../src/store/reconcile-journal.ts';
import { makeDirectory, openStore } from './fixtures/data-directory.ts';
import { forgeJournal } from './fixtures/forge-journal.ts';
import { DAY_MS, makeGrant, makeHold, makeHoldRequest, makeSettle, NOON } from './fixtures/records.ts';

/** One request each, charged its `cost`. */
async function forgeRequests(entries: readonly Partial<UsageEntry>[]): Promise<string> {
  const directory = await makeDirectory();
  const requests = entries.flatMap((entry, index): readonly LedgerRecord[] => {
    const id = `req_${index + 1}`;
    const cost = entry.cost ?? 0;
    return [makeHold(id, cost), makeSettle(id, cost, { ...entry, request_id: id })];
  });
  await forgeJournal(directory, [[makeGrant(Number.MAX_SAFE_INTEGER), ...requests]]);
  return directory;
}

describe('reconcileJournal', () => {
  it('compares what the ledger charged with what the upstream said', async () => {
    const directory = await makeDirectory();
    const { ledger } = await openStore(directory);
    await ledger.grant(makeGrant(1_000));
    const requests: readonly Partial<UsageEntry>[] = [
      { cost: 100, upstream_cost: 90 },
      { cost: 50, upstream_cost: 70, anomalies: ['usage_clamped'] },
      { cost: 30, upstream_cost: null, cost_kind: 'estimated', anomalies: ['usage_clamped', 'no_usage'] },
      { cost: 7, upstream_cost: 7, model: 'other/model' },
    ];
    for (const [index, entry] of requests.entries()) {
      await ledger.hold(makeHoldRequest(`req_${index}`, 100));
      await ledger.settle(makeSettle(`req_${index}`, entry.cost ?? 0, entry));
    }
    const report = await reconcileJournal(join(directory, 'journal'), { groupBy: 'model' });
    const sums = { requests: 3, compared: 2, ours: 150n, theirs: 160n, silent: 1, silentOurs: 30n, estimated: 1 };
    const anomalies = new Map(Object.entries({ usage_clamped: 2, no_usage: 1 }));
    expect(report).toEqual({
      firstSegment: 1,
      total: { ...sums, anomalies, requests: 4, compared: 3, ours: 157n, theirs: 167n },
      groups: [
        { group: 'maker/model', ...sums, anomalies },
        {
          group: 'other/model',
          requests: 1,
          compared: 1,
          ours: 7n,
          theirs: 7n,
          silent: 0,
          silentOurs: 0n,
          estimated: 0,
          anomalies: new Map(),
        },
      ],
      requests: [
        { requestId: 'req_1', model: 'maker/model', oursNano: 50, theirsNano: 70 },
        { requestId: 'req_0', model: 'maker/model', oursNano: 100, theirsNano: 90 },
      ],
    });
  });

  it.each<['model' | 'upstream' | 'day', readonly string[]]>([
    ['model', ['b', '(none)', 'a']],
    ['upstream', ['two', 'one', '(none)']],
    ['day', ['2026-01-16', '2026-01-15']],
  ])('groups by %s, the greatest difference first, whichever way it goes', async (groupBy, groups) => {
    const directory = await forgeRequests([
      { model: 'a', upstream: 'one', cost: 10, upstream_cost: 9 },
      { model: 'b', upstream: 'two', cost: 10, upstream_cost: 40, created_at: NOON + DAY_MS },
      { model: null, upstream: null, cost: 10, upstream_cost: 10 },
      { model: null, upstream: 'one', cost: 10, upstream_cost: 5 },
    ]);
    const report = await reconcileJournal(directory, { groupBy });
    expect(report.groups.map(({ group }) => group)).toEqual(groups);
  });

  it.each<[string, { fromMs?: number; toMs?: number }, number]>([
    ['all', {}, 3],
    ['from a moment on, with it', { fromMs: NOON + 1 }, 2],
    ['up to a moment, without it', { toMs: NOON + 1 }, 1],
    ['between two', { fromMs: NOON + 1, toMs: NOON + 2 }, 1],
    ['never', { fromMs: NOON + 3 }, 0],
  ])('counts requests of %s', async (_name, range, requests) => {
    const directory = await forgeRequests([{}, { created_at: NOON + 1 }, { created_at: NOON + 2 }]);
    const report = await reconcileJournal(directory, { groupBy: 'model', ...range });
    expect(report.total.requests).toBe(requests);
    expect(report.groups).toHaveLength(requests === 0 ? 0 : 1);
  });

  it('lists the ten that differ most, the earlier of equals first', async () => {
    const differences = [1, 0, -5, 3, 8, 2, 7, -9, 4, 6, 10, 5, 12];
    const directory = await forgeRequests(differences.map((by) => ({ cost: 20, upstream_cost: 20 - by })));
    const { requests } = await reconcileJournal(directory, { groupBy: 'model' });
    expect(requests.map(({ oursNano, theirsNano }) => oursNano - theirsNano)).toEqual([
      12, 10, -9, 8, 7, 6, -5, 5, 4, 3,
    ]);
  });

  it('loses no nano-dollar, however large the sums', async () => {
    const cost = Number.MAX_SAFE_INTEGER;
    const directory = await forgeRequests([
      { cost, upstream_cost: cost },
      { cost, upstream_cost: cost - 1 },
      { cost, upstream_cost: null },
    ]);
    const { total } = await reconcileJournal(directory, { groupBy: 'model' });
    expect(total).toMatchObject({ ours: BigInt(cost) * 2n, theirs: BigInt(cost) * 2n - 1n, silentOurs: BigInt(cost) });
  });

  it('adds up to the same by whatever it groups', async () => {
    const entry = fc.record({
      model: fc.constantFrom('a', 'b', null),
      upstream: fc.constantFrom('one', 'two', null),
      created_at: fc.integer({ min: NOON, max: NOON + 3 * DAY_MS }),
      cost: fc.nat(1_000),
      upstream_cost: fc.option(fc.nat(1_000)),
    });
    const check = async (entries: readonly Partial<UsageEntry>[]): Promise<void> => {
      const directory = await forgeRequests(entries);
      for (const groupBy of ['model', 'upstream', 'day'] as const) {
        const { total, groups } = await reconcileJournal(directory, { groupBy });
        const ours = groups.reduce((sum, group) => sum + group.ours + group.silentOurs, 0n);
        expect(ours).toBe(entries.reduce((sum, { cost = 0 }) => sum + BigInt(cost), 0n));
        expect(total.ours + total.silentOurs).toBe(ours);
        expect(groups.reduce((sum, group) => sum + group.theirs, 0n)).toBe(total.theirs);
        expect(groups.reduce((sum, { compared, silent }) => sum + compared + silent, 0)).toBe(entries.length);
      }
    };
    await fc.assert(fc.asyncProperty(fc.array(entry, { maxLength: 12 }), check), { numRuns: 20 });
  });

  it('takes figures it can make nothing of as none', async () => {
    const directory = await forgeRequests([{ cost: 3 }]);
    const text = makeSettle('req_9', 0, { request_id: 'req_9' });
    const { upstream_cost: _cost, anomalies: _anomalies, ...entry } = text.entry;
    await forgeJournal(directory, [[{ ...text, entry: JSON.parse(JSON.stringify(entry)) }]]);
    const { total } = await reconcileJournal(directory, { groupBy: 'model' });
    expect(total).toMatchObject({ requests: 1, compared: 0, silent: 1 });
  });

  it('refuses a damaged journal', async () => {
    const directory = await makeDirectory();
    await forgeJournal(directory, [[makeGrant(1)], []]);
    await writeFile(join(directory, '000000000001.ndjson'), 'nothing\n');
    await expect(reconcileJournal(directory, { groupBy: 'day' })).rejects.toMatchObject({ exitCode: 78 });
  });
});

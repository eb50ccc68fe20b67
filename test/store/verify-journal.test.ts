// The proof itself: it must find what the ledger would never write.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { LedgerRecord } from '../../src/ledger/records.ts';
import { encodeLine, FIRST_PREV } from '../../src/store/journal-format.ts';
import { verifyJournal } from '../../src/store/verify-journal.ts';
import { makeDirectory, openStore } from './fixtures/data-directory.ts';
import { makeGrant, makeHold, makeHoldRequest, makeSettle, NOON } from './fixtures/records.ts';

/** Writes any records as a journal with a right chain. */
async function forge(directory: string, records: readonly LedgerRecord[], tail = ''): Promise<void> {
  let text = '';
  let prev = FIRST_PREV;
  const header = { type: 'segment', format: 1, segment: 1, at: NOON } as const;
  for (const [index, record] of [header, ...records].entries()) {
    const { line, hash } = encodeLine(record, index + 1, prev);
    text += `${line}\n`;
    prev = hash;
  }
  await writeFile(join(directory, '000000000001.ndjson'), text + tail);
}

describe('verifyJournal', () => {
  it('finds a journal in use in order, and adds it up', async () => {
    const directory = await makeDirectory();
    const { ledger } = await openStore(directory);
    await ledger.grant(makeGrant(100));
    await ledger.hold(makeHoldRequest('req_1', 60));
    await ledger.settle(makeSettle('req_1', 25));
    await ledger.hold(makeHoldRequest('req_2', 10));
    expect(await verifyJournal(join(directory, 'journal'))).toEqual({
      ok: true,
      lines: 5,
      segments: 1,
      workspaces: [{ workspaceId: 'ws_1', grantedNano: 100, chargedNano: 25, heldNano: 10, entries: 1 }],
      openHolds: 1,
      torn: null,
      damage: null,
      problems: [],
    });
  });

  it('takes a torn tail as in order, and reports it', async () => {
    const directory = await makeDirectory();
    await forge(directory, [makeGrant(1)], 'half');
    expect(await verifyJournal(directory)).toMatchObject({ ok: true, torn: { bytes: 4, seq: 3 } });
  });

  it('reports damage with its place, and what it had read until then', async () => {
    const directory = await makeDirectory();
    await forge(directory, [makeGrant(1)], 'half\n');
    await writeFile(join(directory, '000000000002.ndjson'), '');
    expect(await verifyJournal(directory)).toMatchObject({ ok: false, lines: 2, damage: { seq: 3, exitCode: 78 } });
  });

  it.each<[string, readonly LedgerRecord[], RegExp]>([
    ['a hold beyond the balance', [makeGrant(5), makeHold('req_1', 6)], /^record 3: ws_1 is below zero$/],
    ['two settlements', [makeSettle('req_1', 0), makeSettle('req_1', 0)], /ends twice/],
    ['two holds', [makeGrant(5), makeHold('req_1', 1), makeHold('req_1', 1)], /second hold/],
    ['a charge without a hold', [makeGrant(5), makeSettle('req_1', 1)], /more than was held/],
    ['a charge over the hold', [makeGrant(5), makeHold('req_1', 1), makeSettle('req_1', 2)], /more than was held/],
    ['a grant given twice', [makeGrant(5), makeGrant(5)], /there twice/],
    ['an entry that costs something else', [makeSettle('req_1', 0, { cost: 1 })], /another cost/],
    [
      'a settlement elsewhere',
      [makeGrant(5), makeHold('req_1', 1), { ...makeSettle('req_1', 1), workspaceId: 'ws_2' }],
      /another workspace/,
    ],
  ])('finds %s', async (_name, records, problem) => {
    const directory = await makeDirectory();
    await forge(directory, records);
    const report = await verifyJournal(directory);
    expect(report.ok).toBe(false);
    expect(report.problems.some((each) => problem.test(each))).toBe(true);
  });

  it('finds nothing wrong where there is nothing', async () => {
    expect(await verifyJournal(join(await makeDirectory(), 'none'))).toMatchObject({ ok: true, lines: 0 });
  });
});

// The proof itself: it must find what the ledger would never write, and nothing else.
import { readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LedgerRecord, ProgressRecord } from '../../src/ledger/records.ts';
import type { FileStore } from '../../src/store/file-store.ts';
import { verifyJournal } from '../../src/store/verify-journal.ts';
import { makeDirectory, openStore } from './fixtures/data-directory.ts';
import { forgeJournal } from './fixtures/forge-journal.ts';
import { makeGrant, makeHold, makeHoldRequest, makeSettle } from './fixtures/records.ts';

const FIRST_SEGMENT = '000000000001.ndjson';

function makeProgress(requestId: string, chargeNano: number, fields: Partial<ProgressRecord> = {}): ProgressRecord {
  return { ...makeSettle(requestId, chargeNano), type: 'progress', ...fields };
}

/** Two workspaces, requests of every kind of ending, one hold left open. */
async function useStore({ ledger }: FileStore): Promise<void> {
  await ledger.grant(makeGrant(100));
  await ledger.grant(makeGrant(50, { id: 'grant_2', workspaceId: 'ws_2' }));
  await ledger.hold(makeHoldRequest('req_1', 60));
  ledger.progress(makeProgress('req_1', 5));
  await ledger.settle(makeSettle('req_1', 25));
  await ledger.settle(makeSettle('req_refused', 0));
  await ledger.hold(makeHoldRequest('req_2', 10));
  ledger.progress(makeProgress('req_2', 3));
  await ledger.hold(makeHoldRequest('req_3', 20, { workspaceId: 'ws_2', apiKeyId: 'key_2' }));
  await ledger.settle({ ...makeSettle('req_3', 20, { api_key_id: 'key_2' }), workspaceId: 'ws_2' });
}

describe('verifyJournal', () => {
  it('finds a journal in use in order, and adds it up', async () => {
    const directory = await makeDirectory();
    await useStore(await openStore(directory));
    const report = await verifyJournal(join(directory, 'journal'), { index: join(directory, 'index') });
    expect(report).toMatchObject({
      ok: true,
      segments: 1,
      firstSegment: 1,
      openHolds: 1,
      lateProgress: 0,
      torn: null,
      damage: null,
      problems: [],
      indexFaults: [],
      first: null,
    });
    expect(report.workspaces).toEqual([
      { workspaceId: 'ws_1', grantedNano: 100, chargedNano: 25, heldNano: 10, entries: 2 },
      { workspaceId: 'ws_2', grantedNano: 50, chargedNano: 20, heldNano: 0, entries: 1 },
    ]);
  });

  it('agrees with the ledger over many segments, and changes no file', async () => {
    const directory = await makeDirectory();
    const store = await openStore(directory, { journalSegmentBytesMax: 4_000 });
    const { ledger } = store;
    await ledger.grant(makeGrant(100_000));
    for (let number = 0; number < 40; number += 1) {
      await ledger.hold(makeHoldRequest(`req_${number}`, 100 + number));
      if (number % 7 !== 0) await ledger.settle(makeSettle(`req_${number}`, number));
    }
    // Whatever is done to old segments is then over.
    await store.close();
    const before = await filesOf(join(directory, 'journal'));
    const report = await verifyJournal(join(directory, 'journal'), { index: join(directory, 'index') });
    expect(report.first).toBe(null);
    expect(report.segments).toBeGreaterThan(3);
    const balance = ledger.balance('ws_1');
    expect(report.workspaces).toEqual([{ workspaceId: 'ws_1', ...balance, entries: 34 }]);
    expect(report.openHolds).toBe(6);
    expect(await filesOf(join(directory, 'journal'))).toEqual(before);
  });

  it('takes a torn tail as in order, and reports it', async () => {
    const directory = await makeDirectory();
    await forgeJournal(directory, [[makeGrant(1)]], 'half');
    expect(await verifyJournal(directory)).toMatchObject({ ok: true, torn: { bytes: 4, seq: 3 }, first: null });
  });

  it('takes every cut through the last record as a torn tail', async () => {
    const directory = await makeDirectory();
    await forgeJournal(directory, [[makeGrant(5), makeHold('req_1', 2)]]);
    const file = join(directory, FIRST_SEGMENT);
    const text = await readFile(file, 'utf8');
    const lastAt = text.lastIndexOf('\n', text.length - 2) + 1;
    for (let length = text.length - 1; length > lastAt; length -= 7) {
      await truncate(file, length);
      expect(await verifyJournal(directory)).toMatchObject({
        ok: true,
        torn: { offset: lastAt, bytes: length - lastAt },
      });
    }
  });

  it('reports damage with its place, and what it had read until then', async () => {
    const directory = await makeDirectory();
    await forgeJournal(directory, [[makeGrant(1)], []]);
    await writeFile(join(directory, FIRST_SEGMENT), `${await readFile(join(directory, FIRST_SEGMENT), 'utf8')}half\n`);
    const report = await verifyJournal(directory);
    expect(report).toMatchObject({ ok: false, lines: 2, damage: { seq: 3, exitCode: 78 } });
    expect(report.first).toMatchObject({ file: join(directory, FIRST_SEGMENT), record: 3 });
    expect(report.first?.reason).toBe('the checksum is wrong, and a segment follows');
  });

  it('finds any flipped bit before the last record', async () => {
    const directory = await makeDirectory();
    const records = [makeGrant(50), makeHold('req_1', 10), makeSettle('req_1', 4), makeHold('req_2', 3)];
    await forgeJournal(directory, [records]);
    const file = join(directory, FIRST_SEGMENT);
    const whole = await readFile(file);
    const lastAt = whole.lastIndexOf(10, whole.length - 2) + 1;
    const flip = async (byte: number, bit: number): Promise<void> => {
      const damaged = Buffer.from(whole);
      damaged[byte] = (damaged[byte] ?? 0) ^ (1 << bit);
      await writeFile(file, damaged);
      const { ok, first } = await verifyJournal(directory);
      expect(ok).toBe(false);
      expect(first?.offset).toBeLessThanOrEqual(byte);
    };
    await fc.assert(fc.asyncProperty(fc.nat(lastAt - 1), fc.nat(7), flip), { numRuns: 150 });
  });

  it('finds a segment that is missing between two', async () => {
    const directory = await makeDirectory();
    await forgeJournal(directory, [[makeGrant(1)], [], []]);
    await rm(join(directory, '000000000002.ndjson'));
    expect((await verifyJournal(directory)).first).toEqual({
      file: join(directory, '000000000002.ndjson'),
      offset: null,
      record: null,
      reason: 'the segment is missing',
    });
  });

  it('finds that the beginning is missing', async () => {
    const directory = await makeDirectory();
    await forgeJournal(directory, [[makeGrant(1)], [makeGrant(1, { id: 'grant_2' })]]);
    await rm(join(directory, FIRST_SEGMENT));
    expect((await verifyJournal(directory)).ok).toBe(false);
  });

  const HELD = [makeGrant(5), makeHold('req_1', 3)];
  it.each<[string, readonly LedgerRecord[], RegExp]>([
    ['a hold beyond the balance', [makeGrant(5), makeHold('req_1', 6)], /^record 3: ws_1 is below zero$/],
    ['holds beyond it together', [...HELD, makeHold('req_2', 3)], /^record 4: ws_1 is below zero$/],
    ['credits that came too late', [makeHold('req_1', 5), makeGrant(5)], /^record 2: ws_1 is below zero$/],
    ['two settlements', [makeSettle('req_1', 0), makeSettle('req_1', 0)], /^record 3: the request req_1 ends twice$/],
    ['a charge twice', [...HELD, makeSettle('req_1', 1), makeSettle('req_1', 1)], /ends twice/],
    ['two holds', [makeGrant(5), makeHold('req_1', 1), makeHold('req_1', 1)], /second hold/],
    ['a hold after the end', [...HELD, makeSettle('req_1', 1), makeHold('req_1', 1)], /^record 5: .*second hold/],
    ['a charge without a hold', [makeGrant(5), makeSettle('req_1', 1)], /is charged more than was held/],
    ['a charge over the hold', [...HELD, makeSettle('req_1', 4)], /is charged more than was held/],
    ['a grant given twice', [makeGrant(5), makeGrant(5)], /^record 3: the grant grant_1 is there twice$/],
    ['an entry that costs something else', [makeSettle('req_1', 0, { cost: 1 })], /another cost/],
    ['an entry of another request', [makeSettle('req_1', 0, { request_id: 'req_2' })], /is of another request/],
    ['a charge to another key', [...HELD, makeSettle('req_1', 1, { api_key_id: 'key_2' })], /another API key/],
    ['a settlement elsewhere', [...HELD, { ...makeSettle('req_1', 1), workspaceId: 'ws_2' }], /another workspace/],
    ['progress without a hold', [makeGrant(5), makeProgress('req_1', 0)], /progress without a hold/],
    ['progress over the hold', [...HELD, makeProgress('req_1', 4)], /has progress of more than was held/],
    ['progress elsewhere', [...HELD, makeProgress('req_1', 1, { workspaceId: 'ws_2' })], /another workspace/],
    [
      'more credits than can be counted',
      [makeGrant(Number.MAX_SAFE_INTEGER), makeGrant(1, { id: 'grant_2' })],
      /more credits than can be counted/,
    ],
  ])('finds %s', async (_name, records, problem) => {
    const directory = await makeDirectory();
    await forgeJournal(directory, [records]);
    const report = await verifyJournal(directory);
    expect(report).toMatchObject({ ok: false, damage: null, lines: records.length + 1 });
    expect(report.problems.some((each) => problem.test(each))).toBe(true);
    expect(report.first?.file).toBe(join(directory, FIRST_SEGMENT));
    expect(`record ${report.first?.record}: ${report.first?.reason}`).toBe(report.problems[0]);
    const text = await readFile(join(directory, FIRST_SEGMENT), 'utf8');
    expect(text.slice(report.first?.offset ?? 0)).toContain(`"seq":${report.first?.record},`);
  });

  it.each<[string, readonly LedgerRecord[], number]>([
    ['a refused request', [makeSettle('req_1', 0)], 0],
    [
      'progress up to the hold',
      [...HELD, makeProgress('req_1', 1), makeProgress('req_1', 3), makeSettle('req_1', 2)],
      0,
    ],
    ['progress written late', [...HELD, makeSettle('req_1', 2), makeProgress('req_1', 3)], 1],
    ['all credits held, and charged', [makeGrant(5), makeHold('req_1', 5), makeSettle('req_1', 5)], 0],
    ['credits freed and held again', [...HELD, makeSettle('req_1', 0), makeHold('req_2', 5)], 0],
  ])('finds nothing wrong with %s', async (_name, records, lateProgress) => {
    const directory = await makeDirectory();
    await forgeJournal(directory, [records]);
    expect(await verifyJournal(directory)).toMatchObject({ ok: true, problems: [], lateProgress });
  });

  it('names the broken rule that comes before the damage as the first', async () => {
    const directory = await makeDirectory();
    await forgeJournal(directory, [[makeGrant(5), makeGrant(5), makeGrant(1, { id: 'grant_3' })], []]);
    const file = join(directory, FIRST_SEGMENT);
    await writeFile(file, (await readFile(file, 'utf8')).replace('grant_3', 'grant_4'));
    const report = await verifyJournal(directory);
    expect(report.damage).toMatchObject({ seq: 4 });
    expect(report.first).toMatchObject({ record: 3, reason: 'the grant grant_1 is there twice' });
  });

  it('keeps the list of problems short', async () => {
    const directory = await makeDirectory();
    await forgeJournal(directory, [Array.from({ length: 300 }, () => makeGrant(1))]);
    expect((await verifyJournal(directory)).problems).toHaveLength(100);
  });

  it('finds nothing wrong where there is nothing', async () => {
    const missing = join(await makeDirectory(), 'none');
    expect(await verifyJournal(missing)).toMatchObject({ ok: true, lines: 0, firstSegment: 0 });
  });

  it('tells each record as it comes', async () => {
    const directory = await makeDirectory();
    await forgeJournal(directory, [[makeGrant(1)], [makeGrant(1, { id: 'grant_2' })]]);
    const seen: number[] = [];
    await verifyJournal(directory, { onRecord: ({ seq }) => seen.push(seq) });
    expect(seen).toEqual([1, 2, 3, 4]);
  });
});

async function filesOf(directory: string): Promise<readonly string[]> {
  const names = await readdir(directory);
  const files = names.sort().map(async (name) => `${name} ${(await stat(join(directory, name))).mtimeMs}`);
  return Promise.all(files);
}

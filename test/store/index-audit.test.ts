// What is kept beside the journal is held against it: any difference is found, and none is seen where there is none.
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LedgerFold } from '../../src/ledger/ledger-fold.ts';
import type { LedgerRecord } from '../../src/ledger/records.ts';
import { writeCarry } from '../../src/store/carry.ts';
import { realDisk } from '../../src/store/disk.ts';
import { encodeLine, type WrittenRecord } from '../../src/store/journal-format.ts';
import { type JournalPosition, readJournal } from '../../src/store/journal-reader.ts';
import { readSnapshot, type Snapshot, writeSnapshot } from '../../src/store/snapshot.ts';
import { SnapshotKeeper } from '../../src/store/snapshot-keeper.ts';
import { UsageChunk } from '../../src/store/usage-chunk.ts';
import { UsageIndex } from '../../src/store/usage-index.ts';
import { verifyJournal } from '../../src/store/verify-journal.ts';
import { makeDirectory } from './fixtures/data-directory.ts';
import { forgeJournal } from './fixtures/forge-journal.ts';
import { DAY_MS, makeGrant, makeHold, makeSettle, NOON } from './fixtures/records.ts';

const RECORDS: readonly LedgerRecord[] = [
  makeGrant(100),
  makeHold('req_1', 10),
  makeSettle('req_1', 4),
  makeSettle('req_2', 0, { model: null, virtual_model: null, task_type: null, status: 402 }),
  makeHold('req_3', 20, { apiKeyId: 'key_2' }),
  makeSettle('req_3', 20, { api_key_id: 'key_2', created_at: NOON + DAY_MS }),
  // Forgotten once its request has ended.
  makeHold('req_5', 6),
  { ...makeSettle('req_5', 2), type: 'progress' },
  makeSettle('req_5', 0),
  makeHold('req_4', 6),
  { ...makeSettle('req_4', 2), type: 'progress' },
];
const LATER: readonly LedgerRecord[] = [makeSettle('req_4', 3), makeGrant(7, { id: 'grant_2' })];

type Places = { readonly journal: string; readonly index: string };
type Folded = {
  readonly fold: LedgerFold;
  readonly usage: UsageIndex;
  readonly position: JournalPosition;
  readonly crc: number;
};

async function fold(journal: string, before?: number): Promise<Folded> {
  const ledger = new LedgerFold();
  const usage = new UsageIndex();
  const { position, segmentCrc } = await readJournal({
    directory: journal,
    ...(before !== undefined && { before }),
    onLine: ({ record }, place) => {
      if (record.type === 'segment' || record.type === 'carry' || record.type === 'foreign') return;
      ledger.apply(record);
      if (record.type === 'settle') usage.add(record.workspaceId, place, record.entry);
    },
  });
  return { fold: ledger, usage, position, crc: segmentCrc };
}

/** A journal, a snapshot of it as the daemon writes it, and what came later. */
async function makeIndexed(): Promise<Places> {
  const directory = await makeDirectory();
  const places = { journal: join(directory, 'journal'), index: join(directory, 'index') };
  await forgeJournal(places.journal, [RECORDS.slice(0, 4), RECORDS.slice(4)]);
  const { fold: ledger, usage, position, crc } = await fold(places.journal);
  await mkdir(places.index);
  const keeper = new SnapshotKeeper({
    disk: realDisk,
    journalDirectory: places.journal,
    indexDirectory: places.index,
    capture: () => ({ position, segmentAt: NOON, segmentCrc: crc, ledger: ledger.state(), usage }),
    last: null,
    onNotice: (notice) => expect.fail(notice),
  });
  await keeper.write();
  await forgeJournal(places.journal, [RECORDS.slice(0, 4), [...RECORDS.slice(4), ...LATER]]);
  return places;
}

async function change({ index }: Places, edit: (snapshot: Snapshot) => Partial<Snapshot>): Promise<void> {
  const snapshot = await readSnapshot(index);
  if (snapshot === null) expect.fail('there is no snapshot');
  await writeSnapshot(realDisk, index, { ...snapshot, ...edit(snapshot) });
}

async function chunkFile({ index }: Places): Promise<string> {
  const name = (await readdir(index)).find((file) => file.startsWith('usage-'));
  return join(index, name ?? 'none');
}

async function faultsOf({ journal, index }: Places): Promise<readonly string[]> {
  const report = await verifyJournal(journal, { index });
  expect(report.ok).toBe(report.indexFaults.length === 0);
  expect(report).toMatchObject({ damage: null, problems: [] });
  expect(report.first?.reason).toBe(report.indexFaults[0]?.reason);
  return report.indexFaults.map(({ reason }) => reason);
}

describe('the index', () => {
  it('is in order as the daemon writes it, with records after it', async () => {
    expect(await faultsOf(await makeIndexed())).toEqual([]);
  });

  it('may be missing', async () => {
    const places = await makeIndexed();
    await rm(places.index, { recursive: true });
    expect(await faultsOf(places)).toEqual([]);
  });

  const edited = (fields: Partial<Snapshot['ledger']>) => (snapshot: Snapshot) => ({
    ledger: { ...snapshot.ledger, ...fields },
  });
  it.each<[string, (snapshot: Snapshot) => Partial<Snapshot>, RegExp]>([
    [
      'a balance',
      edited({ workspaces: [{ id: 'ws_1', grantedNano: 100, chargedNano: 23 }] }),
      /^the sums of workspace ws_1: granted 100, charged 23 .*in the journal: granted 100, charged 24 /,
    ],
    ['a workspace too few', edited({ workspaces: [] }), /workspace ws_1: none, and/],
    [
      'the spending of a key',
      edited({ keys: [] }),
      /the spending of key key_1: none, and in the journal: 4 nano-dollars/,
    ],
    ['an open hold too few', edited({ holds: [] }), /the open hold req_4: none/],
    [
      'an open hold too many',
      edited({ holds: [makeHold('req_4', 6), makeHold('req_6', 1)] }),
      /req_6: .*journal: none/,
    ],
    ['the amount of a hold', edited({ holds: [makeHold('req_4', 7)] }), /the open hold req_4: /],
    ['progress', edited({ progress: [] }), /the progress of req_4: none/],
    ['a grant too few', edited({ grantIds: [] }), /the grant grant_1: none, and in the journal: given/],
    ['a grant too many', edited({ grantIds: ['grant_1', 'grant_2'] }), /the grant grant_2: given, and/],
    ['an end too many', edited({ settledIds: ['req_4'] }), /the end of req_4/],
    ['a name', ({ strings }) => ({ strings: strings.map((name) => `${name}x`) }), /^a row is .*"ws_1x".*"ws_1",/],
    ['chunks', () => ({ chunks: [] }), /fewer rows than the journal has requests/],
    ['the place', ({ position }) => ({ position: { ...position, offset: 7 } }), /its place in the journal/],
    ['the chain', ({ position }) => ({ position: { ...position, prev: 'A' } }), /made from another journal/],
    [
      'the length',
      ({ position }) => ({ position: { ...position, nextSeq: 99 } }),
      /^it was made when the journal had 98 records, which/,
    ],
  ])('is found out in %s', async (_name, edit, reason) => {
    const places = await makeIndexed();
    // Chunks that the snapshot does not name are removed when it is written.
    await change(places, edit);
    const faults = await faultsOf(places);
    expect(faults.some((fault) => reason.test(fault))).toBe(true);
  });

  it('is found out in any column of a row, once', async () => {
    const places = await makeIndexed();
    const file = await chunkFile(places);
    const whole = await readFile(file);
    const { capacity: _capacity, ...columns } = UsageChunk.decode(Buffer.from(whole)).columns;
    for (const name of Object.keys(columns)) {
      const chunk = UsageChunk.decode(Buffer.from(whole));
      const column = Object.entries(chunk.columns).find(([key]) => key === name)?.[1];
      if (typeof column !== 'object') expect.fail(name);
      column[1] = (column[1] ?? 0) + 1;
      await writeFile(file, chunk.encode());
      const faults = await faultsOf(places);
      expect([name, faults.length, faults[0]?.slice(0, 9)]).toEqual([name, 1, 'a row is ']);
    }
  });

  it('is found out with a row too many', async () => {
    const places = await makeIndexed();
    const file = await chunkFile(places);
    const chunk = UsageChunk.decode(await readFile(file));
    const names = { workspace: 1, key: 1, model: 1, virtualModel: 1, task: 1 };
    chunk.add({ seq: 99, segment: 2, offset: 0, bytes: 1 }, makeSettle('req_9', 0).entry, names);
    await writeFile(file, chunk.encode());
    expect(await faultsOf(places)).toEqual(['there are rows of requests that the journal has not']);
  });

  it('is found out with a damaged or a missing chunk, which is named', async () => {
    const places = await makeIndexed();
    const file = await chunkFile(places);
    const whole = await readFile(file);
    await writeFile(file, whole.subarray(0, whole.length - 1));
    expect(await verifyJournal(places.journal, places)).toMatchObject({ first: { file } });
    await rm(file);
    expect(await verifyJournal(places.journal, places)).toMatchObject({
      first: { file, reason: 'the file is missing' },
    });
  });

  it('is found out with a damaged snapshot', async () => {
    const places = await makeIndexed();
    const [name = ''] = (await readdir(places.index)).filter((file) => file.startsWith('snapshot'));
    const file = join(places.index, name);
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replace('"grant_1"', '"grant_9"'));
    expect(await verifyJournal(places.journal, places)).toMatchObject({ ok: false, first: { file } });
  });

  it('comes after damage of the journal itself', async () => {
    const places = await makeIndexed();
    await change(places, edited({ grantIds: [] }));
    const file = join(places.journal, '000000000002.ndjson');
    await writeFile(file, (await readFile(file, 'utf8')).replace('req_3', 'req_9'));
    expect((await verifyJournal(places.journal, places)).first?.file).toBe(file);
  });
});

/** The first segment has expired: its carry is there, and the record of it. */
async function makeExpired(charged?: number): Promise<Places> {
  const directory = await makeDirectory();
  const places = { journal: join(directory, 'journal'), index: join(directory, 'index') };
  const parts: readonly (readonly WrittenRecord[])[] = [RECORDS.slice(0, 4), RECORDS.slice(4)];
  await forgeJournal(places.journal, parts);
  const { fold: ledger, usage, position } = await fold(places.journal, 2);
  const state = ledger.state();
  const [workspace] = state.workspaces;
  if (workspace === undefined) expect.fail('there is no workspace');
  const workspaces = [{ ...workspace, chargedNano: charged ?? workspace.chargedNano }];
  const rollup = usage.rollupBefore(2);
  await writeCarry(
    { position: { ...position, segment: 2, offset: 0 }, ledger: { ...state, workspaces }, rollup },
    {
      disk: realDisk,
      directory: places.journal,
      pause: async () => undefined,
      record: (digest) => appendCarry(places.journal, digest),
    },
  );
  await rm(join(places.journal, '000000000001.ndjson'));
  return places;
}

async function appendCarry(journal: string, digest: string): Promise<void> {
  const file = join(journal, '000000000002.ndjson');
  const text = await readFile(file, 'utf8');
  const { nextSeq, prev } = (await fold(journal)).position;
  const { line } = encodeLine({ type: 'carry', at: NOON, segment: 2, digest }, nextSeq, prev);
  await writeFile(file, `${text}${line}\n`);
}

describe('a journal whose beginning has expired', () => {
  it('is summed up from what was carried over', async () => {
    const { journal } = await makeExpired();
    const report = await verifyJournal(journal);
    expect(report).toMatchObject({ ok: true, firstSegment: 2, segments: 1, openHolds: 1, first: null });
    expect(report.workspaces).toEqual([
      { workspaceId: 'ws_1', grantedNano: 100, chargedNano: 24, heldNano: 6, entries: 4 },
    ]);
  });

  it('is damaged where the carry does not add up in itself', async () => {
    const { journal } = await makeExpired(3);
    const { first } = await verifyJournal(journal);
    expect(first?.reason).toBe('charges ws_1 3 nano-dollars, but its usage is 4');
  });

  it('is damaged where the carry is', async () => {
    const { journal } = await makeExpired();
    const [name = ''] = (await readdir(journal)).filter((file) => file.startsWith('carry'));
    const file = join(journal, name);
    await writeFile(file, (await readFile(file, 'utf8')).replace('"grant_1"', '"grant_9"'));
    expect(await verifyJournal(journal)).toMatchObject({ ok: false, first: { file } });
  });
});

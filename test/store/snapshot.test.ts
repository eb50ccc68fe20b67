// A start from a snapshot gives what reading the whole journal gives, and a snapshot that doesn't fit is left aside.
import { cp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FileStore, FileStoreOptions } from '../../src/store/file-store.ts';
import { DamagedJournalError, errorCode } from '../../src/store/store-errors.ts';
import { verifyJournal } from '../../src/store/verify-journal.ts';
import { makeDirectory, openStore } from './fixtures/data-directory.ts';
import { FaultyDisk } from './fixtures/faulty-disk.ts';
import { DAY_MS, makeGrant, makeHold, makeHoldRequest, makeSettle, NOON } from './fixtures/records.ts';

const SNAPSHOT = join('index', 'snapshot.ndjson');

/** Grants, and requests of which every fifth stays open; then the process "dies": what is on disk is copied. */
async function fill(store: FileStore, count: number, first = 0): Promise<void> {
  await store.ledger.grant(makeGrant(1_000_000, { id: `grant_${first}` }));
  for (let n = first; n < first + count; n += 1) {
    await store.ledger.hold(makeHoldRequest(`req_${n}`, 100 + n));
    if (n % 5 !== 4) {
      await store.ledger.settle(makeSettle(`req_${n}`, n, { created_at: NOON + n * DAY_MS, model: `maker/m${n % 3}` }));
    }
  }
}

/** What a power cut would leave, near enough: tried again where a file went away under the copying. */
async function imageOf(directory: string): Promise<string> {
  for (;;) {
    const image = await makeDirectory();
    try {
      await cp(directory, image, { recursive: true, filter: (path) => !/\.(sock|tmp)$/.test(path) });
      return image;
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
    }
  }
}

/** All that can be asked of a ledger. */
async function answersOf({ ledger }: FileStore, requests: number) {
  const entries = await ledger.usage('ws_1', {}, 1_000, null);
  return {
    balance: ledger.balance('ws_1'),
    spent: (['total', 'day', 'month'] as const).map((period) => ledger.keySpentNano('key_1', period, NOON)),
    entries: entries.entries.map(({ id: _id, ...entry }) => entry),
    model: (await ledger.usage('ws_1', { model: 'maker/m1' }, 3, null)).entries.map((entry) => entry.request_id),
    sums: (['day', 'model', 'key', 'task', 'virtual_model'] as const).map((by) => ledger.usageSums('ws_1', by, {})),
    again: await Promise.all(
      Array.from({ length: requests }, (_, n) => ledger.settle(makeSettle(`req_${n}`, 0)).catch(String)),
    ),
  };
}

async function reopened(directory: string, options: Partial<FileStoreOptions> = {}): Promise<FileStore> {
  return openStore(directory, { onNotice: () => undefined, ...options });
}

describe('a start', () => {
  it('reads nothing again after a proper stop', async () => {
    const directory = await makeDirectory();
    const store = await openStore(directory, { onNotice: () => undefined });
    await fill(store, 40);
    await store.close();
    const { opening } = await reopened(directory);
    expect(opening).toMatchObject({ fromSnapshot: true, journalLines: 0, recoveredHolds: 8 });
  });

  it('reads only what came after the snapshot when the process was killed', async () => {
    const directory = await makeDirectory();
    const store = await openStore(directory, { snapshotEveryRecords: 20 });
    await fill(store, 40);
    await expect.poll(() => readdir(join(directory, 'index'))).toContain('snapshot.ndjson');
    const { opening } = await reopened(await imageOf(directory));
    expect(opening.fromSnapshot).toBe(true);
    expect(opening.journalLines).toBeLessThan(74);
  });

  it('gives the same answers as reading the whole journal, wherever the process stopped', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          before: fc.integer({ min: 0, max: 25 }),
          after: fc.integer({ min: 0, max: 25 }),
          every: fc.integer({ min: 1, max: 30 }),
          segmentBytesMax: fc.constantFrom(2_000, 10_000, 1_000_000),
        }),
        async ({ before, after, every, segmentBytesMax }) => {
          const directory = await makeDirectory();
          const options = { snapshotEveryRecords: every, journalSegmentBytesMax: segmentBytesMax };
          const first = await openStore(directory, options);
          await fill(first, before);
          await first.close();
          const second = await reopened(directory, options);
          await fill(second, after, before);
          const [image, bare] = [await imageOf(directory), await imageOf(directory)];
          await rm(join(bare, 'index'), { recursive: true });
          const [fast, slow] = [await reopened(image), await reopened(bare)];
          expect(fast.opening.fromSnapshot).toBe(true);
          expect(slow.opening.fromSnapshot).toBe(false);
          const requests = before + after;
          expect(await answersOf(fast, requests)).toEqual(await answersOf(slow, requests));
          for (const store of [second, fast, slow]) await store.close();
        },
      ),
      { numRuns: 15 },
    );
  });
});

it('leaves out a hold that is decided but not yet on disk', async () => {
  const directory = await makeDirectory();
  const disk = new FaultyDisk();
  const store = await openStore(directory, { disk, snapshotEveryRecords: 1 });
  await store.ledger.grant(makeGrant(1_000));
  await expect.poll(() => readdir(join(directory, 'index'))).toContain('snapshot.ndjson');
  let open: () => void = () => undefined;
  disk.gate = new Promise((resolve) => {
    open = resolve;
  });
  // The first hold is being written while the second is decided; the snapshot is of the moment between.
  const first = store.ledger.hold(makeHoldRequest('req_1', 100));
  await expect.poll(() => disk.writes).toBeGreaterThan(0);
  await new Promise((resolve) => setImmediate(resolve));
  const second = store.ledger.hold(makeHoldRequest('req_2', 10));
  open();
  disk.gate = null;
  await Promise.all([first, second]);
  await store.close();
  const [, body = ''] = (await readFile(join(directory, SNAPSHOT), 'utf8')).split('\n');
  expect(JSON.parse(body).ledger.holds.map(({ requestId }: { requestId: string }) => requestId)).toEqual([
    'req_1',
    'req_2',
  ]);
  const again = await reopened(directory);
  expect(again.opening).toMatchObject({ fromSnapshot: true, recoveredHolds: 2 });
  expect(again.ledger.balance('ws_1')).toEqual({ grantedNano: 1_000, chargedNano: 0, heldNano: 0 });
});

describe('a snapshot that does not fit', () => {
  async function stopped(): Promise<string> {
    const directory = await makeDirectory();
    const store = await openStore(directory, { onNotice: () => undefined, journalSegmentBytesMax: 8_000 });
    await fill(store, 30);
    await store.close();
    return directory;
  }

  const CASES: readonly (readonly [string, (directory: string) => Promise<unknown>])[] = [
    ['is missing', (directory) => rm(join(directory, SNAPSHOT))],
    ['is empty', (directory) => truncate(join(directory, SNAPSHOT), 0)],
    ['is cut', (directory) => truncate(join(directory, SNAPSHOT), 500)],
    ['has another content', (directory) => flip(join(directory, SNAPSHOT), 700)],
    ['is of a later format', (directory) => writeFile(join(directory, SNAPSHOT), '{"format":2,"digest":""}\n{}')],
    ['has lost its rows', (directory) => removeChunks(directory)],
    ['has damaged rows', async (directory) => flip(await chunkOf(directory), 300)],
  ];

  it.each(CASES)('because it %s is left aside, and the journal read', async (_why, harm) => {
    const directory = await stopped();
    const whole = await answersOf(await reopened(await imageOf(directory)), 30);
    await harm(directory);
    const notices: string[] = [];
    const store = await reopened(directory, { onNotice: (notice) => notices.push(notice) });
    expect(store.opening.fromSnapshot).toBe(false);
    expect(await answersOf(store, 30)).toEqual(whole);
    expect(notices.join()).toMatch(_why === 'is missing' ? /^settled/ : /the snapshot cannot be used/);
  });

  it('hides no damage of the journal that it covers', async () => {
    const directory = await stopped();
    const segments = (await readdir(join(directory, 'journal'))).filter((name) => /ndjson(\.gz)?$/.test(name)).sort();
    expect(segments.length).toBeGreaterThan(3);
    for (const name of segments) {
      const image = await imageOf(directory);
      await flip(join(image, 'journal', name), 400);
      await expect(openStore(image, { onNotice: () => undefined })).rejects.toThrow(DamagedJournalError);
    }
  });

  it('tells a last record that has changed from one that is cut short', async () => {
    const directory = await stopped();
    const last = (await readdir(join(directory, 'journal')))
      .filter((name) => name.endsWith('.ndjson'))
      .sort()
      .at(-1);
    const path = join(directory, 'journal', last ?? '');
    const { length } = await readFile(path);
    const [cut, changed] = [await imageOf(directory), await imageOf(directory)];
    await truncate(join(cut, 'journal', last ?? ''), length - 2);
    await flip(join(changed, 'journal', last ?? ''), length - 3);
    await expect(openStore(changed, { onNotice: () => undefined })).rejects.toThrow(/the bytes have changed/);
    const changedReport = await verifyJournal(join(changed, 'journal'), { index: join(changed, 'index') });
    expect(changedReport).toMatchObject({ ok: false, lostRecords: 0 });
    const cutReport = await verifyJournal(join(cut, 'journal'), { index: join(cut, 'index') });
    expect(cutReport).toMatchObject({ ok: true, lostRecords: 1 });
    expect((await reopened(cut)).opening.tornBytes).toBeGreaterThan(0);
  });

  it('because the journal has lost its end is left aside, and the loss is said', async () => {
    const directory = await makeDirectory();
    const store = await openStore(directory, { onNotice: () => undefined });
    await fill(store, 2);
    const image = await imageOf(directory);
    await fill(store, 5, 2);
    await store.close();
    await cp(join(directory, 'index'), join(image, 'index'), { recursive: true });
    const notices: string[] = [];
    const older = await reopened(image, { onNotice: (notice) => notices.push(notice) });
    expect(older.opening.fromSnapshot).toBe(false);
    expect(older.ledger.balance('ws_1').grantedNano).toBe(1_000_000);
    expect(notices.join()).toMatch(/the last 10 records that were once in the journal, from record 7 on, are gone/);
  });
});

it('keeps what was known to be delivered of an open hold', async () => {
  const directory = await makeDirectory();
  const store = await openStore(directory, { snapshotEveryRecords: 1 });
  await store.ledger.grant(makeGrant(1_000));
  await store.ledger.hold(makeHoldRequest('req_1', 100));
  const { at, requestId, workspaceId, chargeNano, entry } = makeSettle('req_1', 42, { output_tokens: 7 });
  store.ledger.progress({ type: 'progress', at, requestId, workspaceId, chargeNano, entry });
  await store.ledger.hold({ ...makeHoldRequest('req_2', 1), record: makeHold('req_2', 1) });
  await store.close();
  const notices: string[] = [];
  const again = await reopened(directory, { onNotice: (notice) => notices.push(notice) });
  expect(again.opening).toMatchObject({ fromSnapshot: true, recoveredHolds: 2 });
  expect(again.ledger.balance('ws_1')).toEqual({ grantedNano: 1_000, chargedNano: 42, heldNano: 0 });
  const { entries } = await again.ledger.usage('ws_1', {}, 10, null);
  const charged = entries.find((each) => each.request_id === 'req_1');
  expect(charged).toMatchObject({
    id: 'use_req_1',
    cost: 42,
    output_tokens: 7,
    settle_reason: 'recovered',
    status: 500,
  });
  expect(notices.join()).toContain('settled 2 holds that a stopped process left open: 1 charged');
  await again.close();
  const third = await reopened(directory);
  expect(third.opening.recoveredHolds).toBe(0);
  expect(third.ledger.balance('ws_1').chargedNano).toBe(42);
});

async function flip(path: string, offset: number): Promise<void> {
  const bytes = await readFile(path);
  const at = Math.min(offset, bytes.length - 1);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  await writeFile(path, bytes);
}

async function chunksOf(directory: string): Promise<readonly string[]> {
  const names = await readdir(join(directory, 'index'));
  return names.filter((name) => name.endsWith('.bin')).map((name) => join(directory, 'index', name));
}

async function chunkOf(directory: string): Promise<string> {
  const [path] = await chunksOf(directory);
  if (path === undefined) throw new Error('there is no chunk');
  return path;
}

async function removeChunks(directory: string): Promise<void> {
  for (const path of await chunksOf(directory)) await rm(path);
}

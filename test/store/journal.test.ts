// Group commit, segments and faults of the disk, on real files.
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { LedgerRecord } from '../../src/ledger/records.ts';
import { type Journal, type JournalOptions, openJournal } from '../../src/store/journal.ts';
import { readJournal } from '../../src/store/journal-reader.ts';
import { makeDirectory } from './fixtures/data-directory.ts';
import { FaultyDisk, systemError } from './fixtures/faulty-disk.ts';
import { DAY_MS, makeGrant, makeSettle, NOON } from './fixtures/records.ts';

type Setup = {
  journal: Journal;
  disk: FaultyDisk;
  directory: string;
  committed: number[];
  fatal: Error[];
  writable: boolean[];
};

async function setUp(options: Partial<JournalOptions> = {}): Promise<Setup> {
  const directory = options.directory ?? (await makeDirectory());
  const disk = new FaultyDisk();
  const setup = { disk, directory, committed: [] as number[], fatal: [] as Error[], writable: [] as boolean[] };
  const { position } = await readJournal({ directory, onLine: () => undefined });
  const journal = await openJournal({
    directory,
    position,
    segmentAt: NOON,
    segmentCrc: 0,
    now: () => NOON,
    onCommitted: (_record, place) => setup.committed.push(place.seq),
    onFatal: (error) => setup.fatal.push(error),
    onWritable: (writable) => setup.writable.push(writable),
    disk,
    probeIntervalMs: 5,
    ...options,
  });
  onTestFinished(() => journal.close());
  return { ...setup, journal };
}

const grant = (index: number) => makeGrant(1, { id: `grant_${index}` });

async function readIds(directory: string): Promise<readonly string[]> {
  const ids: string[] = [];
  await readJournal({
    directory,
    onLine: ({ record }) => {
      if (record.type === 'grant') ids.push(record.id);
      if (record.type === 'settle') ids.push(record.requestId);
    },
  });
  return ids;
}

/** A promise and the function that resolves it. */
function makeGate(): { closed: Promise<void>; open: () => void } {
  let open: () => void = () => undefined;
  const closed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { closed, open };
}

describe('append', () => {
  it('resolves with the number of the record, after the header', async () => {
    const { journal, directory, committed } = await setUp();
    expect(await journal.append(grant(1))).toBe(2);
    expect(await journal.append(grant(2))).toBe(3);
    expect(committed).toEqual([2, 3]);
    expect(await readIds(directory)).toEqual(['grant_1', 'grant_2']);
  });

  it('does not resolve before the data is synced', async () => {
    const { journal, disk, committed } = await setUp();
    const gate = makeGate();
    disk.gate = gate.closed;
    let resolved = false;
    const append = journal.append(grant(1)).then(() => {
      resolved = true;
    });
    while (disk.datasyncs < 2) await new Promise((resolve) => setImmediate(resolve));
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect({ resolved, committed }).toEqual({ resolved: false, committed: [] });
    gate.open();
    await append;
    expect(committed).toEqual([2]);
  });

  it('writes all that arrived meanwhile with one write and one sync', async () => {
    const { journal, disk } = await setUp();
    const gate = makeGate();
    disk.gate = gate.closed;
    const before = { writes: disk.writes, datasyncs: disk.datasyncs };
    const first = journal.append(grant(0));
    while (disk.datasyncs === before.datasyncs) await new Promise((resolve) => setImmediate(resolve));
    const others = Array.from({ length: 500 }, (_, index) => journal.append(grant(index + 1)));
    gate.open();
    await Promise.all([first, ...others]);
    expect(disk.writes - before.writes).toBe(2);
    expect(disk.datasyncs - before.datasyncs).toBe(2);
  });

  it('goes on until a short write is whole', async () => {
    const { journal, disk, directory } = await setUp();
    disk.writeBytesMax = 7;
    await Promise.all([journal.append(grant(1)), journal.append(grant(2))]);
    expect(await readIds(directory)).toEqual(['grant_1', 'grant_2']);
  });

  it('goes on where an earlier writer ended', async () => {
    const { journal, directory } = await setUp();
    await journal.append(grant(1));
    await journal.close();
    const again = await setUp({ directory });
    expect(await again.journal.append(grant(2))).toBe(3);
    expect(await readIds(directory)).toEqual(['grant_1', 'grant_2']);
  });

  it('makes files that only their owner may read', async () => {
    const { journal, directory } = await setUp();
    await journal.append(grant(1));
    for (const name of await readdir(directory)) {
      expect([name, (await stat(join(directory, name))).mode & 0o777]).toEqual([name, 0o600]);
    }
  });
});

describe('segments', () => {
  const segmentsIn = async (directory: string) => (await readdir(directory)).filter((name) => name.endsWith('.ndjson'));

  it('change when they are full, and the chain runs on', async () => {
    const { journal, directory } = await setUp({ segmentBytesMax: 1_000 });
    for (let index = 0; index < 30; index += 1) await journal.append(grant(index));
    const names = await segmentsIn(directory);
    expect(names.length).toBeGreaterThan(3);
    expect(names[0]).toBe('000000000001.ndjson');
    for (const [index, name] of names.entries()) {
      const [header] = (await readFile(join(directory, name), 'utf8')).split('\n');
      expect(JSON.parse(header ?? '')).toMatchObject({ type: 'segment', format: 1, segment: index + 1, at: NOON });
    }
    expect(await readIds(directory)).toHaveLength(30);
  });

  it('change with the UTC day, and not when the clock goes back', async () => {
    let now = NOON;
    const { journal, directory } = await setUp({ now: () => now });
    await journal.append(grant(1));
    now = NOON + DAY_MS;
    await journal.append(grant(2));
    now = NOON;
    await journal.append(grant(3));
    expect(await segmentsIn(directory)).toHaveLength(2);
  });

  it('change at the first record after a start on a later day', async () => {
    const { journal, directory } = await setUp();
    await journal.append(grant(1));
    await journal.close();
    const again = await setUp({ directory, segmentAt: NOON, now: () => NOON + DAY_MS });
    await again.journal.append(grant(2));
    expect(await segmentsIn(directory)).toHaveLength(2);
    expect(await readIds(directory)).toEqual(['grant_1', 'grant_2']);
  });
});

describe('a full disk', () => {
  const unavailable = { code: 'STORAGE_UNAVAILABLE', retryable: true };

  it.each([0, 1, 50, 130, 200])('rejects the batch and leaves no trace of it, %d bytes into it', async (bytes) => {
    const { journal, disk, directory, committed, fatal, writable } = await setUp();
    await journal.append(grant(1));
    disk.spaceBytes = bytes;
    const results = await Promise.allSettled([journal.append(grant(2)), journal.append(grant(3))]);
    for (const result of results) expect(result).toMatchObject({ status: 'rejected', reason: unavailable });
    expect(journal.writable).toBe(false);
    expect(committed).toEqual([2]);
    expect((await readJournal({ directory, onLine: () => undefined })).torn).toBeNull();
    expect(await readIds(directory)).toEqual(['grant_1']);
    expect({ fatal, writable }).toEqual({ fatal: [], writable: [false] });
  });

  it('refuses new records at once, without trying', async () => {
    const { journal, disk } = await setUp({ probeIntervalMs: 60_000 });
    disk.spaceBytes = 0;
    await expect(journal.append(grant(1))).rejects.toMatchObject(unavailable);
    const { writes } = disk;
    await expect(journal.append(grant(2))).rejects.toMatchObject(unavailable);
    expect(disk.writes).toBe(writes);
  });

  it('still takes settlements, into the reserve', async () => {
    const { journal, disk, directory } = await setUp({ probeIntervalMs: 60_000 });
    await journal.append(grant(1));
    disk.spaceBytes = 0;
    const [held, settled] = await Promise.allSettled([
      journal.append(grant(2)),
      journal.append(makeSettle('req_1', 0), true),
    ]);
    expect(held.status).toBe('rejected');
    expect(settled).toEqual({ status: 'fulfilled', value: 3 });
    await journal.append(makeSettle('req_2', 0), true);
    expect(await readIds(directory)).toEqual(['grant_1', 'req_1', 'req_2']);
  });

  it('rejects settlements too when the reserve is used up', async () => {
    const { journal, disk } = await setUp({ probeIntervalMs: 60_000 });
    disk.spaceBytes = 0;
    await expect(journal.append(grant(1))).rejects.toMatchObject(unavailable);
    disk.spaceBytes = 0;
    await expect(journal.append(makeSettle('req_1', 0), true)).rejects.toMatchObject(unavailable);
  });

  it('is over by itself once there is space', async () => {
    const { journal, disk, directory, writable } = await setUp();
    disk.spaceBytes = 10;
    await expect(journal.append(grant(1))).rejects.toMatchObject(unavailable);
    disk.spaceBytes = 10_000_000;
    while (!journal.writable) await new Promise((resolve) => setTimeout(resolve, 2));
    await journal.append(grant(2));
    expect(writable).toEqual([false, true]);
    expect(await readIds(directory)).toEqual(['grant_2']);
  });

  it('may come with the change of segment', async () => {
    const { journal, disk, directory } = await setUp({ segmentBytesMax: 10 });
    await journal.append(grant(1));
    disk.spaceBytes = 40;
    await expect(journal.append(grant(2))).rejects.toMatchObject(unavailable);
    disk.spaceBytes = 10_000_000;
    await journal.probe();
    await journal.append(grant(3));
    expect(await readIds(directory)).toEqual(['grant_1', 'grant_3']);
  });
});

describe('a broken disk', () => {
  it.each<[string, (disk: FaultyDisk) => void]>([
    ['a failed sync', (disk) => Object.assign(disk, { datasyncError: systemError('EIO') })],
    ['a failed sync for want of space', (disk) => Object.assign(disk, { datasyncError: systemError('ENOSPC') })],
    ['a failed write', (disk) => Object.assign(disk, { writeError: systemError('EIO') })],
  ])('%s is fatal once, rejects everything and is not tried again', async (_name, breakDisk) => {
    const { journal, disk, committed, fatal } = await setUp();
    await journal.append(grant(1));
    breakDisk(disk);
    const results = await Promise.allSettled([journal.append(grant(2)), journal.append(grant(3))]);
    expect(results.map((result) => result.status)).toEqual(['rejected', 'rejected']);
    const { datasyncs, writes } = disk;
    Object.assign(disk, { datasyncError: null, writeError: null });
    await expect(journal.append(makeSettle('req_1', 0), true)).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    expect({ datasyncs: disk.datasyncs, writes: disk.writes }).toEqual({ datasyncs, writes });
    expect(fatal).toHaveLength(1);
    expect(journal.writable).toBe(false);
    expect(committed).toEqual([2]);
  });

  it('is what another writer in the same file amounts to', async () => {
    const { journal, directory, fatal } = await setUp();
    await journal.append(grant(1));
    await writeFile(join(directory, '000000000001.ndjson'), 'somebody else\n', { flag: 'a' });
    await expect(journal.append(grant(2))).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    expect(fatal[0]?.message).toContain('another process');
  });
});

describe('close', () => {
  it('writes what is pending and takes nothing more', async () => {
    const { journal, directory } = await setUp();
    const pending: Promise<number>[] = [1, 2, 3].map((index) => journal.append(grant(index) as LedgerRecord));
    await journal.close();
    expect(await Promise.all(pending)).toEqual([2, 3, 4]);
    await expect(journal.append(grant(4))).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
    expect(await readIds(directory)).toHaveLength(3);
  });
});

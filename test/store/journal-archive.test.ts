// Old segments are compressed and expire beside a running journal; whatever fails, the balances stay what they are.
import { copyFile, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { LedgerState } from '../../src/ledger/ledger-fold.ts';
import { readCarry, readJournalBase } from '../../src/store/carry.ts';
import { type Disk, realDisk } from '../../src/store/disk.ts';
import { firstSegmentToKeep } from '../../src/store/expiry-plan.ts';
import { JournalArchive, type JournalArchiveOptions } from '../../src/store/journal-archive.ts';
import { type JournalPosition, readJournal } from '../../src/store/journal-reader.ts';
import { listJournalFiles, segmentPath } from '../../src/store/segment-name.ts';
import { makeDirectory } from './fixtures/data-directory.ts';
import { FaultyDisk, systemError } from './fixtures/faulty-disk.ts';
import { DAY_MS, NOON } from './fixtures/records.ts';
import {
  CarryAppender,
  compressWhole,
  DyingDisk,
  foldJournal,
  makeDays,
  makeRollup,
  type SegmentContent,
  writeSegments,
} from './fixtures/segments.ts';

const DAYS = 8;
const LAST_DAY = NOON + (DAYS - 1) * DAY_MS;

type Journal = {
  readonly directory: string;
  readonly position: JournalPosition;
  readonly texts: readonly Buffer[];
  readonly before: LedgerState;
};

async function makeJournal(contents: readonly SegmentContent[] = makeDays(DAYS)): Promise<Journal> {
  const directory = await makeDirectory();
  const { texts, position } = await writeSegments(directory, contents);
  return { directory, texts, position, before: await foldJournal(directory) };
}

type Archive = { readonly archive: JournalArchive; readonly notices: string[]; readonly expired: number[] };

function makeArchive(journal: Journal, options: Partial<JournalArchiveOptions> = {}): Archive {
  const { directory, position } = journal;
  const notices: string[] = [];
  const expired: number[] = [];
  const disk = options.disk ?? realDisk;
  const archive = new JournalArchive({
    directory,
    disk,
    now: () => LAST_DAY,
    keepDays: 0,
    append: new CarryAppender(directory, position, disk).append,
    rollupBefore: (segment) => makeRollup(`before ${segment}`),
    onExpired: (segment) => expired.push(segment),
    onReplaced: () => undefined,
    onNotice: (notice) => notices.push(notice),
    ...options,
  });
  onTestFinished(() => archive.close());
  return { archive, notices, expired };
}

async function runArchive(journal: Journal, options: Partial<JournalArchiveOptions> = {}): Promise<Archive> {
  const made = makeArchive(journal, options);
  made.archive.start();
  await made.archive.idle();
  return made;
}

const names = async (directory: string) => (await readdir(directory)).sort();
const segmentName = (segment: number, ending = '.ndjson.gz') => `${String(segment).padStart(12, '0')}${ending}`;

describe('compressing', () => {
  it('takes every segment but the last, byte for byte', async () => {
    const journal = await makeJournal();
    const { notices } = await runArchive(journal);
    expect(notices).toEqual([]);
    const compressed = Array.from({ length: DAYS - 1 }, (_, index) => segmentName(index + 1));
    expect(await names(journal.directory)).toEqual([...compressed, segmentName(DAYS, '.ndjson')]);
    for (const [index, name] of compressed.entries()) {
      expect(gunzipSync(await readFile(join(journal.directory, name)))).toEqual(journal.texts[index]);
    }
    expect(await foldJournal(journal.directory)).toEqual(journal.before);
  });

  it('takes a segment as soon as the next one is begun', async () => {
    const days = makeDays(DAYS);
    const journal = await makeJournal(days.slice(0, 2));
    const { archive } = await runArchive(journal);
    expect(await names(journal.directory)).toEqual([segmentName(1), segmentName(2, '.ndjson')]);
    await writeFile(segmentPath(journal.directory, 3), '');
    archive.onSegment(3);
    await archive.idle();
    expect(await names(journal.directory)).toEqual([segmentName(1), segmentName(2), segmentName(3, '.ndjson')]);
  });

  it('touches nothing before it is started and after it is closed', async () => {
    const journal = await makeJournal();
    const before = await names(journal.directory);
    const { archive } = makeArchive(journal);
    archive.onSegment(DAYS);
    await archive.close();
    archive.onSegment(DAYS);
    await archive.idle();
    expect(await names(journal.directory)).toEqual(before);
  });

  it('is broken off by a close, which leaves plain files and no temporary', async () => {
    const journal = await makeJournal();
    const { archive, notices } = makeArchive(journal);
    archive.start();
    await archive.close();
    const left = await names(journal.directory);
    expect(left.filter((name) => name.endsWith('.tmp'))).toEqual([]);
    expect(left).toContain(segmentName(DAYS - 1, '.ndjson'));
    expect(notices).toEqual([]);
    expect(await foldJournal(journal.directory)).toEqual(journal.before);
  });

  it('clears away what a crash left half written, and finishes a segment that is there twice', async () => {
    const journal = await makeJournal();
    const { directory } = journal;
    await writeFile(join(directory, `${segmentName(1)}.0123456789abcdef.tmp`), 'half');
    await copyFile(segmentPath(directory, 2), join(directory, 'kept'));
    await compressWhole(directory, 2);
    await copyFile(join(directory, 'kept'), segmentPath(directory, 2));
    await runArchive(journal);
    expect(await names(directory)).not.toContain(segmentName(2, '.ndjson'));
    expect((await names(directory)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    expect(await foldJournal(directory)).toEqual(journal.before);
  });

  it('keeps the plain file when the compressed one does not read back', async () => {
    const journal = await makeJournal();
    const disk: Disk = {
      ...realDisk,
      async open(path, mode) {
        const file = await realDisk.open(path, mode);
        return {
          write: (bytes, position) => file.write(bytes.length > 100 ? changed(bytes) : bytes, position),
          datasync: () => file.datasync(),
          truncate: (length) => file.truncate(length),
          size: () => file.size(),
          close: () => file.close(),
        };
      },
    };
    const { notices } = await runArchive(journal, { disk });
    expect(notices).toHaveLength(1);
    expect(await names(journal.directory)).toEqual(journal.texts.map((_, index) => segmentName(index + 1, '.ndjson')));
  });

  it('says once that the disk is full, and goes on by itself when it has space', async () => {
    const journal = await makeJournal();
    const disk = new FaultyDisk();
    disk.spaceBytes = 1_500;
    const { archive, notices } = await runArchive(journal, { disk, intervalMs: 10 });
    expect(notices).toEqual([expect.stringContaining('ENOSPC')]);
    await expect.poll(() => disk.writes).toBeGreaterThan(10);
    expect(notices).toHaveLength(1);
    expect((await names(journal.directory)).filter((name) => name.endsWith('.gz')).length).toBeLessThan(DAYS - 1);
    expect(await foldJournal(journal.directory)).toEqual(journal.before);
    disk.spaceBytes = Number.POSITIVE_INFINITY;
    await expect
      .poll(async () => (await names(journal.directory)).filter((name) => name.endsWith('.gz')).length)
      .toBe(DAYS - 1);
    await archive.idle();
    expect(await foldJournal(journal.directory)).toEqual(journal.before);
  });
});

describe('what may expire', () => {
  const at = (...days: readonly number[]) => days.map((day) => ({ at: NOON + day * DAY_MS, records: [] }));

  it.each<[string, number, number, readonly number[], number]>([
    ['nothing when entries are kept for ever', 0, 100, [0, 1, 2, 3], 1],
    ['segments that were followed by another more than so many days ago', 2, 6, [0, 1, 2, 3, 4, 5, 6], 3],
    ['only what is older than that to the millisecond', 4, 6, [0, 1, 2, 3, 4, 5, 6], 1],
    ['never the last two, however old they are', 1, 1_000, [0, 1], 1],
    ['nothing of one segment', 1, 1_000, [0], 1],
    ['nothing after a clock jumped a year ahead', 30, 400, [0, 1, 2, 3], 1],
    ['nothing when the journal has gone on there for less than a segment', 30, 400, [0, 1, 2, 3, 400], 1],
    ['what was old by both when the clock stays there', 30, 401, [0, 1, 2, 3, 400, 401], 4],
    ['nothing younger because a clock ran behind for a while', 30, 44, [20, -300, -299, 22, 43, 44], 1],
    ['nothing while the clock is behind the journal', 30, 5, [0, 1, 2, 3, 100, 101], 1],
  ])('is %s', async (_name, keepDays, nowDay, days, expected) => {
    const { directory } = await makeJournal(at(...days));
    const { segments } = await listJournalFiles(directory);
    const nowMs = NOON + nowDay * DAY_MS;
    expect(await firstSegmentToKeep({ directory, segments, keepDays, nowMs })).toBe(expected);
  });

  it('is decided the same of compressed segments', async () => {
    const { directory } = await makeJournal(at(0, 1, 2, 3, 4, 5, 6));
    for (const segment of [1, 2, 3, 4, 5, 6]) await compressWhole(directory, segment);
    const { segments } = await listJournalFiles(directory);
    expect(await firstSegmentToKeep({ directory, segments, keepDays: 2, nowMs: NOON + 6 * DAY_MS })).toBe(3);
  });
});

describe('expiring', () => {
  it('deletes the segments and keeps every balance, spending, grant and open hold', async () => {
    const journal = await makeJournal();
    const { notices, expired } = await runArchive(journal, { keepDays: 2 });
    expect(notices).toEqual([]);
    expect(expired).toEqual([4]);
    const { segments, carries } = await listJournalFiles(journal.directory);
    expect(segments).toEqual([4, 5, 6, 7, 8]);
    expect(carries).toEqual([4]);
    expect(await foldJournal(journal.directory)).toEqual(journal.before);
    expect((await readCarry(journal.directory, 4)).rollup).toEqual(makeRollup('before 4'));
  });

  it('goes on from the carry there is, and leaves one', async () => {
    const journal = await makeJournal();
    const appender = new CarryAppender(journal.directory, journal.position);
    for (const [keepDays, first] of [
      [5, 1],
      [4, 2],
      [3, 3],
      [1, 5],
    ] as const) {
      const { notices } = await runArchive(journal, { keepDays, append: appender.append });
      expect(notices).toEqual([]);
      expect(await listJournalFiles(journal.directory)).toMatchObject({
        segments: Array.from({ length: DAYS + 1 - first }, (_, index) => first + index),
        carries: first === 1 ? [] : [first],
      });
      expect(await foldJournal(journal.directory)).toEqual(journal.before);
    }
  });

  it('tells of the end of entries only when the journal says so, and before anything is deleted', async () => {
    const journal = await makeJournal();
    const { append } = new CarryAppender(journal.directory, journal.position);
    const steps: string[] = [];
    await runArchive(journal, {
      keepDays: 2,
      append: async (record) => {
        steps.push(`append ${record.type} ${record.segment}`);
        await append(record);
        steps.push('durable');
      },
      onExpired: (segment) => steps.push(`expired ${segment}`),
      disk: {
        ...realDisk,
        remove: (path) => {
          steps.push('remove');
          return realDisk.remove(path);
        },
      },
    });
    expect(steps.slice(0, 4)).toEqual(['append carry 4', 'durable', 'expired 4', 'remove']);
  });

  it('deletes nothing when the record cannot be written', async () => {
    const journal = await makeJournal();
    const options = { keepDays: 2, append: () => Promise.reject(systemError('ENOSPC')) };
    const { notices, expired } = await runArchive(journal, options);
    expect(notices).toEqual([expect.stringContaining('ENOSPC')]);
    expect(expired).toEqual([]);
    expect((await listJournalFiles(journal.directory)).segments[0]).toBe(1);
    expect(await readJournalBase(journal.directory)).toBeNull();
    expect(await foldJournal(journal.directory)).toEqual(journal.before);
    await runArchive(journal, { keepDays: 2 });
    expect((await listJournalFiles(journal.directory)).segments[0]).toBe(4);
    expect(await foldJournal(journal.directory)).toEqual(journal.before);
  });

  it('tells again of the end of entries where a first deletion failed, and then finishes it', async () => {
    const journal = await makeJournal();
    let broken = true;
    const disk: Disk = {
      ...realDisk,
      remove: (path) => (broken ? Promise.reject(systemError('EIO')) : realDisk.remove(path)),
    };
    const { archive, expired, notices } = await runArchive(journal, { keepDays: 2, disk });
    expect(notices).toEqual([expect.stringContaining('EIO')]);
    expect(await listJournalFiles(journal.directory)).toMatchObject({ segments: [4, 5, 6, 7, 8], expired: [1, 2, 3] });
    expect(await foldJournal(journal.directory)).toEqual(journal.before);
    broken = false;
    archive.onSegment(DAYS);
    await archive.idle();
    expect(expired).toEqual([4, 4]);
    expect((await listJournalFiles(journal.directory)).expired).toEqual([]);
    expect(await foldJournal(journal.directory)).toEqual(journal.before);
  });

  it('deletes nothing of a damaged journal, and says what is damaged', async () => {
    const journal = await makeJournal();
    const path = segmentPath(journal.directory, 2);
    await writeFile(path, changed(journal.texts[1] ?? Buffer.alloc(0)));
    const { notices } = await runArchive(journal, { keepDays: 2 });
    expect(notices).toEqual([expect.stringContaining(path)]);
    expect((await listJournalFiles(journal.directory)).segments).toHaveLength(DAYS);
  });

  it('deletes no leftovers of a deletion that the journal knows nothing of', async () => {
    const journal = await makeJournal();
    await runArchive(journal, { keepDays: 2, append: async () => undefined, disk: new DyingDisk(7) });
    await writeFile(segmentPath(journal.directory, 1), '');
    await rm(segmentPath(journal.directory, 2));
    const { notices } = await runArchive(journal);
    expect(notices).toEqual([expect.stringContaining('no record of it')]);
    expect(await names(journal.directory)).toContain(segmentName(1, '.ndjson'));
  });

  it('reads in small steps, so that others have their turn', async () => {
    const records = makeDays(1)[0]?.records ?? [];
    const many = Array.from({ length: 2_000 }, (_, index) => ({ ...records[0], id: `grant_${index}` }) as never);
    const old = [0, 1, 2, 3].map((day) => ({ at: NOON + day * DAY_MS, records: day === 0 ? many : [] }));
    const journal = await makeJournal(old);
    let turns = 0;
    let done = false;
    const { archive } = makeArchive(journal, { keepDays: 1, now: () => NOON + 3 * DAY_MS });
    const turn = () => {
      turns += 1;
      if (!done) setImmediate(turn);
    };
    setImmediate(turn);
    archive.start();
    await archive.idle();
    done = true;
    const bytes = journal.texts[0]?.length ?? 0;
    expect(turns).toBeGreaterThan(bytes / 32_768);
    expect(await foldJournal(journal.directory)).toEqual(journal.before);
  });
});

describe('a crash', () => {
  it('after any change of the disk leaves a journal with the same balances, that is then finished', async () => {
    const reached = new Set<string>();
    let finished = false;
    for (let limit = 0; !finished; limit += 1) {
      const journal = await makeJournal();
      const { directory } = journal;
      const disk = new DyingDisk(limit);
      await runArchive(journal, { disk, keepDays: 2 });
      finished = disk.operations <= limit;
      const { segments, expired, carries } = await listJournalFiles(directory);
      reached.add(`${segments[0]} ${expired.length > 0} ${carries.length}`);
      expect(await foldJournal(directory), `after ${limit} changes`).toEqual(journal.before);
      const { position } = await readJournal({ directory, onLine: () => undefined });
      const { notices } = await runArchive({ ...journal, position }, { keepDays: 2 });
      expect(notices).toEqual([]);
      expect(await foldJournal(directory), `finished after ${limit} changes`).toEqual(journal.before);
      expect((await names(directory)).filter((name) => !name.startsWith('carry'))).toEqual(
        [4, 5, 6, 7, 8].map((segment) => segmentName(segment, segment === 8 ? '.ndjson' : '.ndjson.gz')),
      );
      expect((await listJournalFiles(directory)).carries).toEqual([4]);
    }
    // Before the carry has its name, in the middle of deleting, and after.
    expect([...reached]).toEqual(['1 false 0', '4 true 1', '4 false 1']);
  });
});

function changed(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  copy[60] = (copy[60] ?? 0) ^ 1;
  return copy;
}

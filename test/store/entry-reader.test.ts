// Entries read back from segment files as the journal writes them, and files that are not what the places say.
import { open, readdir, readFile, readlink, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { LedgerRecord, UsageEntry } from '../../src/ledger/records.ts';
import { compressSegment } from '../../src/store/compress-segment.ts';
import { realDisk } from '../../src/store/disk.ts';
import { EntryReader } from '../../src/store/entry-reader.ts';
import { openJournal } from '../../src/store/journal.ts';
import { FIRST_PREV, type RecordPlace } from '../../src/store/journal-format.ts';
import { compressedSegmentPath, segmentPath } from '../../src/store/segment-name.ts';
import { DamagedJournalError } from '../../src/store/store-errors.ts';
import { makeDirectory } from './fixtures/data-directory.ts';
import { makeGrant, makeHold, makeSettle, NOON } from './fixtures/records.ts';

type Written = { readonly record: LedgerRecord; readonly place: RecordPlace };

/** Appends the records one after the other and closes the journal again. */
async function writeJournal(
  directory: string,
  records: readonly LedgerRecord[],
  segmentBytesMax = 1_048_576,
): Promise<readonly Written[]> {
  const written: Written[] = [];
  const journal = await openJournal({
    directory,
    position: { segment: 0, offset: 0, nextSeq: 1, prev: FIRST_PREV },
    segmentAt: NOON,
    segmentCrc: 0,
    now: () => NOON,
    onCommitted: (record, place) => written.push({ record, place }),
    onFatal: (error) => {
      throw error;
    },
    segmentBytesMax,
  });
  for (const record of records) await journal.append(record);
  await journal.close();
  return written;
}

function readerOf(directory: string): EntryReader {
  const reader = new EntryReader({ directory });
  onTestFinished(() => reader.close());
  return reader;
}

const settle = (n: number, fields: Partial<UsageEntry> = {}) => makeSettle(`req_${n}`, n, { latency_ms: n, ...fields });
const settles = (count: number, fields: Partial<UsageEntry> = {}) =>
  Array.from({ length: count }, (_, n) => settle(n, fields));
const placesOf = (written: readonly Written[]) => written.map(({ place }) => place);
const idsOf = (entries: readonly UsageEntry[]) => entries.map(({ id }) => id);
const wantedIds = (written: readonly Written[]) =>
  written.map(({ record }) => (record.type === 'settle' ? record.entry.id : ''));

/** Where the system tells. */
const onLinux = it.skipIf(process.platform !== 'linux');

async function openFilesIn(directory: string): Promise<number> {
  const links = await readdir('/proc/self/fd');
  const targets = await Promise.all(links.map((link) => readlink(join('/proc/self/fd', link)).catch(() => '')));
  return targets.filter((target) => target.startsWith(directory)).length;
}

describe('read', () => {
  it('gives the entries whole', async () => {
    const directory = await makeDirectory();
    const decision = {
      id: 'dec_1',
      preset: 'auto',
      weights: { speed: 1, quality: 0, cost: 0 },
      classification: { task_type: 'chat', domain: 'dömain ✓', complexity: 'simple', difficulty: 1, confidence: 1 },
      needs: { tools: true },
      chosen: 'maker/model',
      why: 'cheapest',
      sticky: false,
    };
    const records = [settle(1), settle(2, { decision, anomalies: ['usage_clamped'], model: null })];
    const written = await writeJournal(directory, records);
    expect(await readerOf(directory).read(placesOf(written))).toEqual(records.map(({ entry }) => entry));
  });

  it('gives entries that nobody can change', async () => {
    const directory = await makeDirectory();
    const needs = { tools: true };
    const classification = { task_type: 'a', domain: 'b', complexity: 'c', difficulty: 1, confidence: 1 };
    const decision = {
      id: 'd',
      preset: null,
      weights: null,
      classification,
      needs,
      chosen: 'm',
      why: '',
      sticky: false,
    };
    const written = await writeJournal(directory, [settle(1, { decision, anomalies: ['x'] })]);
    const [entry] = await readerOf(directory).read(placesOf(written));
    const parts = [entry, entry?.anomalies, entry?.decision, entry?.decision?.classification, entry?.decision?.needs];
    for (const part of parts) {
      expect(part).toBeDefined();
      expect(Object.isFrozen(part)).toBe(true);
    }
  });

  it('gives nothing for no places, and an entry twice where asked twice', async () => {
    const directory = await makeDirectory();
    const written = await writeJournal(directory, settles(2));
    const reader = readerOf(directory);
    expect(await reader.read([])).toEqual([]);
    const [first, second] = placesOf(written);
    if (first === undefined || second === undefined) throw new Error('nothing was written');
    expect(idsOf(await reader.read([second, first, second]))).toEqual(['use_req_1', 'use_req_0', 'use_req_1']);
  });

  it('keeps the order of the places over many segments, whichever are asked for', async () => {
    const directory = await makeDirectory();
    const written = await writeJournal(directory, settles(120), 8_000);
    const segments = new Set(written.map(({ place }) => place.segment));
    expect(segments.size).toBeGreaterThan(8);
    const reader = readerOf(directory);
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray([...written]), async (wanted) => {
        expect(idsOf(await reader.read(placesOf(wanted)))).toEqual(wantedIds(wanted));
      }),
      { numRuns: 20 },
    );
  });

  it('finds lines near and far, beyond what one read brings', async () => {
    const directory = await makeDirectory();
    // Entries of half a kilobyte to 300 KB, so that reads end at gaps, at their limit, and at a single long line.
    const sizes = [10, 300_000, 10, 70_000, 10, 10, 65_000, 120_000, 120_000, 120_000, 10, 64_500, 10];
    const records = sizes.map((size, n) => settle(n, { source: 'x'.repeat(size) }));
    const written = await writeJournal(directory, records, 16_777_216);
    const reader = readerOf(directory);
    expect(await reader.read(placesOf(written).reverse())).toEqual(records.map(({ entry }) => entry).reverse());
    const few = written.filter((_, n) => n % 2 === 0);
    expect(idsOf(await reader.read(placesOf(few)))).toEqual(wantedIds(few));
  });

  it('sees what was appended after it opened the file', async () => {
    const directory = await makeDirectory();
    const written = await writeJournal(directory, settles(3));
    const path = segmentPath(directory, 1);
    const whole = await readFile(path);
    const [first, , third] = placesOf(written);
    if (first === undefined || third === undefined) throw new Error('nothing was written');
    await truncate(path, third.offset);
    const reader = readerOf(directory);
    expect(idsOf(await reader.read([first]))).toEqual(['use_req_0']);
    await writeFile(path, whole.subarray(third.offset), { flag: 'a' });
    expect(idsOf(await reader.read([first, third]))).toEqual(['use_req_0', 'use_req_2']);
  });
});

describe('a segment', () => {
  it('that is gone takes its entries with it, and only those', async () => {
    const directory = await makeDirectory();
    const written = await writeJournal(directory, settles(30), 8_000);
    await rm(segmentPath(directory, 1));
    const left = written.filter(({ place }) => place.segment > 1);
    const reader = readerOf(directory);
    expect(left.length).toBeLessThan(written.length);
    expect(idsOf(await reader.read(placesOf(written)))).toEqual(wantedIds(left));
    expect(idsOf(await reader.read(placesOf(written)))).toEqual(wantedIds(left));
  });

  it('that could not be opened is tried again', async () => {
    const directory = await makeDirectory();
    const written = await writeJournal(directory, settles(2));
    const path = segmentPath(directory, 1);
    const reader = readerOf(directory);
    await rename(path, `${path}.aside`);
    await expect(reader.read(placesOf(written))).rejects.toThrow('the segment is missing');
    await rename(`${path}.aside`, path);
    expect(await reader.read(placesOf(written))).toHaveLength(2);
  });

  onLinux('is kept open among the few used last, until it is released or the reader closed', async () => {
    const directory = await makeDirectory();
    const written = await writeJournal(directory, settles(60), 6_000);
    const segments = [...new Set(written.map(({ place }) => place.segment))];
    expect(segments.length).toBeGreaterThan(6);
    const reader = new EntryReader({ directory, openFilesMax: 4 });
    await Promise.all([1, 2, 3].map(() => reader.read(placesOf(written))));
    expect(await openFilesIn(directory)).toBe(4);
    await reader.release(segments.at(-1) ?? 0);
    await reader.release(segments[0] ?? 0);
    expect(await openFilesIn(directory)).toBe(3);
    expect(idsOf(await reader.read(placesOf(written)))).toEqual(wantedIds(written));
    await reader.close();
    expect(await openFilesIn(directory)).toBe(0);
  });

  onLinux('stays open as long as it is read, however many are read at once', async () => {
    const directory = await makeDirectory();
    // Each segment takes several reads, but the last, which is done while the others are still being read.
    const written = await writeJournal(directory, settles(80, { source: 'x'.repeat(60_000) }), 600_000);
    const reader = new EntryReader({ directory, openFilesMax: 4 });
    onTestFinished(() => reader.close());
    const segments = [...new Set(written.map(({ place }) => place.segment))];
    const reads = segments.map((segment) => written.filter(({ place }) => place.segment === segment));
    reads.splice(-1, 1, reads.at(-1)?.slice(0, 1) ?? []);
    const entries = await Promise.all(reads.map((each) => reader.read(placesOf(each))));
    expect(entries.map(idsOf)).toEqual(reads.map(wantedIds));
    expect(await openFilesIn(directory)).toBe(4);
  });

  it('can be read on after its file was deleted, while it is still open', async () => {
    const directory = await makeDirectory();
    const written = await writeJournal(directory, settles(2));
    const reader = readerOf(directory);
    await reader.read(placesOf(written));
    await rm(segmentPath(directory, 1));
    expect(await reader.read(placesOf(written))).toHaveLength(2);
    await reader.release(1);
    await expect(reader.read(placesOf(written))).rejects.toThrow('the segment is missing');
  });

  onLinux('may be released and the reader closed while it is being read', async () => {
    const directory = await makeDirectory();
    const written = await writeJournal(directory, settles(60), 6_000);
    const reader = new EntryReader({ directory, openFilesMax: 4 });
    const reading = reader.read(placesOf(written));
    await reader.release(1);
    const closing = reader.close();
    await expect(reader.read(placesOf(written))).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
    expect(idsOf(await reading)).toEqual(wantedIds(written));
    await closing;
    expect(await openFilesIn(directory)).toBe(0);
  });
});

describe('a compressed segment', () => {
  const compress = (directory: string) => compressSegment(realDisk, directory, 1, new AbortController().signal);

  it('gives the same entries, also to a reader that had the plain file open', async () => {
    const directory = await makeDirectory();
    const records = settles(150, { source: 'x'.repeat(700) });
    const written = await writeJournal(directory, records);
    const before = readerOf(directory);
    await before.read(placesOf(written.slice(0, 1)));
    await compress(directory);
    const entries = records.map(({ entry }) => entry);
    for (const reader of [before, readerOf(directory)]) expect(await reader.read(placesOf(written))).toEqual(entries);
    await before.release(1);
    expect(await before.read(placesOf(written).reverse())).toEqual(entries.reverse());
  });

  it('that is damaged is told of, with the place that was wanted', async () => {
    const directory = await makeDirectory();
    const written = await writeJournal(directory, settles(150, { source: 'x'.repeat(700) }));
    await compress(directory);
    const path = compressedSegmentPath(directory, 1);
    const bytes = await readFile(path);
    bytes.fill(0, bytes.length >> 1, (bytes.length >> 1) + 40);
    await writeFile(path, bytes);
    const places = placesOf(written);
    await expect(readerOf(directory).read(places)).rejects.toMatchObject({ name: 'DamagedJournalError', file: path });
    // What lies in a block that is whole can still be read.
    expect(await readerOf(directory).read(places.slice(0, 3))).toHaveLength(3);
  });
});

describe('damage', () => {
  it.each<[string, LedgerRecord, (place: RecordPlace) => RecordPlace, string]>([
    ['another record', settle(1), (place) => ({ ...place, seq: place.seq + 1 }), 'it says it is record 2'],
    ['a grant', makeGrant(5), (place) => place, 'it is no settlement but a grant'],
    ['a hold', makeHold('req_1', 5), (place) => place, 'it is no settlement but a hold'],
    ['the middle of a line', settle(1), (place) => ({ ...place, offset: place.offset + 1 }), 'the file ends before'],
    ['a part of a line', settle(1), (place) => ({ ...place, bytes: place.bytes - 1 }), 'the checksum is wrong'],
    ['no line at all', settle(1), (place) => ({ ...place, offset: 1_000_000 }), 'the file ends before'],
  ])('is told where a place holds %s', async (_name, record, change, reason) => {
    const directory = await makeDirectory();
    const [written] = await writeJournal(directory, [record]);
    if (written === undefined) throw new Error('nothing was written');
    // The line's last byte is the line feed, which is of no place.
    await truncate(segmentPath(directory, 1), written.place.offset + written.place.bytes);
    const place = change(written.place);
    const error = await readerOf(directory)
      .read([place])
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DamagedJournalError);
    expect(error).toMatchObject({ file: segmentPath(directory, 1), offset: place.offset, seq: place.seq });
    expect(String(error)).toContain(reason);
  });

  it('is told for any byte of a line that changed, and only for its entry', async () => {
    const directory = await makeDirectory();
    const written = await writeJournal(directory, settles(3));
    const [first, second, third] = placesOf(written);
    if (first === undefined || second === undefined || third === undefined) throw new Error('nothing was written');
    const file = await open(segmentPath(directory, 1), 'r+');
    onTestFinished(() => file.close());
    const reader = readerOf(directory);
    for (let at = 0; at < second.bytes; at += 13) {
      const byte = Buffer.alloc(1);
      await file.read(byte, 0, 1, second.offset + at);
      await file.write(Buffer.from([(byte[0] ?? 0) ^ 4]), 0, 1, second.offset + at);
      await expect(reader.read([third, second, first]), `byte ${at}`).rejects.toMatchObject({
        name: 'DamagedJournalError',
        offset: second.offset,
        seq: second.seq,
      });
      expect(idsOf(await reader.read([third, first]))).toEqual(['use_req_2', 'use_req_0']);
      await file.write(byte, 0, 1, second.offset + at);
    }
    expect(await reader.read([first, second, third])).toHaveLength(3);
  });
});

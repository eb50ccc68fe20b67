// A segment reads the same whether it is compressed or not, and damage in the compressed form is named by its place.
import { copyFile, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { BLOCK_TEXT_BYTES, END_MEMBER, encodeMember } from '../../src/store/block-gzip.ts';
import { DamagedSegmentError } from '../../src/store/compressed-segment.ts';
import { readJournal } from '../../src/store/journal-reader.ts';
import { openCompressedFile, openSegmentFile, type SegmentFile } from '../../src/store/segment-file.ts';
import {
  carryPath,
  compressedSegmentPath,
  listJournalFiles,
  listSegments,
  segmentPath,
} from '../../src/store/segment-name.ts';
import { DamagedJournalError } from '../../src/store/store-errors.ts';
import { scale, seededRandom } from '../faults/scale.ts';
import { makeDirectory } from './fixtures/data-directory.ts';
import { makeGrant, NOON } from './fixtures/records.ts';
import { compressWhole, makeDays, writeSegments } from './fixtures/segments.ts';

/** Several blocks, the last one not full. */
const manyLines = (lines: number) => [
  {
    at: NOON,
    records: Array.from({ length: lines }, (_, index) => makeGrant(index, { id: `grant_${index * 7_919}` })),
  },
  { at: NOON, records: [makeGrant(1)] },
];

async function opened(directory: string, segment = 1): Promise<SegmentFile> {
  const file = await openSegmentFile(directory, segment);
  onTestFinished(() => file.close());
  return file;
}

describe('a compressed segment', () => {
  it('has the size and, at random places, the text of the plain one', async () => {
    const directory = await makeDirectory();
    const { texts } = await writeSegments(directory, manyLines(2_000));
    const text = texts[0] ?? Buffer.alloc(0);
    await compressWhole(directory, 1);
    const file = await opened(directory);
    expect(file.path).toBe(compressedSegmentPath(directory, 1));
    expect(text.length).toBeGreaterThan(3 * BLOCK_TEXT_BYTES);
    expect(await file.size()).toBe(text.length);
    expect(gunzipSync(await readFile(file.path)).equals(text)).toBe(true);
    const random = seededRandom(1);
    for (let count = 0; count < 200; count += 1) {
      const offset = Math.floor(random() * (text.length + 100));
      const length = Math.floor(random() ** 3 * 3 * BLOCK_TEXT_BYTES);
      expect((await file.read(offset, length)).equals(text.subarray(offset, offset + length))).toBe(true);
    }
  });

  it.each([BLOCK_TEXT_BYTES - 1, BLOCK_TEXT_BYTES, BLOCK_TEXT_BYTES + 1, 1])(
    'of %i bytes ends where its text ends',
    async (bytes) => {
      const directory = await makeDirectory();
      await writeFile(segmentPath(directory, 1), Buffer.alloc(bytes, 65));
      await compressWhole(directory, 1);
      const file = await opened(directory);
      expect(await file.size()).toBe(bytes);
      expect((await file.read(0, bytes + 10)).equals(Buffer.alloc(bytes, 65))).toBe(true);
      expect(await file.read(bytes, 10)).toEqual(Buffer.alloc(0));
      expect(await file.read(bytes - 1, 10)).toEqual(Buffer.from('A'));
    },
  );

  it('takes several reads at once', async () => {
    const directory = await makeDirectory();
    const { texts } = await writeSegments(directory, manyLines(2_000));
    await compressWhole(directory, 1);
    const file = await opened(directory);
    const offsets = Array.from({ length: 60 }, (_, index) => (index * 48_611) % (texts[0]?.length ?? 1));
    const reads = await Promise.all(offsets.map((offset) => file.read(offset, 500)));
    expect(reads).toEqual(offsets.map((offset) => texts[0]?.subarray(offset, offset + 500)));
  });

  it('is read like the plain one, line by line', async () => {
    const directory = await makeDirectory();
    await writeSegments(directory, manyLines(2_000));
    const plain: unknown[] = [];
    const before = await readJournal({ directory, onLine: (line, place) => plain.push([line, place]) });
    await compressWhole(directory, 1);
    const compressed: unknown[] = [];
    const after = await readJournal({ directory, onLine: (line, place) => compressed.push([line, place]) });
    expect(after).toEqual(before);
    expect(compressed).toEqual(plain);
  });

  it('can be read while the plain file goes away', async () => {
    const directory = await makeDirectory();
    const { texts } = await writeSegments(directory, manyLines(10));
    const before = await opened(directory);
    await compressWhole(directory, 1);
    const after = await opened(directory);
    expect(await before.read(0, 1_000_000)).toEqual(texts[0]);
    expect(await after.read(0, 1_000_000)).toEqual(texts[0]);
  });

  it('counts once beside its plain form, which is the one that is read', async () => {
    const directory = await makeDirectory();
    await writeSegments(directory, manyLines(10));
    await copyFile(segmentPath(directory, 1), `${directory}/kept`);
    await compressWhole(directory, 1);
    await rename(`${directory}/kept`, segmentPath(directory, 1));
    expect(await listSegments(directory)).toEqual([1, 2]);
    expect(await listJournalFiles(directory)).toMatchObject({ plain: [1, 2] });
    expect((await opened(directory)).path).toBe(segmentPath(directory, 1));
  });

  it('that is not there is ENOENT', async () => {
    const directory = await makeDirectory();
    await expect(openSegmentFile(directory, 1)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('is never the last', async () => {
    const directory = await makeDirectory();
    await writeSegments(directory, manyLines(10));
    await compressWhole(directory, 1);
    await rm(segmentPath(directory, 2));
    const reading = readJournal({ directory, onLine: () => undefined });
    await expect(reading).rejects.toMatchObject({ file: segmentPath(directory, 2), exitCode: 78 });
  });
});

describe('damage in a compressed segment', () => {
  let whole: Buffer;
  let directory: string;
  beforeAll(async () => {
    const { mkdtemp } = await import('node:fs/promises');
    const { tmpdir } = await import('node:os');
    directory = await mkdtemp(`${tmpdir()}/svc-segment-`);
    await writeSegments(directory, makeDays(3).slice(0, 2));
    await compressWhole(directory, 1);
    whole = await readFile(compressedSegmentPath(directory, 1));
    return () => rm(directory, { recursive: true, force: true });
  });

  const damaged = async (bytes: Buffer) => {
    await writeFile(compressedSegmentPath(directory, 1), bytes);
    await expect(readJournal({ directory, onLine: () => undefined })).rejects.toMatchObject({
      name: 'DamagedJournalError',
      file: compressedSegmentPath(directory, 1),
      exitCode: 78,
      offset: 0,
      seq: 1,
    });
  };

  it('of one bit is seen wherever it is', async () => {
    const step = scale(8, 1);
    for (let at = 0; at < whole.length; at += 1) {
      for (let bit = at % step; bit < 8; bit += step) {
        const changed = Buffer.from(whole);
        changed[at] = (changed[at] ?? 0) ^ (1 << bit);
        await damaged(changed);
      }
    }
  });

  it('is a file that was cut, wherever', async () => {
    for (let length = 0; length < whole.length; length += scale(11, 1)) await damaged(whole.subarray(0, length));
  });

  it('is anything after the end', async () => {
    for (const more of [Buffer.from([0]), Buffer.from(END_MEMBER, 'hex'), whole]) {
      await damaged(Buffer.concat([whole, more]));
    }
  });

  it('is a block that is not full inside, or has nothing in it', async () => {
    const end = Buffer.from(END_MEMBER, 'hex');
    const short = Buffer.concat([await encodeMember(Buffer.from('a')), await encodeMember(Buffer.from('b')), end]);
    await writeFile(`${directory}/odd.gz`, short);
    const file = await openCompressedFile(`${directory}/odd.gz`);
    await expect(file.read(0, 1)).rejects.toBeInstanceOf(DamagedSegmentError);
    await file.close();
    await damaged(end);
  });

  it('is named by file, byte of the text and record', async () => {
    const place = await makeDirectory();
    const { texts } = await writeSegments(place, manyLines(2_000));
    const text = texts[0] ?? Buffer.alloc(0);
    await compressWhole(place, 1);
    const path = compressedSegmentPath(place, 1);
    const bytes = await readFile(path);
    // Inside the third block: the two before it are whole.
    const firstTwo = bytes.readUInt16LE(16) + 1 + (bytes.readUInt16LE(bytes.readUInt16LE(16) + 1 + 16) + 1);
    bytes[firstTwo + 100] = (bytes[firstTwo + 100] ?? 0) ^ 4;
    await writeFile(path, bytes);
    const lineStart = text.lastIndexOf('\n', 2 * BLOCK_TEXT_BYTES) + 1;
    const seq = text.toString('latin1', 0, lineStart).split('\n').length;
    const lines: number[] = [];
    const error = await readJournal({ directory: place, onLine: ({ seq: read }) => lines.push(read) }).catch((e) => e);
    expect(error).toBeInstanceOf(DamagedJournalError);
    expect(error).toMatchObject({ file: path, offset: lineStart, seq });
    expect(lines).toHaveLength(seq - 1);
    const file = await opened(place);
    expect(await file.read(0, 1_000)).toEqual(text.subarray(0, 1_000));
    await expect(file.read(2 * BLOCK_TEXT_BYTES, 1)).rejects.toMatchObject({ textOffset: 2 * BLOCK_TEXT_BYTES });
  });

  it('is a text whose last record is torn, too: it was whole when it was compressed', async () => {
    const place = await makeDirectory();
    const { texts } = await writeSegments(place, manyLines(10));
    await truncate(segmentPath(place, 1), (texts[0]?.length ?? 0) - 5);
    await compressWhole(place, 1);
    await expect(readJournal({ directory: place, onLine: () => undefined })).rejects.toMatchObject({
      name: 'DamagedJournalError',
      seq: 11,
    });
  });
});

describe('the segments that count', () => {
  it.each<[string, readonly number[], readonly number[], readonly number[]]>([
    ['all of a journal that begins with the first', [1, 2, 3], [], [1, 2, 3]],
    ['those from a carry on, though nothing is deleted yet', [1, 2, 3], [3], [3]],
    ['those from the newest carry on', [4, 5, 6], [4, 6], [6]],
    ['those from the carry on after half a deletion', [2, 3, 4, 5], [4], [4, 5]],
    ['those after a deletion in another order', [1, 3, 4, 5], [4], [4, 5]],
    ['those from an older carry on when the newest has no segment', [5, 6, 7], [6, 9], [6, 7]],
    ['all, though none has a carry: the reader says so', [3, 4], [], [3, 4]],
    ['none', [], [], []],
  ])('are %s', async (_name, present, carries, expected) => {
    const directory = await makeDirectory();
    for (const segment of present) await writeFile(segmentPath(directory, segment), '');
    for (const carry of carries) await writeFile(carryPath(directory, carry), '');
    const files = await listJournalFiles(directory);
    expect(files.segments).toEqual(expected);
    expect(files.expired).toEqual(present.filter((segment) => !expected.includes(segment)));
    expect(files.carries).toEqual(carries);
  });

  it.each<[readonly number[], readonly number[], number]>([
    [[1, 3], [], 2],
    [[1, 2, 4], [2], 3],
    [[4, 5, 7], [4], 6],
    [[4, 6], [5], 5],
  ])('are %j with carries for %j: segment %i is missing', async (present, carries, missing) => {
    const directory = await makeDirectory();
    for (const segment of present) await writeFile(compressedSegmentPath(directory, segment), '');
    for (const carry of carries) await writeFile(carryPath(directory, carry), '');
    await expect(listSegments(directory)).rejects.toMatchObject({
      file: segmentPath(directory, missing),
      exitCode: 78,
    });
  });
});

// Torn tails are cut and kept; damage anywhere else is found and named.
import { mkdir, open, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { realDisk } from '../../src/store/disk.ts';
import { encodeBatch } from '../../src/store/journal-batch.ts';
import { encodeLine, FIRST_PREV } from '../../src/store/journal-format.ts';
import { type JournalReadReport, readJournal } from '../../src/store/journal-reader.ts';
import { DamagedJournalError, DamagedStateError } from '../../src/store/store-errors.ts';
import { cutTornTail } from '../../src/store/torn-tail.ts';
import { makeDirectory, openStore } from './fixtures/data-directory.ts';
import { makeGrant, makeHold, makeHoldRequest, makeSettle, NOON } from './fixtures/records.ts';

const FIRST = '000000000001.ndjson';
const SECOND = '000000000002.ndjson';

/** Two segments: the header and `count` grants, holds and settlements, split after `split` records. */
function makeSegments(count: number, split: number): readonly [Buffer, Buffer] {
  const segments: [string, string] = ['', ''];
  let seq = 1;
  let prev = FIRST_PREV;
  const add = (record: Parameters<typeof encodeLine>[0], segment: 0 | 1) => {
    const { line, hash } = encodeLine(record, seq, prev);
    segments[segment] += `${line}\n`;
    prev = hash;
    seq += 1;
  };
  add({ type: 'segment', format: 1, segment: 1, at: NOON }, 0);
  for (let index = 0; index < count; index += 1) {
    const segment = index < split ? 0 : 1;
    if (index === split) add({ type: 'segment', format: 1, segment: 2, at: NOON }, 1);
    const id = `req_${Math.floor(index / 2)}`;
    if (index === 0) add(makeGrant(1_000_000), segment);
    else add(index % 2 === 1 ? makeHold(id, 10) : makeSettle(`req_${index / 2 - 1}`, 7), segment);
  }
  return [Buffer.from(segments[0]), Buffer.from(segments[1])];
}

async function write(directory: string, first: Buffer, second: Buffer | null = null): Promise<void> {
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, FIRST), first);
  if (second !== null) await writeFile(join(directory, SECOND), second);
}

/** What reading answers: a report or the damage. */
async function read(directory: string): Promise<JournalReadReport | DamagedStateError> {
  try {
    return await readJournal({ directory, onLine: () => undefined });
  } catch (error) {
    if (error instanceof DamagedStateError) return error;
    throw error;
  }
}

/** The byte at which each line starts, and the end of the last. */
function lineStarts(bytes: Buffer): readonly number[] {
  const starts = [0];
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) starts.push(at + 1);
  return starts;
}

/** Each byte around the ends of lines, where a flip joins two, and one in seventeen of the others. */
function placesToFlip(bytes: Buffer): readonly number[] {
  const starts = new Set(lineStarts(bytes).flatMap((start) => [start - 2, start - 1, start, start + 9]));
  return Array.from(bytes.keys()).filter((at) => starts.has(at) || at % 17 === 0);
}

describe('a whole journal', () => {
  it('is read in order across segments', async () => {
    const directory = await makeDirectory();
    await write(directory, ...makeSegments(20, 11));
    const seqs: number[] = [];
    const report = await readJournal({ directory, onLine: (line) => seqs.push(line.seq) });
    expect(seqs).toEqual(Array.from({ length: 22 }, (_, index) => index + 1));
    expect(report).toMatchObject({ lines: 22, segments: 2, torn: null, position: { segment: 2, nextSeq: 23 } });
  });

  it('can be read on from the middle', async () => {
    const directory = await makeDirectory();
    const [first, second] = makeSegments(20, 11);
    await write(directory, first);
    const { position } = await readJournal({ directory, onLine: () => undefined });
    await write(directory, first, second);
    const seqs: number[] = [];
    await readJournal({ directory, from: position, onLine: (line) => seqs.push(line.seq) });
    expect(seqs[0]).toBe(13);
    expect(seqs.at(-1)).toBe(22);
  });

  it('may be empty or not be there', async () => {
    const directory = await makeDirectory();
    const nothing = { segment: 0, offset: 0, nextSeq: 1, prev: FIRST_PREV };
    expect(await read(directory)).toMatchObject({ position: nothing, lines: 0 });
    expect(await read(join(directory, 'none'))).toMatchObject({ position: nothing, lines: 0 });
    await write(directory, Buffer.alloc(0));
    expect(await read(directory)).toMatchObject({ position: { segment: 1, offset: 0, nextSeq: 1 }, torn: null });
  });

  it('can be read up to a segment, whatever comes after it', async () => {
    const directory = await makeDirectory();
    const [first, second] = makeSegments(20, 11);
    await write(directory, first, Buffer.from('no segment'));
    const report = await readJournal({ directory, before: 2, onLine: () => undefined });
    expect(report).toMatchObject({
      lines: 12,
      segments: 1,
      torn: null,
      position: { segment: 1, offset: first.length },
    });
    await write(directory, first, second);
    expect(await readJournal({ directory, before: 1, onLine: () => undefined })).toMatchObject({
      lines: 0,
      segments: 0,
    });
  });

  it('can be read in steps, with a pause after each', async () => {
    const directory = await makeDirectory();
    await write(directory, ...makeSegments(400, 200));
    const whole = await read(directory);
    const linesAtPause: number[] = [];
    let lines = 0;
    const pause = async () => {
      linesAtPause.push(lines);
    };
    const onLine = () => {
      lines += 1;
    };
    expect(await readJournal({ directory, onLine, pace: { chunkBytes: 1_000, pause } })).toEqual(whole);
    const steps = linesAtPause.slice(1).map((count, index) => count - (linesAtPause[index] ?? 0));
    // A record has some 200 bytes at least.
    expect(Math.max(...steps)).toBeLessThanOrEqual(6);
    expect(steps.length).toBeGreaterThan(100);
  });

  it('is read no further when a pause throws', async () => {
    const directory = await makeDirectory();
    await write(directory, ...makeSegments(20, 11));
    const stop = new Error('enough');
    const pause = () => Promise.reject(stop);
    const reading = readJournal({ directory, onLine: () => undefined, pace: { chunkBytes: 100, pause } });
    await expect(reading).rejects.toBe(stop);
  });

  it('is no longer the one a reader knew when it became shorter', async () => {
    const directory = await makeDirectory();
    const [first] = makeSegments(20, 20);
    await write(directory, first);
    const { position: from } = await readJournal({ directory, onLine: () => undefined });
    await truncate(join(directory, FIRST), first.length - 1);
    const reading = readJournal({ directory, from, onLine: () => undefined });
    await expect(reading).rejects.toMatchObject({ name: 'DamagedJournalError', offset: first.length });
  });

  it('is read through chunks of any alignment', async () => {
    const directory = await makeDirectory();
    await write(directory, makeSegments(5_000, 5_000)[0]);
    expect(await read(directory)).toMatchObject({ lines: 5_001, torn: null });
  });
});

describe('a torn tail', () => {
  it('is whatever a cut at any byte of the last three records leaves', async () => {
    const directory = await makeDirectory();
    const [first] = makeSegments(12, 12);
    const starts = lineStarts(first);
    const from = starts.at(-4) ?? 0;
    await write(directory, first);
    for (let length = first.length; length >= from; length -= 1) {
      await truncate(join(directory, FIRST), length);
      const report = await read(directory);
      const lastStart = starts.findLast((start) => start <= length) ?? 0;
      expect(report).toMatchObject({ lines: starts.indexOf(lastStart), position: { offset: lastStart } });
      const torn = lastStart === length ? null : { offset: lastStart, bytes: length - lastStart };
      expect(report).toHaveProperty('torn', torn === null ? null : expect.objectContaining(torn));
    }
  });

  it.each<[string, Buffer]>([
    ['zero bytes', Buffer.alloc(5_000)],
    ['line feeds', Buffer.alloc(50, 10)],
    ['other bytes', Buffer.from(Array.from({ length: 5_000 }, (_, index) => (index * 7_919) % 251))],
    ['more than a line can be', Buffer.alloc(3_000_000, 65)],
    ['the beginning of a line', Buffer.from('{"crc":"00000000","seq":14,"prev":"')],
  ])('may be %s', async (_name, tail) => {
    const directory = await makeDirectory();
    const [first] = makeSegments(12, 12);
    await write(directory, Buffer.concat([first, tail]));
    expect(await read(directory)).toMatchObject({
      lines: 13,
      torn: { offset: first.length, bytes: tail.length, seq: 14 },
    });
  });

  it('is cut off and its bytes are kept', async () => {
    const directory = await makeDirectory();
    const [first] = makeSegments(12, 12);
    await write(directory, Buffer.concat([first, Buffer.from('half a rec')]));
    const { torn } = await readJournal({ directory, onLine: () => undefined });
    if (torn === null) throw new Error('the tail was not seen');
    const name = await cutTornTail(torn, realDisk);
    expect(name).toMatch(/^torn-14-[0-9a-f]+\.bin$/);
    expect(await readFile(join(directory, name), 'utf8')).toBe('half a rec');
    expect(await readFile(join(directory, FIRST))).toEqual(first);
  });

  it('is a whole write of which a part is missing, as long as no later write is there', async () => {
    const directory = await makeDirectory();
    const [first] = makeSegments(9, 9);
    await write(directory, first);
    const { position } = await readJournal({ directory, onLine: () => undefined });
    const records = [10, 11, 12].map((n) => makeGrant(n, { id: `last_${n}` }));
    const last = encodeBatch(records, position, NOON);
    // The first sectors of the write are lost, the later ones are there.
    const holed = Buffer.from(last.bytes).fill(0, 20, (last.places[0]?.bytes ?? 0) - 20);
    const torn = { offset: first.length, bytes: holed.length, seq: position.nextSeq };
    await write(directory, Buffer.concat([first, holed]));
    expect(await read(directory)).toMatchObject({ torn, position });
    const later = encodeBatch([makeGrant(1, { id: 'later' })], last.after, NOON);
    await write(directory, Buffer.concat([first, holed, later.bytes]));
    expect(String(await read(directory))).toMatch(/whole records follow/);
  });

  it('is only ever at the end of the last segment', async () => {
    const directory = await makeDirectory();
    const [first, second] = makeSegments(12, 6);
    await write(directory, Buffer.concat([first, Buffer.from('half')]), second);
    expect(await read(directory)).toMatchObject({ name: 'DamagedJournalError', offset: first.length, seq: 8 });
  });

  it('of a store is reported, and the store goes on', async () => {
    const directory = await makeDirectory();
    const before = await openStore(directory);
    await before.ledger.grant(makeGrant(100));
    await before.ledger.hold(makeHoldRequest('req_1', 40));
    await before.close();
    const segment = join(directory, 'journal', FIRST);
    await truncate(segment, (await readFile(segment)).length - 5);
    const notices: string[] = [];
    const after = await openStore(directory, { onNotice: (notice) => notices.push(notice) });
    expect(notices.join()).toContain('journal/000000000001.ndjson: cut');
    expect(after.ledger.balance('ws_1')).toEqual({ grantedNano: 100, chargedNano: 0, heldNano: 0 });
    await after.ledger.hold(makeHoldRequest('req_2', 100));
    expect((await readdir(join(directory, 'journal'))).filter((name) => name.startsWith('torn-'))).toHaveLength(1);
  });
});

describe('damage', () => {
  let first: Buffer;
  let second: Buffer;
  beforeAll(() => {
    [first, second] = makeSegments(60, 30);
  });

  it('of one bit is seen wherever it is', async () => {
    const directory = await makeDirectory();
    const whole = makeSegments(60, 60)[0];
    const lastLine = lineStarts(whole).at(-2) ?? 0;
    await write(directory, whole);
    const file = await open(join(directory, FIRST), 'r+');
    const flip = async (at: number, bit: number) => file.write(Uint8Array.of((whole[at] ?? 0) ^ bit), 0, 1, at);
    for (const at of placesToFlip(whole)) {
      await flip(at, 1 << (at % 8));
      const result = await read(directory);
      if (at >= lastLine) expect(result).toMatchObject({ torn: { offset: lastLine } });
      else expect(result).toBeInstanceOf(DamagedJournalError);
      await flip(at, 0);
    }
    expect(await read(directory)).toMatchObject({ torn: null });
    await file.close();
  });

  it('names file, byte and record', async () => {
    const directory = await makeDirectory();
    const at = lineStarts(second)[4] ?? 0;
    const changed = Buffer.from(second);
    changed[at + 60] = 0;
    await write(directory, first, changed);
    const seq = lineStarts(first).length + 4;
    const file = join(directory, SECOND);
    const damage = await read(directory);
    expect(damage).toMatchObject({ file, offset: at, seq, exitCode: 78 });
    expect((damage as Error).message).toContain(`${file}: the journal is damaged at byte ${at}, record ${seq}`);
  });

  it.each<[string, (starts: readonly number[]) => readonly [number, number]]>([
    ['the header', (starts) => [0, starts[1] ?? 0]],
    ['one inside', (starts) => [starts[7] ?? 0, starts[8] ?? 0]],
    ['the last of a segment', (starts) => [starts.at(-2) ?? 0, starts.at(-1) ?? 0]],
    ['all of a segment', (starts) => [0, starts.at(-1) ?? 0]],
  ])('is a record that is gone: %s', async (_name, range) => {
    const directory = await makeDirectory();
    const [from, to] = range(lineStarts(first));
    await write(directory, Buffer.concat([first.subarray(0, from), first.subarray(to)]), second);
    expect(await read(directory)).toBeInstanceOf(DamagedJournalError);
  });

  it('is a record that is there twice', async () => {
    const directory = await makeDirectory();
    const starts = lineStarts(first);
    const line = first.subarray(starts[5], starts[6]);
    await write(directory, Buffer.concat([first.subarray(0, starts[6]), line, first.subarray(starts[6])]), second);
    expect(await read(directory)).toMatchObject({ name: 'DamagedJournalError', offset: starts[6] });
  });

  it('is a record put in place of another, its checksum and number right', async () => {
    const directory = await makeDirectory();
    const starts = lineStarts(first);
    const { seq, prev } = JSON.parse(first.toString('utf8', starts[1], starts[2]));
    const forged = `${encodeLine(makeGrant(999_999_999), seq, prev).line}\n`;
    await write(
      directory,
      Buffer.concat([first.subarray(0, starts[1]), Buffer.from(forged), first.subarray(starts[2])]),
      second,
    );
    const offset = (starts[1] ?? 0) + forged.length;
    expect(await read(directory)).toMatchObject({ name: 'DamagedJournalError', offset, seq: seq + 1 });
  });

  it('is a segment of another journal', async () => {
    const directory = await makeDirectory();
    await write(directory, first, makeSegments(40, 30)[1].subarray(0));
    expect(await read(directory)).toMatchObject({ torn: null });
    await write(directory, makeSegments(61, 31)[0], second);
    expect(await read(directory)).toBeInstanceOf(DamagedJournalError);
  });

  it('is a segment that is missing', async () => {
    const directory = await makeDirectory();
    await write(directory, first, second);
    await writeFile(join(directory, '000000000004.ndjson'), '');
    expect(await read(directory)).toMatchObject({
      name: 'DamagedStateError',
      file: join(directory, '000000000003.ndjson'),
    });
    await rm(join(directory, '000000000004.ndjson'));
    await rm(join(directory, FIRST));
    const noCarry = { name: 'DamagedStateError', file: join(directory, 'carry-000000000002.json') };
    expect(await read(directory)).toMatchObject(noCarry);
  });

  it('is a record that breaks the rules of money', async () => {
    const directory = await makeDirectory();
    const store = await openStore(directory);
    await store.ledger.grant(makeGrant(10));
    await store.close();
    const segment = join(directory, 'journal', FIRST);
    const lines = (await readFile(segment, 'utf8')).trimEnd().split('\n');
    const grant = encodeLine(makeGrant(10), 2, JSON.parse(lines[1] ?? '').prev, 1);
    expect(grant.line).toBe(lines[1]);
    await writeFile(segment, `${encodeLine(makeHold('req_1', 11), 3, grant.hash).line}\n`, { flag: 'a' });
    await expect(openStore(directory)).rejects.toMatchObject({ name: 'DamagedJournalError', seq: 3 });
  });
});

// Damage to the journal, byte by byte: a torn tail is cut and kept, anything else refuses to start and says where.

import { existsSync } from 'node:fs';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openFileStore } from '../../src/store/file-store.ts';
import { DamagedJournalError } from '../../src/store/store-errors.ts';
import { verifyJournal } from '../../src/store/verify-journal.ts';
import { makeGrant, makeHoldRequest, makeSettle, NOON } from '../store/fixtures/records.ts';
import { copyHome, startToEnd, startUnder } from './daemon-under.ts';
import { scale, seededRandom } from './scale.ts';

const SEED = Number(process.env['TEST_SEED'] ?? 20_261_121);
const SEGMENT = join('journal', '000000000001.ndjson');
/** A hold and a settlement each: with the header and a grant, a journal of 102 records. */
const PAIRS = 50;
/** One bit of every so many bytes. */
const FLIP_STRIDE = scale(617, 1);
/** Reading alone is quicker than starting, so that the long run can flip every bit there is. */
const BIT_STRIDE = scale(4_001, 1);
const CUT_STRIDE = scale(89, 1);

/** In memory where the machine has such a folder: thousands of starts sync thousands of times. */
async function makeQuickDirectory(): Promise<string> {
  const parent = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
  const directory = await mkdtemp(join(parent, 'svc-damage-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

type Opened = {
  readonly error: unknown;
  readonly chargedNano: number;
  readonly heldNano: number;
  readonly fromSnapshot: boolean;
  readonly notices: readonly string[];
};

async function open(directory: string): Promise<Opened> {
  const notices: string[] = [];
  try {
    const store = await openFileStore({
      directory,
      now: () => NOON,
      onFatal: (error) => {
        throw error;
      },
      onNotice: (notice) => notices.push(notice),
    });
    const { chargedNano, heldNano } = store.ledger.balance('ws_1');
    const { fromSnapshot } = store.opening;
    await store.close();
    return { error: null, chargedNano, heldNano, fromSnapshot, notices };
  } catch (error) {
    return { error, chargedNano: 0, heldNano: 0, fromSnapshot: false, notices };
  }
}

type Index = 'of all of it' | 'of its first half' | 'gone';

/** A closed store with a journal of 102 records and an `index/` that covers so much of it. */
async function makeWhole(index: Index): Promise<{ readonly directory: string; readonly bytes: Buffer }> {
  const directory = await makeQuickDirectory();
  const folder = join(directory, 'index');
  const early = join(await makeQuickDirectory(), 'index');
  await addRecords(directory, 0, PAIRS / 2);
  await cp(folder, early, { recursive: true });
  await addRecords(directory, PAIRS / 2, PAIRS);
  if (index !== 'of all of it') await rm(folder, { recursive: true });
  if (index === 'of its first half') await cp(early, folder, { recursive: true });
  const bytes = await readFile(join(directory, SEGMENT));
  expect(lineStarts(bytes)).toHaveLength(2 + 2 * PAIRS);
  return { directory, bytes };
}

async function addRecords(directory: string, from: number, to: number): Promise<void> {
  const store = await openFileStore({ directory, now: () => NOON, onFatal: () => undefined });
  await store.ledger.grant(makeGrant(1_000_000));
  for (let pair = from; pair < to; pair += 1) {
    await store.ledger.hold(makeHoldRequest(`req_${pair}`, 100));
    await store.ledger.settle(makeSettle(`req_${pair}`, pair));
  }
  await store.close();
}

/** The bytes at which lines start. */
function lineStarts(bytes: Buffer): readonly number[] {
  const starts = [0];
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) starts.push(at + 1);
  return starts.slice(0, -1);
}

/** Some of the last record, and those at a stride of the rest. */
function placesToFlip(length: number, last: number): readonly number[] {
  const inside = Array.from({ length: Math.ceil(last / FLIP_STRIDE) }, (_, index) => index * FLIP_STRIDE);
  const stride = Math.ceil(FLIP_STRIDE / 7);
  const tail = Array.from({ length: Math.ceil((length - last) / stride) }, (_, index) => last + index * stride);
  return [...inside, ...tail];
}

/** The charges of the whole records before `end`. */
function chargedBefore(bytes: Buffer, end: number): number {
  const text = bytes.toString('utf8', 0, end);
  const lines = text.slice(0, text.lastIndexOf('\n') + 1).split('\n');
  return lines.map((line) => Number(/"chargeNano":(\d+)/.exec(line)?.[1] ?? 0)).reduce((sum, nano) => sum + nano, 0);
}

/** Puts the directory back as it was, but for the segment, and answers what the last start had kept of a tail. */
async function takeTorn(directory: string): Promise<readonly Buffer[]> {
  const kept: Buffer[] = [];
  for (const name of await readdir(join(directory, 'journal'))) {
    if (!name.startsWith('torn-')) continue;
    kept.push(await readFile(join(directory, 'journal', name)));
    await rm(join(directory, 'journal', name));
  }
  return kept;
}

describe.each<Index>(['of all of it', 'of its first half', 'gone'])('a journal with an index %s', (index) => {
  async function makeCase(): Promise<{ readonly directory: string; readonly bytes: Buffer; reset(): Promise<void> }> {
    const whole = await makeWhole(index);
    const directory = await makeQuickDirectory();
    const reset = async (): Promise<void> => {
      await rm(join(directory, 'index'), { recursive: true, force: true });
      await rm(join(directory, 'journal'), { recursive: true, force: true });
      await copyHome(whole.directory, directory);
    };
    await reset();
    // Reached: where there is an index, a start makes use of it.
    expect((await open(directory)).fromSnapshot).toBe(index !== 'gone');
    await reset();
    return { directory, bytes: whole.bytes, reset };
  }

  it('cut at any byte of its last three records loses the unfinished one and keeps its bytes', async () => {
    const { directory, bytes, reset } = await makeCase();
    const starts = lineStarts(bytes);
    let cut = 0;
    for (let length = bytes.length - 1; length > (starts.at(-3) ?? 0); length -= CUT_STRIDE) {
      await reset();
      await writeFile(join(directory, SEGMENT), bytes.subarray(0, length));
      const { error, chargedNano, heldNano } = await open(directory);
      expect([length, error, heldNano]).toEqual([length, null, 0]);
      expect([length, chargedNano]).toEqual([length, chargedBefore(bytes, length)]);
      const tail = bytes.subarray(starts.findLast((start) => start <= length) ?? 0, length);
      expect(await takeTorn(directory)).toEqual(tail.length === 0 ? [] : [tail]);
      expect(await verifyJournal(join(directory, 'journal'))).toMatchObject({ ok: true, torn: null, openHolds: 0 });
      cut += 1;
    }
    expect(cut).toBeGreaterThan(20);
  });

  it('with anything unfinished after it goes on where it was whole', async () => {
    const { directory, bytes, reset } = await makeCase();
    const random = seededRandom(SEED);
    const noise = (length: number): Buffer => Buffer.from(Array.from({ length }, () => Math.floor(random() * 256)));
    const tails = [Buffer.alloc(1), Buffer.alloc(4_096), Buffer.alloc(70_000), bytes.subarray(0, 500)];
    for (let round = 0; round < scale(6, 200); round += 1) tails.push(noise(1 + Math.floor(random() * 9_000)));
    for (const [index, tail] of tails.entries()) {
      const name = `seed ${SEED}, tail ${index}`;
      await reset();
      await writeFile(join(directory, SEGMENT), Buffer.concat([bytes, tail]));
      const { error, chargedNano, notices } = await open(directory);
      // A whole old record after the end is no torn write; that one is refused.
      if (tail.includes('{"crc":"') && tail.includes(10)) {
        expect([name, error]).toEqual([name, expect.any(DamagedJournalError)]);
        continue;
      }
      expect([name, error, chargedNano]).toEqual([name, null, chargedBefore(bytes, bytes.length)]);
      expect([name, await takeTorn(directory)]).toEqual([name, [tail]]);
      expect(notices.join()).toContain(`cut ${tail.length} bytes`);
    }
  });

  it('with one bit flipped anywhere is never read as if it were whole', async () => {
    const { directory, bytes, reset } = await makeCase();
    const starts = lineStarts(bytes);
    const last = starts.at(-1) ?? 0;
    const reached = { tail: 0, inside: 0 };
    for (const at of placesToFlip(bytes.length, last)) {
      if (at >= last) await reset();
      const flipped = Buffer.from(bytes);
      flipped[at] = (bytes[at] ?? 0) ^ (1 << (at % 8));
      await writeFile(join(directory, SEGMENT), flipped);
      const { error, chargedNano } = await open(directory);
      // What the index knows to have been durable can't be a torn tail as long as none of its bytes is missing.
      const isTail = at >= last && index !== 'of all of it';
      if (isTail) {
        expect([at, error, chargedNano]).toEqual([at, null, chargedBefore(bytes, last)]);
        expect([at, await takeTorn(directory)]).toEqual([at, [flipped.subarray(last)]]);
        await reset();
        reached.tail += 1;
        continue;
      }
      const seq = starts.findLastIndex((start) => start <= at) + 1;
      const named = { file: join(directory, SEGMENT), exitCode: 78, seq, offset: starts[seq - 1] };
      expect([at, error]).toEqual([at, expect.any(DamagedJournalError)]);
      expect([at, error]).toEqual([at, expect.objectContaining(named)]);
      reached.inside += 1;
    }
    if (index !== 'of all of it') expect(reached.tail).toBeGreaterThan(0);
    expect(reached.inside).toBeGreaterThan(40);
  });
});

it('every bit of a journal is covered by its checks', async () => {
  const { directory, bytes } = await makeWhole('gone');
  const last = lineStarts(bytes).at(-1) ?? 0;
  let flips = 0;
  for (let bit = 0; bit < bytes.length * 8; bit += BIT_STRIDE) {
    const at = bit >> 3;
    const flipped = Buffer.from(bytes);
    flipped[at] = (bytes[at] ?? 0) ^ (1 << (bit & 7));
    await writeFile(join(directory, SEGMENT), flipped);
    const { damage, torn } = await verifyJournal(join(directory, 'journal'));
    const seen = at < last ? damage instanceof DamagedJournalError : torn?.offset === last;
    expect([bit, seen]).toEqual([bit, true]);
    flips += 1;
  }
  expect(flips).toBeGreaterThan(40);
});

describe('the daemon', () => {
  it('refuses a journal that is damaged inside with exit 78, naming file, byte and record', async () => {
    const whole = await makeWhole('of all of it');
    const home = await copyHome(whole.directory);
    const starts = lineStarts(whole.bytes);
    const flipped = Buffer.from(whole.bytes);
    const at = (starts[40] ?? 0) + 90;
    flipped[at] = (flipped[at] ?? 0) ^ 4;
    await writeFile(join(home, SEGMENT), flipped);
    const { code, stderr } = await startToEnd({ home });
    expect([code, stderr]).toEqual([78, expect.stringContaining(join(home, SEGMENT))]);
    expect(stderr).toContain(`at byte ${starts[40]}, record 41`);
    expect(await readFile(join(home, SEGMENT))).toEqual(flipped);
  });

  it('starts on a torn tail, says what it cut and keeps it', async () => {
    const whole = await makeWhole('of all of it');
    const home = await copyHome(whole.directory);
    const tail = Buffer.concat([whole.bytes.subarray(0, 70), Buffer.alloc(30)]);
    await writeFile(join(home, SEGMENT), tail, { flag: 'a' });
    const daemon = await startUnder({ home });
    await expect.poll(() => daemon.stderr()).toContain('cut 100 bytes');
    expect(await daemon.stop()).toBe(0);
    expect(await takeTorn(home)).toEqual([tail]);
  });
});

// The carry file: what expired segments added up to, there and back, and tied to the journal.
import { createHash } from 'node:crypto';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LedgerFold, type LedgerState } from '../../src/ledger/ledger-fold.ts';
import { type CarryState, readCarry, readJournalBase, writeCarry } from '../../src/store/carry.ts';
import { realDisk } from '../../src/store/disk.ts';
import { readJournal } from '../../src/store/journal-reader.ts';
import { jsonPieces } from '../../src/store/json-pieces.ts';
import { carryPath, segmentPath } from '../../src/store/segment-name.ts';
import { DamagedStateError } from '../../src/store/store-errors.ts';
import { makeDirectory } from './fixtures/data-directory.ts';
import { makeGrant, makeHold, makeSettle, NOON } from './fixtures/records.ts';
import { CarryAppender, foldJournal, makeDays, makeRollup, writeSegments } from './fixtures/segments.ts';

const none = async () => undefined;

/** Writes the file, and to the journal what `record` does; answers the digest. */
async function write(directory: string, state: CarryState, record: (digest: string) => Promise<unknown> = none) {
  let written = '';
  await writeCarry(state, {
    disk: realDisk,
    directory,
    pause: none,
    record: async (digest) => {
      written = digest;
      await record(digest);
    },
  });
  return written;
}

/** The state of the first `segments` of some days, as it is at the start of the next one. */
async function stateBefore(directory: string, segment: number): Promise<CarryState> {
  const fold = new LedgerFold();
  const { position } = await readJournal({
    directory,
    before: segment,
    onLine: ({ record }) => {
      if (record.type !== 'segment' && record.type !== 'carry' && record.type !== 'foreign') fold.apply(record);
    },
  });
  return { position: { ...position, segment, offset: 0 }, ledger: fold.state(), rollup: makeRollup('a') };
}

async function journalWithCarry(segment: number) {
  const directory = await makeDirectory();
  const { position, texts } = await writeSegments(directory, makeDays(7));
  const state = await stateBefore(directory, segment);
  const digest = await write(directory, state);
  return { directory, position, state, digest, texts };
}

async function removeBefore(directory: string, segment: number): Promise<void> {
  for (let gone = 1; gone < segment; gone += 1) await rm(segmentPath(directory, gone));
}

/** A file of this content with a right digest. */
async function writeSealed(directory: string, segment: number, content: object): Promise<void> {
  const body = `${JSON.stringify(content).slice(1)}\n`;
  const digest = createHash('sha256').update(body).digest('hex');
  await writeFile(carryPath(directory, segment), `{"digest":"${digest}",${body}`);
}

describe('a carry file', () => {
  it('gives back the state, with its open holds, that was written', async () => {
    const { directory, state, digest } = await journalWithCarry(5);
    expect(state.ledger.holds.length).toBeGreaterThan(0);
    expect(state.ledger.progress.length).toBeGreaterThan(0);
    expect(await readCarry(directory, 5)).toEqual({ ...state, file: carryPath(directory, 5), digest });
  });

  it('is JSON, for us alone, and begins with the SHA-256 of the rest', async () => {
    const { directory, digest } = await journalWithCarry(5);
    const file = carryPath(directory, 5);
    const text = await readFile(file, 'utf8');
    expect(JSON.parse(text)).toMatchObject({ digest, format: 1, position: { segment: 5, offset: 0 } });
    expect(text.startsWith(`{"digest":"${digest}","format":1,`)).toBe(true);
    expect(
      createHash('sha256')
        .update(text.slice(`{"digest":"${digest}",`.length))
        .digest('hex'),
    ).toBe(digest);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it('has the same bytes when it is written again', async () => {
    const { directory, state, digest } = await journalWithCarry(5);
    expect(await write(directory, state)).toBe(digest);
  });

  it('is given up when the journal cannot take its digest', async () => {
    const directory = await makeDirectory();
    await writeSegments(directory, makeDays(7));
    const full = new Error('full');
    const state = await stateBefore(directory, 5);
    await expect(write(directory, state, () => Promise.reject(full))).rejects.toBe(full);
    expect(await readdir(directory)).toHaveLength(7);
  });

  it('is written in steps, however much there is of one kind', async () => {
    const directory = await makeDirectory();
    const ledger: LedgerState = {
      ...new LedgerFold().state(),
      settledIds: Array.from({ length: 16_384 }, (_, index) => `req_${index}_äöü`),
    };
    const position = { segment: 2, offset: 0, nextSeq: 5, prev: 'x' };
    let pauses = 0;
    const pause = async () => {
      pauses += 1;
    };
    const state = { position, ledger, rollup: makeRollup('ä') };
    await writeCarry(state, { disk: realDisk, directory, pause, record: none });
    expect(pauses).toBeGreaterThanOrEqual(8);
    expect((await readCarry(directory, 2)).ledger).toEqual(ledger);
  });

  it('with any bit changed is damage, and so is one that was cut', async () => {
    const { directory } = await journalWithCarry(3);
    const file = carryPath(directory, 3);
    const bytes = await readFile(file);
    for (let at = 0; at < bytes.length; at += at < 120 ? 1 : 13) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
      for (const wrong of [changed, bytes.subarray(0, at)]) {
        await writeFile(file, wrong);
        await expect(readCarry(directory, 3)).rejects.toMatchObject({ name: 'DamagedStateError', file, exitCode: 78 });
      }
    }
  });

  it.each<[string, (state: CarryState) => object]>([
    ['another format', (state) => ({ format: 2, ...state })],
    ['the place of another segment', (state) => ({ format: 1, ...state, position: { ...state.position, segment: 4 } })],
    ['a place inside a segment', (state) => ({ format: 1, ...state, position: { ...state.position, offset: 7 } })],
    ['no place', ({ ledger, rollup }) => ({ format: 1, ledger, rollup })],
    ['no ledger', ({ position, rollup }) => ({ format: 1, position, rollup })],
    ['no rollup', ({ position, ledger }) => ({ format: 1, position, ledger })],
    ['a rollup of something else', (state) => ({ format: 1, ...state, rollup: { names: ['a'], cost: ['1'] } })],
    ['names that are none', (state) => ({ format: 1, ...state, rollup: { names: [1] } })],
    ['holds that are none', (state) => ({ format: 1, ...state, ledger: { ...state.ledger, holds: [makeGrant(1)] } })],
    ['progress that is none', (state) => ({ format: 1, ...state, ledger: { ...state.ledger, progress: [{}] } })],
    [
      'a negative sum',
      (state) => ({
        format: 1,
        ...state,
        ledger: { ...state.ledger, workspaces: [{ id: 'w', grantedNano: -1, chargedNano: 0 }] },
      }),
    ],
    [
      'a workspace without a name',
      (state) => ({
        format: 1,
        ...state,
        ledger: { ...state.ledger, workspaces: [{ grantedNano: 1, chargedNano: 0 }] },
      }),
    ],
    [
      'a key without its days',
      (state) => ({ format: 1, ...state, ledger: { ...state.ledger, keys: [{ id: 'k', totalNano: 1, months: [] }] } }),
    ],
    [
      'a key without its sum',
      (state) => ({ format: 1, ...state, ledger: { ...state.ledger, keys: [{ id: 'k', days: [], months: [] }] } }),
    ],
    [
      'a period of three',
      (state) => ({
        format: 1,
        ...state,
        ledger: { ...state.ledger, keys: [{ id: 'k', totalNano: 1, days: [[1, 2, 3]], months: [] }] },
      }),
    ],
    ['more held than there is', (state) => ({ format: 1, ...state, ledger: { ...state.ledger, workspaces: [] } })],
  ])('with %s is damage even under a right digest', async (_name, make) => {
    const { directory, state } = await journalWithCarry(3);
    await writeSealed(directory, 3, { format: 1, ...state });
    expect(await readCarry(directory, 3)).toMatchObject(state);
    await writeSealed(directory, 3, make(state));
    await expect(readCarry(directory, 3)).rejects.toBeInstanceOf(DamagedStateError);
  });
});

describe('a journal that begins with a carry', () => {
  it('has the balances it had before', async () => {
    const directory = await makeDirectory();
    const { position } = await writeSegments(directory, makeDays(7));
    const whole = await foldJournal(directory);
    const { append } = new CarryAppender(directory, position);
    const digest = await write(directory, await stateBefore(directory, 5), async (digest) => {
      // The content is there, the name is not: nothing has changed yet.
      expect(await readJournalBase(directory)).toBeNull();
      await append({ type: 'carry', at: NOON, segment: 5, digest });
      expect(await foldJournal(directory)).toEqual(whole);
    });
    expect(await readJournalBase(directory)).toMatchObject({ digest, position: { segment: 5 } });
    expect(await foldJournal(directory)).toEqual(whole);
    await removeBefore(directory, 5);
    expect(await foldJournal(directory)).toEqual(whole);
  });

  it('goes on with the number and the chain of the segments that are gone', async () => {
    const { directory, position, state, digest } = await journalWithCarry(5);
    await new CarryAppender(directory, position).append({ type: 'carry', at: NOON, segment: 5, digest });
    await removeBefore(directory, 5);
    const seqs: number[] = [];
    const report = await readJournal({ directory, onLine: ({ seq }) => seqs.push(seq) });
    expect(seqs[0]).toBe(state.position.nextSeq);
    expect(report).toMatchObject({ segments: 3, position: { segment: 7, nextSeq: position.nextSeq + 1 } });
  });

  it.each<[string, (directory: string, state: CarryState) => Promise<unknown>, object]>([
    ['is missing', (directory) => rm(carryPath(directory, 5)), { name: 'DamagedStateError' }],
    [
      'is another than the journal says',
      (directory, state) => write(directory, { ...state, rollup: makeRollup('b') }),
      { name: 'DamagedStateError' },
    ],
    [
      'has another place in the chain',
      (directory, state) => write(directory, { ...state, position: { ...state.position, prev: 'A'.repeat(22) } }),
      { name: 'DamagedJournalError', offset: 0 },
    ],
  ])('does not start when the carry %s', async (_name, change, expected) => {
    const { directory, position, state, digest } = await journalWithCarry(5);
    await new CarryAppender(directory, position).append({ type: 'carry', at: NOON, segment: 5, digest });
    await removeBefore(directory, 5);
    await change(directory, state);
    await expect(foldJournal(directory)).rejects.toMatchObject({ ...expected, exitCode: 78 });
  });

  it('does not start when the journal says nothing of the carry', async () => {
    const { directory, position } = await journalWithCarry(5);
    const other = { type: 'carry', at: NOON, segment: 4, digest: 'x' } as const;
    await new CarryAppender(directory, position).append(other);
    await removeBefore(directory, 5);
    await expect(foldJournal(directory)).rejects.toMatchObject({ file: carryPath(directory, 5), exitCode: 78 });
  });

  it('does not need the record of the carry to be read again from a later place', async () => {
    const { directory, position, digest } = await journalWithCarry(5);
    const appender = new CarryAppender(directory, position);
    await appender.append({ type: 'carry', at: NOON, segment: 5, digest });
    await removeBefore(directory, 5);
    const { position: from } = await readJournal({ directory, onLine: () => undefined });
    expect(await readJournal({ directory, from, onLine: () => undefined })).toMatchObject({ lines: 0, position: from });
    await appender.append({ type: 'carry', at: NOON, segment: 5, digest: 'of another file' });
    await expect(readJournal({ directory, from, onLine: () => undefined })).rejects.toBeInstanceOf(DamagedStateError);
  });

  it('counts the last record of the carry', async () => {
    const { directory, position, digest } = await journalWithCarry(5);
    const appender = new CarryAppender(directory, position);
    await appender.append({ type: 'carry', at: NOON, segment: 5, digest: 'of a file that was written again' });
    await appender.append({ type: 'carry', at: NOON, segment: 5, digest });
    await removeBefore(directory, 5);
    expect((await foldJournal(directory)).grantIds).toHaveLength(7);
  });

  it('is damaged when it has no segment at all', async () => {
    const { directory } = await journalWithCarry(5);
    await removeBefore(directory, 8);
    await expect(readJournalBase(directory)).rejects.toBeInstanceOf(DamagedStateError);
  });

  it('is new when there is nothing', async () => {
    expect(await readJournalBase(await makeDirectory())).toBeNull();
  });

  it('settles a hold of the time before it', async () => {
    const { directory, position, digest } = await journalWithCarry(5);
    const carried = (await readCarry(directory, 5)).ledger;
    expect(carried.holds).toContainEqual(
      expect.objectContaining(
        makeHold('req_3_long', 1_000, { workspaceId: 'ws_1', apiKeyId: 'key_long', at: expect.any(Number) }),
      ),
    );
    await new CarryAppender(directory, position).append({ type: 'carry', at: NOON, segment: 5, digest });
    await removeBefore(directory, 5);
    const state = await foldJournal(directory);
    expect(state.holds.map(({ requestId }) => requestId)).toEqual(['req_4_long', 'req_5_long', 'req_6_long']);
    expect(state.settledIds).toContain(makeSettle('req_3_long', 0).requestId);
  });
});

describe('JSON in pieces', () => {
  it('is what JSON.stringify gives', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
        expect([...jsonPieces(value)].join('')).toBe(JSON.stringify(value));
      }),
    );
    const odd = { a: undefined, b: [undefined], c: {}, d: [], e: { f: undefined } };
    expect([...jsonPieces(odd)].join('')).toBe(JSON.stringify(odd));
  });
});

// Documents that are damaged, empty or gone: the daemon never takes that for a first start, and says which copy to restore.

import { existsSync, readFileSync } from 'node:fs';
import { copyFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openFileStore } from '../../src/store/file-store.ts';
import { DamagedStateError } from '../../src/store/store-errors.ts';
import { readJson } from '../helpers/read-json.ts';
import { copyHome, startToEnd, startUnder } from './daemon-under.ts';
import { prepareOnce } from './prepared-home.ts';
import { scale, seededRandom } from './scale.ts';

const prepared = prepareOnce();
const SEED = Number(process.env['TEST_SEED'] ?? 20_261_121);
const MUTATIONS = scale(30, 200);
const FILES = ['accounts', 'sessions', 'workspaces', 'keys', 'preferences', 'idempotency'];

type Random = () => number;

const below = (random: Random, most: number): number => Math.floor(random() * most);

/** What disks, editors and copies that broke off do to a file. */
const WAYS: Readonly<Record<string, (bytes: Buffer, random: Random) => Buffer>> = {
  'cut off': (bytes, random) => bytes.subarray(0, below(random, bytes.length)),
  empty: () => Buffer.alloc(0),
  zeroed: (bytes) => Buffer.alloc(bytes.length),
  'zeroed from somewhere on': (bytes, random) => Buffer.from(bytes).fill(0, below(random, bytes.length)),
  'missing a piece': (bytes, random) => {
    const at = below(random, bytes.length);
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + below(random, 40))]);
  },
  'one bit flipped': (bytes, random) => {
    const flipped = Buffer.from(bytes);
    const at = below(random, bytes.length);
    flipped[at] = (flipped[at] ?? 0) ^ (1 << below(random, 8));
    return flipped;
  },
  'written twice': (bytes) => Buffer.concat([bytes, bytes]),
  'an empty object': () => Buffer.from('{}'),
  'an empty list': () => Buffer.from('[]'),
  'without its items': () => Buffer.from('{"format":1}'),
  'of a later format': () => Buffer.from('{"format":2,"items":[]}'),
  noise: (bytes, random) => Buffer.from(Array.from(bytes, () => below(random, 256))),
};

describe('a document file', () => {
  it(`changed in ${MUTATIONS} ways is refused, or has all its documents still (seed ${SEED})`, async () => {
    const random = seededRandom(SEED);
    const home = await prepared().copy();
    const counts = countItems(home);
    const reached = { refused: 0, kept: 0 };
    const ways = Object.entries(WAYS);
    for (let round = 0; round < MUTATIONS; round += 1) {
      const file = FILES[round % FILES.length] ?? '';
      const [way, change] = ways[below(random, ways.length)] ?? ['', WAYS['empty']];
      const path = join(home, 'documents', `${file}.json`);
      const whole = await readFile(path);
      await writeFile(path, change?.(whole, random) ?? '');
      const name = `seed ${SEED}, round ${round}: ${file} ${way}`;
      reached[(await opensAs(home, path, counts, name)) ? 'kept' : 'refused'] += 1;
      await writeFile(path, whole);
    }
    expect(reached.refused).toBeGreaterThan(MUTATIONS / 2);
    expect(await opensAs(home, '', counts, 'restored')).toBe(true);
  });

  it.each(FILES)('%s.json that is gone stops the start with 78', async (file) => {
    const home = await prepared().copy();
    const path = join(home, 'documents', `${file}.json`);
    await rm(path);
    const counts = countItems(home);
    expect(await opensAs(home, path, counts, `${file} gone`)).toBe(false);
    expect(await readdir(join(home, 'documents'))).not.toContain(`${file}.json`);
  });

  it('that is damaged ends the daemon with 78, without a key, naming a copy that can be put back', async () => {
    const { env, key } = prepared();
    const home = await prepared().copy();
    const path = join(home, 'documents', 'accounts.json');
    await writeFile(path, '');
    const refused = await startToEnd({ home, env });
    expect([refused.code, refused.stderr]).toEqual([78, expect.stringContaining(`its last good copy is ${path}.bak`)]);
    expect(refused.stderr).not.toContain('svc_sk_');

    await copyFile(`${path}.bak`, path);
    const daemon = await startUnder({ home, env });
    expect(daemon.key).toBe('');
    const models = await fetch(`${daemon.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    expect(models.status).toBe(200);
    expect(await registeredRole(daemon.url)).not.toBe('operator');
    await daemon.stop();
  });

  it('names only copies that are there', async () => {
    const home = await prepared().copy();
    for (const file of FILES) {
      const path = join(home, 'documents', `${file}.json`);
      const whole = await readFile(path);
      await writeFile(path, '');
      const message = String(await openError(home));
      const copy = /its last good copy is (\S+)/.exec(message)?.[1];
      if (copy !== undefined) expect([file, existsSync(copy)]).toEqual([file, true]);
      await writeFile(path, whole);
    }
  });
});

describe('a data directory that was in use', () => {
  it.each([
    ['its documents', 'documents'],
    ['its journal', 'journal'],
  ])('and lost %s is no first start', async (_name, folder) => {
    const home = await prepared().copy();
    await rm(join(home, folder), { recursive: true });
    const error = await openError(home);
    expect([folder, error]).toEqual([folder, expect.any(DamagedStateError)]);
    expect(error).toMatchObject({ exitCode: 78 });
  });
});

/** The role that a newcomer gets, or the status of the refusal. */
async function registeredRole(url: string): Promise<string> {
  const answer = await fetch(`${url}/auth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'newcomer@example.com', password: 'correct horse battery' }),
  });
  return answer.status === 201 ? (await readJson(answer)).account.role : String(answer.status);
}

type Counts = Readonly<Record<string, number>>;

function countItems(home: string): Counts {
  const count = (file: string): number => {
    try {
      return JSON.parse(readFileSync(join(home, 'documents', `${file}.json`), 'utf8')).items.length;
    } catch {
      return -1;
    }
  };
  return Object.fromEntries(FILES.map((file) => [file, count(file)]));
}

/** True when it opens with everything it had; false when it is refused as it should be. Anything else fails the test. */
async function opensAs(home: string, path: string, counts: Counts, name: string): Promise<boolean> {
  const directory = await mkdtemp(join(tmpdir(), 'svc-documents-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  await copyHome(home, directory);
  const error = await openError(directory, (firstStart) => {
    expect([name, firstStart, countItems(directory)]).toEqual([name, false, counts]);
  });
  if (error === null) return true;
  const here = path.replace(home, directory);
  expect([name, error]).toEqual([name, expect.any(DamagedStateError)]);
  expect([name, error]).toEqual([name, expect.objectContaining({ exitCode: 78, file: here })]);
  return false;
}

async function openError(
  directory: string,
  whenOpen: (firstStart: boolean) => void = () => undefined,
): Promise<unknown> {
  try {
    const store = await openFileStore({ directory, now: Date.now, onFatal: () => undefined });
    await store.close();
    whenOpen(store.firstStart);
    return null;
  } catch (error) {
    if (error instanceof DamagedStateError) return error;
    throw error;
  }
}

// One Idempotency-Key, one effect (F-41, P-11): in parallel, across restarts, and when the process dies in between.
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type ControlServices, createControlServices } from '../../src/service/control-services.ts';
import { createPasswordHasher } from '../../src/service/password-hasher.ts';
import type { Disk } from '../../src/store/disk.ts';
import { type FileStore, openFileStore } from '../../src/store/file-store.ts';
import type { Account, ApiKey } from '../../src/store/store.ts';
import { type Answer, type ControlApp, openControlApp, textAt } from '../helpers/control-app.ts';
import { openControl, PASSWORD, USD } from '../helpers/control-fixture.ts';
import { NOON } from '../store/fixtures/records.ts';
import { drawCrashes, scratchDirectory } from './crash-check.ts';
import { materialise, newReached } from './crash-image.ts';
import { auditJournal } from './journal-audit.ts';
import { RecordingDisk } from './recording-disk.ts';
import { scale, seededRandom } from './scale.ts';

const REPEATS = 100;
const DAY_MS = 24 * 3_600_000;
const SEEDS = Array.from({ length: scale(1, 40) }, (_, index) => index + 1);
const STATES_PER_SEED = scale(60, 250);

const directories: string[] = [];
afterAll(async () => {
  for (const directory of directories) await rm(directory, { recursive: true, force: true });
});

describe('the same key a hundred times at once', () => {
  const inApp = async (work: (app: ControlApp, tokens: readonly string[], workspaceId: string) => Promise<void>) => {
    const app = await openControlApp({ startingCreditsNano: 0 });
    try {
      const { token, workspaceId } = await app.tenant('operator');
      const login = { email: 'operator@example.com', password: PASSWORD };
      const others = await Promise.all([1, 2, 3].map(() => app.call('POST', '/auth/login', { body: login })));
      await work(app, [token, ...others.map(({ body }) => textAt(body, 'token'))], workspaceId);
    } finally {
      await app.close();
    }
  };
  const repeat = (call: (index: number) => Promise<Answer>) =>
    Promise.all(Array.from({ length: REPEATS }, (_, index) => call(index)));
  const headers = { 'idempotency-key': 'one-and-the-same' };

  it('from several sessions is one credit and one answer; another body is refused', () =>
    inApp(async (app, tokens, workspaceId) => {
      const path = `/workspaces/${workspaceId}/credits`;
      const grant = (amount: string) => (index: number) =>
        app.call('POST', path, { token: tokens[index % tokens.length], headers, body: { amount } });
      const answers = await repeat(grant('5'));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
      expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
      expect(app.store.ledger.balance(workspaceId).grantedNano).toBe(5 * USD);
      const others = await repeat(grant('6'));
      expect(new Set(others.map(({ body }) => textAt(body, 'error.code')))).toEqual(new Set(['IDEMPOTENCY_MISMATCH']));
      expect(new Set(others.map(({ status }) => status))).toEqual(new Set([422]));
      expect(auditJournal(join(app.directory, 'journal'))).toMatchObject({ problems: [], grants: { size: 1 } });
    }));

  it('makes one API key and shows one secret; another body is refused', () =>
    inApp(async (app, [token], workspaceId) => {
      const path = `/workspaces/${workspaceId}/api-keys`;
      const create = (name: string) => () => app.call('POST', path, { token, headers, body: { name } });
      const before = app.store.documents.apiKeysOf(workspaceId).length;
      const answers = await repeat(create('mine'));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
      expect(new Set(answers.map(({ body }) => textAt(body, 'key'))).size).toBe(1);
      expect(app.store.documents.apiKeysOf(workspaceId)).toHaveLength(before + 1);
      const others = await repeat(create('another'));
      expect(new Set(others.map(({ status }) => status))).toEqual(new Set([422]));
      expect(app.store.documents.apiKeysOf(workspaceId)).toHaveLength(before + 1);
    }));
});

it('a restart changes nothing, and after 24 hours the key is free again', async () => {
  let fixture = await openControl({ startingCreditsNano: 0 });
  const { account, workspaceId } = await fixture.tenant('operator');
  const grant = () =>
    fixture.services.credits.grant(account, { workspaceId, body: { amount: '1' }, idempotencyKey: 'k' });
  const first = await grant();
  fixture.clock.ms += DAY_MS - 1;
  fixture = await fixture.reopen();
  expect(await grant()).toEqual(first);
  expect(fixture.store.ledger.balance(workspaceId).grantedNano).toBe(USD);
  fixture.clock.ms += 1;
  fixture = await fixture.reopen();
  expect((await grant()).id).not.toBe(first.id);
  expect(fixture.store.ledger.balance(workspaceId).grantedNano).toBe(2 * USD);
  await fixture.close();
});

const ACCOUNT: Account = {
  id: 'acc_1',
  email: 'operator@example.com',
  name: null,
  passwordHash: 'x',
  operator: true,
  createdAt: NOON,
};
const WORKSPACE = {
  id: 'ws_1',
  name: 'w',
  createdAt: NOON,
  members: [{ accountId: ACCOUNT.id, role: 'owner' as const }],
  requestsPerMinute: null,
  tokensPerMinute: null,
};

type Running = { readonly store: FileStore; readonly services: ControlServices };

async function start(directory: string, disk?: Disk): Promise<Running> {
  const now = () => NOON;
  const onFatal = (error: Error) => {
    throw error;
  };
  const store = await openFileStore({ directory, now, onFatal, ...(disk !== undefined && { disk }) });
  const hasher = createPasswordHasher({ randomBytes, loadArgon2: () => Promise.reject(new Error('not asked for')) });
  const limits = { startingCreditsNano: 0, registrationOpen: false };
  return { store, services: createControlServices({ store, now, randomBytes, hasher, ...limits }) };
}

async function grantOnce({ services }: Running): Promise<string> {
  const body = { amount: '3' };
  return (await services.credits.grant(ACCOUNT, { workspaceId: WORKSPACE.id, body, idempotencyKey: 'k' })).id;
}

async function createKeyOnce({ services }: Running): Promise<string> {
  const request = { workspaceId: WORKSPACE.id, body: { name: 'mine' }, idempotencyKey: 'k', sessionToken: 'token' };
  return (await services.apiKeys.create(ACCOUNT, request)).key;
}

/** What each call answered, by the place in the disk's log at which it was answered. */
type Recorded = { readonly disk: RecordingDisk; readonly from: number; readonly grant: Told; readonly key: Told };
type Told = { readonly at: number; readonly answer: string };

async function recordCalls(): Promise<Recorded> {
  const directory = await scratchDirectory();
  directories.push(directory);
  const disk = new RecordingDisk(directory);
  const running = await start(directory, disk);
  await running.store.documents.addAccount(ACCOUNT);
  await running.store.documents.putWorkspace(WORKSPACE);
  const from = disk.events.length;
  const grant = { answer: await grantOnce(running), at: disk.events.length };
  const key = { answer: await createKeyOnce(running), at: disk.events.length };
  await running.store.close();
  return { disk, from, grant, key };
}

/** What stood in a crashed directory before the start, and what the repeated calls came to. */
type Repetition = {
  readonly grantsBefore: readonly string[];
  readonly keysBefore: readonly ApiKey[];
  readonly keysAfter: readonly ApiKey[];
  readonly answers: readonly string[];
  readonly secrets: readonly string[];
  readonly grantedNano: number;
};

async function repeatCalls(directory: string): Promise<Repetition> {
  const grantsBefore = [...auditJournal(join(directory, 'journal')).grants.keys()];
  const running = await start(directory);
  const { documents, ledger } = running.store;
  const keysBefore = documents.apiKeysOf(WORKSPACE.id);
  const answers = [await grantOnce(running), await grantOnce(running)];
  const secrets = [await createKeyOnce(running), await createKeyOnce(running)];
  const keysAfter = documents.apiKeysOf(WORKSPACE.id);
  const { grantedNano } = ledger.balance(WORKSPACE.id);
  await running.store.close();
  return { grantsBefore, keysBefore, keysAfter, answers, secrets, grantedNano };
}

function checkRepetition(point: number, { grant, key }: Recorded, repetition: Repetition, what: string): void {
  const { answers, secrets, keysBefore, keysAfter } = repetition;
  expect(new Set([...answers, ...repetition.grantsBefore]).size, what).toBe(1);
  expect(repetition.grantedNano, what).toBe(3 * USD);
  expect(keysAfter, what).toHaveLength(1);
  expect(secrets[0], what).toBe(secrets[1]);
  if (point >= grant.at) expect(answers[0], what).toBe(grant.answer);
  if (point >= key.at) expect(secrets[0], what).toBe(key.answer);
  if (keysBefore.length > 0) expect(keysAfter, what).toEqual(keysBefore);
}

function momentOf(point: number, { grant, key }: Recorded, { grantsBefore, keysBefore }: Repetition): string {
  if (point < grant.at) return grantsBefore.length === 0 ? 'before the credit' : 'between credit and answer';
  if (point < key.at) return keysBefore.length === 0 ? 'before the key' : 'between key and answer';
  return 'after both';
}

const MOMENTS = [
  'before the credit',
  'between credit and answer',
  'before the key',
  'between key and answer',
  'after both',
];

describe('a process that dies at any moment of the call', () => {
  it.each(SEEDS)('finds the same effect at the repetition, never a second one (seed %i)', async (seed) => {
    const recorded = await recordCalls();
    const { disk, from } = recorded;
    const met = new Set<string>();
    const random = seededRandom(seed);
    const options = { random, reached: newReached(), count: STATES_PER_SEED, drawsPerPoint: 6, from };
    for (const { point, state } of drawCrashes(disk, options)) {
      const directory = await scratchDirectory();
      directories.push(directory);
      materialise(state, directory);
      const repetition = await repeatCalls(directory);
      checkRepetition(point, recorded, repetition, `seed ${seed}, point ${point}`);
      met.add(momentOf(point, recorded, repetition));
    }
    expect([...met].sort(), `seed ${seed}`).toEqual([...MOMENTS].sort());
  });
});

// Documents on real files: durable, unique, frozen, and never silently started anew.
import { chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Account, ApiKey, Preferences, Session, Workspace } from '../../src/store/store.ts';
import { makeDirectory, openStore } from './fixtures/data-directory.ts';
import { makeGrant, NOON } from './fixtures/records.ts';

const account: Account = {
  id: 'acc_1',
  email: 'Ada@example.com',
  name: null,
  passwordHash: 'x',
  operator: true,
  createdAt: NOON,
};
const session: Session = {
  id: 'ses_1',
  digest: 'd1',
  accountId: 'acc_1',
  client: 'cli',
  createdAt: NOON,
  lastUsedAt: NOON,
  expiresAt: NOON + 1_000,
};
const workspace: Workspace = {
  id: 'ws_1',
  name: 'w',
  createdAt: NOON,
  members: [{ accountId: 'acc_1', role: 'owner' }],
  requestsPerMinute: null,
  tokensPerMinute: 10,
};
const key: ApiKey = {
  id: 'key_1',
  workspaceId: 'ws_1',
  name: 'k',
  digest: 'd2',
  prefix: 'svc_sk_ab',
  last4: 'wxyz',
  createdAt: NOON,
  expiresAt: null,
  revokedAt: null,
  models: ['a/*'],
  requestsPerMinute: 600,
  tokensPerMinute: 2_000_000,
  budgetNano: 5,
  budgetPeriod: 'day',
};
const preferences: Preferences = {
  weights: { speed: 1, quality: 2, cost: 3 },
  models: { allow: [], deny: ['b/*'] },
  maxPrice: { input: '1.5', output: null },
  listRealModels: false,
  optimize: 'lossless',
  fallback: false,
  sticky: false,
};
const NAMES = [
  'accounts.json',
  'idempotency.json',
  'keys.json',
  'preferences.json',
  'sessions.json',
  'workspaces.json',
];
const WITH_COPIES = NAMES.flatMap((name) => [name, `${name}.bak`]).sort();

describe('documents', () => {
  it('are found by id, email and digest, before and after a restart', async () => {
    const directory = await makeDirectory();
    const first = await openStore(directory);
    await first.documents.addAccount(account);
    await first.documents.putSession(session);
    await first.documents.putWorkspace(workspace);
    await first.documents.putApiKey(key);
    await first.documents.putPreferences('ws_1', preferences);
    await first.documents.putIdempotent('scope', { bodyDigest: 'b', status: 201, body: { id: 'x' }, at: NOON });
    await first.close();
    const { documents } = await openStore(directory);
    expect(documents.accountById('acc_1')).toEqual(account);
    expect(documents.accountByEmail('ada@EXAMPLE.com')).toEqual(account);
    expect(documents.accounts()).toEqual([account]);
    expect(documents.sessionByDigest('d1')).toEqual(session);
    expect(documents.workspaceById('ws_1')).toEqual(workspace);
    expect(documents.workspaces()).toEqual([workspace]);
    expect(documents.apiKeyByDigest('d2')).toEqual(key);
    expect(documents.apiKeysOf('ws_1')).toEqual([key]);
    expect(documents.apiKeysOf('ws_2')).toEqual([]);
    expect(documents.preferencesOf('ws_1')).toEqual(preferences);
    expect(documents.preferencesOf('ws_2')).toMatchObject({ weights: null, fallback: true, sticky: true });
    expect(documents.idempotent('scope')).toMatchObject({ status: 201, body: { id: 'x' } });
  });

  it('are replaced as a whole, and an old digest is gone', async () => {
    const { documents } = await openStore(await makeDirectory());
    await documents.putApiKey(key);
    await documents.putApiKey({ ...key, digest: 'd3', revokedAt: NOON });
    expect(documents.apiKeyByDigest('d2')).toBeUndefined();
    expect(documents.apiKeyByDigest('d3')?.revokedAt).toBe(NOON);
    await documents.putSession(session);
    await documents.removeSession('ses_1');
    await documents.removeSession('ses_1');
    expect(documents.sessionByDigest('d1')).toBeUndefined();
  });

  it('are frozen, and copies of what was handed in', async () => {
    const { documents } = await openStore(await makeDirectory());
    const mine = { ...workspace, members: [...workspace.members] };
    await documents.putWorkspace(mine);
    mine.members.length = 0;
    const found = documents.workspaceById('ws_1');
    expect(found?.members).toHaveLength(1);
    expect(() => Object.assign(found?.members[0] ?? {}, { role: 'viewer' })).toThrow(TypeError);
  });

  it('give an email to one of many accounts that race for it', async () => {
    const { documents } = await openStore(await makeDirectory());
    const results = await Promise.allSettled(
      Array.from({ length: 50 }, (_, index) => documents.addAccount({ ...account, id: `acc_${index}` })),
    );
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
    expect(results.at(-1)).toMatchObject({ reason: { code: 'CONFLICT' } });
    expect(documents.accounts()).toHaveLength(1);
  });

  it('forget a saved answer after 24 hours', async () => {
    let now = NOON;
    const { documents } = await openStore(await makeDirectory(), { now: () => now });
    await documents.putIdempotent('scope', { bodyDigest: 'b', status: 201, body: null, at: NOON });
    now = NOON + 86_400_000 - 1;
    expect(documents.idempotent('scope')).toBeDefined();
    now += 1;
    expect(documents.idempotent('scope')).toBeUndefined();
  });
});

describe('document files', () => {
  it('are for their owner only, with the last good copy beside them and nothing else', async () => {
    const directory = await makeDirectory();
    const { documents } = await openStore(directory);
    await Promise.all(
      Array.from({ length: 50 }, (_, index) => documents.putWorkspace({ ...workspace, id: `ws_${index}` })),
    );
    const folder = join(directory, 'documents');
    expect((await readdir(folder)).sort()).toEqual(WITH_COPIES);
    for (const name of await readdir(folder)) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(join(folder, 'workspaces.json'), 'utf8')).items).toHaveLength(50);
  });

  it('left half-written by a killed process are cleared away', async () => {
    const directory = await makeDirectory();
    await (await openStore(directory)).close();
    await writeFile(join(directory, 'documents', 'keys.json.0123.tmp'), '{"for');
    await openStore(directory);
    expect((await readdir(join(directory, 'documents'))).sort()).toEqual(WITH_COPIES);
  });

  it.each(NAMES)('%s may not be missing, empty or damaged once there was a store', async (name) => {
    const directory = await makeDirectory();
    const store = await openStore(directory);
    await store.documents.addAccount(account);
    await store.close();
    const path = join(directory, 'documents', name);
    const whole = await readFile(path);
    const broken = ['', '{', 'null', '[]', '{"format":2,"items":[]}', '{"format":1,"items":[{}]}', '\0\0'];
    for (const content of broken) {
      await writeFile(path, content);
      await expect(openStore(directory)).rejects.toMatchObject({ name: 'DamagedStateError', file: path, exitCode: 78 });
    }
    await rm(path);
    await expect(openStore(directory)).rejects.toThrow(
      `${path}: is missing; its last good copy is ${path}.bak (cp ${path}.bak ${path})`,
    );
    await writeFile(path, whole);
    expect((await openStore(directory)).documents.accounts()).toEqual([account]);
  });

  it('that are links are refused and what they point to is left alone', async () => {
    const directory = await makeDirectory();
    const victim = join(await makeDirectory(), 'victim');
    await writeFile(victim, 'mine');
    await (await openStore(directory)).close();
    await rm(join(directory, 'documents', 'keys.json'));
    await symlink(victim, join(directory, 'documents', 'keys.json'));
    await expect(openStore(directory)).rejects.toMatchObject({ name: 'FilePermissionError', exitCode: 77 });
    expect(await readFile(victim, 'utf8')).toBe('mine');
  });
});

describe('the data directory', () => {
  it('is a first start only once', async () => {
    const directory = join(await makeDirectory(), 'new', 'home');
    const first = await openStore(directory);
    expect(first.firstStart).toBe(true);
    await first.close();
    expect((await openStore(directory)).firstStart).toBe(false);
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
  });

  it('is closed to others when it was open', async () => {
    const directory = await makeDirectory();
    await (await openStore(directory)).close();
    await chmod(directory, 0o755);
    await chmod(join(directory, 'documents', 'keys.json'), 0o644);
    await openStore(directory);
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    expect((await stat(join(directory, 'documents', 'keys.json'))).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['journal', 'the journal is missing'],
    ['documents', 'is missing'],
  ])('without its marker and its %s is no first start', async (part, message) => {
    const directory = await makeDirectory();
    const store = await openStore(directory, { onNotice: () => undefined });
    await store.documents.putWorkspace(workspace);
    for (let n = 0; n < 20; n += 1) await store.ledger.grant(makeGrant(1, { id: `grant_${n}` }));
    await store.close();
    await rm(join(directory, 'initialized'));
    await rm(join(directory, part), { recursive: true });
    await expect(openStore(directory, { onNotice: () => undefined })).rejects.toMatchObject({ exitCode: 78 });
    await expect(openStore(directory, { onNotice: () => undefined })).rejects.toThrow(message);
    await rm(join(directory, 'index'), { recursive: true });
    await expect(openStore(directory, { onNotice: () => undefined })).rejects.toMatchObject({ exitCode: 78 });
  });

  it.each(['index', 'journal', join('documents', 'keys.json')])(
    'in which something else stands for %s is refused by name',
    async (name) => {
      const directory = await makeDirectory();
      await (await openStore(directory)).close();
      const path = join(directory, name);
      const wasFile = (await stat(path)).isFile();
      await rm(path, { recursive: true });
      if (wasFile) await mkdir(path);
      else await writeFile(path, '');
      await expect(openStore(directory)).rejects.toMatchObject({ exitCode: 78, file: path });
    },
  );

  it('gets its marker back when all else is there', async () => {
    const directory = await makeDirectory();
    const store = await openStore(directory);
    await store.ledger.grant(makeGrant(5));
    await store.close();
    await rm(join(directory, 'initialized'));
    const notices: string[] = [];
    const again = await openStore(directory, { onNotice: (notice) => notices.push(notice) });
    expect(again.firstStart).toBe(false);
    expect(notices[0]).toContain('initialized');
  });

  it('may not lose its journal', async () => {
    const directory = await makeDirectory();
    await (await openStore(directory)).close();
    await rm(join(directory, 'journal'), { recursive: true });
    await expect(openStore(directory)).rejects.toMatchObject({ name: 'DamagedStateError', exitCode: 78 });
  });

  it('goes on with a first start that was broken off', async () => {
    const directory = await makeDirectory();
    await mkdir(join(directory, 'journal'));
    await mkdir(join(directory, 'documents'));
    await writeFile(join(directory, 'documents', 'accounts.json'), '{"format":1,"items":[]}');
    expect((await openStore(directory)).firstStart).toBe(true);
  });
});

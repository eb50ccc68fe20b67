// The session file: private, whole, and refused when it is neither.

import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFileCredentialStore, type StoredSession } from '../../src/cli/credential-store.ts';
import { type Home, makeHome } from './helpers/run-cli.ts';

const SESSION: StoredSession = {
  token: 'svc_st_secret',
  email: 'ada@example.com',
  baseUrl: 'http://127.0.0.1:4747',
  workspaceId: 'ws_1',
};

let home: Home;
beforeEach(async () => {
  home = await makeHome();
});
afterEach(() => home.remove());

describe('the file store', () => {
  it('reads back what was written', async () => {
    const store = createFileCredentialStore(home.path);
    expect(await store.read()).toBeUndefined();
    await store.write(SESSION);
    expect(await store.read()).toEqual(SESSION);
    await store.write({ ...SESSION, workspaceId: null });
    expect(await store.read()).toEqual({ ...SESSION, workspaceId: null });
  });

  it('lets only its owner read, in a directory only its owner enters', async () => {
    const directory = join(home.path, 'new', 'deep');
    await createFileCredentialStore(directory).write(SESSION);
    expect((await stat(join(directory, 'session.json'))).mode & 0o777).toBe(0o600);
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
  });

  it('makes a file that was open to others private by writing it anew', async () => {
    await writeFile(join(home.path, 'session.json'), '{}', { mode: 0o644 });
    const store = createFileCredentialStore(home.path);
    await store.write(SESSION);
    expect(await store.read()).toEqual(SESSION);
  });

  it('leaves no temporary file behind, also when it fails', async () => {
    const store = createFileCredentialStore(home.path);
    await store.write(SESSION);
    expect(await readdir(home.path)).toEqual(['session.json']);
    const blocked = join(home.path, 'blocked');
    await mkdir(join(blocked, 'session.json'), { recursive: true });
    await expect(createFileCredentialStore(blocked).write(SESSION)).rejects.toThrow();
    expect(await readdir(blocked)).toEqual(['session.json']);
  });

  it('survives many writers at once with one whole file', async () => {
    const stores = Array.from({ length: 10 }, () => createFileCredentialStore(home.path));
    await Promise.all(stores.map((store, index) => store.write({ ...SESSION, email: `${index}@example.com` })));
    expect((await createFileCredentialStore(home.path).read())?.email).toMatch(/^\d@example\.com$/);
    expect(await readdir(home.path)).toEqual(['session.json']);
  });

  it('removes the file, and says whether there was one', async () => {
    const store = createFileCredentialStore(home.path);
    await store.write(SESSION);
    expect(await store.remove()).toBe(true);
    expect(await store.remove()).toBe(false);
    expect(await store.read()).toBeUndefined();
  });

  it.each([0o640, 0o604, 0o666])('refuses a file with mode %o', async (mode) => {
    const store = createFileCredentialStore(home.path);
    await store.write(SESSION);
    await chmod(join(home.path, 'session.json'), mode);
    await expect(store.read()).rejects.toMatchObject({ exitCode: 77, hint: expect.stringContaining('chmod 600') });
  });

  it('refuses a symbolic link and leaves its target alone when writing', async () => {
    const target = join(home.path, 'target');
    await writeFile(target, 'precious', { mode: 0o600 });
    await symlink(target, join(home.path, 'session.json'));
    const store = createFileCredentialStore(home.path);
    await expect(store.read()).rejects.toMatchObject({ exitCode: 77 });
    await store.write(SESSION);
    expect(await readFile(target, 'utf8')).toBe('precious');
    expect(await store.read()).toEqual(SESSION);
  });

  it.each(['', '{', 'null', '[]', '{}', '{"token":1}', JSON.stringify({ ...SESSION, workspaceId: 7 })])(
    'calls %j damaged, without repeating it',
    async (text) => {
      await writeFile(join(home.path, 'session.json'), text, { mode: 0o600 });
      const error = await createFileCredentialStore(home.path)
        .read()
        .catch((caught: unknown) => caught);
      expect(error).toMatchObject({ exitCode: 78, code: 'DAMAGED_STATE' });
      expect(String(error)).not.toContain('svc_st_');
    },
  );
});

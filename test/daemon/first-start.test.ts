// The first start on an empty data directory: what is printed, what works when pasted, and what later starts do.

import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BIN, cleanEnv, makeHome, removeHome, startDaemon, type TestDaemon } from '../helpers/daemon.ts';
import { readJson } from '../helpers/read-json.ts';

let daemon: TestDaemon;

beforeAll(async () => {
  daemon = await startDaemon();
});

afterAll(async () => {
  await daemon.stop();
  await removeHome(daemon.home);
});

describe('the first start', () => {
  it('prints one key, once, and never to the log', () => {
    expect(new Set(daemon.stdout().match(/svc_sk_[0-9A-Za-z]{49}/g))).toEqual(new Set([daemon.key]));
    expect(daemon.stderr()).not.toContain('svc_sk_');
  });

  it('prints commands that work when pasted', () => {
    const commands = daemon.stdout().match(/curl [\s\S]*?'\n/g) ?? [];
    expect(commands).toHaveLength(2);
    const [chat, messages] = commands.map((command) =>
      JSON.parse(execFileSync('sh', ['-c', `${command.trim()} -s`], { encoding: 'utf8' })),
    );
    expect(chat.choices[0].message.content).toContain('sandbox');
    expect(messages.content[0].text).toContain('sandbox');
  });

  it('writes daemon.json, for its owner alone', () => {
    const path = join(daemon.home, 'daemon.json');
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({
      pid: daemon.pid,
      url: daemon.url,
      version: expect.any(String),
    });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(daemon.home).mode & 0o777).toBe(0o700);
  });

  it('gives the workspace, with its 10 USD, to the first account', async () => {
    const made = await fetch(`${daemon.url}/auth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'first@example.com', password: 'correct horse battery' }),
    });
    const { account, workspace, token } = await readJson(made);
    expect([made.status, account.role, workspace.name]).toEqual([201, 'operator', 'default']);
    const balance = await fetch(`${daemon.url}/workspaces/${workspace.id}/balance`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect((await readJson(balance)).granted).toBe('10');
  });
});

describe('a later start', () => {
  it('prints no key, keeps the first one working and the money as it was', async () => {
    const home = await makeHome();
    const first = await startDaemon({ home });
    expect(await first.stop()).toBe(0);
    const second = await startDaemon({ home });
    expect(second.key).toBe('');
    const answer = await fetch(`${second.url}/v1/models`, { headers: { authorization: `Bearer ${first.key}` } });
    expect(answer.status).toBe(200);
    await second.stop();
    await removeHome(home);
  });
});

describe('a first start that was cut off', () => {
  it('is made up for by the next one: one workspace, one grant, one key', async () => {
    const home = await makeHome();
    const cut = spawn(process.execPath, [BIN, 'serve'], {
      env: cleanEnv({ SVC_HOME: home, SVC_PORT: '0' }),
      stdio: 'ignore',
    });
    await expect.poll(() => existsSync(join(home, 'documents'))).toBe(true);
    cut.kill('SIGKILL');
    await new Promise((resolve) => cut.once('exit', resolve));
    const daemon = await startDaemon({ home });
    const made = await fetch(`${daemon.url}/auth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'first@example.com', password: 'correct horse battery' }),
    });
    const { workspace, token } = await readJson(made);
    const balance = await fetch(`${daemon.url}/workspaces/${workspace.id}/balance`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect((await readJson(balance)).granted).toBe('10');
    await daemon.stop();
    await removeHome(home);
  });
});

describe('a start that cannot be', () => {
  it.each([
    ['a wrong setting', { SVC_PORT: 'http' }, 78, 'SVC_PORT'],
    ['an address that is not loopback', { SVC_HOST: '0.0.0.0' }, 78, 'behind-proxy'],
    ['a catalogue that is not there', { SVC_CATALOG: '/nonexistent/catalog.json' }, 78, '/nonexistent/catalog.json'],
  ])('%s', async (_name, env, code, said) => {
    const home = await makeHome();
    const error = await startDaemon({ home, env }).catch((thrown: Error) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect(String(error)).toContain(`exited with ${code}`);
    expect(String(error)).toContain(said);
    await removeHome(home);
  });

  it('a data directory in use: exit 75 naming the daemon that has it', async () => {
    const error = await startDaemon({ home: daemon.home }).catch((thrown: Error) => thrown);
    expect(String(error)).toContain('exited with 75');
    expect(String(error)).toContain(String(daemon.pid));
  });

  it('a port in use: exit 69', async () => {
    const home = await makeHome();
    const error = await startDaemon({ home, env: { SVC_PORT: new URL(daemon.url).port } }).catch(
      (thrown: Error) => thrown,
    );
    expect(String(error)).toContain('exited with 69');
    await removeHome(home);
  });
});

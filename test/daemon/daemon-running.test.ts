// A data directory is in use while its lock answers, and only then.

import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { isDaemonRunning } from '../../src/daemon/daemon-running.ts';
import { acquireDataLock } from '../../src/store/data-lock.ts';

/** No process has it: it is above the highest there may be. */
const NO_PID = 2 ** 30;

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'svc-running-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const writePid = (pid: unknown): Promise<void> => writeFile(join(home, 'daemon.json'), JSON.stringify({ pid }));

it('is told by the lock, whatever daemon.json says, and asking leaves the lock where it is', async () => {
  const lock = await acquireDataLock(home);
  await writePid(NO_PID);
  const before = await readdir(home);
  expect(await isDaemonRunning(home)).toBe(true);
  expect(await isDaemonRunning(home)).toBe(true);
  expect(await readdir(home)).toEqual(before);
  await writePid(process.pid);
  await lock.release();
  // What a killed daemon leaves behind: nobody listens on it any more.
  await writeFile(join(home, 'lock-3.sock'), '');
  expect(await isDaemonRunning(home)).toBe(false);
});

it.each<[string, unknown, boolean]>([
  ['a live pid', process.pid, true],
  ['a pid nobody has', NO_PID, false],
  ['no pid', undefined, false],
  ['a pid that is none', 'one', false],
  ['a pid that would mean a group of processes', 0, false],
])('is told by daemon.json without a lock: %s', async (_name, pid, running) => {
  await writePid(pid);
  expect(await isDaemonRunning(home)).toBe(running);
});

it('is not where daemon.json is damaged or missing', async () => {
  expect(await isDaemonRunning(home)).toBe(false);
  await writeFile(join(home, 'daemon.json'), '{');
  expect(await isDaemonRunning(home)).toBe(false);
});

it('is told by daemon.json where the path is too long to ask the lock', async () => {
  const long = join(home, 'd'.repeat(120));
  await mkdir(long);
  await writeFile(join(long, 'lock-1.sock'), '');
  await writeFile(join(long, 'daemon.json'), JSON.stringify({ pid: process.pid }));
  expect(await isDaemonRunning(long)).toBe(true);
});

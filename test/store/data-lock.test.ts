// One owner per directory, and none once its process is gone.
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { acquireDataLock, type DataLock } from '../../src/store/data-lock.ts';
import { DataDirectoryInUseError } from '../../src/store/store-errors.ts';
import { runFixture } from './fixtures/child-process.ts';
import { makeDirectory, openStore } from './fixtures/data-directory.ts';

async function acquire(directory: string): Promise<DataLock> {
  const lock = await acquireDataLock(directory);
  onTestFinished(() => lock.release());
  return lock;
}

describe('the lock', () => {
  it('goes to exactly one of twenty simultaneous starters, in each of many rounds', async () => {
    const directory = await makeDirectory();
    for (let round = 1; round <= 20; round += 1) {
      const results = await Promise.allSettled(Array.from({ length: 20 }, () => acquireDataLock(directory)));
      const owners = results.filter((result) => result.status === 'fulfilled');
      expect(owners).toHaveLength(1);
      for (const result of results) {
        if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(DataDirectoryInUseError);
      }
      await owners[0]?.value.release();
    }
    expect((await readdir(directory)).every((name) => /^lock-[0-9]+\.sock$/.test(name))).toBe(true);
  });

  it('names the process that has it', async () => {
    const directory = await makeDirectory();
    await acquire(directory);
    await expect(acquireDataLock(directory)).rejects.toMatchObject({ pid: process.pid, directory, exitCode: 75 });
  });

  it('is free again after release, with a higher epoch', async () => {
    const directory = await makeDirectory();
    const first = await acquire(directory);
    await first.release();
    const second = await acquire(directory);
    expect(second.epoch).toBeGreaterThan(first.epoch);
  });

  it('is not taken from a name that is no socket, nor kept by one', async () => {
    const directory = await makeDirectory();
    await writeFile(join(directory, 'lock-7.sock'), '');
    expect((await acquire(directory)).epoch).toBe(8);
  });

  it('works in a directory with a path longer than a socket address', async () => {
    const directory = join(await makeDirectory(), 'd'.repeat(120), 'e'.repeat(120));
    await mkdir(directory, { recursive: true });
    await acquire(directory);
    await expect(acquireDataLock(directory)).rejects.toBeInstanceOf(DataDirectoryInUseError);
  });

  it('dies with its process, and lives on while that is only stopped', async () => {
    const directory = await makeDirectory();
    const owner = runFixture('lock-process.ts', [directory]);
    await owner.waitForLine((line) => line === 'owner');
    await expect(acquireDataLock(directory)).rejects.toMatchObject({ pid: owner.child.pid });
    owner.child.kill('SIGSTOP');
    await expect(acquireDataLock(directory)).rejects.toBeInstanceOf(DataDirectoryInUseError);
    await owner.kill();
    expect((await acquire(directory)).epoch).toBe(2);
  });

  it('goes to one of several processes', async () => {
    const directory = await makeDirectory();
    const starters = Array.from({ length: 4 }, () => runFixture('lock-process.ts', [directory]));
    const lines = await Promise.all(starters.map((starter) => starter.waitForLine(() => true)));
    const owner = starters[lines.indexOf('owner')];
    expect(lines.filter((line) => line === 'owner')).toHaveLength(1);
    expect(lines.filter((line) => line === `in-use ${owner?.child.pid}`)).toHaveLength(3);
    const codes = await Promise.all(starters.filter((starter) => starter !== owner).map((starter) => starter.ended()));
    expect(codes).toEqual([75, 75, 75]);
  });
});

describe('a store', () => {
  it('is opened by one of two, and by the other after it closes', async () => {
    const directory = await makeDirectory();
    const [first, second] = await Promise.allSettled([openStore(directory), openStore(directory)]);
    expect([first.status, second.status].sort()).toEqual(['fulfilled', 'rejected']);
    if (first.status === 'fulfilled') await first.value.close();
    if (second.status === 'fulfilled') await second.value.close();
    await openStore(directory);
  });
});

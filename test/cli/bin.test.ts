// The binary that npm links: what it says where nothing is built, and that it hands over where it is.

import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-bin-'));
  await cp(fileURLToPath(new URL('../../bin', import.meta.url)), join(folder, 'bin'), { recursive: true });
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Runs the copy with a bare environment, so that NODE_ENV of the test run is not inherited. */
function runBin(argv: readonly string[], env: Record<string, string> = {}) {
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    const child = execFile(
      process.execPath,
      [join(folder, 'bin', 'svc.js'), ...argv],
      { env },
      (_error, stdout, stderr) => resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}
async function writeDist(main: string): Promise<void> {
  await mkdir(join(folder, 'dist', 'cli'), { recursive: true });
  await writeFile(join(folder, 'dist', 'cli', 'main.js'), main);
  await writeFile(join(folder, 'dist', 'cli', 'process-io.js'), 'export const processIo = () => "the io";');
}

it('says how to build where nothing is built', async () => {
  const { code, stdout, stderr } = await runBin(['--help']);
  expect(code).toBe(1);
  expect(stdout).toBe('');
  expect(stderr).toContain('npm run build');
  expect(stderr).not.toContain('    at ');
});

it('runs main with the arguments and exits with its code', async () => {
  await writeDist(
    'export const main = async (argv, io) => { console.log(JSON.stringify([argv, io, process.env.NODE_ENV])); return 6; };',
  );
  const { code, stdout } = await runBin(['keys', 'list']);
  expect(code).toBe(6);
  expect(JSON.parse(stdout)).toEqual([['keys', 'list'], 'the io', 'production']);
});

it('leaves NODE_ENV alone where it is set', async () => {
  await writeDist('export const main = async () => { console.log(process.env.NODE_ENV); return 0; };');
  expect((await runBin([], { NODE_ENV: 'development' })).stdout).toBe('development\n');
});

it('does not blame the build for another missing module', async () => {
  await writeDist("import 'no-such-package'; export const main = async () => 0;");
  const { code, stderr } = await runBin([]);
  expect(code).toBe(1);
  expect(stderr).toContain('no-such-package');
  expect(stderr).not.toContain('npm run build');
});

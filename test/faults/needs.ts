// Tools a test needs from the machine: where one is missing the test says so by its name, and in CI it fails.

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const IN_CI = process.env['CI'] === 'true';

/** True where the test has to be skipped; throws in CI, where nothing may be missing. */
export function lacks(what: string, there: boolean): boolean {
  if (there) return false;
  if (IN_CI) throw new Error(`${what} is missing or may not be used, and CI must have it`);
  process.stderr.write(`skipping what needs ${what}: it is missing or may not be used here\n`);
  return true;
}

export function works(program: string, args: readonly string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** The path of a library in one of the folders where systems keep them. */
export function findLibrary(name: string): string | undefined {
  const roots = ['/usr/lib', '/usr/local/lib', '/usr/lib64'];
  const folders = roots.filter(existsSync).flatMap((root) => {
    const below = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return [root, ...below.map((entry) => join(root, entry.name))];
  });
  return folders.map((folder) => join(folder, name)).find(existsSync);
}

// Tools a test needs from the machine: where one is missing the test is skipped and says so; `.ci/run` demands those it could install.

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const DEMANDED = process.env['TEST_FAULT_TOOLS'] === 'demanded';

/** True where the test has to be skipped. What continuous integration has `installed` must be there when it says so: else it throws. */
export function lacks(what: string, there: boolean, installed = false): boolean {
  if (there) return false;
  if (installed && DEMANDED) throw new Error(`${what} is missing or may not be used`);
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

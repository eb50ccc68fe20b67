// Replaces a client's file whole, with a copy of the old one beside it.

import { randomBytes } from 'node:crypto';
import { chmod, constants, copyFile, mkdir, open, readFile, realpath, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';

/** One a run is kept; more in the same second are a mistake. */
const BACKUPS_PER_SECOND_MAX = 100;

/** Undefined where there is no file. */
export async function readClientFile(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Resolves with the path of the backup; undefined where there was nothing to keep. Only its owner can read either. */
export async function writeClientFile(path: string, text: string, now: Date): Promise<string | undefined> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  // Where the file is a link into somebody's collection of dot files, the link stays.
  const target = await realpath(path).catch(() => undefined);
  const backup = target === undefined ? undefined : await keepOld(target, now);
  await replace(target ?? path, text);
  return backup;
}

async function keepOld(path: string, now: Date): Promise<string> {
  const stamp = now.toISOString().replaceAll(/[-:]|\.\d+/g, '');
  for (let attempt = 0; attempt < BACKUPS_PER_SECOND_MAX; attempt += 1) {
    const backup = `${path}.${stamp}${attempt === 0 ? '' : `-${attempt}`}.bak`;
    try {
      await copyFile(path, backup, constants.COPYFILE_EXCL);
      await chmod(backup, 0o600);
      return backup;
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error;
    }
  }
  throw new Error(`too many backups of ${path} in one second`);
}

async function replace(path: string, text: string): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  const file = await open(temporary, 'wx', 0o600);
  try {
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

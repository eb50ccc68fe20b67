// Replaces a file whole and durably: a new file, synced, renamed over the old, and the directory synced.

import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Disk } from './disk.ts';
import { errorCode } from './store-errors.ts';
import { writeWhole } from './write-whole.ts';

/** What a killed process may leave behind in the directory; `removeTemporaries` clears it away. */
const TEMPORARY_SUFFIX = '.tmp';

export function temporaryPath(path: string): string {
  return `${path}.${randomBytes(8).toString('hex')}${TEMPORARY_SUFFIX}`;
}

/**
 * Resolves once the bytes are on disk under the name. On failure the old content is still there. `beforeRename` runs
 * when the new content is durable under its temporary name.
 */
export async function replaceFile(
  disk: Disk,
  path: string,
  bytes: Buffer,
  beforeRename: () => Promise<void> = async () => undefined,
): Promise<void> {
  const temporary = temporaryPath(path);
  try {
    await writeNewFile(disk, temporary, bytes);
    await beforeRename();
    await disk.rename(temporary, path);
  } catch (error) {
    await removeIfThere(disk, temporary);
    throw error;
  }
  await disk.syncDirectory(dirname(path));
}

/** Content durable, name not yet. */
export async function writeNewFile(disk: Disk, path: string, bytes: Buffer): Promise<void> {
  const file = await disk.open(path, 'create');
  try {
    await writeWhole(file, bytes, 0);
    await file.datasync();
  } finally {
    await file.close();
  }
}

export async function removeIfThere(disk: Disk, path: string): Promise<void> {
  try {
    await disk.remove(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}

/** Nobody else may be writing in the directory. */
export async function removeTemporaries(disk: Disk, directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (name.endsWith(TEMPORARY_SUFFIX)) await removeIfThere(disk, join(directory, name));
  }
}

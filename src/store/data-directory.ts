// The data directory itself: ours, for us alone, and either new or complete.

import { chmod, lstat, mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Disk } from './disk.ts';
import { removeIfThere, writeNewFile } from './replace-file.ts';
import { DamagedStateError, errorCode, FilePermissionError, permissionError } from './store-errors.ts';

export type DataPaths = {
  readonly root: string;
  readonly journal: string;
  readonly documents: string;
  /** What can be made again from the journal: a snapshot and the index of usage entries. */
  readonly index: string;
};

const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;
const OTHERS = 0o077;

/** Makes what is missing and closes it to others; throws `FilePermissionError` for what it may not mend. */
export async function prepareDataDirectory(root: string, disk: Disk): Promise<DataPaths> {
  const paths = {
    root,
    journal: join(root, 'journal'),
    documents: join(root, 'documents'),
    index: join(root, 'index'),
  };
  try {
    for (const directory of [paths.root, paths.journal, paths.documents, paths.index]) {
      await mkdir(directory, { recursive: true, mode: DIRECTORY_MODE });
      await closeToOthers(directory, DIRECTORY_MODE);
      await checkFiles(directory);
    }
    await disk.syncDirectory(root);
  } catch (error) {
    throw permissionError(root, error);
  }
  return paths;
}

const MARKER = 'initialized';
/** A header and the first credits are a few hundred bytes. */
const FIRST_START_BYTES = 2_048;

/** Whether this directory was once set up to the end, so that nothing in it may be missing. */
export async function isInitialized(paths: DataPaths): Promise<boolean> {
  try {
    await lstat(join(paths.root, MARKER));
    return true;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

/** More in the journal than a first start writes before its last step, or a snapshot, which only a later one makes. */
export async function hasHistory(paths: DataPaths): Promise<boolean> {
  if ((await namesIn(paths.index)).length > 0) return true;
  const segments = (await namesIn(paths.journal)).filter((name) => name.includes('.ndjson'));
  if (segments.length !== 1) return segments.length > 1;
  return (await stat(join(paths.journal, segments[0] ?? ''))).size > FIRST_START_BYTES;
}

async function namesIn(directory: string): Promise<readonly string[]> {
  return (await readdir(directory)).filter((name) => !name.endsWith('.tmp'));
}

/** The last step of a first start. */
export async function markInitialized(paths: DataPaths, disk: Disk): Promise<void> {
  const path = join(paths.root, MARKER);
  await removeIfThere(disk, path);
  await writeNewFile(disk, path, Buffer.alloc(0));
  await disk.syncDirectory(paths.root);
}

/** A link to a directory is followed only when both are ours. */
async function closeToOthers(path: string, mode: number): Promise<void> {
  const own = process.getuid?.();
  const link = await lstat(path);
  const target = await stat(path);
  if (own !== undefined && (link.uid !== own || target.uid !== own)) {
    throw new FilePermissionError(path, `belongs to another user; run: chown -R ${own} ${path}`);
  }
  if (mode === DIRECTORY_MODE && !target.isDirectory()) throw new DamagedStateError(path, 'is not a directory');
  if ((target.mode & OTHERS) !== 0) await chmod(path, mode);
}

async function checkFiles(directory: string): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isSymbolicLink()) throw new FilePermissionError(path, 'is a symbolic link; put the file itself there');
    if (entry.isFile()) await ignoringMissing(closeToOthers(path, FILE_MODE));
  }
}

/** A running daemon's short-lived files come and go while this looks. */
async function ignoringMissing(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}

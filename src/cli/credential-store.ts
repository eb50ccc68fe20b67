// Keeps the session of the command line between runs: a file of its owner's in the data directory.

import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { damagedState, permissionError } from './cli-error.ts';

export type StoredSession = {
  readonly token: string;
  readonly email: string;
  /** The daemon that gave the token; it is sent to no other. */
  readonly baseUrl: string;
  /** The current workspace; null until there is one. */
  readonly workspaceId: string | null;
};

export type CredentialStore = {
  /** Undefined when nobody is logged in. */
  readonly read: () => Promise<StoredSession | undefined>;
  readonly write: (session: StoredSession) => Promise<void>;
  /** False when there was nothing to remove. */
  readonly remove: () => Promise<boolean>;
};

const FILE_NAME = 'session.json';
const OTHERS = 0o077;

/** Throws `CliError` with exit code 77 for a file that others can read, 78 for one that is damaged. */
export function createFileCredentialStore(home: string): CredentialStore {
  const path = join(home, FILE_NAME);
  return {
    read: () => readSession(path),
    write: (session) => writeSession(home, path, session),
    remove: () => removeSession(path),
  };
}

async function readSession(path: string): Promise<StoredSession | undefined> {
  let file: FileHandle;
  try {
    file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    if (hasCode(error, 'ELOOP')) throw permissionError(`${path} is a symbolic link`, 'remove it and log in again');
    throw error;
  }
  try {
    const { mode } = await file.stat();
    if (process.platform !== 'win32' && (mode & OTHERS) !== 0) {
      throw permissionError(`${path} can be read by others`, `run: chmod 600 '${path}'`);
    }
    return parseSession(await file.readFile('utf8'), path);
  } finally {
    await file.close();
  }
}

/** A reader sees the old file or the new one, never half of it, and never one that others could open. */
async function writeSession(home: string, path: string, session: StoredSession): Promise<void> {
  await mkdir(home, { recursive: true, mode: 0o700 });
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  const file = await open(temporary, 'wx', 0o600);
  try {
    try {
      await file.writeFile(`${JSON.stringify(session, null, 2)}\n`);
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

async function removeSession(path: string): Promise<boolean> {
  try {
    await unlink(path);
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
}

function parseSession(text: string, path: string): StoredSession {
  const damaged = damagedState(`${path} is damaged`, 'log in again; that writes it anew');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw damaged;
  }
  if (typeof value !== 'object' || value === null) throw damaged;
  const { token, email, baseUrl, workspaceId } = value as Readonly<Record<string, unknown>>;
  if (typeof token !== 'string' || typeof email !== 'string' || typeof baseUrl !== 'string') throw damaged;
  if (workspaceId !== null && typeof workspaceId !== 'string') throw damaged;
  return { token, email, baseUrl, workspaceId };
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

// A lowdb adapter whose writes survive a power cut: a new file, synced, renamed over the old, which stays as `.bak`.

import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, type FileHandle, link, open, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Adapter } from 'lowdb';
import { realDisk } from './journal-file.ts';
import { DamagedStateError, errorCode } from './store-errors.ts';

export type DurableJsonOptions<T> = {
  readonly directory: string;
  /** File name within the directory. */
  readonly name: string;
  /** Throws when the content isn't what it should be. */
  readonly parse: (content: unknown) => T;
  /** True where a missing file means damage, not a first start. */
  readonly required: boolean;
};

export class DurableJsonAdapter<T> implements Adapter<T> {
  readonly #directory: string;
  readonly #path: string;
  readonly #parse: (content: unknown) => T;
  readonly #required: boolean;

  constructor(options: DurableJsonOptions<T>) {
    this.#directory = options.directory;
    this.#path = join(options.directory, options.name);
    this.#parse = options.parse;
    this.#required = options.required;
  }

  /** Null when there is no file and none is required. Throws `DamagedStateError`, which names the last good copy. */
  async read(): Promise<T | null> {
    const text = await this.#readText();
    if (text === null) return null;
    try {
      return this.#parse(JSON.parse(text));
    } catch (cause) {
      throw new DamagedStateError(this.#path, `is damaged; its last good copy is ${this.#path}.bak`, cause);
    }
  }

  /** Resolves once the content is on disk under its name. On failure the old content is still there. */
  async write(content: T): Promise<void> {
    const temporary = this.#temporaryPath();
    try {
      await writeSynced(temporary, JSON.stringify(content));
      await this.#keepLastGood();
      await rename(temporary, this.#path);
    } catch (error) {
      await unlinkIfThere(temporary);
      throw error;
    }
    await realDisk.syncDirectory(this.#directory);
  }

  async #readText(): Promise<string | null> {
    let file: FileHandle;
    try {
      file = await open(this.#path, constants.O_RDONLY | constants.O_NOFOLLOW);
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
      if (!this.#required) return null;
      throw new DamagedStateError(this.#path, `is missing; its last good copy is ${this.#path}.bak`, error);
    }
    try {
      return await file.readFile('utf8');
    } finally {
      await file.close();
    }
  }

  /** A second name for the old content, so that there is no moment without a file. */
  async #keepLastGood(): Promise<void> {
    const temporary = this.#temporaryPath();
    try {
      await link(this.#path, temporary);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return;
      // Some file systems have no hard links.
      await copyFile(this.#path, temporary, constants.COPYFILE_EXCL);
    }
    await rename(temporary, `${this.#path}.bak`);
  }

  #temporaryPath(): string {
    return `${this.#path}.${randomBytes(8).toString('hex')}${TEMPORARY_SUFFIX}`;
  }
}

/** What a killed process may leave behind in the directory. */
export const TEMPORARY_SUFFIX = '.tmp';

async function writeSynced(path: string, text: string): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const file = await open(path, flags, 0o600);
  try {
    await file.writeFile(text, 'utf8');
    await file.sync();
  } finally {
    await file.close();
  }
}

async function unlinkIfThere(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}

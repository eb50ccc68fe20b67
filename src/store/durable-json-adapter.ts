// A lowdb adapter whose writes survive a power cut: a new file, synced, renamed over the old. `.bak` is a copy of its own.

import { constants } from 'node:fs';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Adapter } from 'lowdb';
import type { Disk } from './disk.ts';
import { replaceFile } from './replace-file.ts';
import { DamagedStateError, errorCode } from './store-errors.ts';

export type DurableJsonOptions<T> = {
  readonly directory: string;
  /** File name within the directory. */
  readonly name: string;
  /** Throws when the content isn't what it should be. */
  readonly parse: (content: unknown) => T;
  /** True where a missing file means damage, not a first start. */
  readonly required: boolean;
  readonly disk: Disk;
};

export class DurableJsonAdapter<T> implements Adapter<T> {
  readonly #disk: Disk;
  readonly #path: string;
  readonly #parse: (content: unknown) => T;
  readonly #required: boolean;

  constructor(options: DurableJsonOptions<T>) {
    this.#disk = options.disk;
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
      throw new DamagedStateError(this.#path, `is damaged; ${await this.#wayOut()}`, cause);
    }
  }

  /** Resolves once the content is on disk under its name. On failure the old content is still there. */
  async write(content: T): Promise<void> {
    const bytes = Buffer.from(JSON.stringify(content), 'utf8');
    // The copy is of the same content, not of the one before: putting that back would undo what was acknowledged.
    await replaceFile(this.#disk, this.#copyPath, bytes);
    await replaceFile(this.#disk, this.#path, bytes);
  }

  async #readText(): Promise<string | null> {
    let file: FileHandle;
    try {
      file = await open(this.#path, constants.O_RDONLY | constants.O_NOFOLLOW);
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
      if (!this.#required) return null;
      throw new DamagedStateError(this.#path, `is missing; ${await this.#wayOut()}`, error);
    }
    try {
      return await file.readFile('utf8');
    } catch (cause) {
      throw errorCode(cause) === 'EISDIR' ? new DamagedStateError(this.#path, 'is a directory', cause) : cause;
    } finally {
      await file.close();
    }
  }

  get #copyPath(): string {
    return `${this.#path}.bak`;
  }

  /** What to do about a damaged file; a copy is named only where there is a good one. */
  async #wayOut(): Promise<string> {
    try {
      this.#parse(JSON.parse(await readFile(this.#copyPath, 'utf8')));
      return `its last good copy is ${this.#copyPath} (cp ${this.#copyPath} ${this.#path})`;
    } catch {
      return 'it has no good copy beside it: put it back from a backup';
    }
  }
}

// A lowdb adapter whose writes survive a power cut: a new file, synced, renamed over the old, which stays as `.bak`.

import { constants } from 'node:fs';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Adapter } from 'lowdb';
import type { Disk } from './disk.ts';
import { replaceFile, temporaryPath, writeNewFile } from './replace-file.ts';
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
      throw new DamagedStateError(this.#path, `is damaged; its last good copy is ${this.#path}.bak`, cause);
    }
  }

  /** Resolves once the content is on disk under its name. On failure the old content is still there. */
  async write(content: T): Promise<void> {
    const bytes = Buffer.from(JSON.stringify(content), 'utf8');
    await replaceFile(this.#disk, this.#path, bytes, () => this.#keepLastGood());
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
    const temporary = temporaryPath(this.#path);
    try {
      await this.#disk.link(this.#path, temporary);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return;
      // Some file systems have no hard links.
      await writeNewFile(this.#disk, temporary, await readFile(this.#path));
    }
    await this.#disk.rename(temporary, `${this.#path}.bak`);
  }
}

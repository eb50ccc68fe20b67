// The few file operations a journal needs, as a port: tests put a faulty disk behind it.

import { fstatSync } from 'node:fs';
import { constants, type FileHandle, open } from 'node:fs/promises';

export interface JournalFile {
  /** May write less than asked; answers how many bytes it wrote. */
  write(bytes: Buffer, position: number): Promise<number>;
  datasync(): Promise<void>;
  truncate(length: number): Promise<void>;
  /** The length now, as the file system has it. */
  size(): number;
  close(): Promise<void>;
}

export interface JournalDisk {
  /** Opens for writing; `create` demands that the file is not there yet. Never follows a link. */
  open(path: string, mode: 'create' | 'existing'): Promise<JournalFile>;
  /** Makes names in a directory durable. */
  syncDirectory(path: string): Promise<void>;
}

export const realDisk: JournalDisk = {
  async open(path, mode) {
    const flags = constants.O_WRONLY | constants.O_NOFOLLOW;
    const handle = await open(path, mode === 'create' ? flags | constants.O_CREAT | constants.O_EXCL : flags, 0o600);
    return new RealFile(handle);
  },

  async syncDirectory(path) {
    const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  },
};

class RealFile implements JournalFile {
  readonly #handle: FileHandle;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  async write(bytes: Buffer, position: number): Promise<number> {
    const { bytesWritten } = await this.#handle.write(bytes, 0, bytes.length, position);
    return bytesWritten;
  }

  datasync(): Promise<void> {
    return this.#handle.datasync();
  }

  truncate(length: number): Promise<void> {
    return this.#handle.truncate(length);
  }

  size(): number {
    return fstatSync(this.#handle.fd).size;
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

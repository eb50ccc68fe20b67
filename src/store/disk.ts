// The few file operations that change state on disk, as a port: tests put a faulty or a recording disk behind it.

import { fstatSync } from 'node:fs';
import { constants, type FileHandle, link, open, rename, unlink } from 'node:fs/promises';

export interface DiskFile {
  /** May write less than asked; answers how many bytes it wrote. */
  write(bytes: Buffer, position: number): Promise<number>;
  /** Makes content and length durable. */
  datasync(): Promise<void>;
  truncate(length: number): Promise<void>;
  /** The length now, as the file system has it. */
  size(): number;
  close(): Promise<void>;
}

/** Everything the store changes goes through here; names become durable with `syncDirectory` alone. */
export interface Disk {
  /** Opens for writing; `create` demands that the file is not there yet. Never follows a link. Files are 0600. */
  open(path: string, mode: 'create' | 'existing'): Promise<DiskFile>;
  rename(from: string, to: string): Promise<void>;
  /** A second name for a file; fails where the file system has none, or where `to` exists. */
  link(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** Makes names in a directory durable. */
  syncDirectory(path: string): Promise<void>;
}

export const realDisk: Disk = {
  async open(path, mode) {
    const flags = constants.O_WRONLY | constants.O_NOFOLLOW;
    const handle = await open(path, mode === 'create' ? flags | constants.O_CREAT | constants.O_EXCL : flags, 0o600);
    return new RealFile(handle);
  },

  rename,
  link,
  remove: unlink,

  async syncDirectory(path) {
    const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  },
};

class RealFile implements DiskFile {
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

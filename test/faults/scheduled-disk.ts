// A disk whose writes and syncs happen when a test's scheduler says so, and fail when told to.
import { type Disk, type DiskFile, realDisk } from '../../src/store/disk.ts';
import { systemError } from '../store/fixtures/faulty-disk.ts';

export class ScheduledDisk implements Disk {
  /** Asked before each write and sync; null lets all through. */
  gate: ((label: string) => Promise<void>) | null = null;
  /** Every write fails as on a full disk, or every sync as on a broken one. */
  fault: 'full' | 'broken' | null = null;
  faults = 0;
  readonly #running = new Set<Promise<unknown>>();

  async open(path: string, mode: 'create' | 'existing'): Promise<DiskFile> {
    const file = await this.#tracked(realDisk.open(path, mode));
    return {
      write: async (bytes, position) => {
        await this.gate?.('write');
        this.#failOn('full', 'ENOSPC');
        return this.#tracked(file.write(bytes, position));
      },
      datasync: async () => {
        await this.gate?.('datasync');
        this.#failOn('broken', 'EIO');
        return this.#tracked(file.datasync());
      },
      truncate: (length) => this.#tracked(file.truncate(length)),
      size: () => file.size(),
      close: () => this.#tracked(file.close()),
    };
  }

  rename(from: string, to: string): Promise<void> {
    return this.#tracked(realDisk.rename(from, to));
  }

  link(from: string, to: string): Promise<void> {
    return this.#tracked(realDisk.link(from, to));
  }

  remove(path: string): Promise<void> {
    return this.#tracked(realDisk.remove(path));
  }

  syncDirectory(path: string): Promise<void> {
    return this.#tracked(realDisk.syncDirectory(path));
  }

  /** Resolves once nothing is on its way to the real disk, and whoever waited for it has gone on. */
  async quiet(): Promise<void> {
    do {
      await Promise.allSettled(this.#running);
      await new Promise((resolve) => setImmediate(resolve));
    } while (this.#running.size > 0);
  }

  async #tracked<T>(work: Promise<T>): Promise<T> {
    this.#running.add(work);
    try {
      return await work;
    } finally {
      this.#running.delete(work);
    }
  }

  #failOn(fault: 'full' | 'broken', code: string): void {
    if (this.fault !== fault) return;
    this.faults += 1;
    throw systemError(code);
  }
}

// A file that keeps disk space free for the settlements of requests already under way when the disk fills up.

import { randomBytes } from 'node:crypto';
import type { Disk, DiskFile } from './disk.ts';
import { errorCode } from './store-errors.ts';
import { writeWhole } from './write-whole.ts';

/** Room for about a thousand settlements. */
const RESERVE_BYTES = 1_048_576;

/** Asked for beyond the reserve itself, so that giving the reserve back does not look like a disk with space. */
const SLACK_BYTES = 1_048_576;

export class SpaceReserve {
  readonly #file: DiskFile;
  #full = false;

  constructor(file: DiskFile) {
    this.#file = file;
  }

  /** Takes the space; throws what the disk throws, and then holds none. */
  async fill(): Promise<void> {
    if (this.#full || this.#file.size() === RESERVE_BYTES) {
      this.#full = true;
      return;
    }
    try {
      // Random, so that no file system can compress it away.
      await writeWhole(this.#file, randomBytes(RESERVE_BYTES + SLACK_BYTES), 0);
      await this.#file.datasync();
      await this.#file.truncate(RESERVE_BYTES);
      this.#full = true;
    } catch (error) {
      await this.#file.truncate(0);
      throw error;
    }
  }

  /** Gives the space back; false when there was none to give. */
  async release(): Promise<boolean> {
    if (!this.#full) return false;
    this.#full = false;
    await this.#file.truncate(0);
    await this.#file.datasync();
    return true;
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

export async function openSpaceReserve(disk: Disk, path: string): Promise<SpaceReserve> {
  try {
    return new SpaceReserve(await disk.open(path, 'existing'));
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    return new SpaceReserve(await disk.open(path, 'create'));
  }
}

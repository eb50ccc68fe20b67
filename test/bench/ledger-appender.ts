// The yardstick: the same journal lines, each written and made durable by itself, one after the other.

import { join } from 'node:path';
import type { LedgerRecord } from '../../src/ledger/records.ts';
import { type DiskFile, realDisk } from '../../src/store/disk.ts';
import { encodeLine, FIRST_PREV } from '../../src/store/journal-format.ts';

/** Records wait in line for the one before; nothing is grouped, and nothing is folded or checked. */
export class SingleAppender {
  readonly #file: DiskFile;
  #offset = 0;
  #seq = 1;
  #prev = FIRST_PREV;
  #last: Promise<void> = Promise.resolve();

  constructor(file: DiskFile) {
    this.#file = file;
  }

  /** Resolves once the record is on disk. */
  append(record: LedgerRecord): Promise<void> {
    this.#last = this.#last.then(() => this.#write(record));
    return this.#last;
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#file.close();
  }

  async #write(record: LedgerRecord): Promise<void> {
    const { line, hash } = encodeLine(record, this.#seq, this.#prev);
    const bytes = Buffer.from(`${line}\n`, 'utf8');
    const written = await this.#file.write(bytes, this.#offset);
    if (written !== bytes.length) throw new Error('the disk took less than a whole line');
    await this.#file.datasync();
    this.#offset += bytes.length;
    this.#seq += 1;
    this.#prev = hash;
  }
}

export async function openSingleAppender(directory: string): Promise<SingleAppender> {
  return new SingleAppender(await realDisk.open(join(directory, 'single.ndjson'), 'create'));
}

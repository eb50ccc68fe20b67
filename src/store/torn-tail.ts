// Cuts a torn tail off the last segment and keeps its bytes beside it.

import { randomBytes } from 'node:crypto';
import { constants, open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { realDisk } from './journal-file.ts';
import type { TornTail } from './journal-reader.ts';

/** Answers the name of the file that now has the bytes. They are durable before anything is cut. */
export async function cutTornTail(torn: TornTail): Promise<string> {
  const directory = dirname(torn.file);
  const saved = join(directory, `torn-${torn.seq}-${randomBytes(6).toString('hex')}.bin`);
  const segment = await open(torn.file, constants.O_RDWR | constants.O_NOFOLLOW);
  try {
    const bytes = Buffer.alloc(torn.bytes);
    await segment.read(bytes, 0, torn.bytes, torn.offset);
    const copy = await open(saved, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
    try {
      await copy.writeFile(bytes);
      await copy.sync();
    } finally {
      await copy.close();
    }
    await realDisk.syncDirectory(directory);
    await segment.truncate(torn.offset);
    await segment.sync();
  } finally {
    await segment.close();
  }
  return basename(saved);
}

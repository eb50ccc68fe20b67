// Cuts a torn tail off the last segment and keeps its bytes beside it.

import { randomBytes } from 'node:crypto';
import { constants, open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Disk } from './disk.ts';
import type { TornTail } from './journal-reader.ts';
import { writeNewFile } from './replace-file.ts';

/** Answers the name of the file that now has the bytes. They are durable before anything is cut. */
export async function cutTornTail(torn: TornTail, disk: Disk): Promise<string> {
  const directory = dirname(torn.file);
  const saved = join(directory, `torn-${torn.seq}-${randomBytes(6).toString('hex')}.bin`);
  await writeNewFile(disk, saved, await readTail(torn));
  await disk.syncDirectory(directory);
  const segment = await disk.open(torn.file, 'existing');
  try {
    await segment.truncate(torn.offset);
    await segment.datasync();
  } finally {
    await segment.close();
  }
  return basename(saved);
}

async function readTail(torn: TornTail): Promise<Buffer> {
  const file = await open(torn.file, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const bytes = Buffer.alloc(torn.bytes);
    const { bytesRead } = await file.read(bytes, 0, torn.bytes, torn.offset);
    return bytes.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

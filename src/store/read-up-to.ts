// Reads a range of a file whole, however little the system gives at a time.

import type { FileHandle } from 'node:fs/promises';

/** At most `length` bytes from `offset` on; fewer only where the file ends. */
export async function readUpTo(handle: FileHandle, offset: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await handle.read(bytes, filled, length - filled, offset + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

// Ids and request ids from the operating system's randomness, drawn in blocks: one system call for many ids.

import { randomFillSync } from 'node:crypto';
import { makeId } from '../identity/ids.ts';

const ID_BYTES = 16;
const BLOCK_BYTES = 4096;

export function createIdSource(): (prefix: string) => string {
  const block = Buffer.alloc(BLOCK_BYTES);
  let used = BLOCK_BYTES;
  return (prefix) => {
    if (used + ID_BYTES > BLOCK_BYTES) {
      randomFillSync(block);
      used = 0;
    }
    const bytes = block.subarray(used, used + ID_BYTES);
    used += ID_BYTES;
    return makeId(prefix, bytes);
  };
}

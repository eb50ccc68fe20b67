// Collects pieces of buffers for one write; neighbours in the same memory stay one piece and are not copied.

import { toBuffer } from './json-scan.ts';

export type ByteRun = { readonly bytes: Buffer; readonly start: number; readonly end: number };

export interface ByteRuns {
  add(run: ByteRun): void;
  /** All of it, in order; a view where it was one piece. */
  toBytes(): Uint8Array;
}

export function wholeRun(bytes: Uint8Array): ByteRun {
  return { bytes: toBuffer(bytes), start: 0, end: bytes.length };
}

export function createByteRuns(): ByteRuns {
  const runs: ByteRun[] = [];
  let open: ByteRun | undefined;
  return {
    add(run) {
      if (open !== undefined && open.bytes === run.bytes && open.end === run.start) {
        open = { bytes: open.bytes, start: open.start, end: run.end };
        return;
      }
      if (open !== undefined) runs.push(open);
      open = run;
    },
    toBytes() {
      if (open === undefined) return Buffer.alloc(0);
      if (runs.length === 0) return open.bytes.subarray(open.start, open.end);
      return Buffer.concat([...runs, open].map((run) => run.bytes.subarray(run.start, run.end)));
    },
  };
}

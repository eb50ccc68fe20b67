// What the disk below the benchmark is, and what one write made durable costs on it without any of our code.

import { closeSync, fdatasyncSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { type Percentiles, percentiles } from './ledger-figures.ts';

export type DiskFacts = {
  readonly fileSystem: string;
  readonly inMemory: boolean;
  /** Milliseconds of one appending write with its fdatasync, by blocking calls. */
  readonly fdatasyncMs: Percentiles;
};

const IN_MEMORY = ['tmpfs', 'ramfs'];
const PROBE_WRITES = 300;
const PROBE_BYTES = 1_536;

/** Calls `work` with a fresh directory below the project's `.cache/`, which is on the disk the project is on. */
export async function withDirectory<T>(work: (directory: string) => Promise<T>): Promise<T> {
  const cache = new URL('../../.cache/', import.meta.url).pathname;
  mkdirSync(cache, { recursive: true });
  const directory = mkdtempSync(join(cache, 'bench-ledger-'));
  try {
    return await work(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

export function diskFacts(directory: string): DiskFacts {
  const fileSystem = fileSystemOf(directory);
  return { fileSystem, inMemory: IN_MEMORY.includes(fileSystem), fdatasyncMs: probe(join(directory, 'probe.bin')) };
}

/** The type of the mount with the longest path that is a prefix; `unknown` where there is no /proc. */
function fileSystemOf(directory: string): string {
  let best = { path: '', type: 'unknown' };
  for (const mount of mounts()) {
    const [, path = '', type = 'unknown'] = mount.split(' ');
    const prefix = path.endsWith('/') ? path : `${path}/`;
    if (`${directory}/`.startsWith(prefix) && path.length >= best.path.length) best = { path, type };
  }
  return best.type;
}

function mounts(): readonly string[] {
  try {
    return readFileSync('/proc/self/mounts', 'utf8').split('\n');
  } catch {
    // Not Linux: the report then says so.
    return [];
  }
}

function probe(path: string): Percentiles {
  const bytes = Buffer.alloc(PROBE_BYTES, 'x');
  const file = openSync(path, 'w', 0o600);
  try {
    const samples: number[] = [];
    for (let write = 0; write < PROBE_WRITES; write += 1) {
      const begun = performance.now();
      writeSync(file, bytes, 0, bytes.length, write * bytes.length);
      fdatasyncSync(file);
      samples.push(performance.now() - begun);
    }
    return percentiles(samples);
  } finally {
    closeSync(file);
    rmSync(path, { force: true });
  }
}

// A small file system of its own, for disks that fill up or are read-only.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { isRoot } from './needs.ts';

const MOUNT = 'mount';
const UNMOUNT = 'umount';

/** Tests that need one are skipped where this is true: containers often may not mount, in CI too. */
export const NO_TMPFS = !canMount();

export type Tmpfs = {
  readonly path: string;
  /** Takes all space that is left. */
  fill(): Promise<void>;
  /** Gives it back. */
  empty(): Promise<void>;
  remount(options: string): void;
};

/** Unmounted when the test ends. */
export async function mountTmpfs(size: string): Promise<Tmpfs> {
  const path = await mkdtemp(join(tmpdir(), 'svc-tmpfs-'));
  execFileSync(MOUNT, ['-t', 'tmpfs', '-o', `size=${size},mode=0700`, 'tmpfs', path]);
  onTestFinished(async () => {
    execFileSync(UNMOUNT, ['-l', path]);
    await rm(path, { recursive: true, force: true });
  });
  const fillers: string[] = [];
  return {
    path,
    async fill() {
      for (let bytes = 1_048_576; bytes >= 4_096; ) {
        const filler = join(path, `filler-${fillers.length}`);
        fillers.push(filler);
        try {
          await writeFile(filler, Buffer.alloc(bytes, 1));
        } catch {
          // What did fit stays; a smaller piece may fit beside it.
          bytes /= 2;
        }
      }
    },
    async empty() {
      for (const filler of fillers.splice(0)) await rm(filler, { force: true });
    },
    remount(options) {
      execFileSync(MOUNT, ['-o', `remount,${options}`, path]);
    },
  };
}

function canMount(): boolean {
  if (!isRoot()) return cannot('only root may');
  const path = mkdtempSync(join(tmpdir(), 'svc-tmpfs-'));
  try {
    execFileSync(MOUNT, ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', path], { stdio: 'ignore' });
    execFileSync(UNMOUNT, [path], { stdio: 'ignore' });
    return true;
  } catch {
    return cannot('it is not permitted here');
  } finally {
    rmdirSync(path);
  }
}

function cannot(reason: string): false {
  process.stderr.write(`skipping what needs a mounted tmpfs: ${reason}\n`);
  return false;
}

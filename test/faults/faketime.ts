// A wall clock that a test sets while the daemon runs; the monotonic clock goes on as it is.

import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { findLibrary, lacks } from './needs.ts';

const LIBRARY = findLibrary('faketime/libfaketimeMT.so.1');

/** Tests that need libfaketime are skipped where this is true. */
export const NO_FAKETIME = lacks('libfaketime', LIBRARY !== undefined, true);

export type FakeClock = {
  /** For the daemon's environment. */
  readonly env: Readonly<Record<string, string>>;
  /** From now on the wall clock is this far from the real one. */
  setOffsetSeconds(seconds: number): Promise<void>;
};

export async function makeFakeClock(): Promise<FakeClock> {
  const directory = await mkdtemp(join(tmpdir(), 'svc-clock-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const path = join(directory, 'offset');
  const setOffsetSeconds = async (seconds: number): Promise<void> => {
    // Renamed, so that no reader sees an empty file.
    await writeFile(`${path}.new`, `${seconds < 0 ? '-' : '+'}${Math.abs(seconds)}\n`);
    await rename(`${path}.new`, path);
  };
  await setOffsetSeconds(0);
  return {
    env: {
      LD_PRELOAD: LIBRARY ?? '',
      FAKETIME_TIMESTAMP_FILE: path,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      DONT_FAKE_MONOTONIC: '1',
    },
    setOffsetSeconds,
  };
}

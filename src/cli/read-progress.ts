// Shows how far a long reading is: a bar on a terminal, a line a second elsewhere, nothing for short ones.

import { renderBar } from './bar.ts';
import type { CliIo } from './cli-io.ts';

/** What is over sooner needs no telling. */
const QUIET_MS = 1_000;
const LINE_EVERY_MS = 1_000;
const BAR_EVERY_MS = 100;
const BAR_WIDTH = 30;

export type ReadProgress = {
  /** `share` is 0 to 1. */
  readonly at: (records: number, share: number) => void;
  /** Takes the bar away again. */
  readonly end: () => void;
};

export function createReadProgress({ stderr, now }: Pick<CliIo, 'stderr' | 'now'>): ReadProgress {
  const everyMs = stderr.isTerminal ? BAR_EVERY_MS : LINE_EVERY_MS;
  let nextMs = now().getTime() + QUIET_MS;
  let shown = false;
  return {
    at: (records, share) => {
      const nowMs = now().getTime();
      if (nowMs < nextMs) return;
      nextMs = nowMs + everyMs;
      shown = true;
      const bar = `\r${renderBar(share, BAR_WIDTH)} ${records} records`;
      stderr.write(stderr.isTerminal ? bar : `${records} records read\n`);
    },
    end: () => {
      if (shown && stderr.isTerminal) stderr.write('\r\u001b[K');
    },
  };
}

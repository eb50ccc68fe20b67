// A long reading is shown, a short one is not, and what was shown does not stay.

import { expect, it } from 'vitest';
import { createReadProgress } from '../../src/cli/read-progress.ts';

function show(isTerminal: boolean, timesMs: readonly number[]): readonly string[] {
  const written: string[] = [];
  let nowMs = 0;
  const progress = createReadProgress({
    stderr: { write: (text) => written.push(text), isTerminal, columns: isTerminal ? 80 : undefined },
    now: () => new Date(nowMs),
  });
  for (const [index, timeMs] of timesMs.entries()) {
    nowMs = timeMs;
    progress.at((index + 1) * 100, 0.5);
  }
  progress.end();
  return written;
}

it.each([true, false])('says nothing of what is soon over (terminal: %s)', (isTerminal) => {
  expect(show(isTerminal, [0, 500, 999])).toEqual([]);
});

it('says a line a second where there is no terminal', () => {
  expect(show(false, [500, 1_000, 1_100, 1_999, 2_000, 2_500, 4_000])).toEqual([
    '200 records read\n',
    '500 records read\n',
    '700 records read\n',
  ]);
});

it('draws a bar on a terminal, and takes it away at the end', () => {
  const written = show(true, [1_000, 1_050, 1_100]);
  expect(written).toHaveLength(3);
  expect(written[0]).toMatch(/^\r█{15}░{15} 100 records$/);
  expect(written[1]).toMatch(/^\r█{15}░{15} 300 records$/);
  expect(written[2]).toBe('\r\u001b[K');
});

// A process killed at any moment: what it acknowledged is on disk, once, and the balance is what it should be.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { verifyJournal } from '../../src/store/verify-journal.ts';
import { runFixture } from './fixtures/child-process.ts';
import { makeDirectory, openStore } from './fixtures/data-directory.ts';

const CYCLES = 10;
const WORKSPACE = 'ws_1';

it('loses and doubles nothing over kills under load', async () => {
  const directory = await makeDirectory();
  const acknowledged: string[] = [];
  let recovered = 0;
  for (let cycle = 0; cycle < CYCLES; cycle += 1) {
    // How much is acknowledged before the kill is what differs from cycle to cycle.
    const linesWanted = 1 + ((cycle * 7_919) % 400);
    const load = runFixture('load-process.ts', [directory, String(cycle)]);
    await load.waitForLine((_line, lines) => lines.length >= linesWanted);
    await load.kill();
    acknowledged.push(...load.lines());
    recovered += Number(/^recovered (\d+)$/.exec(load.lines()[0] ?? '')?.[1]);
    const report = await verifyJournal(join(directory, 'journal'));
    expect(report).toMatchObject({ ok: true, problems: [], damage: null });
  }
  const { ledger, opening } = await openStore(directory);
  expect(recovered + opening.recoveredHolds).toBeGreaterThan(CYCLES);

  const entries = new Map<string, number>();
  let cursor: string | null = null;
  do {
    const page = await ledger.usage(WORKSPACE, {}, 1_000, cursor);
    for (const entry of page.entries) {
      expect(entries.has(entry.request_id)).toBe(false);
      entries.set(entry.request_id, entry.cost);
    }
    cursor = page.nextCursor;
  } while (cursor !== null);
  for (const line of acknowledged) {
    const [what, id, nano] = line.split(' ');
    if (what === 'settle') expect([id, entries.get(id ?? '')]).toEqual([id, Number(nano)]);
    if (what === 'hold') expect([id, entries.has(id ?? '')]).toEqual([id, true]);
  }
  const balance = ledger.balance(WORKSPACE);
  const charged = [...entries.values()].reduce((sum, nano) => sum + nano, 0);
  const granted = acknowledged.filter((line) => line.startsWith('grant ')).length * 1_000_000;
  expect(balance.heldNano).toBe(0);
  expect(balance.chargedNano).toBe(charged);
  expect(balance.grantedNano).toBeGreaterThanOrEqual(granted);
  expect(balance.grantedNano % 1_000_000).toBe(0);
}, 60_000);

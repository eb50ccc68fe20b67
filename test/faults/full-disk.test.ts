// A disk that fills up refuses new work, ends what is under way, and takes work again by itself once there is space.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Asked, ask, billedAnswer } from './asking.ts';
import { checkBooks } from './books.ts';
import { startToEnd, startUnder } from './daemon-under.ts';
import { createKey, prepareOnce } from './prepared-home.ts';
import { scale } from './scale.ts';
import { makeStrace, NO_STRACE } from './strace.ts';
import { mountTmpfs, NO_TMPFS } from './tmpfs.ts';

const prepared = prepareOnce();
const IN_FLIGHT = 12;
/** Writes of the journal and its reserve that may fail: the first ones are those of the start. */
const FAILING_WRITES = scale(2, 60);

it.skipIf(NO_TMPFS)(
  'a full disk refuses new requests, settles those under way, and recovers without a restart',
  async () => {
    const disk = await mountTmpfs('6m');
    const { upstream, env, key, copy } = prepared();
    const home = await copy(join(disk.path, 'home'));
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    upstream.queue(
      ...Array.from({ length: IN_FLIGHT }, () => async (request: Parameters<typeof billedAnswer>[0]) => {
        await gate;
        return billedAnswer(request);
      }),
    );
    const daemon = await startUnder({ home, env });
    const before = upstream.requests.length;
    const underWay = Array.from({ length: IN_FLIGHT }, (_, number) =>
      ask(daemon.url, key, { number, stream: number % 3 === 0 }),
    );
    await upstream.arrived(before + IN_FLIGHT);
    await disk.fill();

    const asked: Asked[] = [];
    // What is left of the last block may take a record or two.
    await expect
      .poll(async () => asked.push(await ask(daemon.url, key, { number: 100 + asked.length })) && asked.at(-1)?.status)
      .toBe(503);
    for (let round = 0; round < 5; round += 1) asked.push(await ask(daemon.url, key, { number: 200 + round }));
    const refused = asked.slice(-6);
    expect(refused.map(({ status, code, retryAfter }) => [status, code, retryAfter])).toEqual(
      refused.map(() => [503, 'STORAGE_UNAVAILABLE', '5']),
    );
    expect((await fetch(`${daemon.url}/healthz`)).status).toBe(200);
    expect((await fetch(`${daemon.url}/readyz`)).status).toBe(503);

    open();
    const settled = await Promise.all(underWay);
    expect(settled.map(({ whole }) => whole)).toEqual(settled.map(() => true));

    await disk.empty();
    await expect.poll(async () => (await fetch(`${daemon.url}/readyz`)).status).toBe(200);
    const after = [
      await ask(daemon.url, key, { number: 300 }),
      await ask(daemon.url, key, { number: 301, stream: true }),
    ];
    expect(after.map(({ whole }) => whole)).toEqual([true, true]);
    expect(await daemon.stop()).toBe(0);
    const audit = await checkBooks(home, [...asked, ...settled, ...after], 'full disk');
    expect([...audit.open]).toEqual([]);
  },
);

it.skipIf(NO_TMPFS)(
  'a full disk refuses a new key, leaves the old file, and makes the key once there is space',
  async () => {
    const disk = await mountTmpfs('6m');
    const { env, copy, key } = prepared();
    const home = await copy(join(disk.path, 'home'));
    const daemon = await startUnder({ home, env });
    const path = join(home, 'documents', 'keys.json');
    const old = await readFile(path, 'utf8');
    await disk.fill();
    const refused = await createKey(daemon.url, prepared(), 'no room');
    expect([refused.status, await refused.text()]).toEqual([503, expect.stringContaining('STORAGE_UNAVAILABLE')]);
    expect(await readFile(path, 'utf8')).toBe(old);
    await disk.empty();
    expect((await createKey(daemon.url, prepared(), 'room')).status).toBe(201);
    expect(JSON.parse(await readFile(path, 'utf8')).items).toHaveLength(JSON.parse(old).items.length + 1);
    await expect.poll(async () => (await ask(daemon.url, key, { number: 1 })).whole).toBe(true);
    expect(await daemon.stop()).toBe(0);
  },
);

it.skipIf(NO_TMPFS)('a first start on a disk that is too small ends with words about the disk', async () => {
  const disk = await mountTmpfs('64k');
  const { code, stderr } = await startToEnd({ home: join(disk.path, 'home'), env: prepared().env });
  expect([code, stderr]).toEqual([69, expect.stringMatching(/full|no space/i)]);
});

it.skipIf(NO_STRACE)(
  `any of the first ${FAILING_WRITES} writes may meet a full disk, for a moment or two`,
  async () => {
    const { env, key, copy } = prepared();
    let injected = 0;
    let refusals = 0;
    for (let round = 0; round < FAILING_WRITES; round += 1) {
      // Short runs take one write of the start and one of a hold.
      const nth = scale(1 + 2 * round, round + 1);
      const home = await copy();
      const strace = await makeStrace({
        calls: 'pwrite64',
        inject: [`pwrite64:error=ENOSPC:when=${nth}..${nth + 1}`],
        paths: [join(home, 'journal', '000000000001.ndjson'), join(home, 'journal', 'reserve.bin')],
      });
      const daemon = await startUnder({ home, prefix: strace.prefix, env: { ...env, ...strace.env } });
      const asked: Asked[] = [];
      for (let number = 0; number < 4; number += 1) {
        asked.push(await ask(daemon.url, key, { number, stream: number % 2 === 1 }));
      }
      for (const { status, code } of asked) {
        if (status !== 200) expect([nth, status, code]).toEqual([nth, 503, 'STORAGE_UNAVAILABLE']);
      }
      refusals += asked.filter(({ whole }) => !whole).length;
      await expect
        .poll(async () => asked.push(await ask(daemon.url, key, { number: 10 })) && asked.at(-1)?.whole)
        .toBe(true);
      injected += strace.injected();
      expect([nth, await daemon.stop()]).toEqual([nth, 0]);
      await checkBooks(home, asked, `write ${nth} fails`);
    }
    expect(injected).toBeGreaterThan(FAILING_WRITES - 1);
    expect(refusals).toBeGreaterThan(0);
  },
);

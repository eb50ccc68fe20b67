// A disk that fails: the process ends at once and does not try again; what it had acknowledged is there at the next start.

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { verifyJournal } from '../../src/store/verify-journal.ts';
import { type Asked, ask } from './asking.ts';
import { checkBooks } from './books.ts';
import { launch, listening, makeFaultHome, startUnder } from './daemon-under.ts';
import { createKey, prepareOnce } from './prepared-home.ts';
import { LONG, scale } from './scale.ts';
import { makeStrace, NO_STRACE, parseCalls, type Strace } from './strace.ts';

const prepared = prepareOnce();
const STORAGE_FAILED = 74;
const NOT_STARTED = 69;
/** Time from the failed call to the end of the process: a second is promised, a loaded machine gets some more. */
const END_MS_MAX = 3_000;
const SEGMENT = join('journal', '000000000001.ndjson');

type Fault = { readonly calls: string; readonly inject: string; readonly paths: readonly string[] };
type Run = {
  readonly code: number | null;
  readonly asked: readonly Asked[];
  readonly strace: Strace;
  readonly home: string;
};

/** Asks one request after the other until the daemon is gone, or `most` are answered. */
async function runWith(fault: (home: string) => Fault, most = 12): Promise<Run> {
  const { env, key, copy } = prepared();
  const home = await copy();
  const { calls, inject, paths } = fault(home);
  const strace = await makeStrace({ calls, inject: [inject], paths });
  const launched = launch({ home, prefix: strace.prefix, env: { ...env, ...strace.env } });
  const daemon = await listening(launched, home).catch(() => undefined);
  const asked: Asked[] = [];
  for (let number = 0; daemon !== undefined && number < most; number += 1) {
    const answer = await ask(daemon.url, key, { number, stream: number % 3 === 0 });
    asked.push(answer);
    if (answer.status === 0) break;
  }
  // What survives its fault is told to stop; what does not is gone by itself.
  if (asked.length > 0 && asked.at(-1)?.status !== 0) await daemon?.stop();
  const { code } = await launched.ended;
  return { code, asked, strace, home };
}

/** The next start is clean and has charged exactly what was answered. */
async function checkRestart(run: Pick<Run, 'home' | 'asked'>, what: string): Promise<void> {
  const { env, key } = prepared();
  const daemon = await startUnder({ home: run.home, env });
  const again = await ask(daemon.url, key, { number: 99 });
  expect([what, again.whole]).toEqual([what, true]);
  expect([what, await daemon.stop()]).toEqual([what, 0]);
  const audit = await checkBooks(run.home, [...run.asked, again], what);
  expect([what, [...audit.open], audit.tornBytes]).toEqual([what, [], 0]);
}

describe.skipIf(NO_STRACE)('an input/output error', () => {
  it.each(LONG ? [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] : [4])(
    'of journal sync %i ends the process with 74 and without another try',
    async (nth) => {
      const run = await runWith((home) => ({
        calls: 'fdatasync,fsync,pwrite64',
        inject: `fdatasync:error=EIO:when=${nth}`,
        paths: [join(home, SEGMENT), join(home, 'journal', 'reserve.bin')],
      }));
      const log = await run.strace.wholeLog();
      const calls = parseCalls(log);
      const failed = calls.find((call) => call.injected);
      expect(failed).toBeDefined();
      expect([STORAGE_FAILED, NOT_STARTED]).toContain(run.code);
      if (run.asked.length > 0) expect(run.code).toBe(STORAGE_FAILED);
      expect(calls.filter(({ begun, target }) => begun > (failed?.begun ?? 0) && target === failed?.target)).toEqual(
        [],
      );
      const endedAt = Number(/(\d+\.\d+) \+\+\+ exited with \d+ \+\+\+\n$/.exec(log)?.[1]);
      expect((endedAt - (failed?.beganAt ?? 0)) * 1_000).toBeLessThan(END_MS_MAX);
      await checkRestart(run, `sync ${nth}`);
    },
  );

  it.each(LONG ? [1, 2, 3, 4, 5, 6, 7, 8] : [3])('of journal write %i ends the process with 74', async (nth) => {
    const run = await runWith((home) => ({
      calls: 'pwrite64',
      inject: `pwrite64:error=EIO:when=${nth}`,
      paths: [join(home, SEGMENT)],
    }));
    expect([run.strace.injected(), run.code]).toEqual([1, STORAGE_FAILED]);
    await checkRestart(run, `write ${nth}`);
  });

  it('of the rename of a document ends the process with 74 and leaves the old file', async () => {
    const { env, copy } = prepared();
    const home = await copy();
    const path = join(home, 'documents', 'keys.json');
    const old = await readFile(path, 'utf8');
    const strace = await makeStrace({ calls: 'rename', inject: ['rename:error=EIO'] });
    const daemon = await startUnder({ home, env });
    await strace.attach(daemon.pid);
    const refused = await createKey(daemon.url, prepared(), 'lost').then(
      ({ status }) => status,
      () => 0,
    );
    expect([0, 503]).toContain(refused);
    expect([await daemon.exited, strace.injected() > 0]).toEqual([STORAGE_FAILED, true]);
    expect(await readFile(path, 'utf8')).toBe(old);
    await checkRestart({ home, asked: [] }, 'rename');
  });
});

describe('a write that is cut short', () => {
  it('goes on until the record is whole', async () => {
    const { env, key, copy } = prepared();
    const home = await copy();
    const preload = join(await makeFaultHome(), 'short-writes.mjs');
    await writeFile(preload, SHORT_WRITES);
    const daemon = await startUnder({ home, env: { ...env, NODE_OPTIONS: `--import=${preload}` } });
    const asked = await Promise.all(
      Array.from({ length: scale(8, 200) }, (_, number) => ask(daemon.url, key, { number, stream: number % 3 === 0 })),
    );
    expect((await createKey(daemon.url, prepared(), 'short')).status).toBe(201);
    expect(asked.filter(({ whole }) => !whole)).toEqual([]);
    expect(await daemon.stop()).toBe(0);
    expect(Number(/short writes: (\d+)/.exec(daemon.stderr())?.[1])).toBeGreaterThan(asked.length);
    await checkBooks(home, asked, 'short writes');
  });

  it.skipIf(NO_STRACE)('or interrupted is written all the same', async () => {
    const run = await runWith((home) => ({
      calls: 'pwrite64',
      inject: 'pwrite64:error=EINTR:when=2+3',
      paths: [join(home, SEGMENT)],
    }));
    expect([run.strace.injected() > 2, run.code]).toEqual([true, 0]);
    expect(run.asked.filter(({ whole }) => !whole)).toEqual([]);
    await checkBooks(run.home, run.asked, 'EINTR');
  });

  it.skipIf(NO_STRACE)('or refused for now leaves no half record', async () => {
    const run = await runWith((home) => ({
      calls: 'pwrite64',
      inject: 'pwrite64:error=EAGAIN:when=4',
      paths: [join(home, SEGMENT)],
    }));
    expect(run.strace.injected()).toBe(1);
    await checkRestart(run, 'EAGAIN');
  });

  it.skipIf(NO_STRACE)('but claimed to be written is found when the journal is read', async () => {
    const run = await runWith(
      (home) => ({ calls: 'pwrite64', inject: 'pwrite64:retval=1:when=3', paths: [join(home, SEGMENT)] }),
      5,
    );
    expect(run.strace.injected()).toBe(1);
    const { ok, damage } = await verifyJournal(join(run.home, 'journal'));
    expect([ok, damage?.exitCode]).toEqual([false, 78]);
  });
});

/** Every write of a file takes at most a few bytes, as a file system may. */
const SHORT_WRITES = `
import { open } from 'node:fs/promises';
const handle = await open(process.execPath);
const prototype = Object.getPrototypeOf(handle);
await handle.close();
const whole = prototype.write;
let count = 0;
prototype.write = function (bytes, offset, length, position) {
  if (length > 100_000) return whole.call(this, bytes, offset, length, position);
  if (length > 7) count += 1;
  return whole.call(this, bytes, offset, Math.min(length, 1 + (count % 97)), position);
};
process.on('exit', () => process.stderr.write('short writes: ' + count + '\\n'));
`;

// Order of acknowledgement, as the kernel saw it: a hold is on disk before its first upstream byte, a settlement before
// the last byte to the client.

import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { startFakeUpstream } from '../helpers/fake-upstream.ts';
import { gatewayOf } from '../helpers/gateway.ts';
import { type Asked, ask, billedAnswer, numberOf, unlimit } from './asking.ts';
import { makeFaultHome, startUnder } from './daemon-under.ts';
import { scale } from './scale.ts';
import { type Call, makeStrace, NO_STRACE, parseCalls } from './strace.ts';

const REQUESTS = scale(60, 10_000);
const PARALLEL = 12;
const CALLS = 'fdatasync,fsync,write,writev,pwrite64,pwritev,sendto,sendmsg';

it.skipIf(NO_STRACE)(`acknowledges nothing early in ${REQUESTS} requests`, async () => {
  const { asked, calls } = await record(REQUESTS);
  const findings = judge(asked, calls);
  expect(asked.every(({ whole }) => whole)).toBe(true);
  expect(findings.violations).toEqual([]);
  expect([findings.holds, findings.settles]).toEqual([REQUESTS, REQUESTS]);
  process.stderr.write(`ack order: ${findings.holds} holds and ${findings.settles} settlements in order\n`);
});

it.skipIf(NO_STRACE)('finds the fault in a build that does not wait for the disk', async () => {
  const { asked, calls } = await record(10, await makeBuildWithoutSync());
  const { violations } = judge(asked, calls);
  expect(violations.filter((each) => each.includes('upstream'))).toHaveLength(10);
  expect(violations.filter((each) => each.includes('client'))).toHaveLength(10);
});

type Recording = { readonly asked: readonly Asked[]; readonly calls: readonly Call[] };

/** Half one after the other, half at once; every third is a stream. */
async function record(requests: number, bin?: string): Promise<Recording> {
  const upstream = await startFakeUpstream();
  upstream.respond((request) => billedAnswer(request, numberOf(request) % 8 === 0 ? 3 : 0));
  onTestFinished(() => upstream.close());
  const strace = await makeStrace({ calls: CALLS, stringBytes: 1_048_576 });
  const daemon = await startUnder({
    home: await makeFaultHome(),
    prefix: strace.prefix,
    env: { ...strace.env, SVC_UPSTREAM_URL: upstream.url },
    ...(bin === undefined ? {} : { bin }),
  });
  await unlimit(daemon.url, await gatewayOf(daemon, upstream).operator());
  const asked: Asked[] = [];
  const one = async (number: number): Promise<void> => {
    asked.push(await ask(daemon.url, daemon.key, { number, stream: number % 3 === 0 }));
  };
  const half = Math.floor(requests / 2);
  for (let number = 0; number < half; number += 1) await one(number);
  let next = half;
  const worker = async (): Promise<void> => {
    while (next < requests) {
      next += 1;
      await one(next - 1);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
  expect(await daemon.stop()).toBe(0);
  return { asked, calls: parseCalls(await strace.wholeLog()) };
}

type Findings = { readonly violations: readonly string[]; readonly holds: number; readonly settles: number };

function judge(asked: readonly Asked[], calls: readonly Call[]): Findings {
  const durable = durableRecords(calls);
  const sockets = socketWrites(calls);
  const violations: string[] = [];
  let holds = 0;
  let settles = 0;
  for (const { number, requestId } of asked) {
    const hold = durable.get(`hold ${requestId}`);
    const sent = sockets.upstream.get(number);
    if (sent === undefined) violations.push(`request ${number}: its call of the upstream is not in the log`);
    else if (hold === undefined || hold > sent)
      violations.push(`request ${number} reached the upstream before its hold was on disk`);
    else holds += 1;
    const settle = durable.get(`settle ${requestId}`);
    const ended = sockets.client.get(requestId);
    if (ended === undefined) violations.push(`request ${number}: the end of its answer is not in the log`);
    else if (settle === undefined || settle > ended)
      violations.push(`request ${number} was ended to the client before its settlement was on disk`);
    else settles += 1;
  }
  return { violations, holds, settles };
}

type Written = { readonly record: string; readonly target: string; readonly ended: number };

/** The line of the log at which the first sync that covers a record had returned, by `<type> <request id>`. */
function durableRecords(calls: readonly Call[]): ReadonlyMap<string, number> {
  const durable = new Map<string, number>();
  let written: Written[] = [];
  for (const call of calls) {
    const { name, target, ended } = call;
    if (!/\/journal\/\d{12}\.ndjson>/.test(target)) continue;
    if (name.startsWith('pwrite')) written.push(...recordsIn(call.text).map((record) => ({ record, target, ended })));
    if (name !== 'fdatasync' || call.result !== '0') continue;
    const isCovered = (write: Written): boolean => write.target === target && write.ended < call.begun;
    for (const { record } of written.filter(isCovered)) durable.set(record, ended);
    written = written.filter((write) => !isCovered(write));
  }
  return durable;
}

/** `<type> <request id>` of each hold and settlement in the bytes written, which strace shows escaped. */
function recordsIn(text: string): readonly string[] {
  const found = text.matchAll(/\\"type\\":\\"(hold|settle)\\",\\"at\\":\d+,\\"requestId\\":\\"(\w+)\\"/g);
  return Array.from(found, ([, type, id]) => `${type} ${id}`);
}

type SocketWrites = {
  /** The first byte of the call of the upstream, by the number in its prompt. */
  readonly upstream: ReadonlyMap<number, number>;
  /** The last bytes of the answer, by request id. */
  readonly client: ReadonlyMap<string, number>;
};

function socketWrites(calls: readonly Call[]): SocketWrites {
  const sends = calls.filter(({ target }) => target.includes('<socket:'));
  return { upstream: upstreamStarts(sends), client: clientEnds(sends) };
}

function upstreamStarts(sends: readonly Call[]): ReadonlyMap<number, number> {
  const starts = new Map<number, number>();
  const heads = new Map<string, number>();
  for (const { target, text, begun } of sends) {
    if (text.includes('POST /api/v1/')) heads.set(target, begun);
    const number = /number-(\d+),/.exec(text)?.[1];
    const head = heads.get(target);
    if (number !== undefined && head !== undefined) starts.set(Number(number), head);
  }
  return starts;
}

function clientEnds(sends: readonly Call[]): ReadonlyMap<string, number> {
  const ends = new Map<string, number>();
  const answering = new Map<string, string>();
  for (const { target, text, begun } of sends) {
    const id = /x-request-id: (\w+)/i.exec(text)?.[1];
    if (id !== undefined) answering.set(target, id);
    const current = answering.get(target) ?? '';
    // A whole answer carries its success in the head already; a stream in its last event.
    const isEnd = text.includes('[DONE]') || (id !== undefined && text.includes('application/json'));
    if (isEnd && !ends.has(current)) ends.set(current, begun);
  }
  return ends;
}

/** A copy of the build in which `datasync` of a file says yes at once. */
async function makeBuildWithoutSync(): Promise<string> {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const copy = await mkdtemp(join(tmpdir(), 'svc-build-'));
  onTestFinished(() => rm(copy, { recursive: true, force: true }));
  for (const part of ['bin', 'dist', 'config', 'package.json'])
    await cp(join(root, part), join(copy, part), { recursive: true });
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
  const path = join(copy, 'dist', 'store', 'disk.js');
  const text = await readFile(path, 'utf8');
  const changed = text.replace('return this.#handle.datasync();', 'return Promise.resolve();');
  expect(changed).not.toBe(text);
  await writeFile(path, changed);
  return join(copy, 'bin', 'svc.js');
}

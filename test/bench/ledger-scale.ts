// A big journal under the real daemon: how long it takes to start, how much memory it holds, how fast usage is answered.

import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createClient } from '../../src/api/client.ts';
import { parseUsd } from '../../src/ledger/nano.ts';
import { type BenchDaemon, type Memory, startBenchDaemon } from './ledger-daemon.ts';
import { withDirectory } from './ledger-disk.ts';
import { machineLoad, median, note } from './ledger-figures.ts';
import { measureQueries, type QueryFigures, type Subject } from './ledger-queries.ts';
import type { Owner } from './ledger-records.ts';
import { makeJournal } from './make-journal.ts';

export type ScaleOptions = {
  readonly entries: number;
  readonly seed: number;
  /** Of each kind. */
  readonly queries: number;
  /** Where the data directory is made and left; a temporary one otherwise. */
  readonly keepIn?: string;
  readonly segmentBytesMax?: number;
};

export type ScaleReport = {
  /** At the beginning and at the end. */
  readonly machine: readonly [string, string];
  readonly entries: number;
  readonly journalBytes: number;
  readonly segments: number;
  readonly generatedMs: number;
  readonly generatedCpuMs: number;
  /** First start on the whole journal: everything is made from it. Then until the files no longer change. */
  readonly firstStartMs: number;
  readonly firstStartCpuMs: number;
  readonly settledAfterMs: number;
  readonly firstStopMs: number;
  readonly diskBytes: { readonly journal: number; readonly index: number };
  readonly warmStartsMs: readonly number[];
  readonly warmStartMs: number;
  readonly warmStartCpuMs: number;
  /** After SIGKILL, so that nothing was tidied up. */
  readonly startAfterKillMs: number;
  readonly memoryAfterStart: Memory;
  readonly memoryAfterQueries: Memory;
  readonly queries: readonly QueryFigures[];
  /** With `index/` deleted. */
  readonly rebuildMs: number;
  readonly rebuildCpuMs: number;
  readonly memoryAfterRebuild: Memory;
  /** Sums and balance say what the generator wrote. */
  readonly exact: boolean;
};

const DAYS = 400;
const WORKSPACES = ['second', 'third', 'fourth'] as const;
const KEYS = 20;
const WARM_STARTS = 5;
const CREDITS_USD = '1000000';
const QUIET_MS = 3_000;
const QUIET_LIMIT_MS = 600_000;

/** Throws where the daemon is not built. */
export async function measureScale(options: ScaleOptions): Promise<ScaleReport> {
  checkBuild();
  if (options.keepIn === undefined) return withDirectory((directory) => measureIn(options, join(directory, 'home')));
  mkdirSync(options.keepIn, { recursive: true, mode: 0o700 });
  return measureIn(options, options.keepIn);
}

/** The daemon runs from `dist/`, the generator from `src/`: the two had better be of one age. */
function checkBuild(): void {
  const root = new URL('../../', import.meta.url).pathname;
  const built = join(root, 'dist/cli/main.js');
  if (!existsSync(built)) throw new Error('not built: run `npm run build` first');
  const source = join(root, 'src');
  const newestMs = Math.max(...namesIn(source).map((name) => statSync(join(source, name)).mtimeMs));
  if (statSync(built).mtimeMs < newestMs) note('dist/ is older than src/: what is measured is the old build');
}

async function measureIn(options: ScaleOptions, home: string): Promise<ScaleReport> {
  const machine = machineLoad();
  note('a first start, to register and make workspaces');
  const { token, owners } = await prepareHome(home);
  note(`writing ${options.entries} requests`);
  const begun = performance.now();
  const cpu = process.cpuUsage();
  const made = await makeJournal({
    ...options,
    owners,
    days: DAYS,
    endMs: Date.now(),
    directory: join(home, 'journal'),
  });
  const generatedMs = performance.now() - begun;
  const { user, system } = process.cpuUsage(cpu);
  rmSync(join(home, 'index'), { recursive: true, force: true });
  note('first start on it');
  const first = await startBenchDaemon(home);
  const settledAfterMs = await untilQuiet(home);
  const firstStopMs = await first.stop();
  const diskBytes = { journal: bytesIn(join(home, 'journal')), index: bytesIn(join(home, 'index')) };
  const starts = await measureStarts(home);
  const subject: Subject = { token, workspaceId: owners[0].workspaceId, made, keyId: owners[0].apiKeyIds[7] ?? '' };
  note('queries');
  const asked = await measureAnswers(home, subject, options.queries);
  note('rebuild without index/');
  const rebuilt = await measureRebuild(home, subject);
  return {
    machine: [machine, machineLoad()],
    entries: options.entries,
    journalBytes: made.bytes,
    segments: made.segments,
    generatedMs: Math.round(generatedMs),
    generatedCpuMs: Math.round((user + system) / 1_000),
    firstStartMs: Math.round(first.startMs),
    firstStartCpuMs: first.startCpuMs,
    settledAfterMs: Math.round(settledAfterMs),
    firstStopMs: Math.round(firstStopMs),
    diskBytes,
    ...starts,
    memoryAfterStart: asked.memoryAfterStart,
    memoryAfterQueries: asked.memoryAfterQueries,
    queries: asked.queries,
    rebuildMs: rebuilt.startMs,
    rebuildCpuMs: rebuilt.startCpuMs,
    memoryAfterRebuild: rebuilt.memory,
    exact: asked.exact && rebuilt.exact,
  };
}

/** The first account becomes the operator and gets the `default` workspace; keys are only ids to the journal. */
async function prepareHome(home: string): Promise<{ readonly token: string; readonly owners: [Owner, ...Owner[]] }> {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const daemon = await startBenchDaemon(home, { SVC_STARTING_CREDITS: CREDITS_USD });
  try {
    const anyone = createClient({ baseUrl: daemon.url });
    const made = await anyone.register({ email: 'bench@example.com', password: 'correct horse battery staple' });
    const client = createClient({ baseUrl: daemon.url, token: made.token });
    const owners: [Owner, ...Owner[]] = [{ workspaceId: made.workspace.id, apiKeyIds: keyIds(0) }];
    for (const [index, name] of WORKSPACES.entries()) {
      const { id } = await client.createWorkspace({ name });
      owners.push({ workspaceId: id, apiKeyIds: keyIds(index + 1) });
    }
    return { token: made.token, owners };
  } finally {
    await daemon.stop();
  }
}

function keyIds(workspace: number): readonly string[] {
  return Array.from({ length: KEYS }, (_, key) => `key_bench${workspace}x${String(key).padStart(14, '0')}`);
}

type Starts = Pick<ScaleReport, 'warmStartsMs' | 'warmStartMs' | 'warmStartCpuMs' | 'startAfterKillMs'>;

async function measureStarts(home: string): Promise<Starts> {
  const warmStartsMs: number[] = [];
  const cpuMs: number[] = [];
  for (let start = 1; start <= WARM_STARTS; start += 1) {
    note(`warm start ${start} of ${WARM_STARTS}`);
    const daemon = await startBenchDaemon(home);
    warmStartsMs.push(Math.round(daemon.startMs));
    cpuMs.push(daemon.startCpuMs);
    await (start === WARM_STARTS ? daemon.kill() : daemon.stop());
  }
  const daemon = await startBenchDaemon(home);
  await daemon.stop();
  const startAfterKillMs = Math.round(daemon.startMs);
  return { warmStartsMs, warmStartMs: median(warmStartsMs), warmStartCpuMs: median(cpuMs), startAfterKillMs };
}

async function measureAnswers(home: string, subject: Subject, queries: number) {
  const daemon = await startBenchDaemon(home);
  try {
    const memoryAfterStart = daemon.memory();
    const figures = await measureQueries(daemon, subject, queries);
    const memoryAfterQueries = daemon.memory();
    return { memoryAfterStart, memoryAfterQueries, queries: figures, exact: await isExact(daemon, subject) };
  } finally {
    await daemon.stop();
  }
}

async function measureRebuild(home: string, subject: Subject) {
  rmSync(join(home, 'index'), { recursive: true, force: true });
  const daemon = await startBenchDaemon(home);
  try {
    const { startCpuMs } = daemon;
    return {
      startMs: Math.round(daemon.startMs),
      startCpuMs,
      memory: daemon.memory(),
      exact: await isExact(daemon, subject),
    };
  } finally {
    await daemon.stop();
  }
}

/** Holds balance and sums, with a filter and without, against what the generator counted. */
async function isExact(daemon: BenchDaemon, { token, workspaceId, made }: Subject): Promise<boolean> {
  const client = createClient({ baseUrl: daemon.url, token });
  const { requests, costNano, rareRequests } = made.expected;
  const balance = await client.balance(workspaceId);
  const byDay = (await client.usageSums(workspaceId, 'day')).data;
  const rare = (await client.usageSums(workspaceId, 'key', { model: made.rareModel })).data;
  const count = (sums: readonly { readonly requests: number }[]): number =>
    sums.reduce((sum, row) => sum + row.requests, 0);
  const cost = byDay.reduce((sum, row) => sum + (parseUsd(row.cost) ?? Number.NaN), 0);
  const found = [parseUsd(balance.charged), cost, count(byDay), count(rare)];
  const exact = found.join() === [costNano, costNano, requests, rareRequests].join();
  if (!exact)
    note(`WRONG: found ${found.join(', ')}, expected ${[costNano, costNano, requests, rareRequests].join(', ')}`);
  return exact;
}

/** Waits until no file of the journal or the index has changed for a while: work goes on behind a first start. */
async function untilQuiet(home: string): Promise<number> {
  const begun = performance.now();
  let changedAt = begun;
  let last = '';
  while (performance.now() - changedAt < QUIET_MS && performance.now() - begun < QUIET_LIMIT_MS) {
    const now = [join(home, 'journal'), join(home, 'index')].flatMap(listing).join();
    if (now !== last) changedAt = performance.now();
    last = now;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return changedAt - begun;
}

function listing(directory: string): readonly string[] {
  return namesIn(directory).map((name) => `${name} ${sizeOf(join(directory, name))}`);
}

function bytesIn(directory: string): number {
  return namesIn(directory).reduce((sum, name) => sum + sizeOf(join(directory, name)), 0);
}

function namesIn(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' });
}

/** Zero for what has gone since it was listed. */
function sizeOf(path: string): number {
  const found = statSync(path, { throwIfNoEntry: false });
  return found?.isFile() === true ? found.size : 0;
}

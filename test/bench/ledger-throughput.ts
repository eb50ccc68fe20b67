// Holds and settlements a second with every one of them on disk: the group commit beside one fdatasync per record.

import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { openFileStore } from '../../src/store/file-store.ts';
import { encodeLine, FIRST_PREV } from '../../src/store/journal-format.ts';
import { openSingleAppender } from './ledger-appender.ts';
import { type DiskFacts, diskFacts, withDirectory } from './ledger-disk.ts';
import { machineLoad, markdownTable, median, note, type Percentiles, percentiles, rounded } from './ledger-figures.ts';
import { createRecordMaker, type Owner, type Pair } from './ledger-records.ts';

export type ThroughputOptions = {
  /** Of one round of one of the two. */
  readonly seconds: number;
  readonly rounds: number;
  readonly inFlight: readonly number[];
  readonly seed: number;
};

export type SideFigures = {
  /** Requests a second, each one hold and one settlement. */
  readonly pairsPerSecond: number;
  readonly holdMs: Percentiles;
  readonly settleMs: Percentiles;
  /** Processor time of the whole process, making the records included. */
  readonly cpuMicrosPerPair: number;
  /** The longest the event loop stood still in any round. */
  readonly stallMsMax: number;
};

export type ThroughputReport = {
  /** Before the first round. */
  readonly machine: string;
  readonly disk: DiskFacts;
  readonly seconds: number;
  readonly rounds: number;
  readonly holdBytes: number;
  readonly settleBytes: number;
  readonly levels: readonly {
    readonly inFlight: number;
    readonly grouped: SideFigures;
    readonly single: SideFigures;
    /** Grouped over single, pairs a second. */
    readonly ratio: number;
  }[];
};

/** What a side does with a record; both resolve once it is on disk. */
type Side = { hold(pair: Pair): Promise<void>; settle(pair: Pair): Promise<void>; close(): Promise<void> };

type Round = {
  readonly pairsPerSecond: number;
  readonly holds: readonly number[];
  readonly settles: readonly number[];
  readonly cpuMicrosPerPair: number;
  readonly stallMs: number;
};

const OWNER: Owner = { workspaceId: 'ws_bench', apiKeyIds: Array.from({ length: 20 }, (_, index) => `key_${index}`) };
const PLENTY_NANO = 1e15;
/** Made before the clock runs, and used again with other request ids. */
const PAIRS_MADE = 4_096;
const WARM_UP_SECONDS = 0.5;

export async function measureThroughput(options: ThroughputOptions): Promise<ThroughputReport> {
  return withDirectory(async (directory) => {
    const machine = machineLoad();
    const disk = diskFacts(directory);
    const pairs = makePairs(options.seed);
    const sizes = sizesOf(pairs);
    const levels: ThroughputReport['levels'][number][] = [];
    await runRound(directory, openGrouped, pairs, { inFlight: 64, seconds: WARM_UP_SECONDS });
    for (const inFlight of options.inFlight) {
      const grouped: Round[] = [];
      const single: Round[] = [];
      const load = { inFlight, seconds: options.seconds };
      for (let round = 1; round <= options.rounds; round += 1) {
        note(`${inFlight} in flight, round ${round} of ${options.rounds}`);
        grouped.push(await runRound(directory, openGrouped, pairs, load));
        single.push(await runRound(directory, openSingle, pairs, load));
      }
      const figures = { grouped: figuresOf(grouped), single: figuresOf(single) };
      const ratio = rounded(figures.grouped.pairsPerSecond / figures.single.pairsPerSecond);
      levels.push({ inFlight, ...figures, ratio });
    }
    return { machine, disk, seconds: options.seconds, rounds: options.rounds, ...sizes, levels };
  });
}

export function renderThroughput(report: ThroughputReport): string {
  const { disk, holdBytes, settleBytes } = report;
  const rows = report.levels.flatMap(({ inFlight, grouped, single, ratio }) => [
    rowOf(inFlight, 'group commit', grouped, `${ratio}×`),
    rowOf(inFlight, 'one fdatasync each', single, '1×'),
  ]);
  const head = [
    'in flight',
    'commit',
    'pairs/s',
    'hold p50 ms',
    'p99',
    'settle p50 ms',
    'p99',
    'CPU µs/pair',
    'stall ms',
    'ratio',
  ];
  return [
    '## Ledger throughput\n\n',
    `File system ${disk.fileSystem}${disk.inMemory ? ' (in memory: nothing below is about a disk)' : ''}; `,
    `append and fdatasync by itself: p50 ${disk.fdatasyncMs.p50} ms, p99 ${disk.fdatasyncMs.p99} ms. `,
    `A hold is ${holdBytes} bytes, a settlement ${settleBytes}. `,
    `Medians of ${report.rounds} rounds of ${report.seconds} s, the two taking turns; ${report.machine}.\n\n`,
    markdownTable(head, rows),
  ].join('');
}

function rowOf(inFlight: number, name: string, side: SideFigures, ratio: string): readonly (string | number)[] {
  const { holdMs, settleMs } = side;
  const times = [holdMs.p50, holdMs.p99, settleMs.p50, settleMs.p99];
  return [inFlight, name, side.pairsPerSecond, ...times, side.cpuMicrosPerPair, side.stallMsMax, ratio];
}

function makePairs(seed: number): readonly Pair[] {
  const maker = createRecordMaker(seed);
  const begun = Date.now();
  return Array.from({ length: PAIRS_MADE }, () => maker.pair(OWNER, begun));
}

/** Mean bytes of a line, line feed included, as they are in the middle of a journal. */
function sizesOf(pairs: readonly Pair[]): { readonly holdBytes: number; readonly settleBytes: number } {
  const bytesOf = (record: Pair['hold'] | Pair['settle']): number =>
    Buffer.byteLength(encodeLine(record, 1_000_000, FIRST_PREV).line) + 1;
  const mean = (records: readonly (Pair['hold'] | Pair['settle'])[]): number =>
    Math.round(records.reduce((sum, record) => sum + bytesOf(record), 0) / records.length);
  return { holdBytes: mean(pairs.map(({ hold }) => hold)), settleBytes: mean(pairs.map(({ settle }) => settle)) };
}

async function openGrouped(directory: string): Promise<Side> {
  const onFatal = (error: Error): void => {
    throw error;
  };
  const store = await openFileStore({ directory, now: Date.now, onFatal });
  const { ledger } = store;
  const grant = { type: 'grant', at: Date.now(), id: 'gr_bench', amountNano: PLENTY_NANO } as const;
  await ledger.grant({ ...grant, workspaceId: OWNER.workspaceId });
  return {
    hold: async ({ hold }) => {
      const held = await ledger.hold({ record: hold, budget: null, minimumNano: hold.amountNano });
      if (!held.ok) throw new Error(`a hold was refused: ${held.reason}`);
    },
    settle: async ({ settle }) => {
      if (!(await ledger.settle(settle))) throw new Error('a settlement was taken for a repeated one');
    },
    close: () => store.close(),
  };
}

async function openSingle(directory: string): Promise<Side> {
  const appender = await openSingleAppender(directory);
  return {
    hold: ({ hold }) => appender.append(hold),
    settle: ({ settle }) => appender.append(settle),
    close: () => appender.close(),
  };
}

type Load = { readonly inFlight: number; readonly seconds: number };

async function runRound(
  parent: string,
  open: (directory: string) => Promise<Side>,
  pairs: readonly Pair[],
  load: Load,
): Promise<Round> {
  const directory = join(parent, 'round');
  mkdirSync(directory, { mode: 0o700 });
  const side = await open(directory);
  try {
    return await drive(side, pairs, load);
  } finally {
    await side.close();
    rmSync(directory, { recursive: true });
  }
}

async function drive(side: Side, pairs: readonly Pair[], { inFlight, seconds }: Load): Promise<Round> {
  const holds: number[] = [];
  const settles: number[] = [];
  const stalls = monitorEventLoopDelay({ resolution: 1 });
  let made = 0;
  stalls.enable();
  const cpu = process.cpuUsage();
  const begun = performance.now();
  const end = begun + seconds * 1_000;
  const worker = async (): Promise<void> => {
    while (performance.now() < end) {
      const pair = withRequestId(pairs[made % pairs.length], `req_bench${String(made).padStart(17, '0')}`);
      made += 1;
      const started = performance.now();
      await side.hold(pair);
      const held = performance.now();
      await side.settle(pair);
      holds.push(held - started);
      settles.push(performance.now() - held);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  const elapsedMs = performance.now() - begun;
  const { user, system } = process.cpuUsage(cpu);
  stalls.disable();
  return {
    pairsPerSecond: (made / elapsedMs) * 1_000,
    holds,
    settles,
    cpuMicrosPerPair: (user + system) / made,
    stallMs: stalls.max / 1e6,
  };
}

function withRequestId(pair: Pair | undefined, requestId: string): Pair {
  if (pair === undefined) throw new Error('there are no records to write');
  const { hold, settle } = pair;
  return {
    hold: { ...hold, requestId },
    settle: { ...settle, requestId, entry: { ...settle.entry, request_id: requestId } },
  };
}

function figuresOf(rounds: readonly Round[]): SideFigures {
  const medianOf = (pickOne: (round: Round) => number): number => rounded(median(rounds.map(pickOne)));
  return {
    pairsPerSecond: medianOf(({ pairsPerSecond }) => pairsPerSecond),
    holdMs: percentiles(rounds.flatMap(({ holds }) => holds)),
    settleMs: percentiles(rounds.flatMap(({ settles }) => settles)),
    cpuMicrosPerPair: medianOf(({ cpuMicrosPerPair }) => cpuMicrosPerPair),
    stallMsMax: rounded(Math.max(...rounds.map(({ stallMs }) => stallMs))),
  };
}

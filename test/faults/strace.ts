// Runs the daemon under strace: its system calls in a log, and errors put into chosen ones.

import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { lacks, works } from './needs.ts';

const STRACE = 'strace';

/** Tests that need strace are skipped where this is true. */
export const NO_STRACE = lacks('strace', works(STRACE, ['-f', '-o', '/dev/null', 'true']), true);

export type StraceOptions = {
  /** System calls to follow, e.g. `fdatasync,pwrite64`. */
  readonly calls: string;
  /** e.g. `fdatasync:error=EIO:when=3`. Counted per thread, so injections come with one thread for files. */
  readonly inject?: readonly string[];
  /** Only calls on these paths are followed and changed. */
  readonly paths?: readonly string[];
  /** Bytes shown of each buffer. */
  readonly stringBytes?: number;
};

export type Strace = {
  /** For `UnderOptions`. */
  readonly prefix: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  log(): string;
  /** Calls that were changed so far. */
  injected(): number;
  /** Follows a process that runs already, and resolves once all its threads are followed. */
  attach(pid: number): Promise<void>;
  /** Waits for the last line of a process that has ended. */
  wholeLog(): Promise<string>;
};

export async function makeStrace(options: StraceOptions): Promise<Strace> {
  const directory = await mkdtemp(join(tmpdir(), 'svc-strace-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const path = join(directory, 'log');
  const log = (): string => {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      return '';
    }
  };
  const args = [
    ...['-f', '-ttt', '-y', '-o', path, '-e', `trace=${options.calls}`],
    ...['-s', String(options.stringBytes ?? 32)],
    ...(options.paths ?? []).flatMap((each) => ['-P', each]),
    ...(options.inject ?? []).flatMap((each) => ['-e', `inject=${each}`]),
  ];
  return {
    // As a detached grandchild, so that what is started, signalled and waited for is the daemon itself.
    prefix: [STRACE, '-D', '--seccomp-bpf', ...args],
    env: { UV_THREADPOOL_SIZE: options.inject === undefined ? '4' : '1' },
    log,
    injected: () => log().split('(INJECTED)').length - 1,
    async attach(pid) {
      const tracer = spawn(STRACE, [...args, '-p', String(pid)], { stdio: 'ignore' });
      onTestFinished(() => void tracer.kill('SIGKILL'));
      await expect.poll(() => isTraced(pid)).toBe(true);
    },
    async wholeLog() {
      await expect.poll(() => /\+\+\+ (exited with|killed by)[^\n]*\n$/.test(log())).toBe(true);
      return log();
    },
  };
}

function isTraced(pid: number): boolean {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.every(
    (thread) => !/^TracerPid:\s*0$/m.test(readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8')),
  );
}

/** One system call: `begun` and `ended` are line numbers of the log, so they order calls of all threads. */
export type Call = {
  readonly name: string;
  readonly begun: number;
  readonly ended: number;
  readonly beganAt: number;
  /** The file or socket of its first argument, as strace names it. */
  readonly target: string;
  readonly text: string;
  readonly result: string;
  readonly injected: boolean;
};

const LINE = /^(\d+)\s+(\d+\.\d+) (.*)$/;
const BEGUN = /^(\w+)\((\d+<[^>]*>)?([\s\S]*)$/;
const RESUMED = /^<\.\.\. (\w+) resumed>([\s\S]*)$/;
const RESULT = /\)\s+= (.*)$/;

/** The calls of a log in the order in which they began; one that never returned has `ended` Infinity. */
export function parseCalls(log: string): readonly Call[] {
  const calls: Call[] = [];
  const pending = new Map<string, number>();
  for (const [number, line] of log.split('\n').entries()) {
    const [, thread = '', time = '0', rest = ''] = LINE.exec(line) ?? [];
    const resumed = RESUMED.exec(rest)?.[1];
    const begun = pending.get(`${thread} ${resumed}`) ?? -1;
    const call = calls[begun];
    if (call !== undefined) calls[begun] = { ...call, ended: number, ...resultOf(rest) };
    const next = resumed === undefined ? parseCall(rest, number, Number(time)) : undefined;
    if (next === undefined) continue;
    if (next.ended > number) pending.set(`${thread} ${next.name}`, calls.length);
    calls.push(next);
  }
  return calls;
}

/** Undefined for lines on signals and ends of processes. */
function parseCall(rest: string, begun: number, beganAt: number): Call | undefined {
  const [, name, target = '', text = ''] = BEGUN.exec(rest) ?? [];
  if (name === undefined) return undefined;
  const unfinished = rest.endsWith('<unfinished ...>');
  const ended = unfinished ? Number.POSITIVE_INFINITY : begun;
  return { name, begun, ended, beganAt, target, text, ...resultOf(unfinished ? '' : rest) };
}

function resultOf(rest: string): Pick<Call, 'result' | 'injected'> {
  const result = RESULT.exec(rest)?.[1] ?? '';
  return { result, injected: result.includes('(INJECTED)') };
}

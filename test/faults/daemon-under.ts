// Runs the real daemon as tests of faults need it: under another program such as strace, from another build, or to its end.

import { type ChildProcess, spawn } from 'node:child_process';
import { cp } from 'node:fs/promises';
import { basename } from 'node:path';
import { onTestFinished } from 'vitest';
import { BIN, cleanEnv, makeHome, removeHome, type TestDaemon } from '../helpers/daemon.ts';

export type UnderOptions = {
  readonly home: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The program, with its arguments, that runs `node bin/svc.js serve`. */
  readonly prefix?: readonly string[];
  /** Another build's `svc.js`. */
  readonly bin?: string;
};

export type Ended = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

export type Launched = {
  readonly child: ChildProcess;
  readonly pid: number;
  stdout(): string;
  stderr(): string;
  readonly ended: Promise<Ended>;
};

/** Killed when the test ends. */
export function launch(options: UnderOptions): Launched {
  const [program = process.execPath, ...args] = [
    ...(options.prefix ?? []),
    process.execPath,
    options.bin ?? BIN,
    'serve',
  ];
  const child = spawn(program, args, {
    env: cleanEnv({ SVC_HOME: options.home, SVC_PORT: '0', SVC_LOG_LEVEL: 'warn', ...options.env }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended.catch(() => undefined);
  });
  return { child, pid: child.pid ?? 0, stdout: () => stdout, stderr: () => stderr, ended };
}

/** Resolves once the daemon listens; rejects with its exit code and words when it ends before. */
export async function startUnder(options: UnderOptions): Promise<TestDaemon> {
  return listening(launch(options), options.home);
}

export async function listening(launched: Launched, home: string): Promise<TestDaemon> {
  const { child, ended } = launched;
  const url = await new Promise<string>((resolve, reject) => {
    const look = (): void => {
      const found = /listens on (http:\/\/\S+)/.exec(launched.stdout())?.[1];
      if (found !== undefined) resolve(found);
    };
    child.stdout?.on('data', look);
    look();
    ended.then(
      ({ code }) => reject(new Error(`exited with ${code}: ${launched.stderr()}${launched.stdout()}`)),
      reject,
    );
  });
  const exited = ended.then(({ code }) => code);
  return {
    url,
    home,
    key: /svc_sk_[0-9A-Za-z]+/.exec(launched.stdout())?.[0] ?? '',
    pid: launched.pid,
    stdout: launched.stdout,
    stderr: launched.stderr,
    exited,
    async stop() {
      child.kill('SIGTERM');
      return exited;
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** What a start that must not succeed ends with. A daemon that listens all the same is stopped and counts as code 0. */
export async function startToEnd(options: UnderOptions): Promise<Ended & { readonly stderr: string }> {
  const launched = launch(options);
  const daemon = await listening(launched, options.home).catch(() => undefined);
  await daemon?.stop();
  return { ...(await launched.ended), stderr: launched.stderr() };
}

/** A data directory that is gone again when the test ends. */
export async function makeFaultHome(): Promise<string> {
  const home = await makeHome();
  onTestFinished(() => removeHome(home));
  return home;
}

/** A copy of a data directory that no daemon uses. */
export async function copyHome(from: string, to?: string): Promise<string> {
  const home = to ?? (await makeFaultHome());
  await cp(from, home, { recursive: true, filter: (path) => !basename(path).startsWith('lock-') });
  return home;
}

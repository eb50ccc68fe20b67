// Runs the real daemon (`bin/svc.js serve`) in a child process on a free port and an own data directory.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const BIN = fileURLToPath(new URL('../../bin/svc.js', import.meta.url));

export type TestDaemon = {
  readonly url: string;
  readonly home: string;
  /** The first API key, as printed at the first start; empty at later starts. */
  readonly key: string;
  readonly pid: number;
  stdout(): string;
  stderr(): string;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
  /** SIGKILL. */
  kill(): Promise<void>;
  exited: Promise<number | null>;
};

export type DaemonOptions = {
  readonly home?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
};

export async function makeHome(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'svc-test-'));
}

/** An environment without any of the developer's own settings. */
export function cleanEnv(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    ([name, value]) => value !== undefined && !/^(SVC_|OPENAI_|ANTHROPIC_|NODE_ENV|VITEST)/.test(name),
  );
  return { ...Object.fromEntries(kept.map(([name, value]) => [name, String(value)])), ...extra };
}

export async function startDaemon(options: DaemonOptions = {}): Promise<TestDaemon> {
  const home = options.home ?? (await makeHome());
  const child = spawn(process.execPath, [BIN, 'serve', ...(options.args ?? [])], {
    env: cleanEnv({ SVC_HOME: home, SVC_PORT: '0', SVC_LOG_LEVEL: 'warn', ...options.env }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  const url = await listening(
    child,
    () => stdout,
    () => stderr,
  );
  return {
    url,
    home,
    key: /svc_sk_[0-9A-Za-z]+/.exec(stdout)?.[0] ?? '',
    pid: child.pid ?? 0,
    stdout: () => stdout,
    stderr: () => stderr,
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

export async function removeHome(home: string): Promise<void> {
  await rm(home, { recursive: true, force: true });
}

function listening(child: ChildProcess, stdout: () => string, stderr: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    const look = (): void => {
      const url = /listens on (http:\/\/\S+)/.exec(stdout())?.[1];
      if (url) resolve(url);
    };
    child.stdout?.on('data', look);
    child.once('exit', (code) => reject(new Error(`the daemon exited with ${code}: ${stderr()}${stdout()}`)));
  });
}

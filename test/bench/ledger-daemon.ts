// The built daemon in a child process, timed from its spawn to its first answer, with its memory and raw GET times.

import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createServer } from 'node:net';
import { performance } from 'node:perf_hooks';
import { BIN, cleanEnv } from '../helpers/daemon.ts';
import { rounded } from './ledger-figures.ts';

export type BenchDaemon = {
  readonly url: string;
  /** From spawn to the first 200 of `/healthz`. */
  readonly startMs: number;
  /** Processor time that took, which other work on the machine changes little. Zero where there is no /proc. */
  readonly startCpuMs: number;
  memory(): Memory;
  /** Whole time of one GET over a kept connection, and its body. Throws for any status but 200. */
  get(path: string, token: string): Promise<{ readonly ms: number; readonly body: string }>;
  /** SIGTERM, and how long the daemon then took to end. */
  stop(): Promise<number>;
  /** SIGKILL. */
  kill(): Promise<void>;
};

/** Megabytes (10^6 bytes) of the process: resident now, and the most it ever was. Zero where there is no /proc. */
export type Memory = { readonly residentMb: number; readonly peakMb: number };

/** A rebuild of a very big journal is long, but a daemon that hangs has to end the benchmark. */
const START_LIMIT_MS = 600_000;
const POLL_MS = 5;
const KIB = 1_024;
/** Of the clock in /proc, on every Linux there is. */
const MS_PER_TICK = 10;

/** Throws when the daemon ends before it answers. */
export async function startBenchDaemon(home: string, env: Readonly<Record<string, string>> = {}): Promise<BenchDaemon> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const agent = new Agent({ keepAlive: true });
  const begun = performance.now();
  const child = spawn(process.execPath, [BIN, 'serve'], {
    env: cleanEnv({ SVC_HOME: home, SVC_PORT: String(port), SVC_LOG_LEVEL: 'warn', ...env }),
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  // Whatever goes wrong here, no daemon is left behind.
  const killChild = (): boolean => child.kill('SIGKILL');
  process.once('exit', killChild);
  await healthy(child, url, agent, begun);
  const end = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<number> => {
    const asked = performance.now();
    agent.destroy();
    child.kill(signal);
    const code = await exited;
    process.off('exit', killChild);
    if (signal === 'SIGTERM' && code !== 0) throw new Error(`the daemon ended with ${code}`);
    return performance.now() - asked;
  };
  return {
    url,
    startMs: performance.now() - begun,
    startCpuMs: cpuMsOf(child.pid),
    memory: () => memoryOf(child.pid),
    get: async (path, token) => {
      const sent = performance.now();
      const { status, body } = await get(url + path, agent, { authorization: `Bearer ${token}` });
      if (status !== 200) throw new Error(`GET ${path}: ${status} ${body.slice(0, 500)}`);
      return { ms: performance.now() - sent, body };
    },
    stop: () => end('SIGTERM'),
    kill: async () => {
      await end('SIGKILL');
    },
  };
}

async function healthy(child: ChildProcess, url: string, agent: Agent, begun: number): Promise<void> {
  for (;;) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`the daemon exited: ${child.exitCode}`);
    if (performance.now() - begun > START_LIMIT_MS) {
      child.kill('SIGKILL');
      throw new Error('the daemon did not answer in time');
    }
    try {
      if ((await get(`${url}/healthz`, agent, {})).status === 200) return;
    } catch {
      // Nobody listens yet.
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

type Answer = { readonly status: number; readonly body: string };

function get(url: string, agent: Agent, headers: Readonly<Record<string, string>>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, headers }, (answer) => {
      let body = '';
      answer.setEncoding('utf8');
      answer.on('data', (text: string) => {
        body += text;
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body }));
      answer.on('error', reject);
    });
    sent.on('error', reject);
    sent.end();
  });
}

function memoryOf(pid: number | undefined): Memory {
  const status = readProc(`/proc/${pid}/status`);
  const megabytes = (field: string): number =>
    rounded((Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * KIB) / 1e6);
  return { residentMb: megabytes('VmRSS'), peakMb: megabytes('VmHWM') };
}

/** User and system time are the 14th and 15th field; the second may hold spaces, and ends with a bracket. */
function cpuMsOf(pid: number | undefined): number {
  const stat = readProc(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * MS_PER_TICK;
}

/** Empty where there is none: not Linux, or the process is gone. */
function readProc(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('there is no free port');
  return address.port;
}

// Runs a client as a process group of its own, with a time limit, and leaves nothing of it behind.

import { spawn } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';

export type Launch = {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
};

/** `code` is null where a signal ended it: after its time limit, ours. `output` is both streams as they came. */
export type Ended = { readonly code: number | null; readonly stdout: string; readonly output: string };

/** More is a client that loops. */
const OUTPUT_CHARS_MAX = 4_000_000;
const FLUSH_MS = 2_000;

export async function runProcess(launch: Launch): Promise<Ended> {
  const child = spawn(launch.command, launch.args, {
    cwd: launch.cwd,
    env: launch.env,
    // A group of its own, so that what it starts ends with it.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const text = { stdout: '', output: '' };
  const add = (names: readonly (keyof typeof text)[]) => (chunk: unknown) => {
    for (const name of names) if (text[name].length < OUTPUT_CHARS_MAX) text[name] += String(chunk);
  };
  child.stdout.on('data', add(['stdout', 'output']));
  child.stderr.on('data', add(['output']));
  const timer = globalThis.setTimeout(() => {
    text.output += `\n(killed after ${launch.timeoutMs} ms)`;
    killGroup(child.pid);
  }, launch.timeoutMs);
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const code = await new Promise<number | null>((resolve) => {
    child.once('error', (error) => {
      text.output += error.message;
      resolve(127);
    });
    child.once('exit', resolve);
  });
  clearTimeout(timer);
  killGroup(child.pid);
  // What it wrote last may still be on its way; one that left its group can't hold this up.
  await Promise.race([closed, setTimeout(FLUSH_MS, undefined, { ref: false })]);
  return { code, ...text };
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group has ended by itself.
  }
}

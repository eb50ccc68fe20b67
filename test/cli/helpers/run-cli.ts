// Runs the command line in this process, with its own data directory and captured input and output.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CliIo } from '../../../src/cli/cli-io.ts';
import { main } from '../../../src/cli/main.ts';
import { TOKEN } from './samples.ts';

export const NOW = new Date('2026-01-10T12:00:00.000Z');

export type RunOptions = {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly stdin?: string;
  /** Columns of a terminal on all three streams; none by default. */
  readonly terminal?: number;
  /** What a person answers. */
  readonly answer?: string;
};
export type RunResult = {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Questions that were asked. */
  readonly questions: readonly string[];
};

export async function runCli(argv: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  const written = { stdout: '', stderr: '' };
  const questions: string[] = [];
  const isTerminal = options.terminal !== undefined;
  const outputOf = (name: 'stdout' | 'stderr') => ({
    write: (text: string) => {
      written[name] += text;
    },
    isTerminal,
    columns: options.terminal,
  });
  const io: CliIo = {
    env: { SVC_HOME: '/nonexistent/svc-home', ...options.env },
    stdout: outputOf('stdout'),
    stderr: outputOf('stderr'),
    stdin: { isTerminal, readAll: async () => options.stdin ?? '' },
    ask: async (question) => {
      questions.push(question);
      return options.answer ?? '';
    },
    now: () => NOW,
  };
  const exitCode = await main(argv, io);
  return { exitCode, ...written, questions };
}

export type Home = { readonly path: string; readonly remove: () => Promise<void> };

export async function makeHome(): Promise<Home> {
  const path = await mkdtemp(join(tmpdir(), 'svc-cli-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/** A data directory that is logged in at `baseUrl`. */
export async function logIn(home: string, baseUrl: string, fields: Record<string, unknown> = {}): Promise<void> {
  const session = { token: TOKEN, email: 'ada@example.com', baseUrl, workspaceId: 'ws_1', ...fields };
  await writeFile(join(home, 'session.json'), JSON.stringify(session), { mode: 0o600 });
}

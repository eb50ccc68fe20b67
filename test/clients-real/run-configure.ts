// Sets a client up as its users do: by `svc configure`.

import { expect } from 'vitest';
import { BIN } from '../helpers/daemon.ts';
import type { Place } from './client-under-test.ts';
import { quietEnv } from './quiet-env.ts';
import { runProcess } from './run-process.ts';

const TIMEOUT_MS = 30_000;

/** Writes the client's file. */
export async function runConfigure(client: string, model: string, place: Place): Promise<void> {
  await svcConfigure([client, '--model', model, '--write'], place);
}

/** The lines to start the client with. */
export async function printedLines(client: string, model: string, place: Place): Promise<string> {
  const { lines } = JSON.parse(await svcConfigure([client, '--model', model, '--json'], place));
  return String(lines[0].text);
}

async function svcConfigure(args: readonly string[], { url, key, home, work }: Place): Promise<string> {
  const { code, stdout, output } = await runProcess({
    command: process.execPath,
    args: [BIN, 'configure', ...args],
    cwd: work,
    env: { ...quietEnv(home), SVC_BASE_URL: url, SVC_API_KEY: key, SVC_HOME: `${home}/svc` },
    timeoutMs: TIMEOUT_MS,
  });
  expect(code, output).toBe(0);
  return stdout;
}

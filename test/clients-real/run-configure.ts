// Sets a client up as its users do: `svc configure CLIENT --write`.

import { expect } from 'vitest';
import { BIN } from '../helpers/daemon.ts';
import type { Place } from './client-under-test.ts';
import { quietEnv } from './quiet-env.ts';
import { runProcess } from './run-process.ts';

const TIMEOUT_MS = 30_000;

export async function runConfigure(client: string, model: string, { url, key, home, work }: Place): Promise<void> {
  const { code, output } = await runProcess({
    command: process.execPath,
    args: [BIN, 'configure', client, '--model', model, '--write'],
    cwd: work,
    env: { ...quietEnv(home), SVC_BASE_URL: url, SVC_API_KEY: key, SVC_HOME: `${home}/svc` },
    timeoutMs: TIMEOUT_MS,
  });
  expect(code, output).toBe(0);
}

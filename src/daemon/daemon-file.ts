// `daemon.json` in the data directory: how the command line finds the daemon that runs.

import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DaemonFile } from '../api/types.ts';

const NAME = 'daemon.json';

export async function writeDaemonFile(home: string, content: DaemonFile): Promise<void> {
  const temporary = join(home, `.${NAME}.${content.pid}`);
  await writeFile(temporary, `${JSON.stringify(content)}\n`, { mode: 0o600 });
  await rename(temporary, join(home, NAME));
}

export async function removeDaemonFile(home: string): Promise<void> {
  await rm(join(home, NAME), { force: true });
}

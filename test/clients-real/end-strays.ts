// Ends what a client has left running outside its process group, such as a daemon of its own.

import { readdir, readFile } from 'node:fs/promises';

/**
 * Known by HOME, which is a temp directory that only that run had. Without /proc nothing is found.
 */
export async function endStrays(home: string): Promise<void> {
  const names = await readdir('/proc').catch(() => []);
  for (const pid of names.filter((name) => /^\d+$/.test(name)).map(Number)) {
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
    if (pid === process.pid || !environment.split('\0').includes(`HOME=${home}`)) continue;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended since.
    }
  }
}

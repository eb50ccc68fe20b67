// Tells whether a daemon has a data directory, by asking only: nothing is locked or written.

import { readdir, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';

/** The name of the socket that a daemon listens on for as long as it lives; the highest number counts. */
const LOCK_NAME = /^lock-([0-9]{1,15})\.sock$/;
/** Addresses of sockets are cut off somewhat above this, and would then name another file. */
const SOCKET_PATH_BYTES_MAX = 100;
const ANSWER_MS = 1_000;

export async function isDaemonRunning(home: string): Promise<boolean> {
  return (await isLockHeld(home)) ?? (await isPidAlive(home));
}

/** Undefined where the lock can't be asked. */
async function isLockHeld(home: string): Promise<boolean | undefined> {
  const epochs = (await readdir(home)).map((name) => Number(LOCK_NAME.exec(name)?.[1] ?? 0));
  const newest = Math.max(0, ...epochs);
  const path = join(home, `lock-${newest}.sock`);
  if (newest === 0 || Buffer.byteLength(path) > SOCKET_PATH_BYTES_MAX) return undefined;
  return await isListening(path);
}

/** Only a refused connection proves that nobody listens. */
function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const finish = (listening: boolean): void => {
      socket.destroy();
      resolve(listening);
    };
    socket.setTimeout(ANSWER_MS, () => finish(true));
    socket.once('connect', () => finish(true));
    socket.once('error', (error) => {
      const code = 'code' in error ? error.code : undefined;
      finish(code !== 'ECONNREFUSED' && code !== 'ENOENT');
    });
  });
}

async function isPidAlive(home: string): Promise<boolean> {
  try {
    const content: unknown = JSON.parse(await readFile(join(home, 'daemon.json'), 'utf8'));
    if (typeof content !== 'object' || content === null || !('pid' in content)) return false;
    const { pid } = content;
    // Signal 0 only asks.
    return typeof pid === 'number' && pid > 0 && process.kill(pid, 0);
  } catch (error) {
    // A process of another user is one.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

// One daemon per data directory: a listening socket in it, which the kernel closes when its process dies.
//
// The lock is the socket `lock-<epoch>.sock` with the highest epoch, as long as somebody listens on it. A starter that finds
// nobody there links its own listening socket under the next epoch, which only one can do. Names in a directory are seen
// across network namespaces, and no clock decides anything.

import { randomBytes } from 'node:crypto';
import { closeSync, constants, existsSync, openSync } from 'node:fs';
import { chmod, link, readdir, unlink } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { DataDirectoryInUseError, errorCode, permissionError } from './store-errors.ts';

export type DataLock = {
  /** Rises with each owner. */
  readonly epoch: number;
  release(): Promise<void>;
};

const LOCK_NAME = /^lock-([0-9]{1,15})\.sock$/;
/** Each lost round means that another starter won one, so a few are plenty. */
const ROUNDS_MAX = 64;
/** A live owner answers at once; one that is stopped never does, and owns the directory all the same. */
const PID_ANSWER_MS = 1_000;

/** Throws `DataDirectoryInUseError` while another process has the directory. */
export async function acquireDataLock(directory: string): Promise<DataLock> {
  const place = openPlace(directory);
  const ownName = `lock-${randomBytes(8).toString('hex')}.tmp`;
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.end(`${process.pid}\n`);
  });
  let released: Promise<void> | null = null;
  const release = () => {
    released ??= closeServer(server).finally(() => place.close());
    return released;
  };
  try {
    await listen(server, place.pathOf(ownName));
    await chmod(join(directory, ownName), 0o600);
    const epoch = await takeEpoch(directory, place, ownName);
    server.unref();
    return { epoch, release };
  } catch (error) {
    await release();
    throw permissionError(directory, error);
  } finally {
    // Left behind it is in nobody's way; what went wrong before is what counts.
    await unlinkIfThere(join(directory, ownName)).catch(() => undefined);
  }
}

async function takeEpoch(directory: string, place: SocketPlace, ownName: string): Promise<number> {
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const newest = await newestEpoch(directory);
    if (newest > 0) {
      const holder = await askHolder(place.pathOf(lockName(newest)));
      if (holder.alive) throw new DataDirectoryInUseError(directory, holder.pid);
    }
    const epoch = newest + 1;
    if (!(await linkUnlessThere(join(directory, ownName), join(directory, lockName(epoch))))) continue;
    // An owner removes older names only after it has its own, so a name that was free for being removed shows here.
    if ((await newestEpoch(directory)) === epoch) {
      await removeOlder(directory, epoch);
      return epoch;
    }
    await unlinkIfThere(join(directory, lockName(epoch)));
  }
  throw new DataDirectoryInUseError(directory, undefined);
}

function lockName(epoch: number): string {
  return `lock-${epoch}.sock`;
}

async function epochsIn(directory: string): Promise<readonly number[]> {
  const names = await readdir(directory);
  return names.map((name) => Number(LOCK_NAME.exec(name)?.[1] ?? 0)).filter((epoch) => epoch > 0);
}

async function newestEpoch(directory: string): Promise<number> {
  let newest = 0;
  for (const epoch of await epochsIn(directory)) newest = Math.max(newest, epoch);
  return newest;
}

async function removeOlder(directory: string, epoch: number): Promise<void> {
  for (const older of await epochsIn(directory)) {
    if (older < epoch) await unlinkIfThere(join(directory, lockName(older)));
  }
}

/** Only a refused connection proves that nobody listens; every other trouble counts as alive. */
function askHolder(path: string): Promise<{ readonly alive: boolean; readonly pid: number | undefined }> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(path);
    const finish = (alive: boolean) => {
      socket.destroy();
      const pid = Number.parseInt(answer, 10);
      resolve({ alive, pid: Number.isSafeInteger(pid) ? pid : undefined });
    };
    socket.setTimeout(PID_ANSWER_MS, () => finish(true));
    socket.setEncoding('utf8');
    socket.on('data', (text) => {
      answer += String(text);
    });
    socket.on('end', () => finish(true));
    socket.on('error', (error) => finish(!['ECONNREFUSED', 'ENOENT'].includes(errorCode(error) ?? '')));
  });
}

type SocketPlace = { pathOf(name: string): string; close(): void };

/** Socket addresses hold about 100 bytes; through the open directory they are short however long its path is. */
function openPlace(directory: string): SocketPlace {
  const descriptor = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY);
  const short = `/proc/self/fd/${descriptor}`;
  const base = existsSync(short) ? short : directory;
  return { pathOf: (name) => `${base}/${name}`, close: () => closeSync(descriptor) };
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ path, exclusive: true }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    if (!server.listening) resolve();
    else server.close(() => resolve());
  });
}

async function linkUnlessThere(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

async function unlinkIfThere(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}

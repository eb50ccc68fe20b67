// Finds the daemon: the address that was given, else `daemon.json` in the data directory, else the default address.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DaemonFile } from '../api/types.ts';
import type { Settings } from '../daemon/settings.ts';
import { damagedState } from './cli-error.ts';

export type DaemonAddress = {
  readonly url: string;
  readonly source: 'given' | 'daemon-file' | 'default';
  /** What `daemon.json` says about the process at that address; undefined where it says nothing. */
  readonly daemon: DaemonFile | undefined;
};

const FILE_NAME = 'daemon.json';

/** Throws `CliError` with exit code 78 where `daemon.json` is needed and damaged. */
export async function findDaemon(settings: Settings): Promise<DaemonAddress> {
  if (settings.baseUrl !== undefined) {
    return { url: settings.baseUrl, source: 'given', daemon: undefined };
  }
  const path = join(settings.home, FILE_NAME);
  const text = await readIfThere(path);
  if (text === undefined) return { url: defaultUrl(settings), source: 'default', daemon: undefined };
  const daemon = parseDaemonFile(text, path);
  return { url: daemon.url.replace(/\/+$/, ''), source: 'daemon-file', daemon };
}

function defaultUrl(settings: Settings): string {
  // A daemon that listens on every address is reached over loopback.
  const host = ['0.0.0.0', '::', ''].includes(settings.host) ? '127.0.0.1' : settings.host;
  return `http://${host.includes(':') ? `[${host}]` : host}:${settings.port === 0 ? 4747 : settings.port}`;
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function parseDaemonFile(text: string, path: string): DaemonFile {
  const damaged = damagedState(`${path} is damaged`, 'remove it and start the daemon again, or give --base-url');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw damaged;
  }
  if (typeof value !== 'object' || value === null) throw damaged;
  const { pid, url, version, startedAt } = value as Readonly<Record<string, unknown>>;
  if (typeof url !== 'string' || !/^https?:\/\//.test(url) || !URL.canParse(url)) throw damaged;
  return {
    pid: typeof pid === 'number' ? pid : 0,
    url,
    version: typeof version === 'string' ? version : '',
    startedAt: typeof startedAt === 'string' ? startedAt : '',
  };
}

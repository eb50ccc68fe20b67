// Installs a client's pinned packages into the cache, once, without running their scripts.

import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runProcess } from './run-process.ts';
import { type ClientName, PACKAGES } from './versions.ts';

const CACHE = fileURLToPath(new URL('../../.cache/clients', import.meta.url));
const INSTALL_TIMEOUT_MS = 300_000;

/** `problem` says why the client is not there. */
export type Installed = { readonly directory: string; readonly problem: string | undefined };

export async function installClient(client: ClientName): Promise<Installed> {
  const directory = join(CACHE, client);
  const wanted: Readonly<Record<string, string>> = PACKAGES[client];
  await mkdir(directory, { recursive: true });
  const missing = Object.entries(wanted).filter(([name, version]) => installedVersion(directory, name) !== version);
  if (missing.length === 0) return { directory, problem: undefined };
  await writeFile(join(directory, 'package.json'), '{"private":true}\n');
  const specs = Object.entries(wanted).map(([name, version]) => `${name}@${version}`);
  const { code, output } = await runProcess({
    command: 'npm',
    args: ['install', '--prefix', directory, '--ignore-scripts', '--no-audit', '--no-fund', '--save-exact', ...specs],
    cwd: directory,
    env: inherited(),
    timeoutMs: INSTALL_TIMEOUT_MS,
  });
  return { directory, problem: code === 0 ? undefined : `npm install failed: ${npmError(output)}` };
}

/** Of the package that a program in `directory` would get; undefined where there is none. */
export function installedVersion(directory: string, name: string): string | undefined {
  // Asked by path, for many packages don't export their package.json.
  const folders = createRequire(join(directory, 'program.mjs')).resolve.paths(name) ?? [];
  for (const folder of folders) {
    const version = versionIn(join(folder, name));
    if (version !== undefined) return version;
  }
  return undefined;
}

function versionIn(folder: string): string | undefined {
  try {
    const { version } = createRequire(join(folder, 'x.js'))('./package.json') as { version?: string };
    return version;
  } catch {
    // Not in this folder; the next one up may have it.
    return undefined;
  }
}

function inherited(): Record<string, string> {
  return Object.fromEntries(Object.entries(process.env).map(([name, value]) => [name, value ?? '']));
}

/** npm says what is wrong first, and then where it wrote that down. */
function npmError(text: string): string {
  const lines = text.split('\n').filter((line) => line.startsWith('npm error'));
  return lines.slice(0, 2).join('; ') || text.trim().slice(-200);
}

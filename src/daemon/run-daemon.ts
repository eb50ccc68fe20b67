// The daemon's life: open the data directory, listen, say so, and on a signal let open requests finish before leaving.

import { performance } from 'node:perf_hooks';
import type { ControlServices } from '../service/control-services.ts';
import { openFileStore } from '../store/file-store.ts';
import type { Store } from '../store/store.ts';
import { compose } from './compose.ts';
import { removeDaemonFile, writeDaemonFile } from './daemon-file.ts';
import { createLineBuffer } from './line-buffer.ts';
import { isLoopback, type Listener, listen } from './listener.ts';
import { createLog, type DaemonLog } from './log.ts';
import { openOfferSource } from './offer-source.ts';
import { packageVersion } from './package-root.ts';
import { type Settings, SettingsError } from './settings.ts';
import { exitCodeOf, hintOf } from './start-failure.ts';
import { welcomeText } from './welcome.ts';

export type DaemonIo = { stdout(text: string): void; stderr(text: string): void };

/** Resolves with the process's exit code once the daemon has stopped, or could not start. */
export async function runDaemon(settings: Settings, io: DaemonIo): Promise<number> {
  const lines = createLineBuffer((text) => io.stderr(text));
  const log = createLog(settings.logLevel, lines);
  try {
    return await live(settings, io, log);
  } catch (error) {
    io.stderr(`svc: ${error instanceof Error ? error.message : String(error)}\n`);
    const hint = hintOf(error);
    if (hint !== undefined) io.stderr(`hint: ${hint}\n`);
    return exitCodeOf(error);
  } finally {
    lines.flush();
  }
}

/** An fsync that failed: what is on disk is unknown, so nothing more may be promised. */
const EXIT_STORAGE_FAILED = 74;

async function live(settings: Settings, io: DaemonIo, log: DaemonLog): Promise<number> {
  checkScope(settings);
  const stopped = deferred<number>();
  const clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() };
  const store = await openFileStore({
    directory: settings.home,
    journalKeepDays: settings.journalKeepDays,
    now: clock.nowMs,
    onFatal: (error) => {
      log.error({ error }, 'the journal can no longer be trusted to reach the disk; stopping');
      stopped.resolve(EXIT_STORAGE_FAILED);
    },
    onNotice: (notice) => log.warn({}, notice),
  });
  const offers = await openOfferSource(settings, log, clock.nowMs);
  let listener: Listener | undefined;
  try {
    const allowedHosts = () => (settings.behindProxy ? undefined : listener?.hosts);
    const { app, control, inFlight } = await compose({ settings, store, offers, clock, log, allowedHosts });
    // Before anything listens: whoever sees the daemon answer may already tell it to stop.
    const unhook = onSignals((signal, second) => {
      log.info({ signal }, 'stopping');
      listener?.stopListening();
      inFlight.drain(second ? 0 : settings.drainTimeoutMs).then(() => stopped.resolve(0), stopped.reject);
    });
    listener = await listen(app.callback(), settings.host, settings.port);
    const { url } = listener;
    const startedAt = new Date(clock.nowMs()).toISOString();
    const about = { pid: process.pid, url, version: packageVersion(), startedAt };
    await writeDaemonFile(settings.home, about).catch((error: unknown) => {
      // On a full disk the daemon still serves what it can; commands then need --base-url.
      log.warn({ error }, 'daemon.json cannot be written, so commands will not find this daemon by themselves');
    });
    await announce({ settings, io, log, store, url, control, upstream: offers.current().upstream.name });
    const code = await stopped.promise;
    unhook();
    return code;
  } finally {
    listener?.stopListening();
    listener?.closeConnections();
    await removeDaemonFile(settings.home);
    await offers.close();
    await store.close();
    log.info({}, 'stopped');
  }
}

/** Nobody has an account, and no key was ever made: also after a first start that was cut off half way. */
function isUntouched({ documents }: Store): boolean {
  return (
    documents.accounts().length === 0 && documents.workspaces().every(({ id }) => documents.apiKeysOf(id).length === 0)
  );
}

type Announcement = {
  readonly store: Store;
  readonly control: ControlServices;
  readonly settings: Settings;
  readonly io: DaemonIo;
  readonly log: DaemonLog;
  readonly url: string;
  readonly upstream: string;
};

/** Says where the daemon listens; on a data directory without any workspace it makes the first one and prints its key. */
async function announce(it: Announcement): Promise<void> {
  const { settings, io, log, url, upstream } = it;
  const { startingCredits, home } = settings;
  if (isLoopback(settings.host) && isUntouched(it.store)) {
    const [started] = it.store.documents.workspaces();
    const { id } = started ?? (await it.control.workspaces.createDefault());
    const key = await it.control.apiKeys.firstKey(id);
    io.stdout(welcomeText(url, key, startingCredits, settings.upstreamUrl === undefined));
  }
  io.stdout(`svc ${packageVersion()} listens on ${url} (upstream: ${upstream}, data: ${home})\n`);
  log.info({ url, home, upstream }, 'listening');
}

/** Plain HTTP is for this machine only: keys and prompts would cross a network in the clear. */
function checkScope(settings: Settings): void {
  if (isLoopback(settings.host) || settings.behindProxy) return;
  throw new SettingsError(
    `host ${settings.host} is not loopback, and svc speaks plain HTTP: put a TLS proxy in front and set --behind-proxy true, or keep 127.0.0.1`,
  );
}

function onSignals(stop: (signal: string, second: boolean) => void): () => void {
  let seen = 0;
  const handler = (signal: string): void => {
    seen += 1;
    stop(signal, seen > 1);
  };
  process.on('SIGTERM', handler);
  process.on('SIGINT', handler);
  return () => {
    process.off('SIGTERM', handler);
    process.off('SIGINT', handler);
  };
}

/** `Promise.withResolvers`, which Node 20 does not have. */
function deferred<T>(): { promise: Promise<T>; resolve(value: T): void; reject(reason: unknown): void } {
  let settle: { resolve(value: T): void; reject(reason: unknown): void } | undefined;
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { promise, resolve: (value) => settle?.resolve(value), reject: (reason) => settle?.reject(reason) };
}

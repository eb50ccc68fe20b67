// A short seeded life of a store on a recorded disk: money, documents, full disk and restarts, with notes of what was acknowledged.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { GrantRecord, HoldRecord, SettleRecord } from '../../src/ledger/records.ts';
import { type FileStore, openFileStore } from '../../src/store/file-store.ts';
import type { Documents } from '../../src/store/store.ts';
import { isSvcError } from '../../src/wire/svc-error.ts';
import type { FaultyDisk } from '../store/fixtures/faulty-disk.ts';
import { DAY_MS, makeGrant, makeHold, makeSettle, NOON } from '../store/fixtures/records.ts';
import type { Claim } from './invariants.ts';
import type { RecordingDisk } from './recording-disk.ts';

/** Small, so that a short life has several segments. */
export const SEGMENT_BYTES = 3_000;

/** How often the workload met what it is meant to meet. */
export type Met = { diskFull: number; restarts: number; segments: number; progress: number; refusedHolds: number };

export function newMet(): Met {
  return { diskFull: 0, restarts: 0, segments: 0, progress: 0, refusedHolds: 0 };
}

type Life = {
  readonly disk: RecordingDisk;
  readonly full: FaultyDisk;
  readonly random: () => number;
  readonly met: Met;
  readonly open: Map<string, HoldRecord>;
  readonly versions: Map<string, number>;
  readonly clock: { nowMs: number };
  store: FileStore;
  made: number;
};

export type WorkloadOptions = {
  readonly disk: RecordingDisk;
  /** What the recording disk writes to. */
  readonly full: FaultyDisk;
  readonly random: () => number;
  readonly met: Met;
  readonly rounds: number;
};

/** Leaves the store closed. */
export async function runWorkload(options: WorkloadOptions): Promise<void> {
  const clock = { nowMs: NOON };
  const life: Life = {
    ...options,
    open: new Map(),
    versions: new Map(),
    store: await openOn(options.disk, () => clock.nowMs),
    made: 0,
    clock,
  };
  await grant(life);
  for (let round = 0; round < options.rounds; round += 1) {
    life.clock.nowMs += life.random() < 0.1 ? DAY_MS : 1_000;
    await runRound(life);
    if (round === Math.floor(options.rounds / 2)) await restart(life);
    if (round === options.rounds - 2) await fillDisk(life);
  }
  await life.store.close();
}

function openOn(disk: RecordingDisk, now: () => number): Promise<FileStore> {
  return openFileStore({
    directory: disk.root,
    disk,
    now,
    journalSegmentBytesMax: SEGMENT_BYTES,
    probeIntervalMs: 2,
    onFatal: (error) => {
      throw error;
    },
  });
}

async function runRound(life: Life): Promise<void> {
  const count = 1 + Math.floor(life.random() * 5);
  await Promise.all(Array.from({ length: count }, () => runOne(life)));
}

function runOne(life: Life): Promise<void> {
  const draw = life.random();
  if (draw < 0.05) return grant(life);
  if (draw < 0.4) return hold(life);
  if (draw < 0.65) return settle(life);
  if (draw < 0.72) return progress(life);
  return writeDocument(life);
}

/** Without closing what is open: the next start has to end it. */
async function restart(life: Life): Promise<void> {
  await hold(life);
  await progress(life);
  await life.store.close();
  life.store = await openOn(life.disk, () => life.clock.nowMs);
  life.open.clear();
  life.met.restarts += 1;
  const segments = (await readdir(join(life.disk.root, 'journal'))).filter((name) => name.includes('.ndjson'));
  life.met.segments = Math.max(life.met.segments, segments.length - 1);
}

async function fillDisk(life: Life): Promise<void> {
  await hold(life);
  life.full.spaceBytes = Math.floor(life.random() * 300);
  await Promise.all([hold(life), settle(life), writeDocument(life)]);
  if (!life.store.writable) life.met.diskFull += 1;
  life.full.spaceBytes = Number.POSITIVE_INFINITY;
  while (!life.store.writable) await new Promise((resolve) => setTimeout(resolve, 1));
  await hold(life);
}

/** What a full disk refuses is not acknowledged, and may be there or not. */
async function claiming(life: Life, claim: Claim, work: () => Promise<Claim | null>): Promise<void> {
  life.disk.asked(claim);
  try {
    const kept = await work();
    if (kept !== null) life.disk.acknowledged(kept);
  } catch (error) {
    if (!isSvcError(error) || error.code !== 'STORAGE_UNAVAILABLE') throw error;
  }
}

function nextId(life: Life): number {
  life.made += 1;
  return life.made;
}

function grant(life: Life): Promise<void> {
  const record: GrantRecord = makeGrant(120 + Math.floor(life.random() * 150), {
    id: `gr_${nextId(life)}`,
    at: life.clock.nowMs,
  });
  const claim: Claim = { kind: 'grant', record };
  return claiming(life, claim, async () => ((await life.store.ledger.grant(record)) ? claim : null));
}

function hold(life: Life): Promise<void> {
  const wished = 20 + Math.floor(life.random() * 100);
  const record = makeHold(`req_${nextId(life)}`, wished, { at: life.clock.nowMs });
  const request = { record, budget: null, minimumNano: Math.ceil(wished / 2) };
  return claiming(life, { kind: 'hold', record }, async () => {
    const result = await life.store.ledger.hold(request);
    if (!result.ok) life.met.refusedHolds += 1;
    else life.open.set(record.requestId, { ...record, amountNano: result.heldNano });
    return result.ok ? { kind: 'hold', record, heldNano: result.heldNano } : null;
  });
}

function settle(life: Life): Promise<void> {
  const [requestId] = life.open.keys();
  const held = requestId === undefined ? undefined : life.open.get(requestId);
  if (requestId === undefined || held === undefined) return hold(life);
  life.open.delete(requestId);
  const record: SettleRecord = makeSettle(requestId, Math.floor(life.random() * (held.amountNano + 20)));
  const claim: Claim = { kind: 'settle', record };
  return claiming(life, claim, async () => ((await life.store.ledger.settle(record)) ? claim : null));
}

async function progress(life: Life): Promise<void> {
  const [requestId] = life.open.keys();
  const held = requestId === undefined ? undefined : life.open.get(requestId);
  if (requestId === undefined || held === undefined) return;
  const { type: _, ...rest } = makeSettle(requestId, Math.floor(life.random() * held.amountNano));
  const record = { type: 'progress', ...rest } as const;
  life.disk.asked({ kind: 'progress', record });
  life.store.ledger.progress(record);
  life.met.progress += 1;
}

const KINDS = ['account', 'session', 'workspace', 'key', 'preferences', 'answer'] as const;
type DocumentKind = (typeof KINDS)[number];

function writeDocument(life: Life): Promise<void> {
  const kind = KINDS[Math.floor(life.random() * KINDS.length)] ?? 'key';
  const id = kind === 'account' ? nextId(life) : Math.floor(life.random() * 2);
  const key = `${kind}:${id}`;
  const version = (life.versions.get(key) ?? 0) + 1;
  life.versions.set(key, version);
  const claim: Claim = { kind: 'document', key, version };
  return claiming(life, claim, async () => {
    await putVersion(life.store.documents, kind, id, version);
    return claim;
  });
}

function putVersion(documents: Documents, kind: DocumentKind, number: number, version: number): Promise<void> {
  const id = String(number);
  const times = { createdAt: NOON, expiresAt: NOON + 1_000 * DAY_MS };
  if (kind === 'account') {
    const email = `${id}@example.com`;
    return documents.addAccount({ id, email, name: null, passwordHash: 'x', operator: false, createdAt: NOON });
  }
  if (kind === 'session') {
    return documents.putSession({ ...times, id, digest: id, accountId: 'a', client: 'c', lastUsedAt: version });
  }
  if (kind === 'workspace') {
    const limits = { requestsPerMinute: null, tokensPerMinute: null };
    return documents.putWorkspace({ id, name: String(version), createdAt: NOON, members: [], ...limits });
  }
  if (kind === 'preferences') {
    return documents.putPreferences(id, {
      ...documents.preferencesOf(id),
      weights: { speed: version, quality: 0, cost: 0 },
    });
  }
  if (kind === 'answer') {
    return documents.putIdempotent(id, { bodyDigest: 'd', status: version, body: {}, at: NOON + 900 * DAY_MS });
  }
  return documents.putApiKey({
    ...times,
    id,
    workspaceId: 'ws_1',
    name: String(version),
    digest: id,
    prefix: 'p',
    last4: 'last',
    revokedAt: null,
    models: null,
    requestsPerMinute: 1,
    tokensPerMinute: 1,
    budgetNano: null,
    budgetPeriod: 'total',
  });
}

/** 0 where the document is not there. */
export function versionIn(documents: Documents, key: string): number {
  const [kind, id = ''] = key.split(':');
  if (kind === 'account') return documents.accountById(id) === undefined ? 0 : 1;
  if (kind === 'session') return documents.sessionByDigest(id)?.lastUsedAt ?? 0;
  if (kind === 'workspace') return Number(documents.workspaceById(id)?.name ?? 0);
  if (kind === 'preferences') return documents.preferencesOf(id).weights?.speed ?? 0;
  if (kind === 'answer') return documents.idempotent(id)?.status ?? 0;
  return Number(documents.apiKeyByDigest(id)?.name ?? 0);
}

// Usage pages and sums over HTTP, each kind many times with its whole time.

import { performance } from 'node:perf_hooks';
import type { UsageGroup } from '../../src/api/types.ts';
import type { BenchDaemon } from './ledger-daemon.ts';
import { note, type Percentiles, percentiles } from './ledger-figures.ts';
import type { MadeJournal } from './make-journal.ts';

export type Subject = {
  readonly token: string;
  readonly workspaceId: string;
  readonly keyId: string;
  readonly made: MadeJournal;
};

export type QueryFigures = {
  readonly name: string;
  readonly kind: 'page' | 'sums';
  readonly times: number;
  readonly ms: Percentiles;
  readonly answerBytes: number;
};

type Query = { readonly name: string; readonly kind: QueryFigures['kind']; readonly parameters: Parameters };
type Parameters = Readonly<Record<string, string>>;

const PAGE_LIMIT = '100';
/** Kinds that are slow are asked less often: the benchmark has to end. */
const KIND_MS_MAX = 5_000;
const TIMES_MIN = 5;
const DEEP_PAGES = 20;
const MS_PER_DAY = 86_400_000;
const GROUPS: readonly UsageGroup[] = ['day', 'model', 'key', 'task', 'virtual_model'];

export async function measureQueries(
  daemon: BenchDaemon,
  subject: Subject,
  times: number,
): Promise<readonly QueryFigures[]> {
  const figures: QueryFigures[] = [];
  for (const query of queriesOf(subject)) figures.push(await measure(daemon, subject, query, times));
  figures.push(await measureDeepPages(daemon, subject));
  return figures;
}

function queriesOf({ made, keyId }: Subject): readonly Query[] {
  const page = (name: string, parameters: Parameters): Query => ({ name, kind: 'page', parameters });
  // From and to within a day, so that no sum by whole days can answer it.
  const month = { from: isoDaysAgo(230.4), to: isoDaysAgo(200.3) };
  const pages = [
    page('unfiltered', {}),
    page('rare model', { model: made.rareModel }),
    page('one key', { key_id: keyId }),
    page('one key, failed', { key_id: keyId, status: '502' }),
    page('a month, one key', { ...month, key_id: keyId }),
    page('nothing matches', { model: 'no/such-model' }),
  ];
  const filters: readonly (readonly [string, Parameters])[] = [
    ['', {}],
    [', one model', { model: made.models[3] ?? '' }],
    [', one key, a month', { ...month, key_id: keyId }],
  ];
  const sums = filters.flatMap(([name, parameters]) =>
    GROUPS.map(
      (group): Query => ({ name: `${group}${name}`, kind: 'sums', parameters: { ...parameters, group_by: group } }),
    ),
  );
  return [...pages, ...sums];
}

async function measure(daemon: BenchDaemon, subject: Subject, query: Query, times: number): Promise<QueryFigures> {
  const path = pathOf(subject, query.kind === 'page' ? { ...query.parameters, limit: PAGE_LIMIT } : query.parameters);
  const samples: number[] = [];
  let answerBytes = 0;
  const begun = performance.now();
  while (samples.length < times && (samples.length < TIMES_MIN || performance.now() - begun < KIND_MS_MAX)) {
    const { ms, body } = await daemon.get(path, subject.token);
    samples.push(ms);
    answerBytes = Buffer.byteLength(body);
  }
  const { name, kind } = query;
  const ms = percentiles(samples);
  note(`${kind} ${name}: ${ms.p50} ms`);
  return { name, kind, times: samples.length, ms, answerBytes };
}

/** Pages one after the other, as a client that reads everything asks for them. */
async function measureDeepPages(daemon: BenchDaemon, subject: Subject): Promise<QueryFigures> {
  const samples: number[] = [];
  let cursor: string | null = null;
  let answerBytes = 0;
  do {
    const parameters: Parameters = cursor === null ? {} : { cursor };
    const { ms, body } = await daemon.get(pathOf(subject, { ...parameters, limit: PAGE_LIMIT }), subject.token);
    samples.push(ms);
    answerBytes = Buffer.byteLength(body);
    cursor = nextCursorOf(body);
  } while (cursor !== null && samples.length < DEEP_PAGES);
  return { name: 'by cursor', kind: 'page', times: samples.length, ms: percentiles(samples), answerBytes };
}

function nextCursorOf(body: string): string | null {
  return /"next_cursor":"([^"]+)"/.exec(body.slice(-200))?.[1] ?? null;
}

function pathOf({ workspaceId }: Subject, parameters: Parameters): string {
  return `/workspaces/${workspaceId}/usage?${new URLSearchParams(parameters)}`;
}

function isoDaysAgo(days: number): string {
  return new Date(Date.now() - days * MS_PER_DAY).toISOString();
}

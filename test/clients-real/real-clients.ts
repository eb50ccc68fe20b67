// Every client goes through a loop with a tool against the daemon, and the books are right afterwards.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDaemon } from '../helpers/daemon.ts';
import { startFakeUpstream } from '../helpers/fake-upstream.ts';
import { type Gateway, gatewayOf } from '../helpers/gateway.ts';
import { expectBooks, MODELS } from './books.ts';
import { CLAUDE_CODE } from './claude-code.ts';
import type { ClientRun, ClientUnderTest, Place } from './client-under-test.ts';
import { CLINE } from './cline.ts';
import { CODEX } from './codex.ts';
import { CONTINUE } from './continue.ts';
import { endStrays } from './end-strays.ts';
import { installClient, installedVersion } from './install-client.ts';
import { OPENCODE } from './opencode.ts';
import { quietEnv } from './quiet-env.ts';
import { QWEN_CODE } from './qwen-code.ts';
import { runProcess } from './run-process.ts';
import { answerLoop, readRequest } from './scripted-loop.ts';
import { AI_SDK, ANTHROPIC_SDK, LANGCHAIN, OPENAI_SDK } from './sdk-clients.ts';
import { MAIN_PACKAGE } from './versions.ts';

const CLIENTS = [
  OPENAI_SDK,
  ANTHROPIC_SDK,
  AI_SDK,
  LANGCHAIN,
  CLAUDE_CODE,
  OPENCODE,
  QWEN_CODE,
  CODEX,
  CONTINUE,
  CLINE,
];
const RUN_TIMEOUT_MS = 120_000;
const PROBE_TIMEOUT_MS = 30_000;

const UPSTREAMS = [
  { title: 'Chat upstream', formats: 'chat', path: /\/chat\/completions$/, takes: () => true },
  {
    title: 'Messages upstream',
    formats: 'chat,messages',
    path: /\/messages(\?|$)/,
    takes: ({ messages }: ClientRun) => messages,
  },
] as const;

/** Settled before the tests are named, so that the name of a skipped one can say why. */
const ready: { client: ClientUnderTest; directory: string; problem: string | undefined }[] = [];
for (const client of CLIENTS) {
  const { directory, problem } = await makeReady(client);
  ready.push({ client, directory, problem });
  // At once, for the table comes only where something runs.
  if (problem !== undefined) process.stdout.write(`${client.title} is not run: ${problem}\n`);
}
const rows = ready
  .filter(({ problem }) => problem !== undefined)
  .map(({ client, problem }) => `${client.title} | – | – | NOT RUN: ${problem}`);

afterAll(() => {
  process.stdout.write(`\nclient | version | run | result\n${rows.join('\n')}\n`);
});

/** Each client before each kind of upstream that any of its runs is for. */
const suites = ready.flatMap((row) =>
  UPSTREAMS.map((upstream) => ({ ...row, upstream, runs: row.client.runs.filter(upstream.takes) }))
    .filter(({ runs }) => runs.length > 0)
    .map((suite) => [row.client.title, suite.upstream.title, suite] as const),
);

describe.each(suites)('%s, %s', (title, upstreamTitle, { client, directory, problem, upstream, runs }) => {
  const version = installedVersion(directory, MAIN_PACKAGE[client.name]) ?? '?';
  const report = (run: string, result: string): void => {
    rows.push(`${title} | ${version} | ${upstreamTitle}: ${run} | ${result}`);
  };
  if (problem !== undefined) {
    it.skip(`is not run: ${problem}`, () => undefined);
    return;
  }

  let gateway: Gateway | undefined;
  beforeAll(async () => {
    gateway = await startListedGateway(upstream.formats);
  });
  afterAll(async () => {
    await gateway?.close();
  });

  it.each(runs.map((run) => [run.title, run] as const))('works: %s', async (_run, run) => {
    try {
      if (gateway === undefined) throw new Error('there is no gateway');
      await goThrough(run, directory, gateway, upstream.path);
      report(run.title, 'works');
    } catch (error) {
      report(run.title, 'FAILED');
      throw error;
    }
  });
});

async function makeReady(client: ClientUnderTest): Promise<{ directory: string; problem: string | undefined }> {
  const { directory, problem } = await installClient(client.name);
  if (problem !== undefined || client.probe === undefined) return { directory, problem };
  const home = await mkdtemp(join(tmpdir(), 'svc-client-'));
  const { code, output } = await runProcess({
    ...client.probe(directory),
    cwd: home,
    env: quietEnv(home),
    timeoutMs: PROBE_TIMEOUT_MS,
  });
  await rm(home, { recursive: true, force: true });
  return { directory, problem: code === 0 ? undefined : `it does not start: ${output.trim().split('\n')[0]}` };
}

/** The models' prices are the books' business, so both have them from one list. */
async function startListedGateway(formats: string): Promise<Gateway> {
  const upstream = await startFakeUpstream();
  upstream.models(MODELS);
  const daemon = await startDaemon({
    env: { SVC_UPSTREAM_URL: upstream.url, SVC_UPSTREAM_API_KEY: 'upstream-secret', SVC_UPSTREAM_FORMATS: formats },
  });
  return gatewayOf(daemon, upstream);
}

async function goThrough(run: ClientRun, directory: string, gateway: Gateway, path: RegExp): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), 'svc-client-'));
  const { daemon, upstream } = gateway;
  const place: Place = {
    url: daemon.url,
    key: daemon.key,
    directory,
    home: join(scratch, 'home'),
    work: join(scratch, 'work'),
  };
  const id = Math.random().toString(36).slice(2, 10).toUpperCase();
  const loop = { secret: `SECRET${id}`, marker: `MARKER${id}` };
  const before = upstream.requests.length;
  upstream.respond((request) => answerLoop(request, { ...loop, call: (tools) => run.call(tools, place) }));
  try {
    await mkdir(place.home);
    await mkdir(place.work);
    await writeFile(join(place.work, 'note.txt'), `The code word is ${loop.secret}.\n`);
    const { env, ...command } = await run.prepare(place);
    const ended = await runProcess({
      ...command,
      cwd: place.work,
      env: { ...quietEnv(place.home), TOOL_RESULT: loop.secret, ...env },
      timeoutMs: RUN_TIMEOUT_MS,
    });
    expect(ended.output).toContain(loop.marker);
    expect(ended.code, ended.output).toBe(0);
    const requests = upstream.requests.slice(before);
    const turns = requests.map(readRequest).filter(({ tools }) => tools.length > 0);
    expect(turns.length).toBeGreaterThanOrEqual(2);
    expect(turns.map(({ stream }) => stream)).toEqual(turns.map(() => run.stream));
    for (const request of requests) expect(request.path).toMatch(path);
    await expectBooks(gateway);
  } finally {
    await endStrays(place.home);
    await rm(scratch, { recursive: true, force: true });
  }
}

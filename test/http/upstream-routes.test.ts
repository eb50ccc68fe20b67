// No way to an upstream around the money: every route that reaches one is in the table, and nothing is sent without a hold.

import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type Router from '@koa/router';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { UPSTREAM_ROUTES, type UpstreamRoute, upstreamRoutes } from '../../src/http/upstream-routes.ts';
import type { CompletionDeps } from '../../src/service/completion.ts';
import { chatAnswer, DEFAULT_MODELS, type FakeUpstream, startFakeUpstream } from '../helpers/fake-upstream.ts';
import { type InProcessGateway, startInProcess } from '../helpers/in-process.ts';

let upstream: FakeUpstream;
let gateway: InProcessGateway;

beforeAll(async () => {
  upstream = await startFakeUpstream(({ path }) => ({ json: answerAt(path) }));
  gateway = await startInProcess(upstream, Date.parse('2026-03-04T12:00:00Z'), ['chat', 'messages']);
  gateway.list(DEFAULT_MODELS);
});

/** What an upstream that speaks everything answers. */
function answerAt(path: string): unknown {
  if (path.endsWith('/embeddings')) {
    return { data: [{ embedding: [1] }], usage: { prompt_tokens: 10, total_tokens: 10 } };
  }
  if (path.endsWith('/count_tokens')) return { input_tokens: 10 };
  if (!path.endsWith('/messages')) return chatAnswer();
  const usage = { input_tokens: 10, output_tokens: 5 };
  const content = [{ type: 'text', text: 'Hello.' }];
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'test/good',
    content,
    stop_reason: 'end_turn',
    usage,
  };
}

afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

type Mounted = { readonly router?: Router };

/** Every method and path the application serves, out of the stacks of its routers. */
function servedRoutes(): string[] {
  const routers = gateway.app.middleware.flatMap((each) => (each as Mounted).router ?? []);
  return routers.flatMap(({ stack }) =>
    stack.flatMap(({ methods, path }) =>
      methods.filter((method) => method !== 'HEAD').map((method) => `${method} ${path}`),
    ),
  );
}

const named = ({ method, path }: UpstreamRoute): string => `${method} ${path}`;

describe('the table of routes that open an upstream connection', () => {
  it('is served as it stands', () => {
    expect(servedRoutes()).toEqual(expect.arrayContaining(UPSTREAM_ROUTES.map(named)));
    expect(servedRoutes().length).toBeGreaterThan(20);
    expect(new Set(servedRoutes()).size).toBe(servedRoutes().length);
  });

  it('holds exactly those that reach an upstream, of all that are served', async () => {
    const reaching: string[] = [];
    for (const route of servedRoutes()) {
      const before = upstream.requests.length;
      await call(route);
      if (upstream.requests.length > before) reaching.push(route);
    }
    expect(reaching.sort()).toEqual(UPSTREAM_ROUTES.map(named).sort());
  });

  it.each(UPSTREAM_ROUTES.map((route) => [named(route), route] as const))(
    '%s is billed by a rule',
    async (name, route) => {
      const balance = async (): Promise<unknown> => gateway.get(`/workspaces/${gateway.workspaceId}/balance`);
      const before = JSON.stringify(await balance());
      await call(name);
      const after = JSON.stringify(await balance());
      if (route.billing.kind === 'metered') expect(after).not.toBe(before);
      else expect([after, route.billing.reason.length > 0]).toEqual([before, true]);
    },
  );

  it.each([
    ['no rule', undefined],
    ['null', null],
    ['a rule of no kind', {}],
    ['an unknown kind', { kind: 'cheap' }],
    ['free without a reason', { kind: 'free', reason: ' ' }],
  ])('keeps the daemon from starting with a route of %s', (_name, billing) => {
    const route = { ...UPSTREAM_ROUTES[0], path: '/v1/other', billing } as unknown as UpstreamRoute;
    const completion = {} as CompletionDeps;
    expect(() => upstreamRoutes(completion, [route])).toThrow('POST /v1/other opens an upstream connection');
  });

  it('takes a free route that says why', () => {
    const route: UpstreamRoute = {
      method: 'POST',
      path: '/v1/free',
      billing: { kind: 'free', reason: 'the upstream asks nothing for it' },
      serve: async () => undefined,
    };
    expect(upstreamRoutes({} as CompletionDeps, [route]).stack).toHaveLength(1);
  });
});

/** With a key where a key is asked for and a session where that is; what each answers does not matter here. */
async function call(route: string): Promise<void> {
  const [method = '', pattern = ''] = route.split(' ');
  const path = pattern.replace(':id', gateway.workspaceId).replace(/[:*]\w+/g, 'test/good');
  const credential = path.startsWith('/v1/') ? gateway.key : gateway.token;
  // Nobody is to be logged out half-way.
  if (path === '/auth/logout') return;
  const answer = await fetch(gateway.url + path, {
    method,
    headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
    ...(method === 'GET' || method === 'DELETE' ? {} : { body: JSON.stringify(COMPLETION) }),
  });
  await answer.text();
}

/** A body for every route there is. */
const COMPLETION = {
  model: 'test/good',
  max_tokens: 10,
  messages: [{ role: 'user', content: 'Hello.' }],
  input: 'Hello.',
};

describe('the way to an upstream', () => {
  const SRC = fileURLToPath(new URL('../../src', import.meta.url));
  const sources = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => ({
      path,
      text: readFileSync(`${SRC}/${path}`, 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*$/gm, ''),
    }));
  const using = (pattern: RegExp): string[] =>
    sources
      .filter(({ text }) => pattern.test(text))
      .map(({ path }) => path)
      .sort();

  it('is taken by the attempts alone, and by the count that costs nothing', () => {
    expect(using(/upstream\s*\??\.\s*send\b|\{[^{}]*\bsend\b[^{}]*\}\s*=\s*[\w.]*upstream/i)).toEqual([
      'service/attempt-count.ts',
      'service/attempt-stream.ts',
      'service/attempt-whole.ts',
    ]);
  });

  it('leads without a hold to the counting of tokens and nowhere else', () => {
    expect(using(/\battemptCount\(/)).toEqual(['service/attempt-count.ts', 'service/count-tokens.ts']);
    const { text = '' } = sources.find(({ path }) => path === 'service/attempt-count.ts') ?? {};
    expect([...text.matchAll(/\bpath\b.*/g)].map(([line]) => line)).toEqual([
      "path: '/messages/count_tokens', body, headers, timeouts },",
    ]);
  });

  it('asks every attempt for a hold, which only the reservation of credits makes', () => {
    expect(using(/\battempt(Stream|Whole)\(/)).toEqual([
      'service/attempt-embedding.ts',
      'service/attempt-stream.ts',
      'service/attempt-whole.ts',
      'service/attempt.ts',
    ]);
    expect(using(/new Reservation\(/)).toEqual(['service/hold-credits.ts']);
    expect(using(/class Reservation/)).toEqual(['service/hold-credits.ts']);
    expect(using(/export class Reservation/)).toEqual([]);
    const made = sources.find(({ path }) => path === 'service/hold-credits.ts')?.text ?? '';
    const [head = '', tail = ''] = made.split('new Reservation(');
    expect(head).toContain('await input.ledger.hold(');
    expect(head).toContain('if (!result.ok) throw');
    expect(tail).not.toContain('new Reservation(');
  });

  it('is open to the routes of the table alone', () => {
    expect(using(/from '[./]*(service\/)?complete\.ts'/)).toEqual(['http/upstream-routes.ts']);
    expect(using(/\bCompletionDeps\b/).filter((path) => path.startsWith('http/'))).toEqual([
      'http/app.ts',
      'http/upstream-routes.ts',
    ]);
  });
});

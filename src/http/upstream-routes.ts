// The routes that open an upstream connection: a table, since each has to say who pays for it.

import Router from '@koa/router';
import type { Context } from 'koa';
import type { CallKind } from '../service/call-kind.ts';
import { complete } from '../service/complete.ts';
import type { CompletionDeps } from '../service/completion.ts';
import { countTokens } from '../service/count-tokens.ts';
import { EMBEDDING } from '../service/embed.ts';
import type { Dialect } from '../wire/neutral.ts';
import { SvcError } from '../wire/svc-error.ts';
import { credentialOf } from './credential.ts';
import { headerOf } from './header-of.ts';
import { type BodyReader, createBodyReader } from './read-body.ts';
import { createDownstream } from './response-downstream.ts';

/** `metered`: credits are held before the first upstream byte, and settled by what was used. */
export type BillingRule = { readonly kind: 'metered' } | { readonly kind: 'free'; readonly reason: string };

/** What a route needs to reach an upstream. No other route is given the completion's dependencies. */
export type UpstreamAccess = { readonly completion: CompletionDeps; readonly bodies: BodyReader };

export type UpstreamRoute = {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly billing: BillingRule;
  serve(access: UpstreamAccess, ctx: Context): Promise<void>;
};

export const UPSTREAM_ROUTES: readonly UpstreamRoute[] = [
  {
    method: 'POST',
    path: '/v1/chat/completions',
    billing: { kind: 'metered' },
    serve: (access, ctx) => serveCompletion(access, ctx, 'chat'),
  },
  {
    method: 'POST',
    path: '/v1/messages',
    billing: { kind: 'metered' },
    serve: (access, ctx) => serveCompletion(access, ctx, 'messages'),
  },
  {
    method: 'POST',
    path: '/v1/responses',
    billing: { kind: 'metered' },
    serve: (access, ctx) => serveCompletion(access, ctx, 'responses'),
  },
  {
    method: 'POST',
    path: '/v1/embeddings',
    billing: { kind: 'metered' },
    serve: (access, ctx) => serveCompletion(access, ctx, 'chat', EMBEDDING),
  },
  {
    method: 'POST',
    path: '/v1/messages/count_tokens',
    billing: { kind: 'free', reason: 'upstreams count tokens for nothing, and no model runs' },
    serve: serveCount,
  },
];

/** Throws an Error for a route that does not say how it is billed, so that the daemon does not start with it. */
export function upstreamRoutes(completion: CompletionDeps, routes: readonly UpstreamRoute[] = UPSTREAM_ROUTES): Router {
  const router = new Router();
  const access = { completion, bodies: createBodyReader() };
  for (const route of routes) {
    checkBilling(route);
    router.register(route.path, [route.method], (ctx) => route.serve(access, ctx));
  }
  return router;
}

/** The type asks for it too; what comes here around the types must not serve a single request unbilled. */
function checkBilling({ method, path, billing }: Partial<UpstreamRoute>): void {
  if (billing?.kind === 'metered') return;
  if (billing?.kind === 'free' && billing.reason.trim() !== '') return;
  throw new Error(`${method} ${path} opens an upstream connection without a billing rule`);
}

async function serveCompletion(
  { completion, bodies }: UpstreamAccess,
  ctx: Context,
  dialect: Dialect,
  kind?: CallKind,
): Promise<void> {
  checkAccept(headerOf(ctx, 'accept'));
  const down = createDownstream(ctx.res, ctx.state['headers']);
  ctx.respond = false;
  await complete(
    completion,
    {
      requestId: ctx.state['requestId'],
      dialect,
      ...(kind === undefined ? {} : { kind }),
      credential: credentialOf(ctx.req.headers),
      readBody: () => bodies.read(ctx.req, ctx.res),
      source: sourceOf(headerOf(ctx, 'x-svc-source')),
      skipRouting: skipsRouting(ctx),
      options: headerOf(ctx, 'x-svc-options'),
      callerHeaders: passedHeaders(ctx),
      startedMs: ctx.state['startedMs'],
    },
    down,
  );
}

async function serveCount({ completion, bodies }: UpstreamAccess, ctx: Context): Promise<void> {
  const headers: Record<string, string> = ctx.state['headers'];
  const stop = new AbortController();
  ctx.res.once('close', () => stop.abort());
  const { inputTokens, source } = await countTokens(completion, {
    credential: credentialOf(ctx.req.headers),
    readBody: () => bodies.read(ctx.req, ctx.res),
    skipRouting: skipsRouting(ctx),
    options: headerOf(ctx, 'x-svc-options'),
    callerHeaders: passedHeaders(ctx),
    headers,
    stop,
  });
  ctx.body = { input_tokens: inputTokens };
  ctx.set({ ...headers, 'x-svc-token-count': source });
}

function skipsRouting(ctx: Context): boolean {
  return headerOf(ctx, 'x-svc-skip-routing')?.toLowerCase() === 'true';
}

/** What only an upstream of the caller's own dialect understands. */
function passedHeaders(ctx: Context): Readonly<Record<string, string>> {
  const passed: Record<string, string> = {};
  for (const name of ['anthropic-version', 'anthropic-beta']) {
    const value = headerOf(ctx, name);
    if (value !== undefined) passed[name] = value;
  }
  return passed;
}

/** Answers are JSON or an event stream: a client that takes neither is told so before it pays. */
function checkAccept(accept: string | undefined): void {
  if (accept === undefined || accept.includes('*/*') || accept.includes('application/json')) return;
  if (accept.includes('text/event-stream') || accept.includes('application/*')) return;
  throw new SvcError(
    'NOT_ACCEPTABLE',
    'Answers are application/json or text/event-stream: name one of them in Accept.',
  );
}

function sourceOf(value: string | undefined): string | null {
  return value !== undefined && /^[\x20-\x7e]{1,128}$/.test(value) ? value : null;
}

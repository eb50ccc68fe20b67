// The /v1 routes: completions in both dialects, the model list, and the router's dry run.

import Router from '@koa/router';
import type { Context } from 'koa';
import { complete } from '../service/complete.ts';
import type { CompletionDeps } from '../service/completion.ts';
import type { ModelLister } from '../service/list-models.ts';
import type { RoutePreview } from '../service/route-preview.ts';
import type { Dialect } from '../wire/neutral.ts';
import { SvcError } from '../wire/svc-error.ts';
import { credentialOf } from './credential.ts';
import { type BodyReader, createBodyReader } from './read-body.ts';
import { createDownstream } from './response-downstream.ts';

export type InferenceServices = {
  readonly completion: CompletionDeps;
  readonly models: ModelLister;
  readonly preview: RoutePreview;
};

export function inferenceRoutes(services: InferenceServices): Router {
  const router = new Router();
  const bodies = createBodyReader();
  router.post('/v1/chat/completions', (ctx) => serveCompletion(services.completion, bodies, ctx, 'chat'));
  router.post('/v1/messages', (ctx) => serveCompletion(services.completion, bodies, ctx, 'messages'));
  router.post('/v1/route', async (ctx) => {
    ctx.body = await services.preview({
      credential: credentialOf(ctx.req.headers),
      workspaceId: header(ctx, 'x-svc-workspace'),
      readBody: () => bodies.read(ctx.req, ctx.res),
      skipRouting: header(ctx, 'x-svc-skip-routing') === 'true',
      options: header(ctx, 'x-svc-options'),
      headers: ctx.state['headers'],
    });
    ctx.set(ctx.state['headers']);
  });
  router.get('/v1/models', async (ctx) => {
    ctx.body = await services.models.list({
      credential: credentialOf(ctx.req.headers),
      workspaceId: header(ctx, 'x-svc-workspace'),
      headers: ctx.state['headers'],
    });
    ctx.set(ctx.state['headers']);
  });
  router.get('/v1/models/*id', async (ctx) => {
    const id = String(ctx.params['id']);
    ctx.body = await services.models.one(
      {
        credential: credentialOf(ctx.req.headers),
        workspaceId: header(ctx, 'x-svc-workspace'),
        headers: ctx.state['headers'],
      },
      id,
    );
    ctx.set(ctx.state['headers']);
  });
  return router;
}

async function serveCompletion(
  deps: CompletionDeps,
  bodies: BodyReader,
  ctx: Context,
  dialect: Dialect,
): Promise<void> {
  checkAccept(header(ctx, 'accept'));
  const down = createDownstream(ctx.res, ctx.state['headers']);
  ctx.respond = false;
  await complete(
    deps,
    {
      requestId: ctx.state['requestId'],
      dialect,
      credential: credentialOf(ctx.req.headers),
      readBody: () => bodies.read(ctx.req, ctx.res),
      source: sourceOf(header(ctx, 'x-svc-source')),
      skipRouting: header(ctx, 'x-svc-skip-routing')?.toLowerCase() === 'true',
      options: header(ctx, 'x-svc-options'),
      startedMs: ctx.state['startedMs'],
    },
    down,
  );
}

function header(ctx: Context, name: string): string | undefined {
  const value = ctx.req.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
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

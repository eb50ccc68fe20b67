// The /v1 routes that send nothing upstream: the model list, and the router's dry run.

import Router from '@koa/router';
import type { Context } from 'koa';
import type { ModelLister, ModelPage } from '../service/list-models.ts';
import type { RoutePreview } from '../service/route-preview.ts';
import { SvcError } from '../wire/svc-error.ts';
import { credentialOf } from './credential.ts';
import { headerOf } from './header-of.ts';
import { createBodyReader } from './read-body.ts';

export type InferenceServices = {
  readonly models: ModelLister;
  readonly preview: RoutePreview;
};

export function inferenceRoutes(services: InferenceServices): Router {
  const router = new Router();
  const bodies = createBodyReader();
  router.post('/v1/route', async (ctx) => {
    ctx.body = await services.preview({
      credential: credentialOf(ctx.req.headers),
      workspaceId: headerOf(ctx, 'x-svc-workspace'),
      readBody: () => bodies.read(ctx.req, ctx.res),
      skipRouting: headerOf(ctx, 'x-svc-skip-routing') === 'true',
      options: headerOf(ctx, 'x-svc-options'),
      headers: ctx.state['headers'],
    });
    ctx.set(ctx.state['headers']);
  });
  router.get('/v1/models', async (ctx) => {
    ctx.body = await services.models.list(
      {
        credential: credentialOf(ctx.req.headers),
        workspaceId: headerOf(ctx, 'x-svc-workspace'),
        headers: ctx.state['headers'],
      },
      // Others have no pages of models, and are given everything whatever their query says.
      headerOf(ctx, 'anthropic-version') === undefined ? undefined : pageAsked(ctx),
    );
    ctx.set(ctx.state['headers']);
  });
  router.get('/v1/models/*id', async (ctx) => {
    const id = String(ctx.params['id']);
    ctx.body = await services.models.one(
      {
        credential: credentialOf(ctx.req.headers),
        workspaceId: headerOf(ctx, 'x-svc-workspace'),
        headers: ctx.state['headers'],
      },
      id,
    );
    ctx.set(ctx.state['headers']);
  });
  router.register('/v1/responses/:id', ['GET', 'DELETE'], () => {
    throw new SvcError(
      'NOT_FOUND',
      'No responses are stored here: keep the answer to POST /v1/responses, and send the whole conversation in input.',
    );
  });
  return router;
}

function pageAsked(ctx: Context): ModelPage {
  const { searchParams } = ctx.URL;
  const given = (name: string): string | undefined => searchParams.get(name) ?? undefined;
  return { limit: given('limit'), afterId: given('after_id'), beforeId: given('before_id') };
}

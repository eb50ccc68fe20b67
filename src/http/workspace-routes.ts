// `/workspaces`: workspaces with their credits, usage, API keys and preferences.

import Router, { type RouterContext } from '@koa/router';
import type { ControlServices } from '../service/control-services.ts';
import { USAGE_FILTERS } from '../service/usage-query.ts';
import { pathId, type SignedIn, sessionRoute } from './control-handler.ts';
import { readListQuery, renderPage } from './list-query.ts';
import { createJsonReader, type JsonReader } from './read-json.ts';

type Run = (who: SignedIn, ctx: RouterContext) => Promise<unknown> | unknown;
type Part = {
  readonly router: Router;
  readonly services: ControlServices;
  readonly json: JsonReader;
  readonly route: (status: number, run: Run) => ReturnType<typeof sessionRoute>;
};

export function workspaceRoutes(services: ControlServices): Router {
  const router = new Router();
  const route: Part['route'] = (status, run) => sessionRoute(services.accounts, status, run);
  const part: Part = { router, services, json: createJsonReader(), route };
  addWorkspaces(part);
  addCredits(part);
  addUsage(part);
  addApiKeys(part);
  addPreferences(part);
  return router;
}

function addWorkspaces({ router, services, json, route }: Part): void {
  const { workspaces } = services;
  router.get(
    '/workspaces',
    route(200, ({ account }, ctx) => renderPage(workspaces.listOf(account), readListQuery(ctx.query))),
  );
  router.post(
    '/workspaces',
    route(201, async ({ account }, ctx) => workspaces.create(account, await json.read(ctx))),
  );
  router.get(
    '/workspaces/:id',
    route(200, ({ account }, ctx) => workspaces.read(account, pathId(ctx, 'id'))),
  );
  router.patch(
    '/workspaces/:id',
    route(200, async ({ account }, ctx) => workspaces.patch(account, pathId(ctx, 'id'), await json.read(ctx))),
  );
}

function addCredits({ router, services, json, route }: Part): void {
  router.get(
    '/workspaces/:id/balance',
    route(200, ({ account }, ctx) => services.credits.balance(account, pathId(ctx, 'id'))),
  );
  router.post(
    '/workspaces/:id/credits',
    route(201, async ({ account }, ctx) => {
      const body = await json.read(ctx);
      return services.credits.grant(account, {
        workspaceId: pathId(ctx, 'id'),
        body,
        idempotencyKey: idempotencyKeyOf(ctx),
      });
    }),
  );
}

function addUsage({ router, services, route }: Part): void {
  router.get(
    '/workspaces/:id/usage',
    route(200, ({ account }, ctx) => {
      const query = readListQuery(ctx.query, USAGE_FILTERS);
      return services.usage.query(account, { workspaceId: pathId(ctx, 'id'), ...query });
    }),
  );
}

function addApiKeys({ router, services, json, route }: Part): void {
  const { apiKeys } = services;
  const keyPath = '/workspaces/:id/api-keys/:key_id';
  router.get(
    '/workspaces/:id/api-keys',
    route(200, ({ account }, ctx) => renderPage(apiKeys.list(account, pathId(ctx, 'id')), readListQuery(ctx.query))),
  );
  router.post(
    '/workspaces/:id/api-keys',
    route(201, async ({ account, token }, ctx) => {
      const body = await json.read(ctx);
      const idempotencyKey = idempotencyKeyOf(ctx);
      return apiKeys.create(account, { workspaceId: pathId(ctx, 'id'), body, idempotencyKey, sessionToken: token });
    }),
  );
  router.patch(
    keyPath,
    route(200, async ({ account }, ctx) => {
      const body = await json.read(ctx);
      return apiKeys.patch(account, pathId(ctx, 'id'), pathId(ctx, 'key_id'), body);
    }),
  );
  router.delete(
    keyPath,
    route(204, ({ account }, ctx) => apiKeys.revoke(account, pathId(ctx, 'id'), pathId(ctx, 'key_id'))),
  );
  router.post(
    `${keyPath}/rotate`,
    route(200, async ({ account }, ctx) => {
      const body = await json.read(ctx, { optional: true });
      return apiKeys.rotate(account, pathId(ctx, 'id'), pathId(ctx, 'key_id'), body);
    }),
  );
}

function addPreferences({ router, services, json, route }: Part): void {
  router.get(
    '/workspaces/:id/preferences',
    route(200, ({ account }, ctx) => services.preferences.read(account, pathId(ctx, 'id'))),
  );
  router.put(
    '/workspaces/:id/preferences',
    route(200, async ({ account }, ctx) => {
      const body = await json.read(ctx);
      return services.preferences.replace(account, pathId(ctx, 'id'), body);
    }),
  );
}

function idempotencyKeyOf(ctx: RouterContext): string | undefined {
  return ctx.req.headers['idempotency-key'] === undefined ? undefined : ctx.get('idempotency-key');
}

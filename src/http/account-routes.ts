// `/auth`: registering, logging in and out, and who am I.

import Router from '@koa/router';
import type { ControlServices } from '../service/control-services.ts';
import { openRoute, sessionRoute } from './control-handler.ts';
import { createJsonReader } from './read-json.ts';

export function accountRoutes({ accounts }: ControlServices): Router {
  const json = createJsonReader();
  const router = new Router();
  router.post(
    '/auth/register',
    openRoute(201, async (ctx) => accounts.register(await json.read(ctx), ctx.get('user-agent'))),
  );
  router.post(
    '/auth/login',
    openRoute(200, async (ctx) => accounts.login(await json.read(ctx), ctx.get('user-agent'))),
  );
  router.post(
    '/auth/logout',
    sessionRoute(accounts, 204, (who) => accounts.logout(who)),
  );
  router.get(
    '/auth/me',
    sessionRoute(accounts, 200, (who) => accounts.me(who.account)),
  );
  return router;
}

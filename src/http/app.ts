// The Koa application: guards, one error funnel, and the routes, over services that are handed in.

import type Router from '@koa/router';
import Koa from 'koa';
import type { CompletionDeps, ServiceLog } from '../service/completion.ts';
import type { ControlServices } from '../service/control-services.ts';
import { SvcError } from '../wire/svc-error.ts';
import { accountRoutes } from './account-routes.ts';
import { browserGuard } from './browser-guard.ts';
import { errorHandler } from './error-handler.ts';
import { type HealthServices, healthRoutes } from './health-routes.ts';
import { type InferenceServices, inferenceRoutes } from './inference-routes.ts';
import { upstreamRoutes } from './upstream-routes.ts';
import { workspaceRoutes } from './workspace-routes.ts';

export type AppServices = {
  readonly completion: CompletionDeps;
  readonly inference: InferenceServices;
  readonly control: ControlServices;
  readonly health: HealthServices;
  readonly log: ServiceLog;
  makeRequestId(): string;
  monotonicMs(): number;
  allowedHosts(): ReadonlySet<string> | undefined;
  /** True once the daemon is stopping. */
  draining(): boolean;
};

export function createApp(services: AppServices): Koa {
  const app = new Koa();
  // Koa prints what reaches it this way as plain text; mostly it is a client that reset its connection.
  app.on('error', (error: NodeJS.ErrnoException) => {
    if (error.syscall !== undefined || error.code === 'ECONNRESET') services.log.debug({ error }, 'a connection broke');
    else services.log.warn({ error }, 'an answer failed');
  });
  app.use((ctx, next) => {
    const requestId = services.makeRequestId();
    ctx.state['requestId'] = requestId;
    ctx.state['startedMs'] = services.monotonicMs();
    // Sent with whatever answer comes; both names, since the two SDKs each look for their own.
    ctx.state['headers'] = { 'x-request-id': requestId, 'request-id': requestId };
    // Kept-alive connections would go on asking a daemon that no longer listens.
    if (services.draining()) ctx.res.setHeader('connection', 'close');
    return next();
  });
  app.use(errorHandler(services.log));
  app.use(browserGuard(services.allowedHosts));
  // One after the other, completions first: their few routes are all that a completion is matched against.
  const routers = [
    upstreamRoutes(services.completion),
    inferenceRoutes(services.inference),
    healthRoutes(services.health),
    accountRoutes(services.control),
    workspaceRoutes(services.control),
  ];
  for (const router of routers) app.use(router.routes());
  app.use((ctx, next) => {
    const allowed = methodsOf(routers, ctx.path);
    if (allowed.length === 0 || allowed.includes(ctx.method)) return next();
    ctx.state['allow'] = allowed.join(', ');
    throw new SvcError(
      'METHOD_NOT_ALLOWED',
      `${ctx.path.slice(0, 200)} takes ${allowed.join(', ')}, not ${ctx.method}.`,
    );
  });
  return app;
}

function methodsOf(routers: readonly Router[], path: string): string[] {
  return [...new Set(routers.flatMap((router) => router.match(path, 'GET').path.flatMap((layer) => layer.methods)))];
}

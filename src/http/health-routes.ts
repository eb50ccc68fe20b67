// Health: whether the process lives, and whether it should get traffic.

import Router from '@koa/router';

export type Readiness = {
  readonly ready: boolean;
  readonly store: 'ok' | 'unwritable';
  readonly upstream: { readonly name: string; readonly state: 'ok' | 'unreachable'; readonly models: number };
  readonly draining: boolean;
  readonly in_flight: number;
};

export type HealthServices = { readonly version: string; readiness(): Readiness };

const ENDPOINTS = [
  'POST /v1/chat/completions',
  'POST /v1/messages',
  'POST /v1/messages/count_tokens',
  'POST /v1/responses',
  'POST /v1/embeddings',
  'GET /v1/models',
  'GET /v1/models/{id}',
  'POST /v1/route',
  'GET /healthz',
  'GET /readyz',
];

export function healthRoutes(services: HealthServices): Router {
  const router = new Router();
  router.get('/healthz', (ctx) => {
    ctx.body = { status: 'ok' };
  });
  router.get('/readyz', (ctx) => {
    const { ready, ...state } = services.readiness();
    ctx.status = ready ? 200 : 503;
    ctx.body = { status: ready ? 'ready' : 'not_ready', ...state };
  });
  router.get('/', (ctx) => {
    ctx.body = { name: 'svc', version: services.version, endpoints: ENDPOINTS };
  });
  return router;
}

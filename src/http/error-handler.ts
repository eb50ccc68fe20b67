// The one funnel for errors: whatever is thrown becomes the contract's error body, and the log hears of what is our fault.

import type { Context, Middleware, Next } from 'koa';
import type { ServiceLog } from '../service/completion.ts';
import { renderError } from '../wire/render-error.ts';
import { isSvcError, SvcError } from '../wire/svc-error.ts';
import { drainBody } from './drain-body.ts';

export function errorHandler(log: ServiceLog): Middleware {
  return async function handleErrors(ctx: Context, next: Next): Promise<void> {
    try {
      await next();
      if (ctx.respond !== false && ctx.status === 404 && ctx.body == null) throw unknownRoute(ctx);
    } catch (error) {
      await sendError(ctx, toSvcError(error), log, error);
    }
  };
}

function unknownRoute(ctx: Context): SvcError {
  return new SvcError('NOT_FOUND', `There is no ${ctx.method} ${ctx.path.slice(0, 200)}; GET / lists the endpoints.`);
}

function toSvcError(error: unknown): SvcError {
  if (isSvcError(error)) return error;
  return new SvcError('INTERNAL_ERROR', 'Something went wrong inside svc; the log has it under the request id.', {
    cause: error,
  });
}

async function sendError(ctx: Context, error: SvcError, log: ServiceLog, thrown: unknown): Promise<void> {
  const requestId: string = ctx.state['requestId'];
  if (error.status >= 500) logFault(log, requestId, error, thrown);
  // An answer that has begun can't get a status any more: the stream's own error event has said it, or the socket is gone.
  if (ctx.res.headersSent || ctx.res.destroyed) {
    if (!ctx.res.writableEnded) ctx.res.destroy();
    return;
  }
  const body = Buffer.from(JSON.stringify(renderError(error, requestId)));
  const headers: Record<string, string | number> = {
    ...ctx.state['headers'],
    'content-type': 'application/json',
    'content-length': body.length,
    'x-should-retry': String(error.retryable),
  };
  if (error.retryAfterSeconds !== undefined) headers['retry-after'] = error.retryAfterSeconds;
  if (error.status === 405 && ctx.state['allow']) headers['allow'] = ctx.state['allow'];
  // What is left of a refused body must not be taken for the next request.
  if (!ctx.req.complete) headers['connection'] = 'close';
  ctx.respond = false;
  ctx.res.writeHead(error.status, headers);
  if (ctx.req.complete) {
    ctx.res.end(ctx.method === 'HEAD' ? undefined : body);
    return;
  }
  // The whole answer goes out now; ending it closes the connection, and a client still writing would lose what it got.
  if (ctx.method === 'HEAD') ctx.res.flushHeaders();
  else ctx.res.write(body);
  await drainBody(ctx.req);
  ctx.res.end();
}

/** What an upstream said, and our words that quote it, may hold parts of a prompt: the log gets neither. */
function logFault(log: ServiceLog, requestId: string, error: SvcError, thrown: unknown): void {
  const fields = { requestId, code: error.code, status: error.status };
  if (!error.code.startsWith('UPSTREAM_')) {
    log.error({ ...fields, error: thrown }, error.message);
    return;
  }
  const { upstreamStatus, upstreamFailure } = Object(error.cause) as Record<string, unknown>;
  log.error(
    {
      ...fields,
      ...(typeof upstreamStatus === 'number' ? { upstreamStatus } : {}),
      ...(typeof upstreamFailure === 'string' ? { upstreamFailure } : {}),
    },
    'the upstream failed the request',
  );
}

// Keeps web pages and foreign names away from a daemon on localhost: exact Host, no cross-site requests, no CORS.

import type { Context, Middleware, Next } from 'koa';
import { SvcError } from '../wire/svc-error.ts';

/** `allowedHosts` answers the exact Host values taken (`127.0.0.1:4747`); undefined takes any (behind a proxy that checks). */
export function browserGuard(allowedHosts: () => ReadonlySet<string> | undefined): Middleware {
  return function guardBrowsers(ctx: Context, next: Next): Promise<void> {
    const allowed = allowedHosts();
    const { host, origin, 'sec-fetch-site': site } = ctx.req.headers;
    if (host === undefined && ctx.req.httpVersion === '1.1') {
      throw new SvcError('INVALID_REQUEST', 'The request has no Host header.');
    }
    if (
      allowed &&
      !(host !== undefined && allowed.has(host) && hostCount(ctx.req.rawHeaders) === 1 && ctx.req.url?.startsWith('/'))
    ) {
      throw new SvcError('MISDIRECTED_REQUEST', `This daemon answers for ${[...allowed].join(', ')} only.`);
    }
    const foreign = origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`;
    if (site === 'cross-site' || foreign) {
      throw new SvcError('FORBIDDEN', 'Requests from web pages of other origins are refused.');
    }
    return next();
  };
}

function hostCount(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}

// What all account routes share: who is signed in, and how an answer is sent.

import type { RouterContext, RouterMiddleware } from '@koa/router';
import type { AccountService, Identity } from '../service/accounts.ts';
import { bearerOf } from './credential.ts';

export type SignedIn = Identity & { readonly token: string };

/** A route for anyone: what `run` returns is the body. Status 204 has none. */
export function openRoute(status: number, run: (ctx: RouterContext) => Promise<unknown>): RouterMiddleware {
  return async (ctx) => {
    send(ctx, status, await run(ctx));
  };
}

/** A route for a session token; throws `INVALID_SESSION` before anything else of the request is looked at. */
export function sessionRoute(
  accounts: AccountService,
  status: number,
  run: (who: SignedIn, ctx: RouterContext) => Promise<unknown> | unknown,
): RouterMiddleware {
  return async (ctx) => {
    const token = bearerOf(ctx.req.headers);
    const identity = await accounts.authenticateSession(token);
    send(ctx, status, await run({ ...identity, token: token ?? '' }, ctx));
  };
}

/** A part of the path; the service decides whether it is an id of something. */
export function pathId(ctx: RouterContext, name: string): string {
  return ctx.params[name] ?? '';
}

function send(ctx: RouterContext, status: number, body: unknown): void {
  ctx.set(ctx.state['headers'] ?? {});
  // Answers hold tokens, keys and balances.
  ctx.set('Cache-Control', 'no-store');
  ctx.status = status;
  ctx.body = status === 204 ? null : body;
}

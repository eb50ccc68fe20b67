// One request header as text, however often it was sent.

import type { Context } from 'koa';

/** `name` in lower case; several values are joined as HTTP joins them. */
export function headerOf(ctx: Context, name: string): string | undefined {
  const value = ctx.req.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

// The account routes on a real port, with a small stand-in for the application around them.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { accountRoutes } from '../../src/http/account-routes.ts';
import { workspaceRoutes } from '../../src/http/workspace-routes.ts';
import { isSvcError } from '../../src/wire/svc-error.ts';
import { type ControlFixture, type ControlSettings, openControl } from './control-fixture.ts';

export type Call = {
  readonly token?: string | undefined;
  readonly body?: unknown;
  /** Sent as it is, instead of `body`. */
  readonly raw?: string | Uint8Array | ReadableStream;
  readonly headers?: Readonly<Record<string, string>>;
};

export type Answer = { readonly status: number; readonly body: unknown; readonly headers: Headers };

export type ControlApp = ControlFixture & {
  readonly url: string;
  call(method: string, path: string, call?: Call): Promise<Answer>;
};

/** The text at a path of fields in an answer, such as `error.code`; fails the test when there is none. */
export function textAt(body: unknown, path: string): string {
  let value = body;
  for (const field of path.split('.')) value = (value as Record<string, unknown> | null | undefined)?.[field];
  if (typeof value !== 'string') throw new Error(`no text at ${path} of ${JSON.stringify(body)}`);
  return value;
}

export async function openControlApp(settings: ControlSettings = {}): Promise<ControlApp> {
  const fixture = await openControl(settings);
  const server = await listen(fixture);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    ...fixture,
    url,
    call: (method, path, call = {}) => send(`${url}${path}`, method, call),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await fixture.close();
    },
  };
}

async function listen(fixture: ControlFixture): Promise<Server> {
  const app = new Koa();
  app.silent = true;
  app.use(async (ctx, next) => {
    ctx.state['headers'] = { 'x-request-id': 'req_test' };
    try {
      await next();
    } catch (error) {
      if (!isSvcError(error)) throw error;
      const { code, message, retryable, param } = error;
      ctx.status = error.status;
      ctx.body = { error: { code, message, retryable, ...(param === undefined ? {} : { param }) } };
    }
  });
  app.use(accountRoutes(fixture.services).routes());
  app.use(workspaceRoutes(fixture.services).routes());
  const server = createServer(app.callback());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

async function send(url: string, method: string, call: Call): Promise<Answer> {
  const headers: Record<string, string> = {
    ...(call.token === undefined ? {} : { authorization: `Bearer ${call.token}` }),
  };
  if (call.body !== undefined || call.raw !== undefined) headers['content-type'] = 'application/json';
  const body = call.raw ?? (call.body === undefined ? undefined : JSON.stringify(call.body));
  const response = await fetch(url, {
    method,
    headers: { ...headers, ...call.headers },
    ...(body === undefined ? {} : { body: body as string, duplex: 'half' }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text), headers: response.headers };
}

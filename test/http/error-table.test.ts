// Every row of the error table over real HTTP: its status, the exact body, and the headers that SDKs look at.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { errorHandler } from '../../src/http/error-handler.ts';
import { ERROR_TABLE, type ErrorCode, SvcError } from '../../src/wire/svc-error.ts';
import { readJson } from '../helpers/read-json.ts';

let server: Server;
let url: string;
const logged: unknown[] = [];

beforeAll(async () => {
  const log = (fields: unknown): void => void logged.push(fields);
  const app = new Koa();
  app.use((ctx, next) => {
    ctx.state['requestId'] = 'req_test';
    ctx.state['headers'] = { 'x-request-id': 'req_test' };
    return next();
  });
  app.use(errorHandler({ debug: log, info: log, warn: log, error: log }));
  app.use((ctx) => {
    const code = ctx.path.slice(1);
    if (code === 'bug') throw new TypeError('secret detail of a bug');
    if (code in ERROR_TABLE)
      throw new SvcError(code as ErrorCode, 'What was wrong.', { param: 'model', retryAfterSeconds: 7 });
  });
  server = createServer(app.callback());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

it.each(Object.entries(ERROR_TABLE))('%s', async (code, { status, retryable }) => {
  const answer = await fetch(`${url}/${code}`);
  const body = await readJson(answer);
  expect(answer.status).toBe(status);
  expect(body).toEqual({
    type: 'error',
    error: {
      type: expect.stringMatching(/_error$|^request_too_large$/),
      code,
      message: 'What was wrong.',
      retryable,
      param: 'model',
    },
    request_id: 'req_test',
  });
  expect(answer.headers.get('content-type')).toContain('application/json');
  expect(answer.headers.get('x-should-retry')).toBe(String(retryable));
  expect(answer.headers.get('retry-after')).toBe('7');
  expect(answer.headers.get('x-request-id')).toBe('req_test');
});

it('a bug is a 500 that tells the client nothing of itself, and the log everything', async () => {
  const answer = await fetch(`${url}/bug`);
  expect(answer.status).toBe(500);
  expect((await readJson(answer)).error).toMatchObject({
    code: 'INTERNAL_ERROR',
    message: expect.not.stringContaining('secret'),
  });
  expect(logged.some((fields) => String((fields as { error?: unknown }).error).includes('secret detail'))).toBe(true);
});

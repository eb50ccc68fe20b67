// Bodies of the account routes, over a real socket: type, size, encoding, shape.

import { createServer, request, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import Koa from 'koa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createJsonReader } from '../../src/http/read-json.ts';
import { isSvcError } from '../../src/wire/svc-error.ts';

let server: Server;
let port: number;

type Answer = { readonly status: number; readonly body: unknown };

beforeAll(async () => {
  const json = createJsonReader();
  const app = new Koa();
  app.silent = true;
  app.use(async (ctx) => {
    try {
      ctx.body = { read: await json.read(ctx, { optional: ctx.path === '/optional' }) };
    } catch (error) {
      if (!isSvcError(error)) throw error;
      ctx.status = error.status;
      ctx.body = { code: error.code, param: error.param };
    }
  });
  server = createServer(app.callback());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

type Sending = {
  readonly body?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  readonly chunked?: boolean;
  readonly path?: string;
  readonly method?: string;
};

/** Writes the whole body first and reads then, as an ordinary client does. */
function send({ body, headers = {}, chunked = false, path = '/', method = 'POST' }: Sending): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const length = body === undefined || chunked ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const req = request({ port, path, method, headers: { 'content-type': 'application/json', ...length, ...headers } });
    req.on('error', reject);
    req.on('response', (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('end', () => resolve({ status: res.statusCode ?? 0, body: JSON.parse(Buffer.concat(chunks).toString()) }));
    });
    if (body !== undefined) req.write(body);
    req.end();
  });
}

describe('a body', () => {
  it.each([
    ['an object', '{"a":[1,{"b":null}]}', { a: [1, { b: null }] }],
    ['a list', '[1]', [1]],
    ['a text', '"x"', 'x'],
    ['a number', ' 1 ', 1],
    ['null', 'null', null],
    ['any language', '{"name":"Jürgen 🔑"}', { name: 'Jürgen 🔑' }],
  ])('may be JSON: %s', async (_name, body, read) => {
    expect(await send({ body })).toEqual({ status: 200, body: { read } });
    expect(await send({ body, chunked: true, method: 'PATCH' })).toEqual({ status: 200, body: { read } });
  });

  it.each([
    '{',
    '{"a":1',
    '{"a":1}}',
    "{'a':1}",
    '{"a":undefined}',
    '{a:1}',
    'a=1&b=2',
    '\u0000',
    '{"a":NaN}',
    '{"a":1,}',
  ])('that is no JSON is INVALID_JSON: %j', async (body) => {
    expect(await send({ body })).toMatchObject({ status: 400, body: { code: 'INVALID_JSON' } });
  });

  it('that is empty is INVALID_JSON, or {} where none is needed', async () => {
    const refused = { status: 400, body: { code: 'INVALID_JSON' } };
    expect(await send({})).toMatchObject(refused);
    expect(await send({ body: '' })).toMatchObject(refused);
    expect(await send({ body: '', chunked: true })).toMatchObject(refused);
    for (const sending of [{}, { body: '' }, { body: '', chunked: true }]) {
      expect(await send({ ...sending, path: '/optional' })).toEqual({ status: 200, body: { read: {} } });
    }
  });
});

describe('the content type', () => {
  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/json;charset=UTF-8',
  ])('may be %s', async (type) => {
    expect(await send({ body: '{}', headers: { 'content-type': type } })).toMatchObject({ status: 200 });
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/vnd.api+json',
    'application/jsonp',
    'text/plain; application/json',
    '',
    'nonsense',
  ])('must not be %j', async (type) => {
    for (const path of ['/', '/optional']) {
      const answer = await send({ body: '{"a":1}', headers: { 'content-type': type }, path });
      expect(answer).toMatchObject({ status: 415, body: { code: 'UNSUPPORTED_MEDIA_TYPE' } });
    }
  });
});

describe('the content encoding', () => {
  it.each(['gzip', 'deflate', 'br', 'identity, gzip', 'nonsense'])('must not be %s', async (encoding) => {
    const answer = await send({ body: gzipSync('{"a":1}'), headers: { 'content-encoding': encoding } });
    expect(answer).toMatchObject({ status: 415, body: { code: 'UNSUPPORTED_MEDIA_TYPE' } });
  });

  it('may be identity', async () => {
    expect(await send({ body: '{}', headers: { 'content-encoding': 'identity' } })).toMatchObject({ status: 200 });
  });
});

describe('the size', () => {
  const bodyOf = (bytes: number): string => `{"a":"${'x'.repeat(bytes - 8)}"}`;

  it('may be 64 KiB', async () => {
    expect(await send({ body: bodyOf(64 * 1024) })).toMatchObject({ status: 200 });
    expect(await send({ body: bodyOf(64 * 1024), chunked: true })).toMatchObject({ status: 200 });
  });

  it.each([64 * 1024 + 1, 1024 * 1024, 20 * 1024 * 1024])(
    'of %i bytes is refused, and the client gets to read it',
    async (bytes) => {
      const refused = { status: 413, body: { code: 'REQUEST_TOO_LARGE' } };
      expect(await send({ body: bodyOf(bytes) })).toMatchObject(refused);
      expect(await send({ body: bodyOf(bytes), chunked: true })).toMatchObject(refused);
    },
  );

  it('that is announced and never comes harms nobody else', async () => {
    const socket = connect(port, '127.0.0.1');
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"a"');
    expect(await send({ body: '{}' })).toMatchObject({ status: 200 });
    socket.destroy();
    await closed;
    expect(await send({ body: '{}' })).toMatchObject({ status: 200 });
  });
});

describe('keys that could reach a prototype', () => {
  it.each([
    ['__proto__', '{"__proto__":{"polluted":1}}'],
    ['__proto__', '{"a":[{"b":{"__proto__":1}}]}'],
    ['__proto__', '{"\\u005f_proto__":1}'],
    ['constructor', '{"constructor":{"x":1}}'],
    ['prototype', '{"a":{"prototype":1}}'],
  ])('are refused: %s in %s', async (param, body) => {
    expect(await send({ body })).toEqual({ status: 400, body: { code: 'INVALID_REQUEST', param } });
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('may stand in values', async () => {
    expect(await send({ body: '{"a":"__proto__"}' })).toEqual({ status: 200, body: { read: { a: '__proto__' } } });
  });
});

it.each([
  [63, 200],
  [64, 200],
  [65, 400],
  [30_000, 400],
])('nesting %i levels deep answers %i', async (depth, status) => {
  expect((await send({ body: '['.repeat(depth) + ']'.repeat(depth) })).status).toBe(status);
});

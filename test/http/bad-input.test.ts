// Bad input, row by row: the contract's error body, the field named, nothing charged, nothing sent upstream.

import { request as httpRequest } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Gateway, startGateway } from '../helpers/gateway.ts';
import { readJson } from '../helpers/read-json.ts';

let gateway: Gateway;

beforeAll(async () => {
  gateway = await startGateway();
});

afterAll(async () => {
  await gateway.close();
});

afterEach(() => {
  expect(gateway.upstream.requests).toHaveLength(0);
});

const CHAT = '/v1/chat/completions';
const MESSAGES = '/v1/messages';
const user = [{ role: 'user', content: 'Hi' }];

async function expectError(answer: Response, status: number, code: string): Promise<string> {
  const body = await readJson(answer);
  expect({ status: answer.status, code: body.error?.code }).toEqual({ status, code });
  expect(answer.headers.get('content-type')).toContain('application/json');
  expect(body.error.message).toEqual(expect.any(String));
  expect(body.error.retryable).toBe(answer.headers.get('x-should-retry') === 'true');
  expect(body.type).toBe('error');
  expect(body.request_id).toBe(answer.headers.get('x-request-id'));
  return body.error.message;
}

describe('fields', () => {
  const rows: readonly (readonly [string, string, unknown, string, string])[] = [
    ['no model', CHAT, { messages: user }, 'INVALID_REQUEST', 'model'],
    ['model of the wrong type', CHAT, { model: 7, messages: user }, 'INVALID_REQUEST', 'model'],
    ['no messages', CHAT, { model: 'svc:auto' }, 'INVALID_REQUEST', 'messages'],
    ['messages not an array', CHAT, { model: 'svc:auto', messages: 'Hi' }, 'INVALID_REQUEST', 'messages'],
    ['empty messages', CHAT, { model: 'svc:auto', messages: [] }, 'INVALID_REQUEST', 'messages'],
    ['a message without role', CHAT, { model: 'svc:auto', messages: [{ content: 'Hi' }] }, 'INVALID_REQUEST', 'role'],
    [
      'an unknown role',
      CHAT,
      { model: 'svc:auto', messages: [{ role: 'robot', content: 'Hi' }] },
      'INVALID_REQUEST',
      'role',
    ],
    [
      'content of the wrong type',
      CHAT,
      { model: 'svc:auto', messages: [{ role: 'user', content: 5 }] },
      'INVALID_REQUEST',
      'content',
    ],
    [
      'temperature over 2',
      CHAT,
      { model: 'svc:auto', messages: user, temperature: 2.1 },
      'INVALID_REQUEST',
      'temperature',
    ],
    [
      'temperature below 0',
      CHAT,
      { model: 'svc:auto', messages: user, temperature: -0.1 },
      'INVALID_REQUEST',
      'temperature',
    ],
    ['max_tokens of 0', CHAT, { model: 'svc:auto', messages: user, max_tokens: 0 }, 'INVALID_REQUEST', 'max_tokens'],
    [
      'max_tokens as text',
      CHAT,
      { model: 'svc:auto', messages: user, max_tokens: '5' },
      'INVALID_REQUEST',
      'max_tokens',
    ],
    ['stream as text', CHAT, { model: 'svc:auto', messages: user, stream: 'yes' }, 'INVALID_REQUEST', 'stream'],
    ['tools not an array', CHAT, { model: 'svc:auto', messages: user, tools: {} }, 'INVALID_REQUEST', 'tools'],
    [
      'a tool without name',
      CHAT,
      { model: 'svc:auto', messages: user, tools: [{ type: 'function', function: {} }] },
      'INVALID_REQUEST',
      'name',
    ],
    ['an unknown model', CHAT, { model: 'gpt-unknown', messages: user }, 'INVALID_MODEL', 'gpt-unknown'],
    ['an unknown virtual model', CHAT, { model: 'svc:bets', messages: user }, 'INVALID_MODEL', 'svc:best'],
    [
      'a fallback list',
      CHAT,
      { model: 'svc:auto', messages: user, models: ['test/good'] },
      'UNSUPPORTED_FEATURE',
      'models',
    ],
    ['svc not an object', CHAT, { model: 'svc:auto', messages: user, svc: 1 }, 'INVALID_REQUEST', 'svc'],
    [
      'an unknown svc option',
      CHAT,
      { model: 'svc:auto', messages: user, svc: { wieghts: {} } },
      'INVALID_REQUEST',
      'svc.wieghts',
    ],
    [
      'a negative weight',
      CHAT,
      { model: 'svc:auto', messages: user, svc: { weights: { speed: -1 } } },
      'INVALID_REQUEST',
      'svc.weights.speed',
    ],
    [
      'max_cost that nothing meets',
      CHAT,
      { model: 'svc:auto', messages: user, svc: { max_cost: '0' } },
      'MODEL_NOT_ALLOWED',
      'cost',
    ],
    ['no max_tokens in Messages', MESSAGES, { model: 'svc:auto', messages: user }, 'INVALID_REQUEST', 'max_tokens'],
    [
      'temperature over 1 in Messages',
      MESSAGES,
      { model: 'svc:auto', max_tokens: 9, messages: user, temperature: 1.1 },
      'INVALID_REQUEST',
      'temperature',
    ],
    [
      'a system prompt of the wrong type',
      MESSAGES,
      { model: 'svc:auto', max_tokens: 9, messages: user, system: 4 },
      'INVALID_REQUEST',
      'system',
    ],
    [
      'an image without source',
      MESSAGES,
      { model: 'svc:auto', max_tokens: 9, messages: [{ role: 'user', content: [{ type: 'image' }] }] },
      'INVALID_REQUEST',
      'source',
    ],
    [
      'a server tool',
      MESSAGES,
      { model: 'svc:auto', max_tokens: 9, messages: user, tools: [{ type: 'code_execution_20250522', name: 'x' }] },
      'UNSUPPORTED_FEATURE',
      'code_execution',
    ],
  ];

  it.each(rows)('%s', async (_name, path, body, code, said) => {
    const status = code === 'MODEL_NOT_ALLOWED' ? 403 : 400;
    expect(await expectError(await gateway.post(path, body), status, code)).toContain(said);
  });

  it.each([CHAT, MESSAGES, '/v1/route'])('broken JSON at %s', async (path) => {
    await expectError(await gateway.post(path, '{"model":'), 400, 'INVALID_JSON');
    await expectError(await gateway.post(path, ''), 400, 'INVALID_JSON');
    await expectError(await gateway.post(path, '[]'), 400, 'INVALID_REQUEST');
    await expectError(await gateway.post(path, `${'{"a":'.repeat(100)}1${'}'.repeat(100)}`), 400, 'INVALID_JSON');
  });

  it.each(['model', 'max_tokens', 'n', 'messages'])('%s given twice', async (field) => {
    const value = field === 'messages' ? JSON.stringify(user) : field === 'model' ? '"test/cheap"' : '1';
    const body = `{"model":"test/cheap","messages":${JSON.stringify(user)},"max_tokens":5,"n":1,"${field}":${value}}`;
    expect(await expectError(await gateway.post(CHAT, body), 400, 'INVALID_REQUEST')).toContain(field);
  });

  it('bytes that are not UTF-8', async () => {
    const answer = await fetch(gateway.daemon.url + CHAT, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.daemon.key}` },
      body: Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
    });
    await expectError(answer, 400, 'INVALID_JSON');
  });
});

describe('credentials', () => {
  it.each([
    ['none', {}, 'MISSING_API_KEY'],
    ['an empty bearer', { authorization: 'Bearer ' }, 'MISSING_API_KEY'],
    ['another scheme', { authorization: 'Basic abc' }, 'MISSING_API_KEY'],
    ['a made-up key', { authorization: 'Bearer svc_sk_abc' }, 'INVALID_API_KEY'],
    ['a key of the right shape', { 'x-api-key': `svc_sk_${'a'.repeat(49)}` }, 'INVALID_API_KEY'],
    ['SQL', { 'x-api-key': "' OR 1=1 --" }, 'INVALID_API_KEY'],
  ])('%s: %j', async (_name, headers, code) => {
    for (const [method, path] of [
      ['POST', CHAT],
      ['POST', MESSAGES],
      ['GET', '/v1/models'],
      ['POST', '/v1/route'],
    ] as const) {
      const answer = await fetch(gateway.daemon.url + path, {
        method,
        headers: { 'content-type': 'application/json', ...(headers as Record<string, string>) },
        ...(method === 'POST' ? { body: JSON.stringify({ model: 'svc:auto', messages: user, max_tokens: 5 }) } : {}),
      });
      await expectError(answer, 401, code);
    }
  });

  it.each([
    ['Authorization: Bearer', (key: string) => ({ authorization: `Bearer ${key}` })],
    ['bearer in lower case', (key: string) => ({ authorization: `bearer ${key}` })],
    ['x-api-key', (key: string) => ({ 'x-api-key': key })],
  ])('%s is taken on every /v1 route', async (_name, headers) => {
    for (const [method, path] of [
      ['GET', '/v1/models'],
      ['POST', '/v1/route'],
    ] as const) {
      const answer = await fetch(gateway.daemon.url + path, {
        method,
        headers: { 'content-type': 'application/json', ...headers(gateway.daemon.key) },
        ...(method === 'POST' ? { body: JSON.stringify({ model: 'svc:auto', messages: user }) } : {}),
      });
      expect(answer.status).toBe(200);
    }
  });
});

describe('transport', () => {
  it('an unknown route', async () => {
    await expectError(await gateway.post('/v1/nothing', {}), 404, 'NOT_FOUND');
    await expectError(await fetch(`${gateway.daemon.url}/nothing`), 404, 'NOT_FOUND');
  });

  it.each([
    ['GET', CHAT, 'POST'],
    ['DELETE', '/v1/models', 'GET'],
    ['PUT', '/healthz', 'GET'],
  ])('%s %s is not allowed and says what is', async (method, path, allowed) => {
    const answer = await fetch(gateway.daemon.url + path, { method });
    expect(answer.headers.get('allow')).toContain(allowed);
    await expectError(answer, 405, 'METHOD_NOT_ALLOWED');
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])(
    'a body of type %s',
    async (type) => {
      await expectError(await gateway.post(CHAT, '{}', { 'content-type': type }), 415, 'UNSUPPORTED_MEDIA_TYPE');
    },
  );

  it('an encoded body', async () => {
    await expectError(await gateway.post(CHAT, '{}', { 'content-encoding': 'gzip' }), 415, 'UNSUPPORTED_MEDIA_TYPE');
  });

  it('an Accept that nothing meets', async () => {
    await expectError(
      await gateway.post(CHAT, { model: 'svc:auto', messages: user }, { accept: 'image/png' }),
      406,
      'NOT_ACCEPTABLE',
    );
  });

  it.each(['with', 'without'])('a body over 32 MiB, %s a length', async (way) => {
    const bytes = Buffer.alloc(33 * 1024 * 1024, 0x20);
    const body = way === 'with' ? bytes : new Blob([bytes]).stream();
    const answer = await fetch(gateway.daemon.url + CHAT, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.daemon.key}` },
      body,
      duplex: 'half',
    } as RequestInit);
    await expectError(answer, 413, 'REQUEST_TOO_LARGE');
  });

  it.each(['evil.test', '127.0.0.1.evil.test', 'evil@127.0.0.1', 'localhost', '0.0.0.0:1'])(
    'the Host %s',
    async (host) => {
      const body = await new Promise<string>((resolve, reject) => {
        const req = httpRequest(`${gateway.daemon.url}/healthz`, { headers: { host } }, (res) => {
          expect(res.statusCode).toBe(421);
          let text = '';
          res.on('data', (chunk) => {
            text += chunk;
          });
          res.on('end', () => resolve(text));
        });
        req.on('error', reject);
        req.end();
      });
      expect(JSON.parse(body).error.code).toBe('MISDIRECTED_REQUEST');
    },
  );

  it.each([{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.test' }, { origin: 'null' }])(
    'a web page of another origin: %j',
    async (headers) => {
      const status = await new Promise<number>((resolve, reject) => {
        const req = httpRequest(
          `${gateway.daemon.url}/v1/models`,
          { headers: { ...headers, authorization: `Bearer ${gateway.daemon.key}` } as Record<string, string> },
          (res) => {
            res.resume();
            resolve(res.statusCode ?? 0);
          },
        );
        req.on('error', reject);
        req.end();
      });
      expect(status).toBe(403);
    },
  );
});

it('nothing of all this was charged', async () => {
  const { charged, held } = await gateway.balance();
  expect({ charged, held }).toEqual({ charged: '0', held: '0' });
});

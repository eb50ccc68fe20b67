// What comes over the socket without being an ordinary request: every answer has the contract's body, the log stays NDJSON.

import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Gateway, startGateway } from '../helpers/gateway.ts';

let gateway: Gateway;

beforeAll(async () => {
  gateway = await startGateway({ env: { SVC_LOG_LEVEL: 'debug' } });
});

afterAll(async () => {
  await gateway.close();
});

type Raw = { readonly socket: Socket; text(): string; readonly closed: Promise<void> };

function open(sent: string): Raw {
  const { hostname, port } = new URL(gateway.daemon.url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  socket.on('error', () => undefined);
  socket.on('end', () => socket.end());
  socket.write(sent);
  return { socket, text: () => text, closed: new Promise((resolve) => socket.once('close', () => resolve())) };
}

const host = () => new URL(gateway.daemon.url).host;
const head = (path: string, rest: string, method = 'POST') =>
  `${method} ${path} HTTP/1.1\r\nhost: ${host()}\r\ncontent-type: application/json\r\n${rest}\r\n\r\n`;
const key = () => `authorization: Bearer ${gateway.daemon.key}`;
const CHAT = '/v1/chat/completions';
const BODY = JSON.stringify({ model: 'test/cheap', messages: [{ role: 'user', content: 'Hi' }] });

/** Status and error body of the last answer in a text. */
function answerIn(text: string) {
  const answer = text.slice(text.lastIndexOf('HTTP/1.1'));
  return {
    status: Number(answer.slice(9, 12)),
    close: /^connection: close\r$/im.test(answer),
    body: JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)) as unknown,
  };
}

describe('the error body of the contract answers', () => {
  const rows: readonly (readonly [string, () => string, number, string])[] = [
    ['garbage', () => 'hello\r\n\r\n', 400, 'INVALID_REQUEST'],
    ['a TLS greeting', () => '\x16\x03\x01\x02\x00\x01\x00\x01', 400, 'INVALID_REQUEST'],
    ['an expectation', () => head(CHAT, `${key()}\r\nexpect: banana`), 400, 'INVALID_REQUEST'],
    ['a large head', () => head(CHAT, `x: ${'y'.repeat(20_000)}`), 431, 'REQUEST_TOO_LARGE'],
    ['CONNECT', () => `CONNECT evil.test:443 HTTP/1.1\r\nhost: evil.test:443\r\n\r\n`, 405, 'METHOD_NOT_ALLOWED'],
    ['two lengths', () => head(CHAT, 'content-length: 1\r\ncontent-length: 2'), 400, 'INVALID_REQUEST'],
    ['a broken chunk', () => `${head(CHAT, `${key()}\r\ntransfer-encoding: chunked`)}zz\r\n`, 400, 'INVALID_REQUEST'],
    ['no Host', () => 'GET /healthz HTTP/1.1\r\nconnection: close\r\n\r\n', 400, 'INVALID_REQUEST'],
    ['garbage after an answer', () => `${head('/healthz', 'a: b', 'GET')}`, 400, 'INVALID_REQUEST'],
  ];

  it.each(rows)('%s', async (name, sent, status, code) => {
    const raw = open(sent());
    if (name.endsWith('an answer')) {
      await expect.poll(raw.text).toContain('"ok"');
      raw.socket.write('garbage\r\n\r\n');
    }
    await raw.closed;
    expect(answerIn(raw.text())).toMatchObject({
      status,
      close: true,
      body: { type: 'error', error: { type: expect.any(String), code, message: expect.any(String), retryable: false } },
    });
  });
});

describe('early refusals', () => {
  it.each([
    ['a length over the limit', () => head(CHAT, `${key()}\r\ncontent-length: 99999999999`), 413, 'REQUEST_TOO_LARGE'],
    ['no credential, at a completion', () => head(CHAT, 'content-length: 9999'), 401, 'MISSING_API_KEY'],
    ['no credential, at a dry run', () => head('/v1/route', 'content-length: 9999'), 401, 'MISSING_API_KEY'],
    ['no such route', () => head('/nothing', 'content-length: 9999'), 404, 'NOT_FOUND'],
    ['a type', () => head(CHAT, `accept: image/png\r\ncontent-length: 9999`), 406, 'NOT_ACCEPTABLE'],
  ])('for %s come before the body, and the client may go on writing', async (_name, sent, status, code) => {
    const raw = open(sent());
    await expect.poll(raw.text).toContain(code);
    expect(answerIn(raw.text())).toMatchObject({ status, close: true });
    for (let round = 0; round < 3; round += 1) {
      const failed = await new Promise((resolve) => raw.socket.write('x'.repeat(1000), resolve));
      expect(failed ?? undefined).toBeUndefined();
    }
    expect(raw.socket.readableEnded).toBe(false);
    raw.socket.destroy();
  });

  it('close the connection of a client that sends nothing more', async () => {
    const raw = open(head(CHAT, 'content-length: 9999'));
    await raw.closed;
    expect(answerIn(raw.text()).status).toBe(401);
  });
});

it.each(['HTTP/1.1', 'HTTP/1.0'])('a client of %s that leaves before the answer is noticed', async (version) => {
  const seen = gateway.upstream.requests.length;
  gateway.upstream.queue({ ending: 'hang' });
  const raw = open(head(CHAT, `${key()}\r\ncontent-length: ${BODY.length}`).replace('HTTP/1.1', version) + BODY);
  const arrived = await gateway.upstream.arrived(seen + 1);
  raw.socket.destroy();
  expect(await arrived.closed).toBe('early');
});

it('standard error is NDJSON after all of this, and none of it was a fault of the daemon', async () => {
  for (const framing of ['content-length: 9999', 'transfer-encoding: chunked']) {
    const raw = open(`${head(CHAT, `${key()}\r\n${framing}`)}5\r\nhello\r\n`);
    await new Promise((resolve) => raw.socket.once('connect', resolve));
    raw.socket.resetAndDestroy();
  }
  gateway.upstream.queue({ status: 400, json: {} }, { status: 500, json: { error: { message: 'echo of a prompt' } } });
  await gateway.post(CHAT, BODY);
  const answer = await gateway.post(CHAT, BODY);
  const requestId = answer.headers.get('x-request-id');
  const lines = () => gateway.daemon.stderr().split('\n').filter(Boolean);
  await expect.poll(() => lines().filter((line) => line.includes(String(requestId))).length).toBeGreaterThan(0);
  const entries = lines().map((line) => JSON.parse(line) as Record<string, unknown>);
  const errors = entries.filter(({ level }) => level === 'error');
  expect(errors).toEqual([expect.objectContaining({ requestId, code: 'UPSTREAM_ERROR', status: 502 })]);
  expect(lines().join('\n')).not.toContain('echo of a prompt');
});

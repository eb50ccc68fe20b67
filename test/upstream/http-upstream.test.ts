import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHttpUpstream, type HttpUpstreamOptions } from '../../src/upstream/http-upstream.ts';
import type {
  Upstream,
  UpstreamCall,
  UpstreamControl,
  UpstreamFailure,
  UpstreamTimeouts,
} from '../../src/upstream/upstream.ts';
import {
  chatAnswer,
  chatEvents,
  type FakeReply,
  type FakeUpstream,
  startFakeUpstream,
} from '../helpers/fake-upstream.ts';

const TIMEOUTS: UpstreamTimeouts = { connectMs: 5000, firstEventMs: 5000, idleMs: 5000 };
const KEY = 'sk-upstream-secret';

type Seen = {
  status?: number;
  headers?: Readonly<Record<string, string>>;
  text: string;
  chunks: number;
  end: 'end' | 'failure' | undefined;
  terminals: number;
  failure?: UpstreamFailure;
};
type Started = { seen: Seen; over: Promise<Seen>; head: Promise<UpstreamControl>; abort: () => void };

function start(upstream: Upstream, overrides: Partial<UpstreamCall> = {}, onChunk?: (seen: Seen) => void): Started {
  const seen: Seen = { text: '', chunks: 0, end: undefined, terminals: 0 };
  let headCame: (control: UpstreamControl) => void = () => {};
  const head = new Promise<UpstreamControl>((resolve) => {
    headCame = resolve;
  });
  let abort = (): void => {};
  const over = new Promise<Seen>((resolve) => {
    const call = { path: '/chat/completions', body: Buffer.from('{"model":"m"}'), headers: {}, timeouts: TIMEOUTS };
    abort = upstream.send(
      { ...call, ...overrides },
      {
        onHead(status, headers, control) {
          Object.assign(seen, { status, headers });
          headCame(control);
        },
        onData(chunk) {
          seen.text += chunk.toString('utf8');
          seen.chunks += 1;
          onChunk?.(seen);
        },
        onEnd() {
          seen.end = 'end';
          seen.terminals += 1;
          resolve(seen);
        },
        onFailure(failure) {
          seen.end = 'failure';
          seen.failure = failure;
          seen.terminals += 1;
          resolve(seen);
        },
      },
    );
  });
  return { seen, over, head, abort };
}

function upstreamAt(baseUrl: string, options: Partial<HttpUpstreamOptions> = {}): Upstream {
  return createHttpUpstream({
    name: 'test',
    baseUrl,
    apiKey: KEY,
    formats: ['chat'],
    dialect: 'openrouter',
    ...options,
  });
}

const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

let fake: FakeUpstream;
let upstream: Upstream;
beforeEach(async () => {
  fake = await startFakeUpstream();
  upstream = upstreamAt(fake.url);
});
afterEach(async () => {
  await fake.close();
  await upstream.close();
});

describe('a call that goes well', () => {
  it('posts the body under the base path with the credential and gives back status, headers and bytes', async () => {
    const body = Buffer.from('{"model":"test/good"}');
    const seen = await start(upstream, { body, headers: { 'x-title': 'svc' } }).over;
    expect(seen).toMatchObject({ status: 200, end: 'end', terminals: 1 });
    expect(seen.headers?.['content-type']).toBe('application/json');
    expect(JSON.parse(seen.text)).toMatchObject({ model: 'test/good' });
    const [request] = fake.requests;
    expect(request?.path).toBe('/api/v1/chat/completions');
    expect(request?.method).toBe('POST');
    expect(request?.body.equals(body)).toBe(true);
    expect(request?.headers).toMatchObject({
      authorization: `Bearer ${KEY}`,
      'content-type': 'application/json',
      'accept-encoding': 'identity',
      'content-length': String(body.length),
      'x-title': 'svc',
    });
  });

  it('passes the chunks of a stream on as they come, without a stream in between', async () => {
    const gates = [gate(), gate()];
    fake.respond(() => ({
      sse: ['data: 1\n\n', gates[0]?.promise ?? 0, 'data: 2\n\n', gates[1]?.promise ?? 0, 'data: 3\n\n'],
    }));
    const seen = await start(upstream, {}, ({ chunks }) => gates[chunks - 1]?.resolve()).over;
    expect(seen).toMatchObject({ end: 'end', chunks: 3, text: 'data: 1\n\ndata: 2\n\ndata: 3\n\n' });
  });

  it('lower-cases header names, joins repeated ones and calls nothing before send has returned', async () => {
    fake.respond(() => ({ json: {}, headers: { 'X-Request-ID': 'r1', 'Retry-After': '3' } }));
    const seen = await start(upstream).over;
    expect(seen.headers).toMatchObject({ 'x-request-id': 'r1', 'retry-after': '3' });
  });

  it('reuses one connection for calls in a row and holds at most maxConnections', async () => {
    for (let i = 0; i < 3; i++) {
      await start(upstream).over;
      await settle();
    }
    expect(fake.connections()).toBe(1);
    const narrow = upstreamAt(fake.url, { maxConnections: 2 });
    await Promise.all([1, 2, 3, 4, 5].map(() => start(narrow).over));
    expect(fake.connections()).toBe(3);
    await narrow.close();
  });

  it('sends no credential where there is none, and never lets a caller set one', async () => {
    const open = upstreamAt(fake.url, { apiKey: undefined });
    const headers = {
      authorization: 'Bearer client-key',
      'x-api-key': 'client-key',
      host: 'evil.test',
      'transfer-encoding': 'chunked',
      'accept-encoding': 'gzip',
      'x-bad': 'a\r\nb: c',
      'x-wide': 'Ā',
      'x-good': 'yes',
    };
    expect(await start(open, { headers }).over).toMatchObject({ status: 200 });
    const sent = fake.requests[0]?.headers;
    expect(sent).toMatchObject({ 'x-good': 'yes', 'accept-encoding': 'identity', host: new URL(fake.url).host });
    for (const name of ['authorization', 'x-api-key', 'transfer-encoding', 'x-bad', 'x-wide', 'b']) {
      expect(sent).not.toHaveProperty(name);
    }
    await open.close();
  });

  it('does not follow a redirect: the key stays with its origin', async () => {
    const other = await startFakeUpstream();
    fake.respond(() => ({ status: 307, headers: { location: `${other.url}/chat/completions` } }));
    expect(await start(upstream).over).toMatchObject({ status: 307, end: 'end' });
    expect(other.requests).toHaveLength(0);
    await other.close();
  });

  it.each([400, 401, 404, 429, 500, 529])('gives a %i back as its status and body', async (status) => {
    fake.respond(() => ({ status, json: { error: { message: 'no' } } }));
    expect(await start(upstream).over).toMatchObject({ status, end: 'end', text: '{"error":{"message":"no"}}' });
  });
});

type Fault = {
  does: string;
  reply: FakeReply;
  timeouts?: Partial<UpstreamTimeouts>;
  code: UpstreamFailure['code'];
  says: RegExp;
  status?: number;
};
const FAULTS: readonly Fault[] = [
  { does: 'resets before the head', reply: { ending: 'reset' }, code: 'UPSTREAM_ERROR', says: /before it answered/ },
  { does: 'closes before the head', reply: { ending: 'cut' }, code: 'UPSTREAM_ERROR', says: /before it answered/ },
  {
    does: 'never answers',
    reply: { ending: 'hang' },
    timeouts: { firstEventMs: 50 },
    code: 'UPSTREAM_TIMEOUT',
    says: /did not begin its answer in time/,
  },
  {
    does: 'falls silent after the first chunk',
    reply: { sse: ['data: 1\n\n'], ending: 'hang' },
    timeouts: { idleMs: 50 },
    code: 'UPSTREAM_TIMEOUT',
    says: /fell silent/,
    status: 200,
  },
  {
    does: 'resets in the middle',
    reply: { sse: ['data: 1\n\n'], ending: 'reset' },
    code: 'UPSTREAM_ERROR',
    says: /in the middle/,
    status: 200,
  },
  {
    does: 'closes in the middle',
    reply: { sse: ['data: 1\n\n'], ending: 'cut' },
    code: 'UPSTREAM_ERROR',
    says: /in the middle/,
    status: 200,
  },
  {
    does: 'sends less than its content-length',
    reply: { raw: ['data: 1\n\n'], headers: { 'content-length': '100' }, ending: 'cut' },
    code: 'UPSTREAM_ERROR',
    says: /in the middle/,
    status: 200,
  },
  {
    does: 'sends headers over the limit',
    reply: { json: {}, headers: { 'x-huge': 'x'.repeat(40_000) } },
    code: 'UPSTREAM_INVALID_RESPONSE',
    says: /headers over the limit/,
  },
  {
    does: 'compresses although it was asked not to',
    reply: { raw: ['x'], headers: { 'content-encoding': 'gzip' } },
    code: 'UPSTREAM_INVALID_RESPONSE',
    says: /compressed/,
  },
];

describe('an upstream that fails', () => {
  it.each(FAULTS)('is reported when it $does', async ({ reply, timeouts, code, says, status }) => {
    fake.respond(() => reply);
    const started = start(upstream, { timeouts: { ...TIMEOUTS, ...timeouts } });
    const { failure, ...seen } = await started.over;
    expect(failure).toMatchObject({ code, sent: true });
    expect(failure?.message).toMatch(says);
    expect(failure?.message).toContain(new URL(fake.url).host);
    expect(failure?.message).not.toContain(KEY);
    expect(seen).toMatchObject({ end: 'failure', text: status === undefined ? '' : 'data: 1\n\n' });
    expect(seen.status).toBe(status);
    expect(fake.requests).toHaveLength(1);
    await settle();
    expect(started.seen.terminals).toBe(1);
    expect(await start(upstreamThatStillWorks()).over).toMatchObject({ status: 200, end: 'end' });
  });

  function upstreamThatStillWorks(): Upstream {
    fake.respond(() => ({ json: chatAnswer() }));
    return upstream;
  }

  it.each([
    ['refuses the connection', 'http://127.0.0.1:1/v1', 'UPSTREAM_ERROR', /refused the connection/],
    ['does not exist', 'https://no-such-host.invalid/v1', 'UPSTREAM_ERROR', /host name/],
  ] as const)('is reported as not sent when it %s', async (_, url, code, says) => {
    const broken = upstreamAt(url);
    const { failure, terminals } = await start(broken).over;
    expect(failure).toMatchObject({ code, sent: false });
    expect(failure?.message).toMatch(says);
    expect(terminals).toBe(1);
    await broken.close();
  });

  it('is reported as not sent when TLS cannot be set up', async () => {
    const broken = upstreamAt(fake.url.replace('http:', 'https:'));
    const { failure } = await start(broken).over;
    expect(failure).toMatchObject({ code: 'UPSTREAM_ERROR', sent: false });
    expect(failure?.message).toMatch(/TLS/);
    expect(fake.requests).toHaveLength(0);
    await broken.close();
  });

  it('is reported as not sent when no connection is free within connectMs', async () => {
    fake.respond(() => ({ ending: 'hang' }));
    const narrow = upstreamAt(fake.url, { maxConnections: 1 });
    const first = start(narrow);
    await fake.arrived(1);
    const { failure } = await start(narrow, { timeouts: { ...TIMEOUTS, connectMs: 30 } }).over;
    expect(failure).toMatchObject({ code: 'UPSTREAM_TIMEOUT', sent: false });
    expect(failure?.message).toMatch(/no connection .* within 30 ms/);
    expect(fake.requests).toHaveLength(1);
    first.abort();
    await narrow.close();
  });

  it.each([
    ['speaks no HTTP', 'SSH-2.0-OpenSSH_9\r\n', /not HTTP/],
    ['sends a broken head', 'HTTP/1.1 abc\r\n\r\n', /not HTTP/],
  ])('is reported when it %s', async (_, bytes, says) => {
    const raw = await startRaw((socket) => onRequest(socket, () => socket.write(bytes)));
    const broken = upstreamAt(raw.url);
    const { failure } = await start(broken).over;
    expect(failure).toMatchObject({ code: 'UPSTREAM_INVALID_RESPONSE', sent: true });
    expect(failure?.message).toMatch(says);
    await broken.close();
    raw.close();
  });

  it('is not confused by an informational head before the real one', async () => {
    const raw = await startRaw((socket) =>
      onRequest(socket, () =>
        socket.write(
          'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\nx-a: 1\r\nx-a: 2\r\n\r\nok',
        ),
      ),
    );
    const hinting = upstreamAt(raw.url);
    const seen = await start(hinting).over;
    expect(seen).toMatchObject({ status: 200, text: 'ok', end: 'end' });
    expect(seen.headers?.['x-a']).toBe('1, 2');
    await hinting.close();
    raw.close();
  });

  it('gets the error of a reader that throws as a failure, and the connection is closed', async () => {
    fake.respond(() => ({ sse: ['data: 1\n\n'], ending: 'hang' }));
    const { failure } = await start(upstream, {}, () => {
      throw new Error('reader broke');
    }).over;
    expect(failure?.cause).toMatchObject({ message: 'reader broke' });
    expect(await fake.requests[0]?.closed).toBe('early');
  });
});

describe('aborting', () => {
  it('before a connection is there sends nothing and calls nothing', async () => {
    const { seen, abort } = start(upstream);
    abort();
    abort();
    await start(upstream).over;
    expect(seen).toEqual({ text: '', chunks: 0, end: undefined, terminals: 0 });
    expect(fake.requests).toHaveLength(1);
  });

  it('before the head closes the connection at once', async () => {
    fake.respond(() => ({ ending: 'hang' }));
    const { seen, abort } = start(upstream);
    const request = await fake.arrived(1);
    abort();
    expect(await request.closed).toBe('early');
    expect(seen.terminals).toBe(0);
  });

  it('after the head, by the control or the returned function, calls nothing more', async () => {
    fake.respond(() => ({ sse: chatEvents({ text: 'one two three' }).slice(0, 2), ending: 'hang' }));
    for (const way of ['control', 'function'] as const) {
      const started = start(upstream);
      const control = await started.head;
      if (way === 'control') control.abort();
      else started.abort();
      expect(await fake.requests.at(-1)?.closed).toBe('early');
      await settle();
      expect(started.seen.terminals).toBe(0);
    }
  });

  it('after the end does nothing to the next call on the same connection', async () => {
    const first = start(upstream);
    const control = await first.head;
    await first.over;
    await settle();
    const hold = gate();
    fake.respond(() => ({ sse: ['a', hold.promise, 'b'] }));
    const second = start(upstream);
    await second.head;
    control.pause();
    control.resume();
    control.abort();
    first.abort();
    hold.resolve();
    expect(await second.over).toMatchObject({ text: 'ab', end: 'end' });
    expect(fake.connections()).toBe(1);
  });
});

describe('back-pressure', () => {
  it('stops reading while paused, stays patient, and goes on where it was', async () => {
    const piece = Buffer.alloc(256 * 1024, 'x');
    fake.respond(() => ({
      raw: Array.from({ length: 64 }, () => piece),
    }));
    const started = start(upstream, { timeouts: { ...TIMEOUTS, idleMs: 100 } });
    const control = await started.head;
    control.pause();
    // Longer than the idle limit: silence that the reader asked for is not the upstream's.
    await new Promise((resolve) => setTimeout(resolve, 1200));
    const received = started.seen.text.length;
    expect(received).toBeLessThan(4 * piece.length);
    control.resume();
    const seen = await started.over;
    expect(seen.end).toBe('end');
    expect(seen.text.length).toBe(64 * piece.length);
  });
});

describe('the keep-alive race', () => {
  it('is repeated once, on a new connection, without the caller seeing anything', async () => {
    const raw = await startRaw(staleAfterFirst());
    const racing = upstreamAt(raw.url);
    expect(await start(racing).over).toMatchObject({ end: 'end', text: 'ok' });
    await settle();
    expect(await start(racing).over).toMatchObject({ end: 'end', text: 'ok', terminals: 1 });
    expect(raw.connections()).toBe(2);
    await racing.close();
    raw.close();
  });

  it('is not assumed on a connection that never answered', async () => {
    const raw = await startRaw((socket) => onRequest(socket, () => socket.resetAndDestroy()));
    const racing = upstreamAt(raw.url);
    expect(await start(racing).over).toMatchObject({ failure: { code: 'UPSTREAM_ERROR', sent: true } });
    expect(raw.connections()).toBe(1);
    await racing.close();
    raw.close();
  });

  it('is not assumed once a byte of the answer has come', async () => {
    const raw = await startRaw((socket) => {
      onRequest(socket, (requests) => {
        if (requests === 1) socket.write(OK);
        else socket.write('HTTP/1.1 200', () => setTimeout(() => socket.resetAndDestroy(), 20));
      });
    });
    const racing = upstreamAt(raw.url);
    await start(racing).over;
    await settle();
    expect(await start(racing).over).toMatchObject({ failure: { code: 'UPSTREAM_ERROR', sent: true } });
    expect(raw.connections()).toBe(1);
    await racing.close();
    raw.close();
  });

  it('is repeated only once', async () => {
    let sockets = 0;
    const raw = await startRaw((socket) => {
      sockets += 1;
      const first = sockets === 1;
      onRequest(socket, (requests) => {
        if (first && requests === 1) socket.write(OK);
        else socket.resetAndDestroy();
      });
    });
    const racing = upstreamAt(raw.url);
    await start(racing).over;
    await settle();
    expect(await start(racing).over).toMatchObject({ failure: { code: 'UPSTREAM_ERROR', sent: true }, terminals: 1 });
    expect(raw.connections()).toBe(2);
    await racing.close();
    raw.close();
  });

  it('is not repeated for a call that was aborted meanwhile', async () => {
    let second = (): void => {};
    const arrived = new Promise<void>((resolve) => {
      second = resolve;
    });
    let requests = 0;
    const raw = await startRaw((socket) =>
      onRequest(socket, () => {
        requests += 1;
        if (requests === 1) socket.write(OK);
        else second();
      }),
    );
    const racing = upstreamAt(raw.url);
    await start(racing).over;
    await settle();
    const { abort, seen } = start(racing);
    await arrived;
    abort();
    await settle();
    expect(requests).toBe(2);
    expect(seen.terminals).toBe(0);
    await racing.close();
    raw.close();
  });
});

describe('closing', () => {
  it('lets running calls end and refuses new ones, not within send itself', async () => {
    const hold = gate();
    fake.respond(() => ({ sse: ['a', hold.promise, 'b'] }));
    const running = start(upstream);
    await running.head;
    const closed = upstream.close();
    const late = start(upstream);
    expect(late.seen.end).toBeUndefined();
    expect(await late.over).toMatchObject({ failure: { code: 'UPSTREAM_ERROR', sent: false } });
    hold.resolve();
    expect(await running.over).toMatchObject({ text: 'ab', end: 'end' });
    await closed;
    await upstream.close();
  });

  it('resolves at once when nothing runs and when the last call is aborted', async () => {
    fake.respond(() => ({ ending: 'hang' }));
    const { abort } = start(upstream);
    await fake.arrived(1);
    const closed = upstream.close();
    abort();
    await closed;
  });
});

describe('the options', () => {
  it.each([
    ['not a url', /not a URL/],
    ['ftp://example.com', /https:\/\//],
    ['http://example.com/v1', /must be reached over https/],
    ['http://10.0.0.5/v1', /must be reached over https/],
    ['http://127.0.0.1.evil.test/v1', /must be reached over https/],
    ['https://user:pass@example.com/v1', /user name or password/],
    ['https://example.com/v1?x=1', /without "\?" or "#"/],
    ['https://example.com/v1#', /without "\?" or "#"/],
  ])('refuse the base URL %s', (baseUrl, says) => {
    expect(() => upstreamAt(baseUrl)).toThrow(says);
    expect(() => upstreamAt(baseUrl)).not.toThrow(/user:|:pass|x=1/);
  });

  it('refuse a key that would break the request, without repeating it', () => {
    expect(() => upstreamAt('https://example.com', { apiKey: 'a\r\nx: y' })).toThrow(/API key holds characters/);
    expect(() => upstreamAt('https://example.com', { apiKey: 'secret key' })).not.toThrow(/secret key/);
  });

  it('are shown as the upstream’s own', () => {
    expect(upstreamAt('http://localhost:1')).toMatchObject({
      name: 'test',
      formats: ['chat'],
      dialect: 'openrouter',
      takesSandboxField: false,
    });
    expect(upstreamAt('http://[::1]:1/', { takesSandboxField: true }).takesSandboxField).toBe(true);
  });
});

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

/** Every connection answers its first request and resets at the second, as a server does whose idle limit just ran out. */
function staleAfterFirst(): (socket: Socket) => void {
  return (socket) => {
    onRequest(socket, (requests) => {
      if (requests === 1) socket.write(OK);
      else socket.resetAndDestroy();
    });
  };
}

/** Calls back with the number of the request on this connection once its head and its body are there. */
function onRequest(socket: Socket, call: (n: number) => void): void {
  let requests = 0;
  socket.on('data', (bytes) => {
    if (!bytes.toString('utf8').endsWith('}')) return;
    requests += 1;
    call(requests);
  });
}

function gate(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((open) => {
    resolve = open;
  });
  return { promise, resolve: () => resolve() };
}

async function startRaw(onSocket: (socket: Socket) => void) {
  const open = new Set<Socket>();
  let connections = 0;
  const server: Server = createServer((socket) => {
    connections += 1;
    open.add(socket);
    socket.on('error', () => {});
    onSocket(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => connections,
    close() {
      for (const socket of open) socket.destroy();
      server.close();
    },
  };
}

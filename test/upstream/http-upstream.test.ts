import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Upstream } from '../../src/upstream/upstream.ts';
import { chatEvents, type FakeUpstream, startFakeUpstream } from '../helpers/fake-upstream.ts';
import { gate, KEY, settle, start, TIMEOUTS, upstreamAt } from './upstream-caller.ts';

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

describe('aborting', () => {
  it('before a connection is there sends nothing and calls nothing', async () => {
    const { seen, abort } = start(upstream);
    abort();
    abort();
    await start(upstream).over;
    expect(seen).toEqual({ heads: 0, text: '', chunks: 0, end: undefined, terminals: 0 });
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

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Upstream, UpstreamFailure, UpstreamTimeouts } from '../../src/upstream/upstream.ts';
import { chatAnswer, type FakeReply, type FakeUpstream, startFakeUpstream } from '../helpers/fake-upstream.ts';
import { KEY, onRequest, settle, start, startRaw, TIMEOUTS, upstreamAt } from './upstream-caller.ts';

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
    expect(seen).toMatchObject({ status: 200, text: 'ok', end: 'end', heads: 1 });
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

// What an upstream can answer instead of an answer: never taken for success, in either dialect, streamed or whole.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { upstreamFailed } from '../../src/service/upstream-refusal.ts';
import { DEFAULT_MODELS, type FakeReply, type FakeUpstream, startFakeUpstream } from '../helpers/fake-upstream.ts';
import { type InProcessGateway, startInProcess } from '../helpers/in-process.ts';

let upstream: FakeUpstream;
let gateway: InProcessGateway;

beforeAll(async () => {
  upstream = await startFakeUpstream();
  gateway = await startInProcess(upstream, Date.UTC(2026, 10, 1));
  gateway.list(DEFAULT_MODELS);
});

afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const CHAT = '/v1/chat/completions';
const MESSAGES = '/v1/messages';
const WAYS = [CHAT, MESSAGES].flatMap((path) => [false, true].map((stream) => ({ path, stream })));

function post(path: string, stream: boolean, more: object = {}): Promise<Response> {
  const messages = [{ role: 'user', content: 'Hi' }];
  return gateway.post(path, { model: 'test/cheap', max_tokens: 50, messages, stream, ...more });
}

type ErrorBody = {
  readonly type: string;
  readonly request_id: string;
  readonly error: {
    readonly code: string;
    readonly type: string;
    readonly message: string;
    readonly retryable: boolean;
  };
};

type Expected = {
  readonly status: number;
  readonly code: string;
  readonly type: string;
  readonly retry: boolean;
  readonly message?: string | RegExp;
  readonly after?: string;
};

const BAD = { status: 400, code: 'INVALID_REQUEST', type: 'invalid_request_error', retry: false } as const;
const TOO_LONG = { ...BAD, code: 'CONTEXT_LENGTH_EXCEEDED' } as const;
const FAILED = { status: 502, code: 'UPSTREAM_ERROR', type: 'api_error', retry: true } as const;
/** The dialects' own word for it, under the same status and code. */
const OVERLOADED = { ...FAILED, type: 'overloaded_error' };
const UNUSABLE = { ...FAILED, code: 'UPSTREAM_INVALID_RESPONSE' } as const;
const SLOW = { ...FAILED, code: 'UPSTREAM_TIMEOUT', type: 'timeout_error' } as const;
const LIMITED = { status: 429, code: 'UPSTREAM_RATE_LIMITED', type: 'rate_limit_error', retry: true } as const;

const failure = (message: string, more: object = {}) => ({ error: { message, ...more } });
const html = (status: number): FakeReply => ({
  status,
  headers: { 'content-type': 'text/html' },
  raw: ['<html><body><h1>502 Bad Gateway</h1>backend-7.internal</body></html>'],
});
const PROMPT_TOO_LONG = 'prompt is too long: 210000 tokens > 200000 maximum';
const OVER_LIMIT =
  'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again';
const RAW = JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message: PROMPT_TOO_LONG } });

const REPLIES: readonly (readonly [name: string, reply: FakeReply, expected: Expected])[] = [
  ['a 400 in its own words', { status: 400, json: failure('Bad tool schema') }, { ...BAD, message: 'Bad tool schema' }],
  [
    'a 400 of a long prompt',
    { status: 400, json: failure(PROMPT_TOO_LONG) },
    { ...TOO_LONG, message: PROMPT_TOO_LONG },
  ],
  ['a 400 of a long answer', { status: 400, json: failure(OVER_LIMIT) }, { ...TOO_LONG, message: OVER_LIMIT }],
  [
    'a 400 whose cause lies in metadata.raw',
    { status: 400, json: failure('Provider returned error', { code: 400, metadata: { raw: RAW } }) },
    { ...TOO_LONG, message: PROMPT_TOO_LONG },
  ],
  [
    'a 422 with a list of complaints',
    { status: 422, json: { detail: [{ loc: ['body', 'tools'], msg: 'field required' }] } },
    { ...BAD, message: 'field required' },
  ],
  ['a 401', { status: 401, json: failure('bad key sk-or-123456') }, { ...FAILED, message: /own credential/ }],
  ['a 402', { status: 402, json: failure('Insufficient credits') }, { ...FAILED, message: /out of credits/ }],
  ['a 403', { status: 403, json: failure('no') }, { ...FAILED, message: /own credential/ }],
  [
    'a 404',
    { status: 404, json: failure('No endpoints found') },
    { ...BAD, code: 'INVALID_MODEL', message: /No endpoints/ },
  ],
  ['a 408', { status: 408, json: failure('late') }, SLOW],
  [
    'a 413',
    { status: 413, json: failure('too big') },
    { status: 413, code: 'REQUEST_TOO_LARGE', type: 'request_too_large', retry: false },
  ],
  [
    'a 429 with its time',
    { status: 429, headers: { 'retry-after': '7' }, json: failure('slow down') },
    { ...LIMITED, after: '7', message: 'slow down' },
  ],
  [
    'a 429 with its time in milliseconds',
    { status: 429, headers: { 'retry-after-ms': '1500' }, json: failure('slow down') },
    { ...LIMITED, after: '2' },
  ],
  [
    'a 429 with a date',
    {
      status: 429,
      headers: { date: 'Sun, 01 Nov 2026 00:00:00 GMT', 'retry-after': 'Sun, 01 Nov 2026 00:00:09 GMT' },
      json: failure('slow down'),
    },
    { ...LIMITED, after: '9' },
  ],
  ['a 500', { status: 500, json: failure('It broke') }, { ...FAILED, message: 'It broke' }],
  ['a 503', { status: 503, json: failure('busy') }, OVERLOADED],
  ['a 504', { status: 504, json: failure('late') }, SLOW],
  [
    'a 529',
    { status: 529, json: { type: 'error', ...failure('Overloaded', { type: 'overloaded_error' }) } },
    OVERLOADED,
  ],
  [
    'a redirect',
    { status: 302, headers: { location: 'https://evil.example' }, raw: [''] },
    { ...FAILED, message: /302/ },
  ],
  ['an HTML page with 502', html(502), { ...FAILED, message: 'The upstream answered with status 502.' }],
  ['an empty 500', { status: 500 }, { ...FAILED, message: /500/ }],
  ['an HTML page with 200', html(200), UNUSABLE],
  ['an empty 200', { status: 200, headers: { 'content-type': 'application/json' } }, UNUSABLE],
  ['a 204', { status: 204 }, UNUSABLE],
  ['cut JSON', { headers: { 'content-type': 'application/json' }, raw: ['{"id":"x","choices":[{"mess'] }, UNUSABLE],
  ['JSON null', { json: null }, UNUSABLE],
  ['JSON without choices', { json: { id: 'x' } }, UNUSABLE],
  ['empty choices', { json: { choices: [] } }, UNUSABLE],
  [
    'an answer without an end',
    { json: { choices: [{ index: 0, message: { role: 'assistant', content: 'a' }, finish_reason: null }] } },
    UNUSABLE,
  ],
  ['plain text', { headers: { 'content-type': 'text/plain' }, raw: ['upstream connect error'] }, UNUSABLE],
  ['an error with 200', { json: failure('It broke', { code: 502 }) }, { ...FAILED, message: 'It broke' }],
  [
    'an error of the caller with 200',
    { json: failure('Bad schema', { code: 400 }) },
    { ...BAD, message: 'Bad schema' },
  ],
  [
    'a long prompt with 200',
    { json: failure(PROMPT_TOO_LONG, { code: 400 }) },
    { ...TOO_LONG, message: PROMPT_TOO_LONG },
  ],
  ['a limit with 200, by a word', { json: failure('slow', { code: 'rate_limit_exceeded' }) }, LIMITED],
  ['an error as text with 200', { json: { error: 'It broke' } }, { ...FAILED, message: 'It broke' }],
  [
    'a refused key with 200',
    { json: failure('bad key sk-or-123456', { code: 'invalid_api_key' }) },
    { ...FAILED, message: /own credential/ },
  ],
  [
    'an error inside the choice',
    { json: { choices: [{ index: 0, message: { content: '' }, error: { code: 502, message: 'host down' } }] } },
    { ...FAILED, message: 'host down' },
  ],
  [
    'the finish reason "error"',
    { json: { choices: [{ index: 0, message: { content: 'a' }, finish_reason: 'error' }] } },
    FAILED,
  ],
  [
    'a connection closed within the answer',
    { headers: { 'content-type': 'application/json' }, raw: ['{"id":"x",'], ending: 'cut' },
    FAILED,
  ],
  ['a reset', { ending: 'reset' }, FAILED],
];

describe.each(WAYS)('at $path, stream: $stream', ({ path, stream }) => {
  it.each(REPLIES)('%s is an error', async (_name, reply, expected) => {
    upstream.queue(reply);
    const answer = await post(path, stream);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([expected.status, 'application/json']);
    const body = (await answer.json()) as ErrorBody;
    const { code, type, retryable, message } = body.error;
    expect([code, type, retryable]).toEqual([expected.code, expected.type, expected.retry]);
    expect(body.type).toBe('error');
    expect(answer.headers.get('x-should-retry')).toBe(String(expected.retry));
    expect(answer.headers.get('retry-after')).toBe(expected.after ?? null);
    expect(answer.headers.get('x-request-id')).toBe(body.request_id);
    expect(answer.headers.get('request-id')).toBe(body.request_id);
    if (expected.message !== undefined) expect(message).toEqual(toMatcher(expected.message));
    expect(message).not.toMatch(/127\.0\.0\.1|localhost|sk-or|\.internal|<html/);
  });
});

function toMatcher(message: string | RegExp): unknown {
  return typeof message === 'string' ? message : expect.stringMatching(message);
}

describe('an upstream that cannot be reached', () => {
  it.each(WAYS)('is not named to the caller at $path, stream: $stream', async ({ path, stream }) => {
    const gone = await startFakeUpstream();
    const lonely = await startInProcess(gone, Date.UTC(2026, 10, 1));
    lonely.list(DEFAULT_MODELS);
    await gone.close();
    try {
      const messages = [{ role: 'user', content: 'Hi' }];
      const answer = await lonely.post(path, { model: 'test/cheap', max_tokens: 50, messages, stream });
      const { error } = (await answer.json()) as ErrorBody;
      expect([answer.status, error.code]).toEqual([502, 'UPSTREAM_ERROR']);
      expect(error.message).toBe('The upstream refused the connection; is it running?');
    } finally {
      await lonely.close();
    }
  });
});

it('keeps where the upstream stands for the log', () => {
  const message = 'There was no connection to the upstream at 10.1.2.3:8080 within 5 ms.';
  const error = upstreamFailed({ code: 'UPSTREAM_TIMEOUT', message, sent: false });
  expect(error.message).toBe('There was no connection to the upstream within 5 ms.');
  expect(error.cause).toMatchObject({ upstreamFailure: message });
});

const chunk = (fields: object) => `data: ${JSON.stringify(fields)}\n\n`;
const FIRST = chunk({
  id: 'x',
  choices: [{ index: 0, delta: { role: 'assistant', content: 'Hel' }, finish_reason: null }],
});
const LAST = chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });

const BREAKS: readonly (readonly [name: string, reply: FakeReply, code: string, message?: string])[] = [
  ['ends without a finish reason', { sse: [FIRST] }, 'UPSTREAM_ERROR'],
  ['says [DONE] without a finish reason', { sse: [FIRST, 'data: [DONE]\n\n'] }, 'UPSTREAM_ERROR'],
  ['is reset', { sse: [FIRST], ending: 'reset' }, 'UPSTREAM_ERROR'],
  ['is cut', { sse: [FIRST], ending: 'cut' }, 'UPSTREAM_ERROR'],
  ['has a chunk that is not JSON', { sse: [FIRST, 'data: {"choices":[{"del\n\n', LAST] }, 'UPSTREAM_INVALID_RESPONSE'],
  ['has an HTML page in it', { sse: [FIRST, 'data: <html>\n\n', LAST] }, 'UPSTREAM_INVALID_RESPONSE'],
  [
    'says that it failed',
    { sse: [FIRST, chunk({ error: { code: 502, message: 'host down' }, choices: [] }), LAST] },
    'UPSTREAM_ERROR',
    'host down',
  ],
  [
    'says why in metadata.raw',
    { sse: [FIRST, chunk({ error: { code: 400, message: 'Provider returned error', metadata: { raw: RAW } } })] },
    'CONTEXT_LENGTH_EXCEEDED',
    `Provider returned error: ${PROMPT_TOO_LONG}`,
  ],
  [
    'ends with "error"',
    { sse: [FIRST, chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'error' }] })] },
    'UPSTREAM_ERROR',
  ],
];

describe('a stream that breaks after its first words', () => {
  it.each(BREAKS.map(([name, reply, code, message]) => [name, reply, code, message ?? ''] as const))(
    '%s: ends with an error and nothing after it',
    async (_name, reply, code, message) => {
      for (const path of [CHAT, MESSAGES]) {
        upstream.queue(reply);
        const answer = await post(path, true);
        expect(answer.status).toBe(200);
        const frames = (await answer.text()).trimEnd().split('\n\n');
        expect(frames.join()).toContain('Hel');
        expect(frames.join()).not.toMatch(/message_stop|\[DONE\]/);
        const last = frames.at(-1) ?? '';
        expect(last.startsWith('event: error\n')).toBe(path === MESSAGES);
        const body = JSON.parse(last.slice(last.indexOf('data: ') + 6)) as ErrorBody;
        expect(body.error.code).toBe(code);
        expect(body).not.toHaveProperty('choices');
        expect(body.error.message).not.toContain('127.0.0.1');
        if (message !== '') expect(body.error.message).toBe(message);
      }
    },
  );

  it.each([
    ['nothing', []],
    ['comments alone', [': OPENROUTER PROCESSING\n\n']],
    ['an error at once', [chunk({ error: { code: 502, message: 'host down' } })]],
    ['[DONE] alone', ['data: [DONE]\n\n']],
  ])('is a proper error where it had %s before', async (_name, sse) => {
    for (const path of [CHAT, MESSAGES]) {
      upstream.queue({ sse });
      const answer = await post(path, true);
      expect(answer.status).toBe(502);
      expect(((await answer.json()) as ErrorBody).error.code).toMatch(/^UPSTREAM_/);
    }
  });
});

describe('an upstream that has too much to do', () => {
  it.each([503, 529])(
    'with status %d is an overloaded_error, under the status and code of the contract',
    async (status) => {
      for (const path of [CHAT, MESSAGES]) {
        upstream.queue({ status, json: failure('Overloaded') });
        const answer = await post(path, false);
        expect(answer.status).toBe(502);
        expect(await answer.json()).toMatchObject({ error: { code: 'UPSTREAM_ERROR', type: 'overloaded_error' } });
      }
    },
  );
});

describe('a refusal that says max_tokens ran out before the first word', () => {
  const said =
    'Could not finish the message because max_tokens or model output limit was reached. Please try again with higher max_tokens.';

  it('is a whole answer cut short for a Messages caller', async () => {
    upstream.queue({ status: 400, json: failure(said) });
    const answer = await post(MESSAGES, false, { max_tokens: 1 });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ type: 'message', content: [], stop_reason: 'max_tokens' });
  });

  it('is a stream cut short for a Messages caller', async () => {
    upstream.queue({ status: 400, json: failure(said) });
    const answer = await post(MESSAGES, true, { max_tokens: 1 });
    expect(answer.status).toBe(200);
    const names = [...(await answer.text()).matchAll(/^event: (\w+)\ndata: (.*)$/gm)];
    expect(names.map(([, name]) => name)).toEqual(['message_start', 'message_delta', 'message_stop']);
    expect(JSON.parse(names[1]?.[2] ?? '')).toMatchObject({ delta: { stop_reason: 'max_tokens' } });
  });

  it.each([false, true])('costs nothing, stream: %s', async (stream) => {
    upstream.queue({ status: 400, json: failure(said) });
    const answer = await post(MESSAGES, stream, { max_tokens: 1 });
    expect(await answer.text()).toContain('"cost":0');
  });

  it.each([false, true])('stays what it is for a Chat caller, stream: %s', async (stream) => {
    upstream.queue({ status: 400, json: failure(said) });
    const answer = await post(CHAT, stream, { max_tokens: 1 });
    expect(answer.status).toBe(400);
    expect(((await answer.json()) as ErrorBody).error.message).toBe(said);
  });

  it('is not read into other refusals', async () => {
    upstream.queue({ status: 500, json: failure(said) });
    expect((await post(MESSAGES, false)).status).toBe(502);
    upstream.queue({ status: 400, json: failure('max_tokens is too large') });
    expect((await post(MESSAGES, false)).status).toBe(400);
  });
});

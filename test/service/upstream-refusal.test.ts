// An upstream's refusals: whose fault each is, and whose words the client gets.

import { describe, expect, it } from 'vitest';
import { upstreamRefusal } from '../../src/service/upstream-refusal.ts';

const refusal = (
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
  secrets: readonly string[] = [],
) => upstreamRefusal(status, Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), headers, secrets);

describe('the status decides the code', () => {
  it.each([
    [400, 'INVALID_REQUEST'],
    [401, 'UPSTREAM_ERROR'],
    [402, 'UPSTREAM_ERROR'],
    [403, 'UPSTREAM_ERROR'],
    [404, 'INVALID_MODEL'],
    [408, 'UPSTREAM_TIMEOUT'],
    [413, 'REQUEST_TOO_LARGE'],
    [422, 'INVALID_REQUEST'],
    [429, 'UPSTREAM_RATE_LIMITED'],
    [500, 'UPSTREAM_ERROR'],
    [503, 'UPSTREAM_ERROR'],
    [504, 'UPSTREAM_TIMEOUT'],
    [529, 'UPSTREAM_ERROR'],
    [302, 'UPSTREAM_ERROR'],
  ])('%i is %s', (status, code) => {
    expect(refusal(status, { error: { message: 'words' } }).code).toBe(code);
  });

  it.each([
    "This model's maximum context length is 8192 tokens",
    'prompt is too long: 210000 tokens > 200000 maximum',
    'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000',
  ])('a 400 that says %s is a context error, verbatim', (message) => {
    expect(refusal(400, { error: { message } })).toMatchObject({ code: 'CONTEXT_LENGTH_EXCEEDED', message });
  });
});

describe('the words', () => {
  it.each([
    [{ error: { message: 'the reason' } }, 'the reason'],
    [{ error: 'the reason' }, 'the reason'],
    [{ message: 'the reason' }, 'the reason'],
    [{ detail: 'the reason' }, 'the reason'],
    [
      { error: { message: 'Provider returned error', metadata: { raw: '{"error":{"message":"the reason"}}' } } },
      'the reason',
    ],
    [{ error: { message: 'Provider returned error', metadata: { raw: 'the reason' } } }, 'the reason'],
    ['the reason', 'the reason'],
    ['<html><body>nginx</body></html>', 'The upstream answered with status 500.'],
    ['', 'The upstream answered with status 500.'],
    [{}, 'The upstream answered with status 500.'],
  ])('of %j are %s', (body, message) => {
    expect(refusal(500, body).message).toBe(message);
  });

  it.each([401, 402, 403])('of a %i stay with the operator', (status) => {
    const error = refusal(status, { error: { message: 'Invalid key sk-or-v1-secret' } });
    expect(error.message).not.toContain('sk-or');
    expect(String(error.cause)).toContain('Invalid key [redacted]');
    expect(error.cause).toMatchObject({ upstreamStatus: status });
  });

  it('are bounded', () => {
    expect(refusal(500, { error: { message: 'x'.repeat(10_000) } }).message.length).toBeLessThanOrEqual(2000);
  });
});

it.each([
  ['7', 7],
  ['0.2', 1],
  ['1000000000', 3600],
  ['-5', undefined],
  ['Wed, 21 Oct 2026 07:28:00 GMT', undefined],
])('Retry-After: %s becomes %s', (value, seconds) => {
  expect(refusal(429, {}, { 'retry-after': value }).retryAfterSeconds).toBe(seconds);
});

describe('what looks like a credential', () => {
  it.each([
    ['Incorrect header Authorization: Bearer abc.def-123, sorry', 'Incorrect header Authorization: [redacted], sorry'],
    ['bad key "sk-or-v1-0123456789"', 'bad key "[redacted]"'],
    ['bad key sk-proj-****6789.', 'bad key [redacted]'],
    [`unknown svc_sk_${'a'.repeat(49)}!`, 'unknown [redacted]!'],
    ['Incorrect API key provided: AIzaSyA1234567890abcdefgh', 'Incorrect API key provided: [redacted]'],
    ['{"token": "0123456789abcdef0123"}', '{"token": "[redacted]"}'],
    ['api_key=0123456789abcdef0123&x=1', 'api_key=[redacted]&x=1'],
    ['sent hunter2 to us, hunter2', 'sent [redacted] to us, [redacted]'],
  ])('is taken out of %j', (message, clean) => {
    for (const status of [400, 404, 413, 429, 500]) {
      expect(refusal(status, { error: { message } }, {}, ['hunter2', '']).message).toBe(clean);
    }
  });

  it.each([
    'max_tokens: 5 is not supported with this model',
    'the key is too short',
    'risk-free ask-anything tasks',
    'Too many tokens in the request: 210000 is over the limit of 200000',
  ])('is not seen in %j', (message) => {
    expect(refusal(400, { error: { message } }).message).toBe(message);
  });

  it('is found across the place where long words are cut', () => {
    const message = `${'x '.repeat(990)}the key sk-${'s'.repeat(100)}`;
    expect(refusal(500, { error: { message } }).message).not.toContain('ss');
  });
});

it.each([200, 201, 299])('the body of a %i is never quoted', (status) => {
  expect(refusal(status, { message: 'part of an answer' })).toMatchObject({
    code: 'UPSTREAM_ERROR',
    message: `The upstream answered with status ${status}.`,
  });
});

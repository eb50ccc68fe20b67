import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDataUrl, renderDataUrl } from '../../src/wire/data-url.ts';
import { renderError, renderStreamError } from '../../src/wire/render-error.ts';
import { sha256Hex } from '../../src/wire/sha256.ts';
import { ERROR_TABLE, type ErrorCode, SvcError } from '../../src/wire/svc-error.ts';
import { createToolIdChooser, toAcceptedToolId } from '../../src/wire/tool-ids.ts';
import { createToolNameMap } from '../../src/wire/tool-names.ts';
import { parseUpstreamError } from '../../src/wire/upstream-error.ts';

const CODES = Object.keys(ERROR_TABLE) as ErrorCode[];

describe('an error body', () => {
  it('has what every dialect looks for', () => {
    const error = new SvcError('INVALID_REQUEST', 'model is required', { param: 'model' });
    expect(renderError(error, 'req_1')).toEqual({
      type: 'error',
      error: {
        type: 'invalid_request_error',
        code: 'INVALID_REQUEST',
        message: 'model is required',
        retryable: false,
        param: 'model',
      },
      request_id: 'req_1',
    });
  });

  it('leaves out the param where there is none', () => {
    expect(renderError(new SvcError('NOT_FOUND', 'x'), 'r')['error']).not.toHaveProperty('param');
  });

  const types: readonly (readonly [ErrorCode, string])[] = [
    ['INVALID_JSON', 'invalid_request_error'],
    ['INVALID_MODEL', 'invalid_request_error'],
    ['INVALID_API_KEY', 'authentication_error'],
    ['INSUFFICIENT_CREDITS', 'billing_error'],
    ['FORBIDDEN', 'permission_error'],
    ['NOT_FOUND', 'not_found_error'],
    ['METHOD_NOT_ALLOWED', 'invalid_request_error'],
    ['REQUEST_TOO_LARGE', 'request_too_large'],
    ['RATE_LIMITED', 'rate_limit_error'],
    ['INTERNAL_ERROR', 'api_error'],
    ['UPSTREAM_ERROR', 'api_error'],
    ['UPSTREAM_TIMEOUT', 'timeout_error'],
    ['OVERLOADED', 'overloaded_error'],
  ];
  it.each(types)('calls %s %s', (code, type) => {
    expect(renderError(new SvcError(code, 'x'), 'r')['error']).toMatchObject({ type });
  });

  it.each(CODES)('ends a stream of either dialect with %s', (code) => {
    const error = new SvcError(code, 'line one\nline two');
    const chat = Buffer.from(renderStreamError('chat', error, 'r')).toString();
    expect(chat).toMatch(/^data: \{"error":\{[^\n]*\}\}\n\n$/);
    expect(Object.keys(JSON.parse(chat.slice(6)) as object)).toEqual(['error']);
    const messages = Buffer.from(renderStreamError('messages', error, 'r')).toString();
    expect(messages).toBe(`event: error\ndata: ${JSON.stringify(renderError(error, 'r'))}\n\n`);
  });
});

describe('an error of an upstream', () => {
  const rows: readonly (readonly [string, unknown, number | undefined, ErrorCode, string])[] = [
    ['its own words', { message: 'Bad tool schema' }, 400, 'INVALID_REQUEST', 'Bad tool schema'],
    [
      'a long context',
      { message: "This model's maximum context length is 8 tokens" },
      400,
      'CONTEXT_LENGTH_EXCEEDED',
      "This model's maximum context length is 8 tokens",
    ],
    [
      'words a client parses',
      { message: 'input length and `max_tokens` exceed context limit: 9 + 8 > 10' },
      400,
      'CONTEXT_LENGTH_EXCEEDED',
      'input length and `max_tokens` exceed context limit: 9 + 8 > 10',
    ],
    [
      'the cause in plain text',
      { message: 'Provider returned error', metadata: { raw: 'quota gone' } },
      502,
      'UPSTREAM_ERROR',
      'Provider returned error: quota gone',
    ],
    [
      'the cause as JSON',
      { message: 'Provider returned error', metadata: { raw: '{"error":{"message":"no such tool"}}' } },
      422,
      'INVALID_REQUEST',
      'Provider returned error: no such tool',
    ],
    ['only a cause', { metadata: { raw: 'gone' } }, 500, 'UPSTREAM_ERROR', 'gone'],
    ['a string', 'model overloaded', 503, 'UPSTREAM_ERROR', 'model overloaded'],
    ['nothing', undefined, 500, 'UPSTREAM_ERROR', 'The upstream failed with 500 and gave no reason.'],
    ['nothing at all', undefined, undefined, 'UPSTREAM_ERROR', 'The upstream failed and gave no reason.'],
    ['a limit', undefined, 429, 'UPSTREAM_RATE_LIMITED', 'The upstream is limiting requests; try again later.'],
    ['a timeout', { message: 'late' }, 504, 'UPSTREAM_TIMEOUT', 'late'],
    [
      'no credit at the upstream',
      { message: 'Insufficient credits; top up at https://x' },
      402,
      'UPSTREAM_ERROR',
      "svc's account at the upstream is out of credits.",
    ],
    [
      'a refused key',
      { message: 'bad key sk-123' },
      401,
      'UPSTREAM_ERROR',
      "The upstream refused svc's own credential (401).",
    ],
    [
      'a forbidden key',
      { message: 'bad key sk-123' },
      403,
      'UPSTREAM_ERROR',
      "The upstream refused svc's own credential (403).",
    ],
    [
      'a refused key, by its word',
      { message: 'bad key sk-123', code: 'invalid_api_key' },
      undefined,
      'UPSTREAM_ERROR',
      "The upstream refused svc's own credential (401).",
    ],
    ['a word nobody knows', { message: 'x', code: 'odd' }, undefined, 'UPSTREAM_ERROR', 'x'],
    ['a number as text', { message: 'x', code: '429' }, undefined, 'UPSTREAM_RATE_LIMITED', 'x'],
    ['a number beside a word', { message: 'x', code: 'odd', status: 400 }, undefined, 'INVALID_REQUEST', 'x'],
    ['a type', { message: 'x', type: 'rate_limit_error', code: null }, undefined, 'UPSTREAM_RATE_LIMITED', 'x'],
    ['an overloaded upstream', { message: 'x', type: 'overloaded_error' }, undefined, 'UPSTREAM_ERROR', 'x'],
    ['a timeout by its word', { message: 'x', type: 'timeout_error' }, undefined, 'UPSTREAM_TIMEOUT', 'x'],
    ['a model that is not there', { message: 'x', code: 404 }, undefined, 'INVALID_MODEL', 'x'],
    ['a body too large', { message: 'x', code: 413 }, undefined, 'REQUEST_TOO_LARGE', 'x'],
    [
      'the cause as an object',
      { message: 'Provider returned error', metadata: { raw: { error: { message: 'no such tool' } } } },
      400,
      'INVALID_REQUEST',
      'Provider returned error: no such tool',
    ],
    ['a cause that says nothing', { message: 'x', metadata: { raw: {} } }, 500, 'UPSTREAM_ERROR', 'x'],
  ];
  it.each(rows)('is passed on: %s', (_name, error, status, code, message) => {
    const parsed = parseUpstreamError(error, status);
    expect([parsed.code, parsed.message]).toEqual([code, message]);
  });

  it('is cut where it is endless', () => {
    expect(parseUpstreamError({ message: 'x'.repeat(100_000) }, 500).message).toHaveLength(2000);
  });
});

describe('names and ids', () => {
  it('hashes as SHA-256 does', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
        expect(sha256Hex(text)).toBe(createHash('sha256').update(text).digest('hex'));
      }),
      { numRuns: 60 },
    );
  });

  it('maps any tool name to one that upstreams take, and back', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ minLength: 1, maxLength: 90 }), { maxLength: 8 }), (names) => {
        const map = createToolNameMap(names);
        const mapped = names.map((name) => map.toUpstream(name));
        expect(new Set(mapped).size).toBe(names.length);
        for (const name of mapped) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
        expect(mapped.map((name) => map.toCaller(name))).toEqual(names);
      }),
      { numRuns: 60 },
    );
  });

  it('leaves good tool ids and makes others good, without making two alike', () => {
    expect(toAcceptedToolId('call_Ab-1')).toBe('call_Ab-1');
    expect(toAcceptedToolId('')).toBe('');
    expect(toAcceptedToolId('a:b')).not.toBe(toAcceptedToolId('a.b'));
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 60 }), (id) => {
        const clean = toAcceptedToolId(id);
        expect(clean).toMatch(/^[a-zA-Z0-9_-]+$/);
        expect(toAcceptedToolId(clean)).toBe(clean);
      }),
      { numRuns: 60 },
    );
  });

  it('never gives an id twice', () => {
    let made = 0;
    const choose = createToolIdChooser(new Set(['a']), () => `new_${made++}`);
    expect(['a', 'b', 'b', ''].map(choose)).toEqual(['new_0', 'b', 'new_1', 'new_2']);
  });

  it('splits data URLs of many megabytes at once', () => {
    const data = 'A'.repeat(8_000_000);
    expect(parseDataUrl(renderDataUrl('image/png', data))).toEqual({ mediaType: 'image/png', data });
    expect(parseDataUrl(`data:${';'.repeat(1_000_000)}`)).toBeUndefined();
    expect(parseDataUrl('https://x/,base64')).toBeUndefined();
  });
});

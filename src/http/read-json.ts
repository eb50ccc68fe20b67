// Reads the JSON body of an account route: small, of the right type, and without keys that could reach a prototype.

import type { Context, Middleware } from 'koa';
import { SvcError } from '../wire/svc-error.ts';
import { drainBody } from './drain-body.ts';

/** Account routes carry a few fields; the longest is a list of model patterns. */
const BODY_BYTES_MAX = 64 * 1024;
/** Deeper than anything these routes know, and shallow enough to walk. */
const DEPTH_MAX = 64;
const PROTOTYPE_KEYS = ['__proto__', 'constructor', 'prototype'];

export type JsonReader = {
  /** The parsed body; `{}` when there is none and `optional` is set. Throws the contract's 400, 413 and 415. */
  read(ctx: Context, options?: { readonly optional: boolean }): Promise<unknown>;
};

/** The parser is loaded with the first body: it takes a tenth of a second and megabytes, and inference never needs it. */
export function createJsonReader(): JsonReader {
  let loading: Promise<Middleware> | undefined;
  const load = (): Promise<Middleware> => {
    loading ??= loadParser();
    return loading;
  };
  return {
    read: async (ctx, options = { optional: false }) => {
      const body = hasBody(ctx) ? await parseBody(ctx, await load()) : '';
      if (body !== '') {
        checkKeys(body, 0);
        return body;
      }
      if (options.optional) return {};
      throw new SvcError('INVALID_JSON', 'The body is empty; send a JSON object.');
    },
  };
}

async function loadParser(): Promise<Middleware> {
  const { koaBody } = await import('koa-body');
  return koaBody({
    json: true,
    jsonLimit: BODY_BYTES_MAX,
    jsonTypes: ['application/json'],
    // A bare string or number is JSON too; the service says what it wants instead.
    jsonStrict: false,
    multipart: false,
    urlencoded: false,
    text: false,
  });
}

function hasBody(ctx: Context): boolean {
  const { headers } = ctx.req;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

async function parseBody(ctx: Context, parser: Middleware): Promise<unknown> {
  const encoding = ctx.get('content-encoding');
  if (encoding !== '' && encoding !== 'identity')
    throw await refuse(ctx, 'UNSUPPORTED_MEDIA_TYPE', 'Send the body without a Content-Encoding.');
  if (!ctx.is('application/json')) {
    throw await refuse(ctx, 'UNSUPPORTED_MEDIA_TYPE', 'Send the body as JSON, with "Content-Type: application/json".');
  }
  try {
    await parser(ctx, async () => {});
    return ctx.request.body;
  } catch (error) {
    throw await toBodyError(ctx, error);
  }
}

async function refuse(
  ctx: Context,
  code: 'UNSUPPORTED_MEDIA_TYPE' | 'REQUEST_TOO_LARGE',
  message: string,
): Promise<SvcError> {
  await drainBody(ctx.req);
  return new SvcError(code, message);
}

async function toBodyError(ctx: Context, error: unknown): Promise<unknown> {
  const { status, type, body } = Object(error) as { status?: unknown; type?: unknown; body?: unknown };
  if (status === 413) return refuse(ctx, 'REQUEST_TOO_LARGE', `The body is over ${BODY_BYTES_MAX} bytes (64 KiB).`);
  if (type === 'request.aborted' || type === 'request.size.invalid') {
    return new SvcError('INVALID_REQUEST', 'The connection closed before the whole body had come.', { cause: error });
  }
  if (status !== 400) return error;
  // The parser refuses `__proto__` in what is otherwise sound JSON.
  if (typeof body === 'string' && isJson(body)) return forbiddenKey('__proto__');
  return new SvcError('INVALID_JSON', 'The body is not valid JSON.', { cause: error });
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    // The question was whether it parses.
    return false;
  }
}

function checkKeys(value: unknown, depth: number): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth === DEPTH_MAX)
    throw new SvcError('INVALID_REQUEST', `The body is nested more than ${DEPTH_MAX} levels deep.`);
  for (const [key, item] of Object.entries(value)) {
    if (PROTOTYPE_KEYS.includes(key)) throw forbiddenKey(key);
    checkKeys(item, depth + 1);
  }
}

function forbiddenKey(key: string): SvcError {
  return new SvcError('INVALID_REQUEST', `The body holds the key "${key}", which is not accepted.`, { param: key });
}

// One call to the daemon: sends it, limits its time and size, and turns every outcome into an answer or an error.

import { ApiClientError, DaemonUnreachableError } from './client-errors.ts';

export type ApiTransport = {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly fetch: typeof fetch;
  readonly userAgent: string;
  readonly timeoutMs: number;
};

export type ApiCall = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Begins with a slash; its parts are percent-encoded already. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Statuses over 299 that are answers here, not errors. */
  readonly alsoOk?: readonly number[];
};

/** `body` is the parsed JSON; undefined where the answer was empty. */
export type ApiAnswer = { readonly status: number; readonly body: unknown };

/** The longest answer (a page of 1,000 usage entries with their decisions) stays well below this. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

/** Throws {@link ApiClientError} or {@link DaemonUnreachableError}. Never repeats a call. */
export async function callApi(transport: ApiTransport, call: ApiCall): Promise<ApiAnswer> {
  const signal = AbortSignal.timeout(transport.timeoutMs);
  let response: Response;
  let text: string;
  try {
    response = await transport.fetch(urlOf(transport, call), requestOf(transport, call, signal));
    text = await readText(response);
  } catch (error) {
    throw new DaemonUnreachableError(transport.baseUrl, reasonOf(error, transport.timeoutMs), error);
  }
  const body = parseJson(text);
  if (response.ok || call.alsoOk?.includes(response.status)) {
    if (body.ok) return { status: response.status, body: body.value };
    throw unexpectedAnswer(transport.baseUrl, response.status);
  }
  throw errorOf(transport.baseUrl, response, body.value);
}

/** For an answer whose shape is not svc's: something else listens at that address. */
export function unexpectedAnswer(baseUrl: string, status: number): ApiClientError {
  return new ApiClientError({
    status,
    code: 'UNEXPECTED_ANSWER',
    message: `${baseUrl} answered ${status} with something that is not svc's: does another program listen there?`,
    retryable: false,
    requestId: undefined,
  });
}

function urlOf(transport: ApiTransport, call: ApiCall): string {
  const given = Object.entries(call.query ?? {}).filter(([, value]) => value !== undefined);
  if (given.length === 0) return `${transport.baseUrl}${call.path}`;
  const query = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]));
  return `${transport.baseUrl}${call.path}?${query.toString()}`;
}

function requestOf(transport: ApiTransport, call: ApiCall, signal: AbortSignal): RequestInit {
  const headers: Record<string, string> = {
    accept: 'application/json',
    'user-agent': transport.userAgent,
    ...call.headers,
  };
  // A redirect could carry the credential to another host, so none is followed.
  const request: RequestInit = { method: call.method, headers, signal, redirect: 'manual' };
  if (call.body === undefined) return request;
  headers['content-type'] = 'application/json';
  return { ...request, body: JSON.stringify(call.body) };
}

async function readText(response: Response): Promise<string> {
  if (response.body === null) return '';
  const decoder = new TextDecoder();
  const parts: string[] = [];
  let bytes = 0;
  for await (const chunk of response.body) {
    bytes += chunk.byteLength;
    if (bytes > ANSWER_BYTES_MAX) throw new Error(`the answer is longer than ${ANSWER_BYTES_MAX} bytes`);
    parts.push(decoder.decode(chunk, { stream: true }));
  }
  parts.push(decoder.decode());
  return parts.join('');
}

function parseJson(text: string): { readonly ok: boolean; readonly value: unknown } {
  if (text === '') return { ok: true, value: undefined };
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    // Not JSON, so not svc: the caller says so with the status.
    return { ok: false, value: undefined };
  }
}

function errorOf(baseUrl: string, response: Response, body: unknown): ApiClientError {
  const error = isRecord(body) ? body['error'] : undefined;
  if (!isRecord(error) || typeof error['code'] !== 'string' || typeof error['message'] !== 'string') {
    return unexpectedAnswer(baseUrl, response.status);
  }
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
  return new ApiClientError({
    status: response.status,
    code: error['code'],
    message: error['message'],
    retryable: error['retryable'] === true,
    requestId: response.headers.get('x-request-id') ?? undefined,
    retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : undefined,
  });
}

/** Undici hides the reason in `cause`; several addresses tried make it an aggregate of causes. */
function reasonOf(error: unknown, timeoutMs: number): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return `nothing came within ${timeoutMs / 1000} s`;
  const cause = error.cause;
  if (!(cause instanceof Error)) return error.message;
  const code = isRecord(cause) && typeof cause['code'] === 'string' ? cause['code'] : '';
  if (code === 'ECONNREFUSED') return 'connection refused';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'the host name is not known';
  if (code === 'ECONNRESET' || code === 'UND_ERR_SOCKET') return 'the connection broke';
  return cause.message || code || error.message;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

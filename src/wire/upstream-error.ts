// An upstream's own error, from the body of a failed call or from inside an answer, as one of ours with its own words.

import { isObject, type JsonObject } from './field-checks.ts';
import { type ErrorCode, SvcError } from './svc-error.ts';

/** Longest wording passed on, in UTF-16 units: some upstreams answer with the whole prompt. */
const MAX_WORDING = 2000;

/** Clients act on these words (they shrink `max_tokens` or compact the conversation), so the code says it too. */
const CONTEXT_WORDING = /context[ _]length|context limit|context window|prompt is too long|maximum context/i;

/**
 * `error` is the value under `error` (an object, or a bare string); `status` the HTTP status, where there was one: inside
 * a 200 the error's own numeric `code` takes its place.
 */
export function parseUpstreamError(error: unknown, status?: number): SvcError {
  const detail = isObject(error) ? error : {};
  const wording = wordingOf(error, detail);
  const known = status ?? statusIn(detail);
  const code = codeOf(known, wording);
  return new SvcError(code, messageOf(code, wording, known), { overloaded: known === 503 || known === 529 });
}

function codeOf(status: number | undefined, wording: string): ErrorCode {
  if (status === 429) return 'UPSTREAM_RATE_LIMITED';
  if (status === 408 || status === 504 || status === 524) return 'UPSTREAM_TIMEOUT';
  if (status === 404) return 'INVALID_MODEL';
  if (status === 413) return 'REQUEST_TOO_LARGE';
  const isClientFault = status === 400 || status === 422;
  if (!isClientFault) return 'UPSTREAM_ERROR';
  return CONTEXT_WORDING.test(wording) ? 'CONTEXT_LENGTH_EXCEEDED' : 'INVALID_REQUEST';
}

/** A refused credential or an empty account is the operator's affair: the wording can hold parts of the upstream's key. */
function messageOf(code: ErrorCode, wording: string, status: number | undefined): string {
  if (status === 401 || status === 403) return `The upstream refused svc's own credential (${status}).`;
  if (status === 402) return "svc's account at the upstream is out of credits.";
  if (wording !== '') return wording;
  return code === 'UPSTREAM_RATE_LIMITED'
    ? 'The upstream is limiting requests; try again later.'
    : `The upstream failed${status === undefined ? '' : ` with ${status}`} and gave no reason.`;
}

/** Aggregators put the provider's own body, as text, into `metadata.raw`; it is the real cause. */
function wordingOf(error: unknown, detail: JsonObject): string {
  if (typeof error === 'string') return error.slice(0, MAX_WORDING);
  const message = typeof detail['message'] === 'string' ? detail['message'] : '';
  const metadata = isObject(detail['metadata']) ? detail['metadata'] : {};
  const raw = rawWording(metadata['raw']);
  const wording = raw === '' || message.includes(raw) ? message : `${message}${message === '' ? '' : ': '}${raw}`;
  return wording.slice(0, MAX_WORDING);
}

function rawWording(raw: unknown): string {
  if (typeof raw !== 'string') return innerMessage(raw) ?? '';
  try {
    return innerMessage(JSON.parse(raw)) ?? raw;
  } catch {
    // Not JSON: the provider answered in plain words.
    return raw;
  }
}

function innerMessage(body: unknown): string | undefined {
  const error = isObject(body) ? body['error'] : undefined;
  const message = isObject(error) ? error['message'] : error;
  return typeof message === 'string' && message !== '' ? message : undefined;
}

/** Aggregators say a number, others a word, and which field holds it differs. */
function statusIn(detail: JsonObject): number | undefined {
  const said = [detail['code'], detail['status'], detail['type']];
  return said.map(numberIn).find(isStatus) ?? said.map(wordIn).find(isStatus);
}

function numberIn(value: unknown): number | undefined {
  const code = typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN;
  return Number.isInteger(code) && code >= 400 && code <= 599 ? code : undefined;
}

function wordIn(value: unknown): number | undefined {
  return typeof value === 'string' ? STATUS_BY_WORD.get(value) : undefined;
}

function isStatus(value: number | undefined): value is number {
  return value !== undefined;
}

/** The vocabularies of the two dialects, for errors that came without a number. */
const STATUS_BY_WORD: ReadonlyMap<string, number> = new Map([
  ['context_length_exceeded', 400],
  ['invalid_request_error', 400],
  ['invalid_api_key', 401],
  ['authentication_error', 401],
  ['billing_error', 402],
  ['insufficient_quota', 402],
  ['permission_error', 403],
  ['model_not_found', 404],
  ['not_found_error', 404],
  ['request_too_large', 413],
  ['rate_limit_error', 429],
  ['rate_limit_exceeded', 429],
  ['timeout_error', 504],
  ['overloaded_error', 503],
]);

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
  const code = codeOf(status ?? numericCode(detail), wording);
  return new SvcError(code, messageOf(code, wording, status ?? numericCode(detail)));
}

function codeOf(status: number | undefined, wording: string): ErrorCode {
  if (status === 429) return 'UPSTREAM_RATE_LIMITED';
  if (status === 408 || status === 504) return 'UPSTREAM_TIMEOUT';
  const isClientFault = status === 400 || status === 413 || status === 422;
  if (!isClientFault) return 'UPSTREAM_ERROR';
  return CONTEXT_WORDING.test(wording) ? 'CONTEXT_LENGTH_EXCEEDED' : 'INVALID_REQUEST';
}

/** A refused credential is the operator's affair: its wording can hold parts of the upstream's key. */
function messageOf(code: ErrorCode, wording: string, status: number | undefined): string {
  if (status === 401 || status === 403) return `The upstream refused svc's own credential (${status}).`;
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
  if (typeof raw !== 'string') return '';
  try {
    const body: unknown = JSON.parse(raw);
    const inner = isObject(body) && isObject(body['error']) ? body['error']['message'] : undefined;
    return typeof inner === 'string' ? inner : raw;
  } catch {
    // Not JSON: the provider answered in plain words.
    return raw;
  }
}

function numericCode(detail: JsonObject): number | undefined {
  const code = Number(detail['code'] ?? detail['status']);
  return Number.isInteger(code) && code >= 400 && code <= 599 ? code : undefined;
}

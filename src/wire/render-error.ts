// Errors as clients of every dialect understand them: one body for all, and the event that ends a broken stream.

import type { Dialect } from './neutral.ts';
import { renderSseData, renderSseEvent } from './sse-writer.ts';
import type { SvcError } from './svc-error.ts';

/** The body of an error answer; a superset of what the Chat and the Messages SDKs look for. */
export function renderError(error: SvcError, requestId: string): Record<string, unknown> {
  return { type: 'error', error: detailOf(error), request_id: requestId };
}

/** The last event of a broken stream. Chat's has no `choices`: with one, clients take it for an answer. */
export function renderStreamError(dialect: Dialect, error: SvcError, requestId: string): Uint8Array {
  if (dialect === 'messages') return Buffer.from(renderSseEvent('error', renderError(error, requestId)));
  return Buffer.from(renderSseData(JSON.stringify({ error: detailOf(error) })));
}

function detailOf(error: SvcError): Record<string, unknown> {
  const { code, message, retryable, param } = error;
  const detail = { type: typeOf(error), code, message, retryable };
  return param === undefined ? detail : { ...detail, param };
}

/** The Messages API's vocabulary, which Chat clients take as well; SDKs decide by it whether to try again. */
function typeOf(error: SvcError): string {
  if (error.code === 'UPSTREAM_TIMEOUT') return 'timeout_error';
  if (error.overloaded) return 'overloaded_error';
  const type = TYPE_BY_STATUS.get(error.status);
  if (type !== undefined) return type;
  return error.status >= 500 ? 'api_error' : 'invalid_request_error';
}

const TYPE_BY_STATUS: ReadonlyMap<number, string> = new Map([
  [401, 'authentication_error'],
  [402, 'billing_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [413, 'request_too_large'],
  [429, 'rate_limit_error'],
  [503, 'overloaded_error'],
]);

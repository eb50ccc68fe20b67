// What went wrong below HTTP, in words for people: a Node or undici error becomes an `UpstreamFailure`.

import type { UpstreamFailure } from './upstream.ts';

/** How far a call had come: `waiting` for a connection, `sent` (written at least in part), `head` once the answer began. */
export type CallProgress = 'waiting' | 'sent' | 'head';

type Cause = { readonly code: UpstreamFailure['code']; readonly text: string };

/** `host` is the only part of the address in the message: no path, no header, no key. */
export function toUpstreamFailure(host: string, progress: CallProgress, error: unknown): UpstreamFailure {
  const { code, text } = describe(errorCode(error), progress);
  return { code, message: `The upstream at ${host} ${text}.`, sent: progress !== 'waiting', cause: error };
}

/** The `code` of a Node or undici error; of the first one where several addresses were tried. */
export function errorCode(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  if ('code' in error && typeof error.code === 'string') return error.code;
  if (error instanceof AggregateError) return errorCode(error.errors[0]);
  // undici leaves the code of some parser errors empty.
  return error instanceof Error && error.name === 'HTTPParserError' ? 'HPE_' : '';
}

const CAUSES: Readonly<Record<string, Cause>> = {
  ECONNREFUSED: { code: 'UPSTREAM_ERROR', text: 'refused the connection; is it running?' },
  ENOTFOUND: { code: 'UPSTREAM_ERROR', text: 'has a host name that does not exist' },
  EAI_AGAIN: { code: 'UPSTREAM_ERROR', text: 'has a host name that could not be looked up' },
  EHOSTUNREACH: { code: 'UPSTREAM_ERROR', text: 'cannot be reached from this machine' },
  ENETUNREACH: { code: 'UPSTREAM_ERROR', text: 'cannot be reached: this machine has no route to it' },
  ETIMEDOUT: { code: 'UPSTREAM_TIMEOUT', text: 'did not take the connection in time' },
  UND_ERR_CONNECT_TIMEOUT: { code: 'UPSTREAM_TIMEOUT', text: 'did not take the connection in time' },
  UND_ERR_HEADERS_TIMEOUT: { code: 'UPSTREAM_TIMEOUT', text: 'did not begin its answer in time' },
  UND_ERR_BODY_TIMEOUT: { code: 'UPSTREAM_TIMEOUT', text: 'fell silent in the middle of its answer' },
  UND_ERR_HEADERS_OVERFLOW: { code: 'UPSTREAM_INVALID_RESPONSE', text: 'sent response headers over the limit' },
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: {
    code: 'UPSTREAM_ERROR',
    text: 'closed the connection before its answer was whole',
  },
  UND_ERR_INVALID_ARG: { code: 'UPSTREAM_ERROR', text: 'was not called: the request cannot be written as HTTP' },
  UND_ERR_DESTROYED: { code: 'UPSTREAM_ERROR', text: 'is no longer in use here' },
  UND_ERR_CLOSED: { code: 'UPSTREAM_ERROR', text: 'is no longer in use here' },
};

function describe(code: string, progress: CallProgress): Cause {
  const known = CAUSES[code];
  if (known !== undefined) return known;
  if (code.startsWith('HPE_'))
    return { code: 'UPSTREAM_INVALID_RESPONSE', text: 'answered with something that is not HTTP' };
  if (isTlsCode(code)) return { code: 'UPSTREAM_ERROR', text: `could not prove who it is over TLS (${code})` };
  if (progress === 'waiting')
    return { code: 'UPSTREAM_ERROR', text: `could not be connected to${code && ` (${code})`}` };
  if (progress === 'sent') return { code: 'UPSTREAM_ERROR', text: 'closed the connection before it answered' };
  return { code: 'UPSTREAM_ERROR', text: 'closed the connection in the middle of its answer' };
}

function isTlsCode(code: string): boolean {
  return /CERT|^ERR_TLS|^ERR_SSL|^UNABLE_TO|SELF_SIGNED|^EPROTO$|^HOSTNAME_MISMATCH$/.test(code);
}

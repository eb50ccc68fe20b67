// Picks the credential out of a request: `x-api-key` or `Authorization: Bearer`, on every route.

import type { IncomingHttpHeaders } from 'node:http';

/** `x-api-key` wins where both came, as it does at Anthropic's own API. */
export function credentialOf(headers: IncomingHttpHeaders): string | undefined {
  const key = headers['x-api-key'];
  if (typeof key === 'string' && key !== '') return key;
  return bearerOf(headers);
}

export function bearerOf(headers: IncomingHttpHeaders): string | undefined {
  const { authorization } = headers;
  if (authorization === undefined || authorization.length < 8) return undefined;
  return authorization.slice(0, 7).toLowerCase() === 'bearer ' ? authorization.slice(7).trim() : undefined;
}

// Which parser reads a request, by the dialect its caller speaks; and what of the request will not be served.

import type { Dialect, NeutralRequest } from '../wire/neutral.ts';
import { parseChatRequest } from '../wire/parse-chat-request.ts';
import { parseMessagesRequest } from '../wire/parse-messages-request.ts';
import { isResponsesRequest, parseResponsesRequest } from '../wire/parse-responses-request.ts';

const PARSERS: Readonly<Record<Dialect, (value: unknown) => NeutralRequest>> = {
  chat: parseChatRequest,
  messages: parseMessagesRequest,
  responses: parseResponsesRequest,
};

/** Longest list of dropped tools that a header names. */
const DROPPED_LENGTH_MAX = 200;

/** Throws as the dialect's parser does: INVALID_REQUEST naming the field, UNSUPPORTED_FEATURE. */
export function parseRequest(dialect: Dialect, value: unknown): NeutralRequest {
  return PARSERS[dialect](value);
}

/** Names the tools that were left out, so that a client can tell why they were never called. */
export function droppedToolsHeader(request: NeutralRequest): Record<string, string> {
  if (!isResponsesRequest(request) || request.toolkit.dropped.length === 0) return {};
  return { 'x-svc-dropped-tools': [...new Set(request.toolkit.dropped)].join(', ').slice(0, DROPPED_LENGTH_MAX) };
}

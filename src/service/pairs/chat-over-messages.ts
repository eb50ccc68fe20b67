// Chat callers of a Messages upstream: everything is translated, both ways.

import { createChatFromMessagesRelay } from '../../wire/chat-from-messages-relay.ts';
import { renderExactJson } from '../../wire/exact-json.ts';
import { inspectMessagesResponse } from '../../wire/parse-messages-response.ts';
import { renderChatResponse } from '../../wire/render-chat-response.ts';
import { renderMessagesRequest } from '../../wire/render-messages-request.ts';
import type { BodyInput, UpstreamBody, WirePair } from '../wire-pair.ts';
import { messagesHeaders } from './messages-headers.ts';

/** The version, and the beta, from which on the dialect reads a request in another way. */
const NO_SAMPLING_VERSION = '2026-10-21';
const MID_SYSTEM_BETA = 'mid-conversation-system';

export const chatOverMessages: WirePair = {
  path: '/messages',

  body({ parsed: { request }, model, outputTokensHeld, upstream, callerHeaders }: BodyInput): UpstreamBody {
    const headers = messagesHeaders(callerHeaders);
    const { body, toolNames } = renderMessagesRequest(request, {
      model,
      // The dialect demands one: what credits are held for is the most the answer may have.
      defaultMaxTokens: outputTokensHeld,
      takesMidSystem: (headers['anthropic-beta'] ?? '').includes(MID_SYSTEM_BETA),
      takesSampling: (headers['anthropic-version'] ?? '') < NO_SAMPLING_VERSION,
      sandboxField: upstream.takesSandboxField,
    });
    return { bytes: Buffer.from(renderExactJson(body)), headers, toolNames };
  },

  stream: ({ request, model, toolNames, requestId, makeId, nowMs }) =>
    createChatFromMessagesRelay({
      id: makeId('chatcmpl'),
      createdMs: nowMs,
      model,
      includeUsage: request.includeUsage,
      toolNames,
      requestId,
    }),

  whole({ model, toolNames, makeId, nowMs }, body) {
    const seen = inspectMessagesResponse(body);
    return {
      usage: seen.usage,
      usageMissing: seen.usageMissing,
      anomalies: seen.anomalies,
      finishReason: seen.finishReason,
      deliveredBytes: seen.textBytes,
      finish: (cost, usage) =>
        Buffer.from(
          JSON.stringify(
            renderChatResponse(seen.response, {
              id: makeId('chatcmpl'),
              createdMs: nowMs,
              cost,
              model,
              usage,
              toolNames,
            }),
          ),
        ),
    };
  },
};

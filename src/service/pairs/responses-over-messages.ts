// Responses callers of a Messages upstream: asked as a Chat caller's request is, answered through the Chat form.

import { chainRelays } from '../../wire/chained-relay.ts';
import { inspectMessagesResponse } from '../../wire/parse-messages-response.ts';
import type { WirePair } from '../wire-pair.ts';
import { chatOverMessages } from './chat-over-messages.ts';
import { answerResponses, relayResponses } from './responses-answer.ts';

export const responsesOverMessages: WirePair = {
  path: chatOverMessages.path,

  body: (input) => chatOverMessages.body(input),

  stream(input) {
    // The second relay turns names and usage into the caller's; the first must leave both as they are.
    const asChat = { ...input, request: { ...input.request, includeUsage: true } };
    return chainRelays(chatOverMessages.stream(asChat), relayResponses(input));
  },

  whole(input, body) {
    const seen = inspectMessagesResponse(body);
    return {
      usage: seen.usage,
      usageMissing: seen.usageMissing,
      anomalies: seen.anomalies,
      finishReason: seen.finishReason,
      deliveredBytes: seen.textBytes,
      finish: answerResponses(input, seen.response),
    };
  },
};

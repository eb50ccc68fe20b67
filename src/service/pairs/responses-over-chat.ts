// Responses callers of a Chat upstream: everything is translated, both ways.

import { renderExactJson } from '../../wire/exact-json.ts';
import { renderChatRequest } from '../../wire/render-chat-request.ts';
import type { BodyInput, UpstreamBody, WirePair } from '../wire-pair.ts';
import { readChatAnswer } from './read-chat-answer.ts';
import { answerResponses, relayResponses } from './responses-answer.ts';

export const responsesOverChat: WirePair = {
  path: '/chat/completions',

  body({ parsed: { request }, model, injectedMaxTokens, upstream }: BodyInput): UpstreamBody {
    const maxTokens = request.maxTokens ?? injectedMaxTokens;
    const { body, toolNames } = renderChatRequest(request, {
      model,
      dialect: upstream.dialect,
      sandboxField: upstream.takesSandboxField,
      ...(maxTokens === undefined ? {} : { maxTokens }),
    });
    return { bytes: Buffer.from(renderExactJson(body)), headers: {}, toolNames };
  },

  stream: relayResponses,

  whole(input, body) {
    const { response, ...seen } = readChatAnswer(body);
    return { ...seen, finish: answerResponses(input, response) };
  },
};

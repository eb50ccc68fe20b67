// Messages callers of a Chat upstream: everything is translated, both ways.

import { renderExactJson } from '../../wire/exact-json.ts';
import { createMessagesStreamRelay } from '../../wire/messages-stream-relay.ts';
import { renderChatRequest } from '../../wire/render-chat-request.ts';
import { renderMessagesResponse } from '../../wire/render-messages-response.ts';
import type { BodyInput, UpstreamBody, WirePair } from '../wire-pair.ts';
import { readChatAnswer } from './read-chat-answer.ts';
import { toolIdsOf } from './tool-ids-of.ts';

export const messagesOverChat: WirePair = {
  path: '/chat/completions',

  body({ parsed, model, injectedMaxTokens, upstream }: BodyInput): UpstreamBody {
    const { request } = parsed;
    const maxTokens = request.maxTokens ?? injectedMaxTokens;
    const { body, toolNames } = renderChatRequest(request, {
      model,
      dialect: upstream.dialect,
      sandboxField: upstream.takesSandboxField,
      ...(maxTokens === undefined ? {} : { maxTokens }),
    });
    return {
      bytes: Buffer.from(parsed.body.isExact ? JSON.stringify(body) : renderExactJson(body)),
      headers: {},
      toolNames,
    };
  },

  stream: ({ request, model, inputTokensEstimate, toolNames, requestId, makeId }) =>
    createMessagesStreamRelay({
      id: makeId('msg'),
      model,
      inputTokensEstimate,
      toolNames,
      usedToolIds: toolIdsOf(request),
      newToolId: () => makeId('toolu'),
      requestId,
    }),

  whole({ request, model, toolNames, makeId }, body) {
    const { response, ...seen } = readChatAnswer(body);
    return {
      ...seen,
      finish: (cost, usage) =>
        Buffer.from(
          renderExactJson(
            renderMessagesResponse(response, {
              id: makeId('msg'),
              cost,
              model,
              usage,
              toolNames,
              usedToolIds: toolIdsOf(request),
              newToolId: () => makeId('toolu'),
            }),
          ),
        ),
    };
  },
};

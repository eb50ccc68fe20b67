// Responses callers of a Chat upstream: everything is translated, both ways.

import { type ResponsesRequest, toResponsesRequest } from '../../wire/parse-responses-request.ts';
import { renderChatRequest } from '../../wire/render-chat-request.ts';
import { renderResponsesResponse } from '../../wire/render-responses-response.ts';
import type { ResponseHead } from '../../wire/responses-object.ts';
import type { ResponsesOutputOptions } from '../../wire/responses-output.ts';
import { createResponsesStreamRelay } from '../../wire/responses-stream-relay.ts';
import { createToolIdChooser } from '../../wire/tool-ids.ts';
import type { AnswerInput, BodyInput, UpstreamBody, WirePair } from '../wire-pair.ts';
import { readChatAnswer } from './read-chat-answer.ts';
import { toolIdsOf } from './tool-ids-of.ts';

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
    return { bytes: Buffer.from(JSON.stringify(body)), headers: {}, toolNames };
  },

  stream(input) {
    const request = toResponsesRequest(input.request);
    const { inputTokensEstimate, requestId } = input;
    return createResponsesStreamRelay({
      ...outputOptions(input, request),
      head: headOf(input, request),
      inputTokensEstimate,
      requestId,
    });
  },

  whole(input, body) {
    const request = toResponsesRequest(input.request);
    const { response, ...seen } = readChatAnswer(body);
    return {
      ...seen,
      finish(cost, usage) {
        const head = headOf(input, request);
        const options = { ...outputOptions(input, request), head, cost, usage };
        return Buffer.from(JSON.stringify(renderResponsesResponse(response, options)));
      },
    };
  },
};

function headOf({ model, makeId, nowMs }: AnswerInput, request: ResponsesRequest): ResponseHead {
  return { id: makeId('resp'), model, createdAt: Math.floor(nowMs / 1000), request };
}

function outputOptions(input: AnswerInput, request: ResponsesRequest): Omit<ResponsesOutputOptions, 'emit'> {
  const { makeId, toolNames } = input;
  return {
    newId: makeId,
    chooseCallId: createToolIdChooser(toolIdsOf(request), () => makeId('call')),
    toolOf(upstreamName) {
      const name = toolNames.toCaller(upstreamName);
      return request.toolkit.byName.get(name) ?? { kind: 'function', name };
    },
    withEncrypted: request.includeEncrypted,
  };
}

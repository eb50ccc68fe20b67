// What Responses callers get, whole or as a stream, whatever the upstream speaks.

import { renderExactJson } from '../../wire/exact-json.ts';
import type { NeutralResponse, Usage } from '../../wire/neutral.ts';
import { type ResponsesRequest, toResponsesRequest } from '../../wire/parse-responses-request.ts';
import { renderResponsesResponse } from '../../wire/render-responses-response.ts';
import type { ResponseHead } from '../../wire/responses-object.ts';
import type { ResponsesOutputOptions } from '../../wire/responses-output.ts';
import { createResponsesStreamRelay } from '../../wire/responses-stream-relay.ts';
import type { StreamRelay } from '../../wire/stream-relay.ts';
import { createToolIdChooser } from '../../wire/tool-ids.ts';
import type { AnswerInput } from '../wire-pair.ts';
import { toolIdsOf } from './tool-ids-of.ts';

/** Reads a Chat stream. */
export function relayResponses(input: AnswerInput): StreamRelay {
  const request = toResponsesRequest(input.request);
  const { inputTokensEstimate, requestId } = input;
  return createResponsesStreamRelay({
    ...outputOptions(input, request),
    head: headOf(input, request),
    inputTokensEstimate,
    requestId,
  });
}

/** The body of a whole answer, once its cost is known. */
export function answerResponses(
  input: AnswerInput,
  response: NeutralResponse,
): (cost: string, usage: Usage) => Uint8Array {
  const request = toResponsesRequest(input.request);
  return (cost, usage) => {
    const options = { ...outputOptions(input, request), head: headOf(input, request), cost, usage };
    return Buffer.from(renderExactJson(renderResponsesResponse(response, options)));
  };
}

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

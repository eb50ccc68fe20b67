// Chat callers of a Chat upstream: the bytes pass, with only what must change spliced in.

import { renderChatUsage } from '../../wire/chat-end.ts';
import { inspectChatResponse } from '../../wire/chat-response.ts';
import { createChatStreamRelay } from '../../wire/chat-stream-relay.ts';
import { scanJsonObject, spliceFields } from '../../wire/json-scan.ts';
import type { Usage } from '../../wire/neutral.ts';
import { maxTokensField } from '../../wire/render-chat-request.ts';
import { createToolNameMap } from '../../wire/tool-names.ts';
import type { BodyInput, UpstreamBody, WirePair } from '../wire-pair.ts';

export const chatOverChat: WirePair = {
  path: '/chat/completions',

  body({ parsed: { body, request }, model, injectedMaxTokens, upstream }: BodyInput): UpstreamBody {
    const set: Record<string, string> = {};
    if (model !== request.model) set['model'] = JSON.stringify(model);
    if (request.stream && !request.includeUsage)
      set['stream_options'] = JSON.stringify(streamOptions(body.value['stream_options']));
    if (injectedMaxTokens !== undefined) set[maxTokensField(model, upstream.dialect)] = String(injectedMaxTokens);
    const remove = upstream.takesSandboxField ? ['svc'] : ['svc', 'sandbox'];
    return { bytes: spliceFields(body, set, remove), headers: {}, toolNames: createToolNameMap([]) };
  },

  stream: ({ request, requestId, model, nowMs }) =>
    createChatStreamRelay({
      includeUsage: request.includeUsage,
      requestId,
      choices: request.choices,
      model,
      created: Math.floor(nowMs / 1000),
    }),

  whole(_input, body) {
    const seen = inspectChatResponse(body);
    return {
      usage: seen.usage,
      usageMissing: seen.usageMissing,
      anomalies: seen.anomalies,
      finishReason: seen.finishReason,
      deliveredBytes: seen.textBytes,
      finish: (cost, usage) => (seen.usage ? seen.withCost(cost) : withUsage(body, usage, cost)),
    };
  },
};

/** An upstream that counted nothing: the caller is told what it is charged for. */
function withUsage(body: Buffer, usage: Usage, cost: string): Uint8Array {
  return spliceFields(scanJsonObject(body), { usage: JSON.stringify(renderChatUsage(usage, cost)) }, []);
}

/** svc always asks for usage: it is what the charge is measured by. */
function streamOptions(given: unknown): Record<string, unknown> {
  const options = typeof given === 'object' && given !== null ? { ...given } : {};
  return { ...options, include_usage: true };
}

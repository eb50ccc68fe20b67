// Messages callers of a Messages upstream: the bytes pass, with only what must change spliced in.

import { spliceFields } from '../../wire/json-scan.ts';
import { createMessagesPassRelay } from '../../wire/messages-pass-relay.ts';
import { inspectMessagesResponse } from '../../wire/parse-messages-response.ts';
import { stripForeignThinking } from '../../wire/strip-foreign-thinking.ts';
import { createToolNameMap } from '../../wire/tool-names.ts';
import type { BodyInput, UpstreamBody, WirePair } from '../wire-pair.ts';
import { messagesHeaders } from './messages-headers.ts';

export const messagesOverMessages: WirePair = {
  path: '/messages',

  body({ parsed: { body, request }, model, injectedMaxTokens, upstream, callerHeaders }: BodyInput): UpstreamBody {
    const set: Record<string, string> = {};
    if (model !== request.model) set['model'] = JSON.stringify(model);
    if (injectedMaxTokens !== undefined) set['max_tokens'] = String(injectedMaxTokens);
    const messages = stripForeignThinking(body);
    if (messages !== undefined) set['messages'] = messages;
    const remove = upstream.takesSandboxField ? ['svc'] : ['svc', 'sandbox'];
    return {
      bytes: spliceFields(body, set, remove),
      headers: messagesHeaders(callerHeaders),
      toolNames: createToolNameMap([]),
    };
  },

  stream: ({ requestId }) => createMessagesPassRelay({ requestId }),

  whole(_input, body) {
    const seen = inspectMessagesResponse(body);
    return {
      usage: seen.usage,
      usageMissing: seen.usageMissing,
      anomalies: seen.anomalies,
      finishReason: seen.finishReason,
      deliveredBytes: seen.textBytes,
      finish: (cost, usage) => seen.withCost(cost, usage),
    };
  },
};

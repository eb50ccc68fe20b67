// A whole Chat answer made neutral, with what its charge is measured by.

import { parseChatResponse } from '../../wire/chat-response.ts';
import { parseChatUsage } from '../../wire/chat-usage.ts';
import type { NeutralResponse, ToolCall } from '../../wire/neutral.ts';
import { SvcError } from '../../wire/svc-error.ts';
import type { WholeAnswer } from '../wire-pair.ts';

export type ChatAnswer = Omit<WholeAnswer, 'finish'> & { readonly response: NeutralResponse };

/** Throws UPSTREAM_INVALID_RESPONSE, or the upstream's own error where it put one into a 200. */
export function readChatAnswer(body: Buffer): ChatAnswer {
  const value = parseJson(body);
  const response = parseChatResponse(value);
  const usage = parseChatUsage(
    typeof value === 'object' && value !== null && 'usage' in value ? value.usage : undefined,
  );
  return {
    response,
    usage: usage?.usage,
    usageMissing: usage?.missing ?? [],
    anomalies: usage?.anomalies ?? [],
    finishReason: response.finishReason,
    deliveredBytes: response.content.reduce((sum, part) => sum + Buffer.byteLength(textOf(part)), 0),
  };
}

function textOf(part: { readonly type: string; readonly text?: string } | ToolCall): string {
  return 'arguments' in part ? part.arguments : (part.text ?? '');
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (cause) {
    throw new SvcError('UPSTREAM_INVALID_RESPONSE', 'The upstream answered with something that is not JSON.', {
      cause,
    });
  }
}

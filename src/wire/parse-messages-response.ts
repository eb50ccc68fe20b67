// Whole answers of Messages upstreams: made neutral for other dialects, or checked while their bytes pass through.

import { spliceUsageCost } from './chat-response.ts';
import type { ChargedCount } from './chat-usage.ts';
import { keepExactTexts, renderExactJson } from './exact-json.ts';
import { isObject, type JsonObject, withoutUndefined } from './field-checks.ts';
import { type JsonBody, scanJsonObject, spliceFields, toBuffer } from './json-scan.ts';
import { blockPayloadBytes } from './messages-payload-scan.ts';
import { renderMessagesUsage } from './messages-stop.ts';
import { parseMessagesUsage } from './messages-usage.ts';
import type { FinishReason, NeutralResponse, TextPart, ThinkingPart, ToolCall, Usage } from './neutral.ts';
import { type MessagesEnd, parseMessagesEnd, parseMessagesError } from './parse-messages-end.ts';
import { SvcError } from './svc-error.ts';

export type MessagesInspection = {
  readonly usage: Usage | undefined;
  /** Counts of `usage` that the upstream left out or made unusable; empty where there is no usage. */
  readonly usageMissing: readonly ChargedCount[];
  readonly anomalies: readonly string[];
  readonly finishReason: FinishReason;
  /** UTF-8 bytes of text, thinking and tool arguments. */
  readonly textBytes: number;
  readonly response: NeutralResponse;
  /** The answer's bytes with `usage.cost`, a plain decimal; with `charged` as its usage where the upstream sent none. */
  withCost(cost: string, charged: Usage): Uint8Array;
};

/**
 * Throws UPSTREAM_INVALID_RESPONSE for what is no answer, and the upstream's own error (UPSTREAM_ERROR as a rule) where
 * it put one into a 200. `response.created` is 0: the dialect has no time.
 */
export function inspectMessagesResponse(bytes: Uint8Array): MessagesInspection {
  const body = scanAnswer(bytes);
  if (!body.isExact) keepExactTexts(toBuffer(bytes), body.value);
  const response = parseMessagesResponse(body.value);
  const parsed = parseMessagesUsage(body.value['usage']);
  const blocks = Array.isArray(body.value['content']) ? body.value['content'] : [];
  return {
    usage: parsed?.usage,
    usageMissing: parsed?.missing ?? [],
    anomalies: parsed?.anomalies ?? [],
    finishReason: response.finishReason,
    textBytes: blocks.reduce((sum: number, block: unknown) => sum + blockPayloadBytes(block), 0),
    response,
    withCost(cost, charged) {
      if (isObject(body.value['usage'])) return spliceUsageCost(body, cost);
      return spliceFields(body, { usage: JSON.stringify(renderMessagesUsage(charged, cost)) }, []);
    },
  };
}

/** Throws as `inspectMessagesResponse` does. Tools that the upstream ran itself have no form elsewhere and are left out. */
export function parseMessagesResponse(value: unknown): NeutralResponse {
  const { message, content, end } = openMessage(value);
  return withoutUndefined<NeutralResponse>({
    id: stringOf(message['id']),
    model: stringOf(message['model']),
    created: 0,
    content: content.filter(isObject).flatMap(parseBlock),
    refusal: end.refusal,
    finishReason: end.finishReason,
    stopSequence: end.stopSequence,
    nativeFinish: end.nativeFinish,
    usage: parseMessagesUsage(message['usage'])?.usage,
  });
}

type Opened = { readonly message: JsonObject; readonly content: readonly unknown[]; readonly end: MessagesEnd };

function openMessage(value: unknown): Opened {
  if (!isObject(value)) throw invalidAnswer('is not a JSON object');
  const error = value['error'];
  if (value['type'] === 'error' || isObject(error)) throw parseMessagesError(error);
  const content: unknown = value['content'];
  if (!Array.isArray(content)) throw invalidAnswer('has no content');
  const end = parseMessagesEnd(value);
  // An answer that does not say it has ended may have been cut.
  if (end === undefined) throw invalidAnswer('ended without a stop reason');
  return { message: value, content, end };
}

function parseBlock(block: JsonObject): readonly (TextPart | ThinkingPart | ToolCall)[] {
  switch (block['type']) {
    case 'text':
      return stringOf(block['text']) === '' ? [] : [{ type: 'text', text: stringOf(block['text']) }];
    case 'thinking':
      return [{ type: 'thinking', text: stringOf(block['thinking']), signature: stringOf(block['signature']) }];
    case 'redacted_thinking':
      return [{ type: 'thinking', text: '', encrypted: stringOf(block['data']) }];
    case 'tool_use': {
      const call = { id: stringOf(block['id']), name: stringOf(block['name']) };
      return [{ type: 'tool_call', ...call, arguments: renderExactJson(block['input'] ?? {}) }];
    }
    default:
      return [];
  }
}

function scanAnswer(bytes: Uint8Array): JsonBody {
  try {
    return scanJsonObject(bytes);
  } catch (cause) {
    throw new SvcError('UPSTREAM_INVALID_RESPONSE', "The upstream's answer is not a JSON object.", { cause });
  }
}

function invalidAnswer(what: string): SvcError {
  return new SvcError('UPSTREAM_INVALID_RESPONSE', `The upstream's answer ${what}.`);
}

function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

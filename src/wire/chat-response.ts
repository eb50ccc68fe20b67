// Whole answers of Chat upstreams: made neutral for other dialects, or checked while their bytes pass through.

import { mediaBytesOf } from './chat-payload.ts';
import { type ChargedCount, type ParsedUsage, parseChatUsage } from './chat-usage.ts';
import { isObject, type JsonObject, withoutUndefined } from './field-checks.ts';
import { parseFinishReason } from './finish-reason.ts';
import { type JsonBody, scanJsonObject, spliceFields } from './json-scan.ts';
import type { FinishReason, NeutralResponse, TextPart, ThinkingPart, ToolCall, Usage } from './neutral.ts';
import { argumentsOf, findChoice, findUpstreamError, parseChoiceEnd, textOf } from './parse-chat-answer.ts';
import { parseReasoning } from './parse-reasoning.ts';
import { isSvcError, SvcError } from './svc-error.ts';
import { toAcceptedToolId } from './tool-ids.ts';

/**
 * Throws UPSTREAM_INVALID_RESPONSE for what is no answer, and the upstream's own error (UPSTREAM_ERROR as a rule) where
 * it put one into a 200. Tool calls without an id keep `''`.
 */
export function parseChatResponse(value: unknown): NeutralResponse {
  const { answer, choice, message } = openAnswer(value);
  const { nativeFinish, stopSequence } = parseChoiceEnd(choice);
  const refusal = message['refusal'];
  const content = parseContent(message);
  if (isNamelessCall(content) && !refusal) throw invalidAnswer('is a tool call without a name');
  return withoutUndefined<NeutralResponse>({
    id: stringOf(answer['id']),
    model: stringOf(answer['model']),
    created: typeof answer['created'] === 'number' ? answer['created'] : 0,
    content,
    refusal: typeof refusal === 'string' && refusal !== '' ? refusal : undefined,
    finishReason: finishReasonOf(choice),
    stopSequence,
    nativeFinish,
    usage: parseChatUsage(answer['usage'])?.usage,
  });
}

export type ChatInspection = {
  readonly usage?: Usage;
  /** Counts of `usage` that the upstream left out or made unusable; empty where there is no usage. */
  readonly usageMissing: readonly ChargedCount[];
  readonly anomalies: readonly string[];
  readonly finishReason: FinishReason;
  readonly model?: string;
  /** UTF-8 bytes of text, thinking and tool arguments of all choices, media at a thousandth. */
  readonly textBytes: number;
  /** The answer's bytes with `usage.cost` set to this plain decimal; unchanged where there is no usage. */
  withCost(costDecimal: string): Uint8Array;
};

/** For answers that pass through; throws as `parseChatResponse` does. */
export function inspectChatResponse(bytes: Uint8Array): ChatInspection {
  const body = scanAnswer(bytes);
  const { answer, choice } = openAnswer(body.value);
  const parsed: ParsedUsage | undefined = parseChatUsage(answer['usage']);
  const model = answer['model'];
  return {
    ...(parsed === undefined ? {} : { usage: parsed.usage }),
    usageMissing: parsed?.missing ?? [],
    anomalies: parsed?.anomalies ?? [],
    finishReason: finishReasonOf(choice),
    ...(typeof model === 'string' ? { model } : {}),
    textBytes: textBytesOf(answer['choices']),
    withCost: (costDecimal) => (parsed === undefined ? bytes : spliceUsageCost(body, costDecimal)),
  };
}

/** Sets `cost` inside the top-level `usage` object and leaves every other byte; the same bytes where there is none. */
export function spliceUsageCost(body: JsonBody, costDecimal: string): Uint8Array {
  const field = body.fields.findLast(({ key }) => key === 'usage');
  if (field === undefined || !isObject(body.value['usage'])) return body.bytes;
  const usage = scanJsonObject(body.bytes.subarray(field.valueStart, field.valueEnd));
  const spliced = spliceFields(usage, { cost: costDecimal }, []);
  return Buffer.concat([body.bytes.subarray(0, field.valueStart), spliced, body.bytes.subarray(field.valueEnd)]);
}

const NOT_AN_OBJECT = 'is not a JSON object';

type Answer = { readonly answer: JsonObject; readonly choice: JsonObject; readonly message: JsonObject };

function openAnswer(value: unknown): Answer {
  if (!isObject(value)) throw invalidAnswer(NOT_AN_OBJECT);
  const error = findUpstreamError(value);
  if (error !== undefined) throw error;
  const choice = findChoice(value['choices']);
  if (choice === undefined) throw invalidAnswer('has no choices');
  const message = choice['message'];
  if (!isObject(message)) throw invalidAnswer('has a choice without a message');
  return { answer: value, choice, message };
}

/** An answer that does not say it has ended may have been cut; an upstream without the field may say it elsewhere. */
function finishReasonOf(choice: JsonObject): FinishReason {
  const { finishReason, nativeFinish } = parseChoiceEnd(choice);
  if (finishReason !== undefined) return finishReason;
  const native = choice['finish_reason'] === undefined ? parseFinishReason(nativeFinish) : undefined;
  if (native === undefined || native === 'error') throw invalidAnswer('ended without a finish reason');
  return native;
}

function scanAnswer(bytes: Uint8Array): JsonBody {
  try {
    return scanJsonObject(bytes);
  } catch (cause) {
    throw invalidAnswer(isSvcError(cause) && cause.code === 'INVALID_REQUEST' ? NOT_AN_OBJECT : 'is not JSON', cause);
  }
}

function invalidAnswer(what: string, cause?: unknown): SvcError {
  return new SvcError('UPSTREAM_INVALID_RESPONSE', `The upstream's answer ${what}.`, { cause });
}

function parseContent(message: JsonObject): readonly (TextPart | ThinkingPart | ToolCall)[] {
  const text = textOf(message['content']);
  const calls = Array.isArray(message['tool_calls']) ? message['tool_calls'].filter(isObject).map(parseToolCall) : [];
  const older = message['function_call'];
  if (isObject(older)) calls.push(parseToolCall({ id: '', function: older }));
  const texts: readonly TextPart[] = text === '' ? [] : [{ type: 'text', text }];
  return [...parseReasoning(message), ...texts, ...calls];
}

function parseToolCall(call: JsonObject): ToolCall {
  const named = isObject(call['function']) ? call['function'] : {};
  return {
    type: 'tool_call',
    id: toAcceptedToolId(stringOf(call['id'])),
    name: stringOf(named['name']),
    arguments: readArguments(named['arguments']),
  };
}

/** An object may be nested deeper than JSON can be written. */
function readArguments(value: unknown): string {
  try {
    return argumentsOf(value);
  } catch (cause) {
    throw invalidAnswer('nests the arguments of a tool call too deeply', cause);
  }
}

/** Clients can do nothing with a call of nothing. */
function isNamelessCall(content: NeutralResponse['content']): boolean {
  return content.length > 0 && content.every((part) => part.type === 'tool_call' && part.name === '');
}

function textBytesOf(choices: unknown): number {
  if (!Array.isArray(choices)) return 0;
  let bytes = 0;
  for (const choice of choices) {
    const message: unknown = isObject(choice) ? choice['message'] : undefined;
    if (!isObject(message)) continue;
    bytes += Buffer.byteLength(stringOf(message['refusal']));
    bytes += mediaBytesOf(message);
    for (const part of parseContent(message)) bytes += partBytes(part);
  }
  return bytes;
}

function partBytes(part: TextPart | ThinkingPart | ToolCall): number {
  return Buffer.byteLength(part.type === 'tool_call' ? part.name + part.arguments : part.text);
}

function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

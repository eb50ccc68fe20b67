// A neutral answer as a Chat completion.

import { CLAUDE_FORMAT, renderChatUsage, renderFinishReason } from './chat-end.ts';
import type { JsonObject } from './field-checks.ts';
import type { NeutralResponse, ThinkingPart, Usage } from './neutral.ts';
import type { ToolNameMap } from './tool-names.ts';

/** `cost` is a decimal string in USD, `createdMs` since 1970. */
export type ChatRenderResponseOptions = {
  readonly id: string;
  readonly createdMs: number;
  readonly cost: string;
  /** The model asked of the upstream, for an answer that names none. */
  readonly model: string;
  /** What was charged. */
  readonly usage: Usage;
  readonly toolNames: ToolNameMap;
};

export function renderChatResponse(
  response: NeutralResponse,
  options: ChatRenderResponseOptions,
): Record<string, unknown> {
  const calls = response.content.filter((part) => part.type === 'tool_call');
  const toolCalls = calls.map(({ id, name, arguments: args }) => ({
    id,
    type: 'function',
    function: { name: options.toolNames.toCaller(name), arguments: args },
  }));
  const texts = response.content.filter((part) => part.type === 'text').map(({ text }) => text);
  const message = {
    role: 'assistant',
    content: texts.length === 0 ? null : texts.join(''),
    refusal: response.refusal ?? null,
    ...renderReasoning(response.content.filter((part) => part.type === 'thinking')),
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
  };
  const choice = {
    index: 0,
    message,
    logprobs: null,
    finish_reason: renderFinishReason(response.finishReason, toolCalls.length),
    ...(response.nativeFinish === undefined ? {} : { native_finish_reason: response.nativeFinish }),
  };
  return {
    id: options.id,
    object: 'chat.completion',
    created: Math.floor(options.createdMs / 1000),
    model: response.model === '' ? options.model : response.model,
    choices: [choice],
    usage: renderChatUsage(options.usage, options.cost),
  };
}

/** Signatures go along byte for byte, so that the caller can give its history back. */
function renderReasoning(thinking: readonly ThinkingPart[]): JsonObject {
  if (thinking.length === 0) return {};
  const reasoning = thinking.map(({ text }) => text).join('');
  const details = thinking.map(({ text, signature, encrypted }, index) => {
    if (encrypted !== undefined) return { type: 'reasoning.encrypted', data: encrypted, format: CLAUDE_FORMAT, index };
    const proof = signature === undefined || signature === '' ? {} : { signature };
    return { type: 'reasoning.text', text, ...proof, format: CLAUDE_FORMAT, index };
  });
  return { ...(reasoning === '' ? {} : { reasoning }), reasoning_details: details };
}

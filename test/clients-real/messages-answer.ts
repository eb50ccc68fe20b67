// Answers of an upstream that speaks Messages, whole and as a stream.

import type { ToolCall } from './client-under-test.ts';
import { TOKENS } from './scripted-loop.ts';

export type LoopAnswer = { readonly text: string } | { readonly call: ToolCall };

export function messagesAnswer(model: string, answer: LoopAnswer): Record<string, unknown> {
  return {
    ...head(model),
    content: [
      'text' in answer
        ? { type: 'text', text: answer.text }
        : { type: 'tool_use', id: TOOL_ID, name: answer.call.name, input: answer.call.arguments },
    ],
    stop_reason: stopReason(answer),
    usage: usage(TOKENS.output),
  };
}

/** Up to and with `message_stop`; the text a word at a time, the arguments in two halves. */
export function messagesEvents(model: string, answer: LoopAnswer): string[] {
  const events = [
    { type: 'message_start', message: { ...head(model), content: [], stop_reason: null, usage: usage(1) } },
    { type: 'ping' },
    { type: 'content_block_start', index: 0, content_block: emptyBlock(answer) },
    ...deltas(answer).map((delta) => ({ type: 'content_block_delta', index: 0, delta })),
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: stopReason(answer), stop_sequence: null },
      usage: { output_tokens: TOKENS.output },
    },
    { type: 'message_stop' },
  ];
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

const TOOL_ID = 'toolu_loop_1';

function head(model: string): Record<string, unknown> {
  return { id: 'msg_fake', type: 'message', role: 'assistant', model, stop_sequence: null };
}

function usage(outputTokens: number): Record<string, number> {
  return {
    input_tokens: TOKENS.input,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: outputTokens,
  };
}

function stopReason(answer: LoopAnswer): string {
  return 'text' in answer ? 'end_turn' : 'tool_use';
}

function emptyBlock(answer: LoopAnswer): Record<string, unknown> {
  if ('text' in answer) return { type: 'text', text: '' };
  return { type: 'tool_use', id: TOOL_ID, name: answer.call.name, input: {} };
}

function deltas(answer: LoopAnswer): Record<string, unknown>[] {
  if ('text' in answer) return answer.text.split(/(?<=\s)/).map((text) => ({ type: 'text_delta', text }));
  const json = JSON.stringify(answer.call.arguments);
  const half = Math.ceil(json.length / 2);
  return [json.slice(0, half), json.slice(half)].map((part) => ({ type: 'input_json_delta', partial_json: part }));
}

// The sandbox's answer as Chat Completions JSON: whole, or as the chunks of a stream.

import type { SandboxAnswer } from './compose-answer.ts';
import { splitTokens } from './sandbox-tokens.ts';
import type { SandboxUsage } from './sandbox-usage.ts';

export type CompletionHead = { readonly id: string; readonly created: number; readonly model: string };

/** One chunk's `delta` and the tokens it stands for. */
export type Delta = { readonly delta: Readonly<Record<string, unknown>>; readonly tokens: number };

/** A few words at a time. */
const TOKENS_PER_CHUNK = 3;
const PROVIDER = 'svc sandbox';

export function renderWhole(head: CompletionHead, answer: SandboxAnswer, usage: SandboxUsage | undefined): string {
  const calls = answer.calls.map(({ id, name, arguments: args }) => ({
    id,
    type: 'function',
    function: { name, arguments: args },
  }));
  const message = {
    role: 'assistant',
    content: answer.text ?? null,
    refusal: null,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
  return JSON.stringify({
    ...headFields(head, 'chat.completion'),
    choices: [
      {
        index: 0,
        message,
        finish_reason: answer.finishReason,
        native_finish_reason: answer.finishReason,
        logprobs: null,
      },
    ],
    ...(usage === undefined ? {} : { usage }),
  });
}

/** The whole answer of an upstream that broke down on the way: an error inside the choice. */
export function renderBrokenWhole(head: CompletionHead, message: string): string {
  return JSON.stringify({
    ...headFields(head, 'chat.completion'),
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: '' },
        finish_reason: 'error',
        error: { code: 502, message },
      },
    ],
  });
}

/** What the chunks carry, in order; the first has the role. Joined, the texts are the answer's text. */
export function toDeltas(answer: SandboxAnswer): Delta[] {
  const deltas = answer.text === undefined ? [] : textDeltas(answer.text);
  for (const [index, call] of answer.calls.entries()) {
    const start = { index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } };
    deltas.push({ delta: { tool_calls: [start] }, tokens: 1 });
    for (const piece of inChunks(call.arguments)) {
      deltas.push({ delta: { tool_calls: [{ index, function: { arguments: piece.text } }] }, tokens: piece.tokens });
    }
  }
  const content = answer.text === undefined ? null : '';
  const [first, ...rest] = deltas;
  if (first === undefined) return [{ delta: { role: 'assistant', content }, tokens: 0 }];
  return [{ delta: { role: 'assistant', content, ...first.delta }, tokens: first.tokens }, ...rest];
}

export function renderChunk(head: CompletionHead, delta: Delta['delta'], finishReason: string | null): string {
  return event({
    ...headFields(head, 'chat.completion.chunk'),
    choices: [{ index: 0, delta, finish_reason: finishReason, native_finish_reason: finishReason, logprobs: null }],
  });
}

export function renderUsageChunk(head: CompletionHead, usage: SandboxUsage): string {
  return event({ ...headFields(head, 'chat.completion.chunk'), choices: [], usage });
}

/** How OpenRouter says in the middle of a stream that the model's host broke down. */
export function renderErrorChunk(head: CompletionHead, message: string): string {
  return event({
    ...headFields(head, 'chat.completion.chunk'),
    error: { code: 502, message },
    choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
  });
}

export const DONE_EVENT = 'data: [DONE]\n\n';

function headFields(head: CompletionHead, object: string) {
  return { id: head.id, object, created: head.created, model: head.model, provider: PROVIDER };
}

function event(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

function textDeltas(text: string): Delta[] {
  return inChunks(text).map((piece) => ({ delta: { content: piece.text }, tokens: piece.tokens }));
}

function inChunks(text: string): { readonly text: string; readonly tokens: number }[] {
  const tokens = splitTokens(text);
  const chunks: { text: string; tokens: number }[] = [];
  for (let at = 0; at < tokens.length; at += TOKENS_PER_CHUNK) {
    const some = tokens.slice(at, at + TOKENS_PER_CHUNK);
    chunks.push({ text: some.join(''), tokens: some.length });
  }
  return chunks;
}

// Decides what the sandbox says to a request: tool calls, JSON or text, cut where `stop` or `max_tokens` says.

import { createHash } from 'node:crypto';
import { readPromptHints } from './prompt-hints.ts';
import { callPromptedTools, type SandboxToolCall } from './prompted-tool-calls.ts';
import type { SandboxRequest } from './sandbox-request.ts';
import { writeAnswerText } from './sandbox-text.ts';
import { countTokens, splitTokens } from './sandbox-tokens.ts';
import { sampleSchema } from './schema-sample.ts';
import { seededRandom } from './seeded-random.ts';

export type SandboxAnswer = {
  /** `gen-…`, the same for the same request. */
  readonly id: string;
  readonly text: string | undefined;
  readonly calls: readonly SandboxToolCall[];
  readonly finishReason: 'stop' | 'length' | 'tool_calls';
  readonly completionTokens: number;
};

/** `maxOutputTokens` is the model's own limit, for a request that gives none. */
export function composeAnswer(request: SandboxRequest, maxOutputTokens: number | undefined): SandboxAnswer {
  const digest = createHash('sha256')
    .update(request.model)
    .update('\0')
    .update(JSON.stringify(request.rawMessages))
    .digest();
  const id = `gen-${digest.toString('hex', 0, 12)}`;
  const limit = request.maxTokens ?? maxOutputTokens ?? Number.POSITIVE_INFINITY;
  const calls = callPromptedTools(request, digest.toString('hex', 0, 8));
  if (calls.length > 0) return { id, text: undefined, ...cutCalls(calls, limit) };
  const whole = writeText(request, digest.readUInt32BE(0));
  return { id, calls: [], ...cutText(whole, request.stop, limit) };
}

function writeText(request: SandboxRequest, seed: number): string {
  const { format } = request;
  if (format.type === 'text') return writeAnswerText(request, seededRandom(seed));
  if (format.type === 'json_object') {
    return JSON.stringify({
      sandbox: true,
      model: request.model,
      answer: writeAnswerText(request, seededRandom(seed)),
    });
  }
  const prompt = request.messages.findLast(({ role }) => role === 'user')?.lastText ?? '';
  return JSON.stringify(sampleSchema(format.schema, readPromptHints(prompt)));
}

function cutText(whole: string, stop: readonly string[], limit: number) {
  const ends = stop.map((text) => whole.indexOf(text)).filter((at) => at !== -1);
  const text = ends.length > 0 ? whole.slice(0, Math.min(...ends)) : whole;
  const tokens = splitTokens(text);
  if (tokens.length <= limit) return { text, finishReason: 'stop' as const, completionTokens: tokens.length };
  return { text: tokens.slice(0, limit).join(''), finishReason: 'length' as const, completionTokens: limit };
}

/** A call that does not fit is cut in the middle of its arguments, as models leave it; those after it never come. */
function cutCalls(calls: readonly SandboxToolCall[], limit: number) {
  const kept: SandboxToolCall[] = [];
  let used = 0;
  for (const call of calls) {
    const nameTokens = countTokens(call.name);
    const tokens = splitTokens(call.arguments);
    const left = Math.max(0, limit - used - nameTokens);
    if (tokens.length > left) {
      kept.push({ ...call, arguments: tokens.slice(0, left).join('') });
      return { calls: kept, finishReason: 'length' as const, completionTokens: limit };
    }
    kept.push(call);
    used += nameTokens + tokens.length;
  }
  return { calls: kept, finishReason: 'tool_calls' as const, completionTokens: used };
}

// What whole answers and stream chunks of Chat upstreams have in common: the choice that counts and what it says.

import { isObject, type JsonObject } from './field-checks.ts';
import { parseFinishReason } from './finish-reason.ts';
import type { FinishReason } from './neutral.ts';
import type { SvcError } from './svc-error.ts';
import { parseUpstreamError } from './upstream-error.ts';

/** How a choice ended; all undefined while it goes on. */
export type ChoiceEnd = {
  readonly finishReason: FinishReason | undefined;
  readonly nativeFinish: string | undefined;
  readonly stopSequence: string | undefined;
};

/** The upstream's own failure inside an answer that began as a success, wherever it put it; undefined when it did not fail. */
export function findUpstreamError(answer: JsonObject): SvcError | undefined {
  const top = answer['error'];
  if (isFailure(top)) return parseUpstreamError(top);
  const choice = findChoice(answer['choices']);
  if (choice === undefined) return undefined;
  const error = choice['error'];
  return isFailure(error) || parseFinishReason(choice['finish_reason']) === 'error'
    ? parseUpstreamError(error)
    : undefined;
}

/** Some upstreams send `"error": null` or `""` with every good answer. */
function isFailure(error: unknown): boolean {
  return isObject(error) || (typeof error === 'string' && error !== '');
}

/** Choice 0: other choices have no form in Messages. */
export function findChoice(choices: unknown): JsonObject | undefined {
  if (!Array.isArray(choices)) return undefined;
  return choices.filter(isObject).find((choice) => (choice['index'] ?? 0) === 0);
}

export function parseChoiceEnd(choice: JsonObject): ChoiceEnd {
  const native = choice['native_finish_reason'];
  // vLLM names the matched stop string `stop_reason`, SGLang `matched_stop`; both also put token numbers there.
  const stop = choice['stop_reason'] ?? choice['matched_stop'];
  return {
    finishReason: parseFinishReason(choice['finish_reason']),
    nativeFinish: typeof native === 'string' ? native : undefined,
    stopSequence: typeof stop === 'string' && stop !== '' && !STOP_WORDS.has(stop) ? stop : undefined,
  };
}

/** Words for a kind of end, which other servers put where vLLM has the matched string. */
const STOP_WORDS: ReadonlySet<string> = new Set([
  'stop',
  'length',
  'end_turn',
  'eos',
  'eos_token',
  'max_tokens',
  'stop_sequence',
  'tool_use',
  'tool_calls',
]);

/** Content as a string, or the texts of its parts; `''` when there is none. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part: unknown) => (isObject(part) && typeof part['text'] === 'string' ? part['text'] : ''))
    .join('');
}

/** Arguments are JSON text; an upstream that sends the object itself meant its text. */
export function argumentsOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

// Chat's `finish_reason` in its many spellings, as one of ours.

import type { FinishReason } from './neutral.ts';

const SPELLINGS: ReadonlyMap<string, FinishReason> = new Map([
  ['stop', 'stop'],
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['tool_calls', 'tool_calls'],
  ['tool_use', 'tool_calls'],
  ['function_call', 'tool_calls'],
  ['content_filter', 'content_filter'],
  ['refusal', 'content_filter'],
  ['error', 'error'],
]);

/** Undefined for null, absent and `''`: the answer goes on. An unknown word still says that it has ended. */
export function parseFinishReason(value: unknown): FinishReason | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  return SPELLINGS.get(value.toLowerCase()) ?? 'stop';
}

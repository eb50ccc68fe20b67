// The weight of what a model gave beside text, thinking and tool calls: images, sound, and whatever comes next.

import { isObject, type JsonObject } from './field-checks.ts';

/** Bytes of encoded media that count as one byte of text: an image has far fewer tokens than base64 letters. */
export const MEDIA_BYTES_PER_BYTE = 1000;

/** Levels looked into; what lies deeper counts as there. */
const MAX_LEVELS = 16;

/** What is counted elsewhere, or says nothing. */
const COUNTED_ELSEWHERE: ReadonlySet<string> = new Set([
  'role',
  'name',
  'content',
  'refusal',
  'reasoning',
  'reasoning_content',
  'reasoning_details',
  'tool_calls',
  'function_call',
]);

/** Of a delta or a message, counted in bytes of text; never 0 where there is any such payload. */
export function mediaBytesOf(delta: JsonObject): number {
  let weight = 0;
  for (const key in delta) if (!COUNTED_ELSEWHERE.has(key)) weight += weightOf(delta[key], 0);
  const content: unknown = delta['content'];
  for (const part of Array.isArray(content) ? content : []) {
    if (isObject(part) && typeof part['text'] !== 'string') weight += weightOf(part, 0);
  }
  return Math.ceil(weight / MEDIA_BYTES_PER_BYTE);
}

function weightOf(value: unknown, level: number): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return value === null || value === undefined ? 0 : 1;
  if (level >= MAX_LEVELS) return 1;
  let weight = 0;
  for (const inner of Object.values(value)) weight += weightOf(inner, level + 1);
  return weight;
}

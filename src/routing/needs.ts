// What a request needs of the model that serves it, and about how long it is.

import type {
  ContentPart,
  NeutralMessage,
  NeutralRequest,
  Reasoning,
  ThinkingPart,
  ToolCall,
} from '../wire/neutral.ts';
import type { Needs } from './decision.ts';
import { estimateTextTokens } from './estimate-tokens.ts';

type Part = ContentPart | ThinkingPart | ToolCall;

/** Roles, separators: what a message costs beyond its text. */
const MESSAGE_TOKENS = 4;
/** A picture of ordinary size, at the detail most models choose. */
const IMAGE_TOKENS = 1000;
const FILE_TOKENS_MIN = 500;
/** A page of PDF is some 60 kB of base64 and some 2,000 tokens. */
const FILE_CHARACTERS_PER_TOKEN = 30;
const JSON_CHARACTERS_PER_TOKEN = 4;
/** JSON deeper than this is refused long before; the limit only keeps the walk finite. */
const JSON_DEPTH_MAX = 64;
/** Characters looked at in one text, and in one once the whole request has had its share. */
const LOOK_MAX = 1536;
const LOOK_SHORT = 96;
const LOOK_TOTAL = 65_536;

/**
 * `input_tokens` is an estimate for routing, not for money; `estimate` replaces it where the caller knows better.
 * `max_output_tokens` is what the request asked for, 0 when it asked for none. `reasoning` means asked for, not wise.
 */
export function needsOf(request: NeutralRequest, estimate?: number): Needs {
  return {
    input_tokens: Math.ceil(estimate ?? estimateInput(request)),
    max_output_tokens: request.maxTokens ?? 0,
    vision: request.messages.some(hasImage),
    tools: request.tools.length > 0,
    structured_output: request.responseFormat !== undefined,
    reasoning: asksReasoning(request.reasoning),
  };
}

function estimateInput(request: NeutralRequest): number {
  let tokens = 0;
  let looked = 0;
  for (const message of request.messages) {
    tokens += MESSAGE_TOKENS;
    for (const part of message.content) {
      tokens += partTokens(part, looked < LOOK_TOTAL ? LOOK_MAX : LOOK_SHORT);
      looked += Math.min(LOOK_MAX, 'text' in part ? part.text.length : 0);
    }
  }
  for (const tool of request.tools) {
    const characters = tool.name.length + (tool.description?.length ?? 0) + jsonLength(tool.parameters, 0);
    tokens += MESSAGE_TOKENS + characters / JSON_CHARACTERS_PER_TOKEN;
  }
  if (request.responseFormat?.type === 'json_schema') {
    tokens += jsonLength(request.responseFormat.schema, 0) / JSON_CHARACTERS_PER_TOKEN;
  }
  return tokens;
}

function partTokens(part: Part, lookMax: number): number {
  switch (part.type) {
    case 'text':
    case 'thinking':
      return estimateTextTokens(part.text, lookMax);
    case 'image':
      return IMAGE_TOKENS;
    case 'tool_call':
      return 2 * MESSAGE_TOKENS + estimateTextTokens(part.arguments, lookMax);
    case 'file':
      return Math.max(FILE_TOKENS_MIN, (part.data?.length ?? 0) / FILE_CHARACTERS_PER_TOKEN);
    case 'opaque':
      return jsonLength(part.value, 0) / JSON_CHARACTERS_PER_TOKEN;
  }
}

/** About how long `value` is as JSON text, without writing it. */
function jsonLength(value: unknown, depth: number): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return value === undefined ? 0 : 5;
  if (depth >= JSON_DEPTH_MAX) return 0;
  let length = 2;
  if (Array.isArray(value)) {
    for (const item of value) length += jsonLength(item, depth + 1) + 1;
    return length;
  }
  for (const [key, item] of Object.entries(value)) length += key.length + 4 + jsonLength(item, depth + 1);
  return length;
}

function hasImage(message: NeutralMessage): boolean {
  const parts: readonly Part[] = message.content;
  return parts.some((part) => part.type === 'image');
}

/** Not whether it is wise: whether the caller wants it. */
export function asksReasoning(reasoning: Reasoning | undefined): boolean {
  if (!reasoning || reasoning.enabled === false || reasoning.effort === 'none') return false;
  return reasoning.enabled === true || reasoning.effort !== undefined || reasoning.maxTokens !== undefined;
}

// Thinking of earlier turns, given back to the model that made it, byte for byte.

import type { JsonObject } from './field-checks.ts';
import type { ThinkingPart } from './neutral.ts';
import { unsealReasoning } from './parse-reasoning.ts';

const CLAUDE_FORMAT = 'anthropic-claude-v1';

/** How the `format` of sealed details starts, and the model names it belongs to. */
const FORMAT_OWNERS: readonly (readonly [format: string, model: string])[] = [
  ['anthropic', 'anthropic/'],
  ['openai', 'openai/'],
  ['google', 'google/'],
  ['xai', 'x-ai/'],
];

/** `reasoning_details` and `reasoning` of an assistant message; nothing for no thinking. */
export function renderChatReasoning(thinking: readonly ThinkingPart[], model: string): JsonObject {
  const details: JsonObject[] = [];
  let text = '';
  for (const part of thinking) {
    const made = renderDetails(part, model, details.length);
    // Claude refuses unsigned thinking; other models read it as plain text.
    const isUsable = made.length > 0 || !isClaudeModel(model);
    if (isUsable) text += part.text;
    details.push(...made);
  }
  return {
    ...(text === '' ? {} : { reasoning: text }),
    ...(details.length === 0 ? {} : { reasoning_details: details }),
  };
}

function renderDetails(part: ThinkingPart, model: string, index: number): readonly JsonObject[] {
  const sealed = unsealReasoning(part.encrypted ?? part.signature ?? '');
  if (sealed !== undefined) return sealed.filter((detail) => fits(detail['format'], model));
  if (isOtherVendors(model)) return [];
  if (part.encrypted !== undefined) {
    return [{ type: 'reasoning.encrypted', data: part.encrypted, format: CLAUDE_FORMAT, index }];
  }
  if (part.signature === undefined || part.signature === '') return [];
  const { text, signature } = part;
  return [{ type: 'reasoning.text', text, signature, format: CLAUDE_FORMAT, index }];
}

/** Encrypted reasoning of one vendor is an error at another, so it is left out there. */
function fits(format: unknown, model: string): boolean {
  if (typeof format !== 'string') return true;
  const owner = FORMAT_OWNERS.find(([start]) => format.startsWith(start));
  return owner === undefined || model.startsWith(owner[1]);
}

/** Signatures that are no seal are Claude's, or of nobody known: none that these vendors' models could have made. */
function isOtherVendors(model: string): boolean {
  return FORMAT_OWNERS.some(([format, owner]) => format !== 'anthropic' && model.startsWith(owner));
}

/** By its name: Anthropic's own prefix, or a Claude served by someone else. */
export function isClaudeModel(model: string): boolean {
  return model.startsWith('anthropic/') || model.includes('claude');
}

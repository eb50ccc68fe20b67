// The details of a model's reasoning, gathered for `encrypted_content`: what its maker wants back, byte for byte.

import type { JsonObject } from './field-checks.ts';
import type { ThinkingPart } from './neutral.ts';
import { sealReasoning, unsealReasoning } from './parse-reasoning.ts';

const CLAUDE_FORMAT = 'anthropic-claude-v1';

export interface ReasoningSeal {
  keep(detail: JsonObject, isOpaque: boolean): void;
  /** Undefined unless there is a detail among them that only its maker can read. */
  whole(): string | undefined;
}

export function createReasoningSeal(): ReasoningSeal {
  const details: JsonObject[] = [];
  let isSealed = false;
  return {
    keep(detail, isOpaque) {
      isSealed ||= isOpaque;
      const last = details.at(-1);
      if (last !== undefined && goesOn(last, detail)) details[details.length - 1] = joined(last, detail);
      else details.push(detail);
    },
    whole: () => (isSealed ? sealReasoning(details) : undefined),
  };
}

/** The details behind a whole answer's thinking, as the upstream gave them; none for plain thinking. `index` is its place. */
export function detailsOfThinking(part: ThinkingPart, index: number): readonly JsonObject[] {
  const opaque = part.encrypted ?? part.signature;
  if (opaque === undefined || opaque === '') return [];
  const sealed = unsealReasoning(opaque);
  if (sealed !== undefined) return sealed;
  if (part.encrypted !== undefined)
    return [{ type: 'reasoning.encrypted', data: opaque, format: CLAUDE_FORMAT, index }];
  return [{ type: 'reasoning.text', text: part.text, signature: opaque, format: CLAUDE_FORMAT, index }];
}

/** Details stream in pieces: the same kind and index goes on where the last one stopped, until it is signed. */
function goesOn(last: JsonObject, detail: JsonObject): boolean {
  const isSame = last['type'] === detail['type'] && last['index'] === detail['index'];
  return isSame && detail['type'] !== 'reasoning.encrypted' && !last['signature'];
}

function joined(last: JsonObject, detail: JsonObject): JsonObject {
  const merged: Record<string, unknown> = { ...last, ...detail };
  for (const key of ['text', 'summary']) {
    if (typeof last[key] === 'string' && typeof detail[key] === 'string') merged[key] = last[key] + detail[key];
  }
  return merged;
}

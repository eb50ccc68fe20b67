// Reasoning as Chat upstreams show it (three fields, one of them typed), as thinking; and sealed for the way back.

import { isObject, type JsonObject } from './field-checks.ts';
import type { ThinkingPart } from './neutral.ts';

/** Marks opaque reasoning of models other than Claude, carried through a Messages client inside a signature. */
const SEAL_PREFIX = 'gw1:';

/** Longest run of details taken back out of a seal; a model's own reasoning has a few dozen. */
const MAX_SEALED_DETAILS = 1024;

/** One entry of `reasoning_details`, with what matters of it read. */
export type ReasoningDetail = {
  readonly raw: JsonObject;
  /** Text to show, `''` when there is none. */
  readonly text: string;
  readonly signature: string | undefined;
  readonly encrypted: string | undefined;
  /** True where signature or encrypted data go to a Messages client as they are: Claude made them, or nobody said. */
  readonly isNative: boolean;
};

/** The details win over `reasoning`, that over `reasoning_content`: they repeat each other. */
export function parseReasoning(message: JsonObject): ThinkingPart[] {
  const details = parseReasoningDetails(message['reasoning_details']);
  const plain = plainReasoning(message);
  if (details.length === 0) return plain === '' ? [] : [{ type: 'thinking', text: plain }];
  if (details.some((detail) => !detail.isNative && isOpaque(detail))) return [sealedThinking(details, plain)];
  const parts = joinSignatures(details)
    .map(toThinking)
    .filter((part) => part !== undefined);
  const hasText = parts.some((part) => part.text !== '');
  return hasText || plain === '' ? parts : [{ type: 'thinking', text: plain }, ...parts];
}

export function parseReasoningDetails(value: unknown): ReasoningDetail[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isObject).map(parseDetail);
}

/** The untyped spellings, `''` when there is none. */
export function plainReasoning(message: JsonObject): string {
  const { reasoning, reasoning_content: content } = message as { reasoning?: unknown; reasoning_content?: unknown };
  if (typeof reasoning === 'string' && reasoning !== '') return reasoning;
  return typeof content === 'string' ? content : '';
}

/** True where the detail holds what only its maker can read. */
export function isOpaque(detail: ReasoningDetail): boolean {
  return detail.signature !== undefined || detail.encrypted !== undefined;
}

export function sealReasoning(details: readonly JsonObject[]): string {
  return SEAL_PREFIX + Buffer.from(JSON.stringify(details)).toString('base64');
}

/** The details inside a seal; undefined when it is a model's own signature, empty when the seal is broken. */
export function unsealReasoning(signature: string): readonly JsonObject[] | undefined {
  if (!signature.startsWith(SEAL_PREFIX)) return undefined;
  try {
    const details: unknown = JSON.parse(Buffer.from(signature.slice(SEAL_PREFIX.length), 'base64').toString('utf8'));
    return Array.isArray(details) ? details.slice(0, MAX_SEALED_DETAILS).filter(isObject) : [];
  } catch {
    // Cut or altered on its way through a client; no upstream could use it either.
    return [];
  }
}

function parseDetail(raw: JsonObject): ReasoningDetail {
  const format = raw['format'];
  const isNative = typeof format !== 'string' || format === 'unknown' || format.startsWith('anthropic');
  return {
    raw,
    text: stringOr(raw['text']) ?? stringOr(raw['summary']) ?? '',
    signature: stringOr(raw['signature']),
    encrypted: stringOr(raw['data']),
    isNative,
  };
}

/** A signature that came as a detail of its own belongs to the text before it. */
function joinSignatures(details: readonly ReasoningDetail[]): readonly ReasoningDetail[] {
  const joined: ReasoningDetail[] = [];
  for (const detail of details) {
    const last = joined.at(-1);
    const isLoose = detail.text === '' && detail.signature !== undefined && detail.encrypted === undefined;
    if (isLoose && last !== undefined && last.text !== '' && !isOpaque(last)) {
      joined[joined.length - 1] = { ...last, signature: detail.signature };
    } else joined.push(detail);
  }
  return joined;
}

function toThinking(detail: ReasoningDetail): ThinkingPart | undefined {
  const { text, signature, encrypted } = detail;
  if (encrypted !== undefined) return { type: 'thinking', text, encrypted };
  if (signature !== undefined) return { type: 'thinking', text, signature };
  return text === '' ? undefined : { type: 'thinking', text };
}

/** Without text there is nothing to show, so the seal goes where clients keep hidden thinking. */
function sealedThinking(details: readonly ReasoningDetail[], plain: string): ThinkingPart {
  const text = details.map((detail) => detail.text).join('') || plain;
  const seal = sealReasoning(details.map((detail) => detail.raw));
  return text === '' ? { type: 'thinking', text, encrypted: seal } : { type: 'thinking', text, signature: seal };
}

function stringOr(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

// Fills in what strict Chat clients miss in an upstream's stream chunks; a chunk that lacks nothing stays as it is.

import { type CallRepair, createCallRepair } from './chat-call-repair.ts';
import { createDeltaReader, type DeltaReader } from './chat-chunk-delta.ts';
import { isObject, type JsonObject } from './field-checks.ts';

/** Choices whose state is kept; `n` ends at 128. */
const MAX_CHOICES = 128;

/** Longest name taken from one chunk for the next ones: it would be repeated with each. */
const MAX_REMEMBERED_UNITS = 256;

export type ChunkRepairOptions = {
  readonly requestId: string;
  /** Said where the upstream names no model. */
  readonly model?: string | undefined;
  /** Unix seconds, said where the upstream gives no time. */
  readonly created?: number | undefined;
};

/**
 * Undefined where nothing had to change. `created` and the like are taken from the first chunk that had them. Throws
 * RangeError where an answer is out of bounds.
 */
export type ChunkRepair = (chunk: JsonObject) => JsonObject | undefined;

export function createChunkRepair(options: ChunkRepairOptions): ChunkRepair {
  const base: Record<string, unknown> = {
    id: `chatcmpl-${options.requestId}`,
    object: 'chat.completion.chunk',
    created: options.created ?? 0,
    model: options.model ?? '',
  };
  const states = new Map<number, ChoiceState>();

  function stateOf(choice: number): ChoiceState & { isFirst: boolean } {
    const known = states.get(choice);
    if (known !== undefined) return { ...known, isFirst: false };
    if (states.size >= MAX_CHOICES) throw new RangeError('too many choices');
    const state = { calls: createCallRepair(options.requestId), deltaOf: createDeltaReader() };
    states.set(choice, state);
    return { ...state, isFirst: true };
  }

  function repairChoice(choice: JsonObject, position: number): JsonObject {
    const index = isIndex(choice['index']) ? choice['index'] : position;
    const { calls, deltaOf, isFirst } = stateOf(index);
    const given = deltaOf(choice);
    const delta = repairDelta(given ?? {}, isFirst, calls);
    const finish = choice['finish_reason'];
    // Some clients take any text, even an empty one, for the end.
    const isFinishOdd = finish !== undefined && finish !== null && !(typeof finish === 'string' && finish !== '');
    if (delta === choice['delta'] && index === choice['index'] && !isFinishOdd) return choice;
    const { message, ...rest } = choice;
    const others = given !== undefined && given === message ? rest : choice;
    return { ...others, index, delta, ...(isFinishOdd ? { finish_reason: null } : {}) };
  }

  function repairEnvelope(chunk: JsonObject): Record<string, unknown> {
    const mended: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(base)) {
      const given = chunk[key];
      if (!isEnvelopeField(key, given)) mended[key] = value;
      else if (String(given).length <= MAX_REMEMBERED_UNITS) base[key] = given;
    }
    const usage = chunk['usage'];
    if (usage !== undefined && usage !== null && !isObject(usage)) mended['usage'] = null;
    return mended;
  }

  return (chunk) => {
    const mended = repairEnvelope(chunk);
    const before: readonly unknown[] = Array.isArray(chunk['choices']) ? chunk['choices'] : [];
    const choices = before.filter(isObject).map(repairChoice);
    const isSame = before === chunk['choices'] && isEveryOneSame(choices, before);
    return isSame && Object.keys(mended).length === 0 ? undefined : { ...chunk, ...mended, choices };
  };
}

type ChoiceState = { readonly calls: CallRepair; readonly deltaOf: DeltaReader };

function isEnvelopeField(key: string, value: unknown): boolean {
  return key === 'created' ? Number.isFinite(value) : typeof value === 'string';
}

function isIndex(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
}

function isEveryOneSame(after: readonly unknown[], before: readonly unknown[]): boolean {
  return after.length === before.length && after.every((item, position) => item === before[position]);
}

function repairDelta(delta: JsonObject, isFirst: boolean, repairCall: CallRepair): JsonObject {
  const withRole = isFirst && typeof delta['role'] !== 'string' ? { ...delta, role: 'assistant' } : delta;
  const given = delta['tool_calls'];
  if (given === undefined || given === null) return withRole;
  const before: readonly unknown[] = Array.isArray(given) ? given : [];
  const calls = before
    .filter(isObject)
    .map(repairCall)
    .filter((call) => call !== undefined);
  if (before === given && isEveryOneSame(calls, before)) return withRole;
  const { tool_calls: _replaced, ...rest } = withRole;
  return calls.length === 0 ? rest : { ...rest, tool_calls: calls };
}

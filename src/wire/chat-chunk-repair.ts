// Fills in what strict Chat clients miss in an upstream's stream chunks; a chunk that lacks nothing stays as it is.

import { isObject, type JsonObject } from './field-checks.ts';
import { argumentsOf } from './parse-chat-answer.ts';
import { createToolCallSlots, type ToolCallPiece } from './tool-call-slots.ts';

/** Choices whose state is kept; `n` ends at 128. */
const MAX_CHOICES = 128;

/** Undefined where nothing had to change. `created` and the like are taken from the first chunk that had them. */
export type ChunkRepair = (chunk: JsonObject) => JsonObject | undefined;

export function createChunkRepair(requestId: string): ChunkRepair {
  const base: Record<string, unknown> = {
    id: `chatcmpl-${requestId}`,
    object: 'chat.completion.chunk',
    created: 0,
    model: '',
  };
  const slotsByChoice = new Map<number, ReturnType<typeof createToolCallSlots>>();

  function slotsOf(choice: number): { slots: ReturnType<typeof createToolCallSlots>; isFirst: boolean } {
    const known = slotsByChoice.get(choice);
    if (known !== undefined) return { slots: known, isFirst: false };
    if (slotsByChoice.size >= MAX_CHOICES) throw new RangeError('too many choices');
    const slots = createToolCallSlots();
    slotsByChoice.set(choice, slots);
    return { slots, isFirst: true };
  }

  function repairChoice(choice: unknown, position: number): unknown {
    if (!isObject(choice)) return choice;
    const index = typeof choice['index'] === 'number' ? choice['index'] : position;
    const delta = isObject(choice['delta']) ? choice['delta'] : {};
    const { slots, isFirst } = slotsOf(index);
    const repaired = repairDelta(delta, isFirst, (call) => repairCall(call, slots(call), requestId));
    return repaired === choice['delta'] && index === choice['index'] ? choice : { ...choice, index, delta: repaired };
  }

  return (chunk) => {
    const missing: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(base)) {
      if (chunk[key] === undefined || chunk[key] === null) missing[key] = value;
      else base[key] = chunk[key];
    }
    const before: readonly unknown[] = Array.isArray(chunk['choices']) ? chunk['choices'] : [];
    const choices = before.map(repairChoice);
    const isSame = before === chunk['choices'] && choices.every((choice, position) => choice === before[position]);
    return isSame && Object.keys(missing).length === 0 ? undefined : { ...chunk, ...missing, choices };
  };
}

function repairDelta(delta: JsonObject, isFirst: boolean, repair: (call: JsonObject) => JsonObject): JsonObject {
  const needsRole = isFirst && typeof delta['role'] !== 'string';
  const calls: readonly unknown[] = Array.isArray(delta['tool_calls']) ? delta['tool_calls'] : [];
  const repairedCalls = calls.map((call) => (isObject(call) ? repair(call) : call));
  const isSame = repairedCalls.every((call, position) => call === calls[position]);
  if (isSame) return needsRole ? { role: 'assistant', ...delta } : delta;
  return { ...(needsRole ? { role: 'assistant' } : {}), ...delta, tool_calls: repairedCalls };
}

/** Id, type and name come once, in a call's first piece: some clients join repeats into `call_1call_1`. */
function repairCall(call: JsonObject, piece: ToolCallPiece, requestId: string): JsonObject {
  const named = isObject(call['function']) ? call['function'] : {};
  const { slot, isFirst } = piece;
  const isText = typeof named['arguments'] === 'string' || named['arguments'] === undefined;
  const hasIndex = call['index'] === slot && isText;
  if (isFirst) {
    if (hasIndex && piece.id !== '' && call['type'] === 'function') return call;
    const id = piece.id === '' ? `call_${requestId}_${slot}` : piece.id;
    return {
      ...call,
      index: slot,
      id,
      type: 'function',
      function: { ...named, arguments: argumentsOf(piece.arguments) },
    };
  }
  const isBare = call['id'] === undefined && named['name'] === undefined;
  if (hasIndex && isBare) return call;
  return { index: slot, function: { arguments: argumentsOf(piece.arguments) } };
}

// Which tool call a streamed piece belongs to: upstreams number them, name them by id, or do neither.

import { isObject, type JsonObject } from './field-checks.ts';

/** Calls in one answer; models make a few dozen at most. */
export const MAX_TOOL_CALLS = 1024;

/** Numbers remembered for the calls; an upstream that keeps changing them names its calls by id. */
const MAX_INDEXES = 2 * MAX_TOOL_CALLS;

/** `slot` counts the calls from 0 in the order they appear. */
export type ToolCallPiece = {
  readonly slot: number;
  readonly isFirst: boolean;
  readonly id: string;
  readonly name: string;
  /** The `arguments` as the upstream sent them, usually a string. */
  readonly arguments: unknown;
};

/** Throws RangeError past `MAX_TOOL_CALLS`. */
export function createToolCallSlots(): (call: JsonObject) => ToolCallPiece {
  const slotByIndex = new Map<number, number>();
  const slotById = new Map<string, number>();
  const idBySlot: string[] = [];
  const nameBySlot: string[] = [];

  function find(index: unknown, id: string, name: string): number | undefined {
    const known = id === '' ? undefined : slotById.get(id);
    if (typeof index === 'number') return findNumbered(slotByIndex.get(index), known, id, name);
    return known ?? (id === '' && name === '' ? lastSlot() : undefined);
  }

  /** `slot` is what the number says, `known` what the id says. */
  function findNumbered(
    slot: number | undefined,
    known: number | undefined,
    id: string,
    name: string,
  ): number | undefined {
    if (slot !== undefined && idBySlot[slot] === id) return slot;
    // Some upstreams give several calls one id: with another number and another name it is another call.
    if (known !== undefined) return isOfName(known, name) ? known : unnamed(slot);
    // Some upstreams give every call the index 0: another id with a name is another call.
    const isNewCall = id !== '' && name !== '' && slot !== undefined && idBySlot[slot] !== '';
    return isNewCall ? undefined : slot;
  }

  function isOfName(slot: number, name: string): boolean {
    return name === '' || nameBySlot[slot] === '' || nameBySlot[slot] === name;
  }

  /** The slot as long as neither id nor name of its call are known. */
  function unnamed(slot: number | undefined): number | undefined {
    return slot !== undefined && idBySlot[slot] === '' && nameBySlot[slot] === '' ? slot : undefined;
  }

  function lastSlot(): number | undefined {
    return idBySlot.length === 0 ? undefined : idBySlot.length - 1;
  }

  return (call) => {
    const { id, name, arguments: text } = readCall(call);
    const found = find(call['index'], id, name);
    const slot = found ?? idBySlot.length;
    if (slot >= MAX_TOOL_CALLS) throw new RangeError('too many tool calls');
    if (found === undefined) {
      idBySlot.push('');
      nameBySlot.push('');
    }
    if (nameBySlot[slot] === '') nameBySlot[slot] = name;
    if (id !== '' && idBySlot[slot] === '') {
      idBySlot[slot] = id;
      slotById.set(id, slot);
    }
    if (typeof call['index'] === 'number' && slotByIndex.size < MAX_INDEXES) slotByIndex.set(call['index'], slot);
    return { slot, isFirst: found === undefined, id, name, arguments: text };
  };
}

function readCall(call: JsonObject): Pick<ToolCallPiece, 'id' | 'name' | 'arguments'> {
  const named = isObject(call['function']) ? call['function'] : {};
  return { id: textOr(call['id']), name: textOr(named['name']), arguments: named['arguments'] };
}

function textOr(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

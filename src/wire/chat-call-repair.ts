// Makes the streamed tool calls of one choice strict: numbered from 0, with id, type and name in the first piece only.

import { isObject, type JsonObject } from './field-checks.ts';
import { argumentsOf } from './parse-chat-answer.ts';
import { createToolCallSlots, type ToolCallPiece } from './tool-call-slots.ts';

/** Characters of arguments that may wait for the name of their call; names come with the first pieces. */
const MAX_WAITING_CHARS = 1024 * 1024;

/**
 * The piece itself where it is good, a mended one, or undefined where it waits for its call's name: clients take no
 * first piece without one. Throws RangeError where too much waits or there are too many calls.
 */
export type CallRepair = (call: JsonObject) => JsonObject | undefined;

export function createCallRepair(requestId: string): CallRepair {
  const slotOf = createToolCallSlots();
  const calls: Call[] = [];
  let sent = 0;
  let waitingChars = 0;

  function startPiece(call: JsonObject, piece: ToolCallPiece, state: Call): JsonObject | undefined {
    state.id ||= piece.id;
    if (piece.name === '' && !isOfOtherType(call)) {
      state.waiting += argumentsOf(piece.arguments);
      waitingChars += argumentsOf(piece.arguments).length;
      if (waitingChars > MAX_WAITING_CHARS) throw new RangeError('too many arguments wait for the name of their call');
      return undefined;
    }
    state.index = sent;
    sent += 1;
    return toFirstPiece(call, piece, state, state.id || `call_${requestId}_${state.index}`);
  }

  return (call) => {
    const piece = slotOf(call);
    const state = calls[piece.slot] ?? { index: undefined, id: '', waiting: '' };
    calls[piece.slot] = state;
    return state.index === undefined ? startPiece(call, piece, state) : toLaterPiece(call, piece, state.index);
  };
}

/** `index` is undefined until the call has been sent. */
type Call = { index: number | undefined; id: string; waiting: string };

/** Calls of another type hold their name elsewhere. */
function isOfOtherType(call: JsonObject): boolean {
  return typeof call['type'] === 'string' && call['type'] !== '' && call['type'] !== 'function';
}

function toFirstPiece(call: JsonObject, piece: ToolCallPiece, { index, waiting }: Call, id: string): JsonObject {
  if (isOfOtherType(call)) return call['index'] === index && call['id'] === id ? call : { ...call, index, id };
  const isText = typeof piece.arguments === 'string' && waiting === '';
  if (isText && call['index'] === index && call['id'] === id && call['type'] === 'function') return call;
  const named = isObject(call['function']) ? call['function'] : {};
  const text = waiting + argumentsOf(piece.arguments);
  return { ...call, index, id, type: 'function', function: { ...named, name: piece.name, arguments: text } };
}

/** Some clients join repeats into `call_1call_1`; what else an upstream adds to a piece stays. */
function toLaterPiece(call: JsonObject, piece: ToolCallPiece, index: number): JsonObject {
  const { id, type, ...rest } = call;
  const { name, ...named } = isObject(call['function']) ? call['function'] : {};
  const isBare = id === undefined && type === undefined && name === undefined;
  const isText = typeof piece.arguments === 'string' || piece.arguments === undefined;
  if (isBare && isText && call['index'] === index) return call;
  if (call['function'] === undefined) return { ...rest, index };
  return { ...rest, index, function: { ...named, arguments: argumentsOf(piece.arguments) } };
}

// The content events of a Messages stream as deltas of Chat chunks.

import { CLAUDE_FORMAT } from './chat-end.ts';
import { isObject, type JsonObject } from './field-checks.ts';
import type { ToolNameMap } from './tool-names.ts';

export interface MessagesChunks {
  /** Deltas for one event of a content block; none for events that have no form in Chat. */
  take(type: string, event: JsonObject): readonly JsonObject[];
  /** Calls begun so far. */
  readonly toolCalls: number;
}

/** `index` counts calls, or pieces of thinking: not blocks. */
type Block =
  | { readonly kind: 'text' }
  | { readonly kind: 'other' }
  | { readonly kind: 'thinking'; readonly index: number }
  | { readonly kind: 'tool'; readonly index: number; readonly input: JsonObject; hasArguments: boolean };

export function createMessagesChunks(toolNames: ToolNameMap): MessagesChunks {
  /** Open blocks, by the upstream's index. */
  const open = new Map<unknown, Block>();
  let toolCalls = 0;
  let thoughts = 0;

  function start(at: unknown, block: JsonObject): JsonObject[] {
    switch (block['type']) {
      case 'text':
        open.set(at, { kind: 'text' });
        return textDelta(block['text']);
      case 'thinking': {
        const index = thoughts;
        thoughts += 1;
        open.set(at, { kind: 'thinking', index });
        return [...thinkingDelta(block['thinking'], index), ...signatureDelta(block['signature'], index)];
      }
      case 'redacted_thinking':
        thoughts += 1;
        open.set(at, { kind: 'other' });
        return [detailDelta({ type: 'reasoning.encrypted', data: block['data'] }, thoughts - 1)];
      case 'tool_use':
        toolCalls += 1;
        open.set(at, toolBlock(block['input'], toolCalls - 1));
        return [callDelta(block, toolCalls - 1, toolNames)];
      default:
        // A tool that the upstream runs itself, its result, or a kind to come.
        open.set(at, { kind: 'other' });
        return [];
    }
  }

  /** Some upstreams leave out the start of a block: its first delta says as much, save for a call, which has no name. */
  function startByDelta(at: unknown, type: unknown): Block | undefined {
    if (type === 'text_delta') start(at, { type: 'text' });
    if (type === 'thinking_delta' || type === 'signature_delta') start(at, { type: 'thinking' });
    return open.get(at);
  }

  function stop(at: unknown, block: Block): JsonObject[] {
    open.delete(at);
    if (block.kind !== 'tool' || block.hasArguments) return [];
    return argumentsDelta(JSON.stringify(block.input), block.index);
  }

  return {
    get toolCalls() {
      return toolCalls;
    },
    take(type, event) {
      const { index: at, content_block: begun, delta } = event;
      if (type === 'content_block_start') return isObject(begun) ? start(at, begun) : [];
      if (type === 'content_block_delta' && isObject(delta)) {
        const block = open.get(at) ?? startByDelta(at, delta['type']);
        return block === undefined ? [] : renderDelta(block, delta);
      }
      const block = open.get(at);
      return type === 'content_block_stop' && block !== undefined ? stop(at, block) : [];
    },
  };
}

function renderDelta(block: Block, delta: JsonObject): JsonObject[] {
  if (block.kind === 'other') return [];
  if (delta['type'] === 'text_delta') return textDelta(delta['text']);
  if (block.kind === 'thinking' && delta['type'] === 'thinking_delta') {
    return thinkingDelta(delta['thinking'], block.index);
  }
  if (block.kind === 'thinking' && delta['type'] === 'signature_delta') {
    return signatureDelta(delta['signature'], block.index);
  }
  if (block.kind !== 'tool' || delta['type'] !== 'input_json_delta') return [];
  const deltas = argumentsDelta(delta['partial_json'], block.index);
  block.hasArguments ||= deltas.length > 0;
  return deltas;
}

/** A call without arguments gets its `{}` at its end: clients parse them as JSON. */
function toolBlock(input: unknown, index: number): Block {
  return { kind: 'tool', index, input: isObject(input) ? input : {}, hasArguments: false };
}

function textDelta(text: unknown): JsonObject[] {
  return typeof text === 'string' && text !== '' ? [{ content: text }] : [];
}

function thinkingDelta(text: unknown, index: number): JsonObject[] {
  if (typeof text !== 'string' || text === '') return [];
  return [{ reasoning: text, ...detailDelta({ type: 'reasoning.text', text }, index) }];
}

function signatureDelta(signature: unknown, index: number): JsonObject[] {
  if (typeof signature !== 'string' || signature === '') return [];
  return [detailDelta({ type: 'reasoning.text', signature }, index)];
}

function detailDelta(detail: JsonObject, index: number): JsonObject {
  return { reasoning_details: [{ ...detail, format: CLAUDE_FORMAT, index }] };
}

function callDelta(block: JsonObject, index: number, toolNames: ToolNameMap): JsonObject {
  const named = { name: toolNames.toCaller(String(block['name'] ?? '')), arguments: '' };
  return { tool_calls: [{ index, id: String(block['id'] ?? ''), type: 'function', function: named }] };
}

function argumentsDelta(text: unknown, index: number): JsonObject[] {
  if (typeof text !== 'string' || text === '') return [];
  return [{ tool_calls: [{ index, function: { arguments: text } }] }];
}

// The items a Responses answer is made of, each with the events of its life: added, deltas, done.

import type { JsonObject } from './field-checks.ts';
import type { ResponsesTool } from './parse-responses-tools.ts';
import { createReasoningSeal } from './responses-reasoning-seal.ts';

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

/** `emit` takes an event without its number; `index` is the item's place in the output. */
export type ItemContext = {
  readonly id: string;
  readonly index: number;
  emit(type: string, payload: JsonObject): void;
};

/** An item is added to the output when made. */
export interface OutputItem {
  readonly isOpen: boolean;
  close(status: ItemStatus): void;
  /** As it is now. */
  render(): JsonObject;
}

export type MessagePartKind = 'output_text' | 'refusal';

export interface MessageItem extends OutputItem {
  add(kind: MessagePartKind, text: string): void;
}

export function createMessageItem({ id, index, emit }: ItemContext): MessageItem {
  const parts: { readonly kind: MessagePartKind; text: string }[] = [];
  let status: ItemStatus = 'in_progress';
  const render = (): JsonObject => ({ id, type: 'message', status, role: 'assistant', content: parts.map(renderPart) });
  const place = (): JsonObject => ({ item_id: id, output_index: index, content_index: parts.length - 1 });

  function closePart(): void {
    const part = parts.at(-1);
    if (part === undefined) return;
    const said = part.kind === 'refusal' ? { refusal: part.text } : { text: part.text, logprobs: [] };
    emit(`response.${part.kind}.done`, { ...place(), ...said });
    emit('response.content_part.done', { ...place(), part: renderPart(part) });
  }

  emit('response.output_item.added', { output_index: index, item: render() });
  return {
    get isOpen() {
      return status === 'in_progress';
    },
    add(kind, text) {
      if (parts.at(-1)?.kind !== kind) {
        closePart();
        parts.push({ kind, text: '' });
        emit('response.content_part.added', { ...place(), part: renderPart({ kind, text: '' }) });
      }
      const part = parts.at(-1);
      if (part !== undefined) part.text += text;
      emit(`response.${kind}.delta`, { ...place(), delta: text, ...(kind === 'refusal' ? {} : { logprobs: [] }) });
    },
    close(last) {
      closePart();
      status = last;
      emit('response.output_item.done', { output_index: index, item: render() });
    },
    render,
  };
}

function renderPart({ kind, text }: { readonly kind: MessagePartKind; readonly text: string }): JsonObject {
  return kind === 'refusal' ? { type: kind, refusal: text } : { type: kind, text, annotations: [], logprobs: [] };
}

export interface ReasoningItem extends OutputItem {
  readonly hasText: boolean;
  add(text: string): void;
  /** Keeps a detail for `encrypted_content`. */
  keep(detail: JsonObject, isOpaque: boolean): void;
}

/** What a model thought is shown as a summary: that is what clients of this dialect display. */
export function createReasoningItem(context: ItemContext, withEncrypted: boolean): ReasoningItem {
  const { id, index, emit } = context;
  const seal = createReasoningSeal();
  const place = { item_id: id, output_index: index, summary_index: 0 };
  let text = '';
  let encrypted: string | undefined;
  let isOpen = true;
  const part = (): JsonObject => ({ type: 'summary_text', text });
  const render = (): JsonObject => ({
    id,
    type: 'reasoning',
    summary: text === '' ? [] : [part()],
    ...(encrypted === undefined ? {} : { encrypted_content: encrypted }),
  });

  emit('response.output_item.added', { output_index: index, item: render() });
  return {
    get isOpen() {
      return isOpen;
    },
    get hasText() {
      return text !== '';
    },
    add(piece) {
      if (text === '') emit('response.reasoning_summary_part.added', { ...place, part: part() });
      text += piece;
      emit('response.reasoning_summary_text.delta', { ...place, delta: piece });
    },
    keep: seal.keep,
    close() {
      isOpen = false;
      if (text !== '') {
        emit('response.reasoning_summary_text.done', { ...place, text });
        emit('response.reasoning_summary_part.done', { ...place, part: part() });
      }
      if (withEncrypted) encrypted = seal.whole();
      emit('response.output_item.done', { output_index: index, item: render() });
    },
    render,
  };
}

export interface CallItem extends OutputItem {
  add(text: string): void;
  /** Whether the arguments are JSON text already; looks at all of them. */
  isWhole(): boolean;
}

export type Call = { readonly callId: string; readonly tool: ResponsesTool };

export function createFunctionItem({ id, index, emit }: ItemContext, { callId, tool }: Call): CallItem {
  const place = { item_id: id, output_index: index };
  const { name } = tool;
  let text = '';
  let status: ItemStatus = 'in_progress';
  const render = (): JsonObject => {
    const named = { call_id: callId, name, ...namespaceOf(tool) };
    return { id, type: 'function_call', status, arguments: text, ...named };
  };
  const add = (piece: string): void => {
    text += piece;
    emit('response.function_call_arguments.delta', { ...place, delta: piece });
  };

  emit('response.output_item.added', { output_index: index, item: render() });
  return {
    get isOpen() {
      return status === 'in_progress';
    },
    add,
    isWhole: () => isJson(text),
    close(last) {
      // Clients parse the arguments as they are, and nothing is no JSON.
      if (text.trim() === '' && last === 'completed') add('{}');
      status = last;
      emit('response.function_call_arguments.done', { ...place, name, arguments: text });
      emit('response.output_item.done', { output_index: index, item: render() });
    },
    render,
  };
}

/** The free text is inside the arguments the model writes: it is known once they are whole. */
export function createCustomItem({ id, index, emit }: ItemContext, { callId, tool }: Call): CallItem {
  const place = { item_id: id, output_index: index };
  let text = '';
  let input = '';
  let status: ItemStatus = 'in_progress';
  const render = (): JsonObject => {
    const named = { call_id: callId, name: tool.name, ...namespaceOf(tool) };
    return { id, type: 'custom_tool_call', status, input, ...named };
  };

  emit('response.output_item.added', { output_index: index, item: render() });
  return {
    get isOpen() {
      return status === 'in_progress';
    },
    add(piece) {
      text += piece;
    },
    isWhole: () => isJson(text),
    close(last) {
      input = inputOf(text);
      status = last;
      if (input !== '') emit('response.custom_tool_call_input.delta', { ...place, delta: input });
      emit('response.custom_tool_call_input.done', { ...place, input });
      emit('response.output_item.done', { output_index: index, item: render() });
    },
    render,
  };
}

function namespaceOf(tool: ResponsesTool): JsonObject {
  return tool.namespace === undefined ? {} : { namespace: tool.namespace };
}

/** A model that did not keep to the one field meant all it wrote. */
function inputOf(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    const isWrapped = typeof value === 'object' && value !== null && 'input' in value;
    return isWrapped && typeof value.input === 'string' ? value.input : text;
  } catch {
    // Free text as it is, or cut short.
    return text;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    // Not yet.
    return false;
  }
}

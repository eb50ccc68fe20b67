// The output of a Responses answer while it is made: items in the order they begin, whatever order their pieces come in.

import type { JsonObject } from './field-checks.ts';
import type { FinishReason } from './neutral.ts';
import type { ResponsesTool } from './parse-responses-tools.ts';
import {
  type CallItem,
  createCustomItem,
  createFunctionItem,
  createMessageItem,
  createReasoningItem,
  type ItemContext,
  type MessageItem,
  type MessagePartKind,
  type OutputItem,
  type ReasoningItem,
} from './responses-items.ts';

/** Bytes of arguments that may wait for their call's name; a whole answer is far smaller. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;

export type ResponsesOutputOptions = {
  /** `prefix_…`, a new one each time. */
  newId(prefix: string): string;
  /** The id the caller gets for an upstream's, which may be `''`. */
  chooseCallId(id: string): string;
  toolOf(upstreamName: string): ResponsesTool;
  readonly withEncrypted: boolean;
  emit(type: string, payload: JsonObject): void;
};

/** A piece of a tool call; `slot` counts the calls from 0, id and name may be `''`. */
export type CallPiece = { readonly slot: number; readonly id: string; readonly name: string };

type CallState = { id: string; item: CallItem | undefined; waiting: string; wasLookedAt: boolean };

export class ResponsesOutput {
  readonly anomalies = new Set<string>();

  readonly #options: ResponsesOutputOptions;
  readonly #items: OutputItem[] = [];
  readonly #calls: CallState[] = [];
  /** Calls that are not closed yet, in order. */
  readonly #openCalls: CallState[] = [];
  #message: MessageItem | undefined;
  #reasoning: ReasoningItem | undefined;
  #waitingBytes = 0;

  constructor(options: ResponsesOutputOptions) {
    this.#options = options;
  }

  addText(kind: MessagePartKind, text: string): void {
    if (text === '') return;
    if (!this.#message?.isOpen) this.#message = this.#begin((context) => createMessageItem(context), 'msg');
    this.#message.add(kind, text);
  }

  addThinking(text: string): void {
    if (text !== '') this.#openReasoning().add(text);
  }

  /** A detail of the thinking; opaque ones are for their maker alone, and kept only where the caller asked for them. */
  keepDetail(detail: JsonObject, isOpaque: boolean): void {
    if (!this.#options.withEncrypted) return;
    if (!this.#reasoning?.isOpen) {
      if (!isOpaque) return;
      // A signature belongs to thinking that has been handed over already, encrypted thinking stands for itself.
      if (this.#reasoning?.hasText && !('data' in detail)) {
        this.anomalies.add('late_signature');
        return;
      }
    }
    this.#openReasoning().keep(detail, isOpaque);
  }

  /** Throws RangeError once too much waits for a name. */
  addCall({ slot, id, name }: CallPiece, text: string): void {
    const call = this.#calls[slot] ?? this.#newCall();
    if (call.id === '') call.id = id;
    if (call.item === undefined && name !== '') {
      call.item = this.#beginCall(call, name);
      if (call.waiting !== '') call.item.add(call.waiting);
    }
    if (text !== '') this.#addArguments(call, text);
  }

  /** Closes everything, in order. An answer that was cut leaves what it was cut in incomplete. Throws TypeError where calls without a name are all there was. */
  finish(reason: FinishReason): void {
    const isCut = reason === 'length' || reason === 'content_filter';
    const wholeItems = new Set<OutputItem>();
    for (const { item } of this.#openCalls) if (item?.isWhole()) wholeItems.add(item);
    for (const item of this.#items) {
      if (item.isOpen) item.close(isCut && !wholeItems.has(item) ? 'incomplete' : 'completed');
    }
    if (!this.#calls.some((call) => call.item === undefined)) return;
    this.anomalies.add('tool_call_without_name');
    if (this.#items.length === 0) throw new TypeError('the answer is a nameless call');
  }

  /** The items as they are now, in the order they began. */
  items(): readonly JsonObject[] {
    return this.#items.map((item) => item.render());
  }

  #newCall(): CallState {
    const call: CallState = { id: '', item: undefined, waiting: '', wasLookedAt: false };
    this.#calls.push(call);
    return call;
  }

  #beginCall(call: CallState, name: string): CallItem {
    const tool = this.#options.toolOf(name);
    const described = { callId: this.#options.chooseCallId(call.id), tool };
    const item =
      tool.kind === 'custom'
        ? this.#begin((context) => createCustomItem(context, described), 'ctc')
        : this.#begin((context) => createFunctionItem(context, described), 'fc');
    this.#openCalls.push(call);
    return item;
  }

  #addArguments(call: CallState, text: string): void {
    if (call.item === undefined) {
      this.#waitingBytes += text.length;
      if (this.#waitingBytes > MAX_WAITING_BYTES) throw new RangeError('too much of the answer is waiting');
      call.waiting += text;
    } else if (call.item.isOpen) call.item.add(text);
    else if (text.trim() !== '') this.anomalies.add('tool_arguments_after_end');
  }

  #openReasoning(): ReasoningItem {
    if (!this.#reasoning?.isOpen) {
      const { withEncrypted } = this.#options;
      this.#reasoning = this.#begin((context) => createReasoningItem(context, withEncrypted), 'rs');
    }
    return this.#reasoning;
  }

  /** What has ended is closed before the next begins, so that clients get one after the other wherever that can be. */
  #begin<T extends OutputItem>(create: (context: ItemContext) => T, prefix: string): T {
    if (this.#reasoning?.isOpen) this.#reasoning.close('completed');
    if (this.#message?.isOpen) this.#message.close('completed');
    this.#closeWholeCalls();
    const { emit, newId } = this.#options;
    const item = create({ id: newId(prefix), index: this.#items.length, emit });
    this.#items.push(item);
    return item;
  }

  /**
   * In order, since clients keep calls in the order in which they end. Looks at each call once: one that goes on after
   * another has begun stays open to the end, and so do those after it.
   */
  #closeWholeCalls(): void {
    const [first] = this.#openCalls;
    if (first?.item === undefined || first.wasLookedAt) return;
    first.wasLookedAt = true;
    if (!first.item.isWhole()) return;
    first.item.close('completed');
    this.#openCalls.shift();
  }
}

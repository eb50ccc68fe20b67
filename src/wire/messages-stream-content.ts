// What the deltas of a Chat stream say, turned into the content blocks of a Messages stream.

import { isObject, type JsonObject } from './field-checks.ts';
import { createBlockQueue, type StreamBlock } from './messages-block-queue.ts';
import {
  createRedactedBlock,
  createTextBlock,
  createThinkingBlock,
  createToolBlock,
  type ThinkingBlock,
  type ToolBlock,
} from './messages-stream-blocks.ts';
import { argumentsOf, textOf } from './parse-chat-answer.ts';
import {
  isOpaque,
  parseReasoningDetails,
  plainReasoning,
  type ReasoningDetail,
  sealReasoning,
} from './parse-reasoning.ts';
import { createToolCallSlots } from './tool-call-slots.ts';

export type ContentOptions = {
  /** The id the caller gets for an upstream's, which may be `''`. */
  chooseId(id: string): string;
  toCallerName(name: string): string;
};

/** Takes deltas in, gives events out; `refusal` is what the model said in refusing. */
export class MessagesStreamContent {
  refusal = '';
  toolCalls = 0;
  /** UTF-8 bytes of text, thinking and tool arguments taken in. */
  bytes = 0;
  readonly anomalies = new Set<string>();

  readonly #options: ContentOptions;
  readonly #queue = createBlockQueue();
  readonly #slotOf = createToolCallSlots();
  readonly #tools: ToolBlock[] = [];
  #blocks = 0;
  #lastThinking: ThinkingBlock | undefined;

  constructor(options: ContentOptions) {
    this.#options = options;
  }

  /** The order within one delta: thinking, refusal, text, tools. Throws RangeError where an answer is out of bounds. */
  addDelta(delta: JsonObject): void {
    this.#addReasoning(delta);
    if (typeof delta['refusal'] === 'string') {
      this.refusal += delta['refusal'];
      this.bytes += Buffer.byteLength(delta['refusal']);
    }
    this.#addText(textOf(delta['content']));
    const calls: readonly unknown[] = Array.isArray(delta['tool_calls']) ? delta['tool_calls'] : [];
    for (const call of calls) if (isObject(call)) this.#addToolPiece(call);
    if (isObject(delta['function_call'])) this.#addToolPiece({ index: 0, function: delta['function_call'] });
  }

  /** Throws TypeError where calls without a name are all there was. */
  finish(): void {
    const unnamed = this.#queue.finish();
    this.toolCalls -= unnamed;
    if (unnamed > 0) this.anomalies.add('tool_call_without_name');
    if (unnamed > 0 && unnamed === this.#blocks && this.refusal === '')
      throw new TypeError('the answer is a nameless call');
  }

  take(): string {
    return this.#queue.take();
  }

  #addText(text: string): void {
    if (text === '') return;
    let block = this.#queue.last();
    if (block?.kind !== 'text') {
      block = createTextBlock();
      this.#open(block);
    }
    this.#queue.add(block, { type: 'text_delta', key: 'text', text, byteLength: this.#count(text) });
  }

  #addReasoning(delta: JsonObject): void {
    const details = parseReasoningDetails(delta['reasoning_details']);
    const hasText = details.some((detail) => detail.text !== '');
    if (!hasText) this.#addThinking(plainReasoning(delta));
    for (const detail of details) {
      this.#addThinking(detail.text);
      this.#addOpaque(detail);
    }
  }

  #addThinking(text: string): void {
    if (text === '') return;
    const open = this.#openThinking();
    const block = open === undefined || open.isSigned() ? this.#startThinking() : open;
    this.#queue.add(block, { type: 'thinking_delta', key: 'thinking', text, byteLength: this.#count(text) });
  }

  /** Signatures and encrypted reasoning: Claude's go out as they are, those of others sealed for the way back. */
  #addOpaque(detail: ReasoningDetail): void {
    const block = this.#openThinking();
    if (!detail.isNative) {
      if (block !== undefined) block.keep(detail.raw, isOpaque(detail));
      else if (isOpaque(detail)) this.#openRedacted(sealReasoning([detail.raw]));
      return;
    }
    if (detail.encrypted !== undefined) this.#openRedacted(detail.encrypted);
    if (detail.signature === undefined) return;
    this.#sign(block, detail.signature);
  }

  /** A signature alone is thinking kept from sight, unless it comes too late for thinking that was shown. */
  #sign(open: ThinkingBlock | undefined, signature: string): void {
    if (open === undefined && this.#lastThinking?.isSigned() === false) {
      this.anomalies.add('late_signature');
      return;
    }
    (open ?? this.#startThinking()).sign(signature);
  }

  #openRedacted(data: string): void {
    this.#open(createRedactedBlock(data), data.length);
  }

  #startThinking(): ThinkingBlock {
    const block = createThinkingBlock();
    this.#lastThinking = block;
    this.#open(block);
    return block;
  }

  #openThinking(): ThinkingBlock | undefined {
    const block = this.#queue.last();
    return block?.kind === 'thinking' ? (block as ThinkingBlock) : undefined;
  }

  #addToolPiece(call: JsonObject): void {
    const piece = this.#slotOf(call);
    let tool = this.#tools[piece.slot];
    if (tool === undefined) {
      tool = createToolBlock(this.#options.chooseId, this.#options.toCallerName);
      tool.identify(piece.id, piece.name);
      this.#tools.push(tool);
      this.toolCalls += 1;
      this.#open(tool);
    } else {
      tool.identify(piece.id, piece.name);
    }
    this.#addArguments(tool, argumentsOf(piece.arguments));
    this.#queue.refresh();
  }

  #addArguments(tool: ToolBlock, text: string): void {
    if (text === '') return;
    tool.follow(text);
    const delta = { type: 'input_json_delta', key: 'partial_json', text, byteLength: this.#count(text) };
    const isTaken = this.#queue.add(tool, delta);
    // After the object's end only white space can follow that means anything.
    if (!isTaken && text.trim() !== '') this.anomalies.add('tool_arguments_after_end');
  }

  #open(block: StreamBlock, byteLength = 0): void {
    this.#blocks += 1;
    this.#queue.open(block, byteLength);
  }

  #count(text: string): number {
    const length = Buffer.byteLength(text);
    this.bytes += length;
    return length;
  }
}

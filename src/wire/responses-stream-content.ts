// What the deltas of a Chat stream say, turned into the output of a Responses answer.

import { isObject, type JsonObject } from './field-checks.ts';
import { argumentsOf, textOf } from './parse-chat-answer.ts';
import { isOpaque, parseReasoningDetails, plainReasoning } from './parse-reasoning.ts';
import type { ResponsesOutput } from './responses-output.ts';
import { createToolCallSlots } from './tool-call-slots.ts';

export class ResponsesStreamContent {
  /** UTF-8 bytes of text, thinking and tool arguments taken in. */
  bytes = 0;

  readonly #output: ResponsesOutput;
  readonly #slotOf = createToolCallSlots();

  constructor(output: ResponsesOutput) {
    this.#output = output;
  }

  /** The order within one delta: thinking, text, refusal, tools. Throws RangeError where an answer is out of bounds. */
  addDelta(delta: JsonObject): void {
    this.#addReasoning(delta);
    this.#output.addText('output_text', this.#counted(textOf(delta['content'])));
    const refusal = delta['refusal'];
    if (typeof refusal === 'string') this.#output.addText('refusal', this.#counted(refusal));
    const calls: readonly unknown[] = Array.isArray(delta['tool_calls']) ? delta['tool_calls'] : [];
    for (const call of calls) if (isObject(call)) this.#addCall(call);
    if (isObject(delta['function_call'])) this.#addCall({ index: 0, function: delta['function_call'] });
  }

  #addReasoning(delta: JsonObject): void {
    const details = parseReasoningDetails(delta['reasoning_details']);
    if (!details.some((detail) => detail.text !== '')) this.#output.addThinking(this.#counted(plainReasoning(delta)));
    for (const detail of details) {
      this.#output.addThinking(this.#counted(detail.text));
      this.#output.keepDetail(detail.raw, isOpaque(detail));
    }
  }

  #addCall(call: JsonObject): void {
    const piece = this.#slotOf(call);
    this.#output.addCall(piece, this.#counted(argumentsOf(piece.arguments)));
  }

  #counted(text: string): string {
    if (text !== '') this.bytes += Buffer.byteLength(text);
    return text;
  }
}

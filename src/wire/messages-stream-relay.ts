// A Chat stream for a Messages caller: the events that dialect has, in the order it asks for.

import { createDeltaReader, isPing } from './chat-chunk-delta.ts';
import { mediaBytesOf } from './chat-payload.ts';
import { type ChargedCount, isEmptyUsage, parseChatUsage } from './chat-usage.ts';
import { isObject, type JsonObject } from './field-checks.ts';
import { renderMessagesUsage, renderStop } from './messages-stop.ts';
import { MessagesStreamContent } from './messages-stream-content.ts';
import type { FinishReason, Usage } from './neutral.ts';
import { type ChoiceEnd, findChoice, parseChoiceEnd } from './parse-chat-answer.ts';
import { renderStreamError } from './render-error.ts';
import { createSseParser, type SseFrame, type SseParser } from './sse-parser.ts';
import { renderSseEvent } from './sse-writer.ts';
import { earlyEnd, findStreamError, isDoneMark, overflow, unreadable } from './stream-failures.ts';
import type { StreamRelay } from './stream-relay.ts';
import type { SvcError } from './svc-error.ts';
import { createToolIdChooser } from './tool-ids.ts';
import type { ToolNameMap } from './tool-names.ts';

export type MessagesStreamOptions = {
  readonly id: string;
  /** The real model, as the answer names it. */
  readonly model: string;
  /** Said in `message_start`, and at the end where the upstream counts nothing. */
  readonly inputTokensEstimate: number;
  readonly toolNames: ToolNameMap;
  /** Tool call ids of the request's history. */
  readonly usedToolIds: ReadonlySet<string>;
  newToolId(): string;
  readonly requestId: string;
};

export function createMessagesStreamRelay(options: MessagesStreamOptions): StreamRelay {
  return new MessagesStreamRelay(options);
}

class MessagesStreamRelay implements StreamRelay {
  started = false;
  events = 0;
  failure: SvcError | undefined;
  done = false;
  usage: Usage | undefined;
  usageMissing: readonly ChargedCount[] = [];

  readonly #options: MessagesStreamOptions;
  readonly #parser: SseParser = createSseParser();
  readonly #content: MessagesStreamContent;
  readonly #usageAnomalies = new Set<string>();
  #end: ChoiceEnd | undefined;
  readonly #deltaOf = createDeltaReader();
  #mediaBytes = 0;
  #output = '';

  constructor(options: MessagesStreamOptions) {
    this.#options = options;
    this.#content = new MessagesStreamContent({
      chooseId: createToolIdChooser(options.usedToolIds, options.newToolId),
      toCallerName: options.toolNames.toCaller,
    });
  }

  get finished(): boolean {
    return this.#end !== undefined;
  }

  get finishReason(): FinishReason | undefined {
    return this.#end?.finishReason;
  }

  get anomalies(): readonly string[] {
    return [...this.#usageAnomalies, ...this.#content.anomalies];
  }

  get deliveredBytes(): number {
    return this.#content.bytes + this.#mediaBytes;
  }

  push(chunk: Uint8Array): Uint8Array {
    return this.#run(() => this.#parser.push(chunk, this.#handleFrame));
  }

  end(): Uint8Array {
    return this.#run(() => {
      this.#parser.end(this.#handleFrame);
      if (!this.finished) this.failure ??= earlyEnd();
    });
  }

  complete(cost: string, charged?: Usage): Uint8Array {
    const { inputTokensEstimate } = this.#options;
    const known = charged ?? this.usage;
    const counted = renderMessagesUsage(known, cost);
    const usage = known === undefined ? { ...counted, input_tokens: inputTokensEstimate } : counted;
    const { refusal, toolCalls } = this.#content;
    const finishReason = this.finishReason ?? 'stop';
    const end = { ...this.#end, finishReason, toolCalls, refusal: refusal === '' ? undefined : refusal };
    const delta = renderSseEvent('message_delta', { type: 'message_delta', delta: renderStop(end), usage });
    return Buffer.from(delta + renderSseEvent('message_stop', { type: 'message_stop' }));
  }

  fail(error: SvcError): Uint8Array {
    return renderStreamError('messages', error, this.#options.requestId);
  }

  ping(): Uint8Array {
    return Buffer.from(renderSseEvent('ping', { type: 'ping' }));
  }

  #run(feed: () => void): Uint8Array {
    this.#output = '';
    // After its end or its failure nothing of a stream is read any more.
    if (this.failure !== undefined || this.done) return Buffer.alloc(0);
    try {
      feed();
    } catch (cause) {
      this.failure ??= unreadable(cause);
    }
    if (this.#parser.overflowed && !this.done) this.failure ??= overflow();
    return Buffer.from(this.#output);
  }

  readonly #handleFrame = (frame: SseFrame): void => {
    if (this.failure !== undefined || this.done) return;
    if (isDoneMark(frame.bytes, frame.dataStart, frame.dataEnd)) {
      this.done = true;
      if (!this.finished) this.failure = earlyEnd();
      return;
    }
    const chunk: unknown = JSON.parse(frame.bytes.toString('utf8', frame.dataStart, frame.dataEnd));
    if (!isObject(chunk)) throw new TypeError('a chunk is not an object');
    this.failure = findStreamError(chunk, frame.event);
    if (this.failure === undefined && !isPing(chunk, frame.event)) this.#handleChunk(chunk);
  };

  #handleChunk(chunk: JsonObject): void {
    if (!this.started) this.#output += this.#renderStart();
    this.started = true;
    this.events += 1;
    const choice = findChoice(chunk['choices']);
    // What a model says after its own end is no part of the answer; usage still is.
    if (choice !== undefined && !this.finished) this.#handleChoice(choice);
    const parsed = parseChatUsage(chunk['usage']);
    // Some upstreams end with an empty count: it does not take back a real one.
    if (parsed === undefined || (isEmptyUsage(parsed.usage) && this.usage !== undefined)) return;
    this.usage = parsed.usage;
    this.usageMissing = parsed.missing;
    for (const anomaly of parsed.anomalies) this.#usageAnomalies.add(anomaly);
  }

  #handleChoice(choice: JsonObject): void {
    const delta = this.#deltaOf(choice);
    if (delta !== undefined) {
      this.#content.addDelta(delta);
      // The dialect has no form for media from a model; generated and paid for they are all the same.
      this.#mediaBytes += mediaBytesOf(delta);
    }
    const end = parseChoiceEnd(choice);
    if (end.finishReason !== undefined) {
      this.#end = end;
      this.#content.finish();
    }
    this.#output += this.#content.take();
  }

  #renderStart(): string {
    const { id, model, inputTokensEstimate } = this.#options;
    const usage = {
      input_tokens: inputTokensEstimate,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: 0,
    };
    const empty = { content: [], stop_reason: null, stop_sequence: null };
    const message = { id, type: 'message', role: 'assistant', model, ...empty, usage };
    return renderSseEvent('message_start', { type: 'message_start', message });
  }
}

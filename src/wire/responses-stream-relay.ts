// A Chat stream for a Responses caller: the events that dialect has, numbered and in the order it asks for.

import { createDeltaReader, isPing } from './chat-chunk-delta.ts';
import { mediaBytesOf } from './chat-payload.ts';
import { type ChargedCount, isEmptyUsage, parseChatUsage } from './chat-usage.ts';
import { isObject, type JsonObject } from './field-checks.ts';
import type { FinishReason, Usage } from './neutral.ts';
import { findChoice, parseChoiceEnd } from './parse-chat-answer.ts';
import { renderError } from './render-error.ts';
import {
  endStatusOf,
  type ResponseHead,
  type ResponseState,
  renderResponseObject,
  renderResponsesUsage,
} from './responses-object.ts';
import { ResponsesOutput, type ResponsesOutputOptions } from './responses-output.ts';
import { ResponsesStreamContent } from './responses-stream-content.ts';
import { createSseParser, type SseFrame, type SseParser } from './sse-parser.ts';
import { renderSseComment, renderSseEvent } from './sse-writer.ts';
import { earlyEnd, findStreamError, isDoneMark, overflow, unreadable } from './stream-failures.ts';
import type { StreamRelay } from './stream-relay.ts';
import type { SvcError } from './svc-error.ts';

export type ResponsesStreamOptions = Omit<ResponsesOutputOptions, 'emit'> & {
  readonly head: ResponseHead;
  /** Said at the end where nobody has counted. */
  readonly inputTokensEstimate: number;
  readonly requestId: string;
};

export function createResponsesStreamRelay(options: ResponsesStreamOptions): StreamRelay {
  return new ResponsesStreamRelay(options);
}

class ResponsesStreamRelay implements StreamRelay {
  started = false;
  events = 0;
  failure: SvcError | undefined;
  done = false;
  finishReason: FinishReason | undefined;
  usage: Usage | undefined;
  usageMissing: readonly ChargedCount[] = [];

  readonly #options: ResponsesStreamOptions;
  readonly #parser: SseParser = createSseParser();
  readonly #output: ResponsesOutput;
  readonly #content: ResponsesStreamContent;
  readonly #usageAnomalies = new Set<string>();
  readonly #deltaOf = createDeltaReader();
  #mediaBytes = 0;
  #sequence = 0;
  #events = '';

  constructor(options: ResponsesStreamOptions) {
    this.#options = options;
    this.#output = new ResponsesOutput({ ...options, emit: this.#emit });
    this.#content = new ResponsesStreamContent(this.#output);
  }

  get finished(): boolean {
    return this.finishReason !== undefined;
  }

  get anomalies(): readonly string[] {
    return [...this.#usageAnomalies, ...this.#output.anomalies];
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
    const finishReason = this.finishReason ?? 'stop';
    const known = charged ?? this.usage ?? { ...NO_USAGE, inputTokens: this.#options.inputTokensEstimate };
    const usage = renderResponsesUsage(known, cost);
    this.#emitResponse(`response.${endStatusOf(finishReason)}`, {
      status: 'ended',
      finishReason,
      output: this.#output.items(),
      usage,
    });
    return this.#take();
  }

  /** Two events, as the dialect has it: SDKs throw on the first, agents look into the second for the reason. */
  fail(error: SvcError): Uint8Array {
    const { type, ...detail } = renderError(error, this.#options.requestId);
    this.#emit(String(type), detail);
    this.#emitResponse('response.failed', { status: 'failed', error });
    return this.#take();
  }

  ping(): Uint8Array {
    return Buffer.from(renderSseComment('ping'));
  }

  #run(feed: () => void): Uint8Array {
    try {
      feed();
    } catch (cause) {
      this.failure ??= unreadable(cause);
    }
    if (this.#parser.overflowed) this.failure ??= overflow();
    return this.#take();
  }

  #take(): Uint8Array {
    const taken = Buffer.from(this.#events);
    this.#events = '';
    return taken;
  }

  readonly #emit = (type: string, payload: JsonObject): void => {
    this.#events += renderSseEvent(type, { type, sequence_number: this.#sequence, ...payload });
    this.#sequence += 1;
  };

  #emitResponse(type: string, state: ResponseState): void {
    this.#emit(type, { response: renderResponseObject(this.#options.head, state) });
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
    if (!this.started) {
      this.#emitResponse('response.created', { status: 'in_progress' });
      this.#emitResponse('response.in_progress', { status: 'in_progress' });
    }
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
      // There is no item here for media from a model; generated and paid for they are all the same.
      this.#mediaBytes += mediaBytesOf(delta);
    }
    const { finishReason } = parseChoiceEnd(choice);
    if (finishReason === undefined) return;
    this.finishReason = finishReason;
    this.#output.finish(finishReason);
  }
}

const NO_USAGE: Usage = { inputTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 0, reasoningTokens: 0 };

// A Messages stream for a Chat caller: chunks with everything that clients ask of them, in the order they expect.

import { renderChatUsage, renderFinishReason } from './chat-end.ts';
import { createMessagesChunks, type MessagesChunks } from './chat-from-messages-deltas.ts';
import type { ChargedCount } from './chat-usage.ts';
import { isObject, type JsonObject } from './field-checks.ts';
import { eventPayloadBytes } from './messages-payload-scan.ts';
import { mergeMessagesUsage, parseMessagesUsage } from './messages-usage.ts';
import type { FinishReason, Usage } from './neutral.ts';
import { earlyMessageEnd, type MessagesEnd, parseMessagesEnd, parseMessagesError } from './parse-messages-end.ts';
import { renderStreamError } from './render-error.ts';
import { createSseParser, type SseFrame, type SseParser } from './sse-parser.ts';
import { renderSseComment, renderSseData } from './sse-writer.ts';
import { overflow, unreadable } from './stream-failures.ts';
import type { StreamRelay } from './stream-relay.ts';
import type { SvcError } from './svc-error.ts';
import type { ToolNameMap } from './tool-names.ts';

export type ChatFromMessagesOptions = {
  readonly id: string;
  readonly createdMs: number;
  /** The routed model, for an upstream that names none. */
  readonly model: string;
  /** The caller asked for the usage chunk. */
  readonly includeUsage: boolean;
  readonly toolNames: ToolNameMap;
  readonly requestId: string;
};

export function createChatFromMessagesRelay(options: ChatFromMessagesOptions): StreamRelay {
  return new ChatFromMessagesRelay(options);
}

class ChatFromMessagesRelay implements StreamRelay {
  started = false;
  events = 0;
  failure: SvcError | undefined;
  done = false;
  usage: Usage | undefined;
  usageMissing: readonly ChargedCount[] = [];
  deliveredBytes = 0;

  readonly #options: ChatFromMessagesOptions;
  readonly #parser: SseParser = createSseParser();
  readonly #chunks: MessagesChunks;
  readonly #anomalies = new Set<string>();
  /** Id, object, time and model, as JSON text without its closing brace. */
  #envelope = '';
  #startUsage: unknown;
  #deltaUsage: JsonObject = {};
  #end: MessagesEnd | undefined;
  #output = '';

  constructor(options: ChatFromMessagesOptions) {
    this.#options = options;
    this.#chunks = createMessagesChunks(options.toolNames);
  }

  get finished(): boolean {
    return this.#end !== undefined;
  }

  get finishReason(): FinishReason | undefined {
    return this.#end?.finishReason;
  }

  get anomalies(): readonly string[] {
    return [...this.#anomalies];
  }

  push(chunk: Uint8Array): Uint8Array {
    return this.#run(() => this.#parser.push(chunk, this.#handleFrame));
  }

  end(): Uint8Array {
    return this.#run(() => {
      this.#parser.end(this.#handleFrame);
      if (!this.done) this.failure ??= earlyMessageEnd();
    });
  }

  complete(cost: string, charged?: Usage): Uint8Array {
    const refusal = this.#end?.refusal;
    const reason = renderFinishReason(this.finishReason ?? 'stop', this.#chunks.toolCalls);
    let out = refusal === undefined ? '' : this.#renderDelta({ refusal });
    out += this.#renderChunk([{ index: 0, delta: {}, finish_reason: reason, ...this.#nativeFinish() }]);
    const usage = charged ?? this.usage;
    if (this.#options.includeUsage && usage !== undefined) {
      out += this.#renderChunk([], `,"usage":${JSON.stringify(renderChatUsage(usage, cost))}`);
    }
    return Buffer.from(out + renderSseData('[DONE]'));
  }

  fail(error: SvcError): Uint8Array {
    return renderStreamError('chat', error, this.#options.requestId);
  }

  ping(): Uint8Array {
    return Buffer.from(renderSseComment('ping'));
  }

  #run(feed: () => void): Uint8Array {
    this.#output = '';
    try {
      feed();
    } catch (cause) {
      this.failure ??= unreadable(cause);
    }
    if (this.#parser.overflowed) this.failure ??= overflow();
    return Buffer.from(this.#output);
  }

  readonly #handleFrame = (frame: SseFrame): void => {
    if (this.failure !== undefined || this.done) return;
    const event: unknown = JSON.parse(frame.bytes.toString('utf8', frame.dataStart, frame.dataEnd));
    if (!isObject(event)) throw new TypeError('an event is not an object');
    const type = typeof event['type'] === 'string' ? event['type'] : frame.event;
    if (type === 'error') this.failure = parseMessagesError(event['error']);
    else if (type === 'ping') this.#output += renderSseComment('ping');
    else this.#handleEvent(type, event);
  };

  #handleEvent(type: string, event: JsonObject): void {
    if (!this.started) this.#start(isObject(event['message']) ? event['message'] : {});
    this.events += 1;
    this.deliveredBytes += eventPayloadBytes(event);
    if (type === 'message_delta') {
      this.#noteEnd(event);
    } else if (type === 'message_stop') {
      this.done = true;
      if (!this.finished) this.failure = earlyMessageEnd();
    } else if (!this.finished) {
      for (const delta of this.#chunks.take(type, event)) this.#output += this.#renderDelta(delta);
    }
  }

  /** Clients want the role in the first chunk, and none without it. */
  #start(message: JsonObject): void {
    this.started = true;
    const { id, createdMs, model: asked } = this.#options;
    const model = typeof message['model'] === 'string' && message['model'] !== '' ? message['model'] : asked;
    const created = Math.floor(createdMs / 1000);
    this.#envelope = JSON.stringify({ id, object: 'chat.completion.chunk', created, model }).slice(0, -1);
    this.#startUsage = message['usage'];
    this.#noteUsage();
    this.#output += this.#renderDelta({ role: 'assistant', content: '' });
  }

  #noteEnd(event: JsonObject): void {
    if (isObject(event['delta'])) this.#end = parseMessagesEnd(event['delta']) ?? this.#end;
    this.#deltaUsage = { ...this.#deltaUsage, ...(isObject(event['usage']) ? event['usage'] : {}) };
    this.#noteUsage();
  }

  #noteUsage(): void {
    const parsed = parseMessagesUsage(mergeMessagesUsage(this.#startUsage, this.#deltaUsage));
    this.usage = parsed?.usage;
    this.usageMissing = parsed?.missing ?? [];
    for (const anomaly of parsed?.anomalies ?? []) this.#anomalies.add(anomaly);
  }

  #nativeFinish(): JsonObject {
    return this.#end === undefined ? {} : { native_finish_reason: this.#end.nativeFinish };
  }

  #renderDelta(delta: JsonObject): string {
    return this.#renderChunk([{ index: 0, delta, finish_reason: null }]);
  }

  #renderChunk(choices: readonly JsonObject[], more = ''): string {
    return renderSseData(`${this.#envelope},"choices":${JSON.stringify(choices)}${more}}`);
  }
}

// A Chat stream for a Chat caller: the upstream's own bytes, event by event, with usage, errors and the end watched.

import { type ByteRun, type ByteRuns, createByteRuns, wholeRun } from './byte-runs.ts';
import { isPing } from './chat-chunk-delta.ts';
import { type ChunkRepair, createChunkRepair } from './chat-chunk-repair.ts';
import { createChunkScanner } from './chat-chunk-scan.ts';
import { mediaBytesOf } from './chat-payload.ts';
import { spliceUsageCost } from './chat-response.ts';
import { type ChargedCount, isEmptyUsage, parseChatUsage } from './chat-usage.ts';
import { isObject, type JsonObject } from './field-checks.ts';
import { parseFinishReason } from './finish-reason.ts';
import { type JsonBody, scanJsonObject, spliceFields } from './json-scan.ts';
import type { FinishReason, Usage } from './neutral.ts';
import { renderStreamError } from './render-error.ts';
import { createSseParser, type SseFrame, type SseParser } from './sse-parser.ts';
import { renderSseComment, renderSseData } from './sse-writer.ts';
import { earlyEnd, findStreamError, isDoneMark, overflow, unreadable } from './stream-failures.ts';
import type { StreamRelay } from './stream-relay.ts';
import type { SvcError } from './svc-error.ts';

export type ChatStreamOptions = {
  /** The caller asked for the usage chunk; svc asks the upstream for it always. */
  readonly includeUsage: boolean;
  readonly requestId: string;
  /** How many the caller asked for, 1 by default; an upstream that sends fewer has to say `[DONE]`. */
  readonly choices?: number;
  /** Said where the upstream names no model. */
  readonly model?: string;
  /** Unix seconds, said where the upstream gives no time. */
  readonly created?: number;
};

export function createChatStreamRelay(options: ChatStreamOptions): StreamRelay {
  return new ChatStreamRelay(options);
}

/** Bytes held back behind a last chunk that has usage; what follows it is a few hundred bytes. */
const MAX_HELD_BYTES = 1024 * 1024;

const DATA_PREFIX = Buffer.from('data: ');
const FRAME_END = Buffer.from('\n\n');

class ChatStreamRelay implements StreamRelay {
  started = false;
  events = 0;
  failure: SvcError | undefined;
  done = false;
  usage: Usage | undefined;
  usageMissing: readonly ChargedCount[] = [];
  finishReason: FinishReason | undefined;
  deliveredBytes = 0;

  readonly #options: ChatStreamOptions;
  readonly #parser: SseParser = createSseParser();
  readonly #repair: ChunkRepair;
  readonly #scan = createChunkScanner();
  readonly #anomalies = new Set<string>();
  /** From the first chunk with end and usage on, everything waits for the cost. */
  readonly #held: { readonly run: ByteRun; readonly withUsage: JsonBody | undefined }[] = [];
  #heldBytes = 0;
  #usageChunk: JsonBody | undefined;
  #strippedChunk: JsonBody | undefined;
  /** Id, object, time and model of the first chunk, for one of our own. */
  #envelope: JsonObject = {};
  /** Choice 0 has been seen: the scanner alone suffices for its plain text. */
  #sawChoice = false;
  /** Something of the answer has gone to the caller; calls have come, with or without a name. */
  #hasContent = false;
  #sawCalls = false;
  /** Indexes of choices that go on, and of those that have ended. */
  readonly #open = new Set<number>();
  readonly #ended = new Set<number>();
  #output: ByteRuns = createByteRuns();

  constructor(options: ChatStreamOptions) {
    this.#options = options;
    this.#repair = createChunkRepair({
      requestId: options.requestId,
      model: options.model,
      created: options.created,
    });
  }

  get finished(): boolean {
    const ended = this.#ended.size;
    return ended > 0 && this.#open.size === 0 && (this.done || ended >= (this.#options.choices ?? 1));
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
      if (!this.finished) this.failure ??= earlyEnd();
    });
  }

  complete(cost: string, usage?: Usage): Uint8Array {
    const output = createByteRuns();
    for (const { run, withUsage } of this.#held) output.add(withUsage === undefined ? run : costed(withUsage, cost));
    const last = this.#options.includeUsage ? this.#lastUsageChunk(usage) : undefined;
    if (last !== undefined) output.add(costed(last, cost));
    output.add(wholeRun(Buffer.from(renderSseData('[DONE]'))));
    return output.toBytes();
  }

  fail(error: SvcError): Uint8Array {
    return renderStreamError('chat', error, this.#options.requestId);
  }

  ping(): Uint8Array {
    return Buffer.from(renderSseComment('ping'));
  }

  #run(feed: () => void): Uint8Array {
    // After its end or its failure nothing of a stream is read any more.
    if (this.failure !== undefined || this.done) return Buffer.alloc(0);
    this.#output = createByteRuns();
    try {
      feed();
    } catch (cause) {
      this.failure ??= unreadable(cause);
    }
    if (this.#parser.overflowed && !this.done) this.failure ??= overflow();
    return this.#output.toBytes();
  }

  readonly #handleFrame = (frame: SseFrame): void => {
    if (this.failure !== undefined || this.done) return;
    const { bytes, dataStart, dataEnd } = frame;
    if (isDoneMark(bytes, dataStart, dataEnd)) {
      this.done = true;
      if (!this.finished) this.failure = earlyEnd();
      return;
    }
    const sight = this.#scan(bytes, dataStart, dataEnd);
    if (sight.needsParse || !this.#sawChoice || frame.event === 'error' || frame.event === 'ping') {
      this.#handleParsed(frame, sight.textBytes);
      return;
    }
    this.events += 1;
    this.deliveredBytes += sight.textBytes;
    if (sight.textBytes > 0) this.#hasContent = true;
    this.#forward(runOf(frame));
  };

  #handleParsed(frame: SseFrame, textBytes: number): void {
    const chunk: unknown = JSON.parse(frame.bytes.toString('utf8', frame.dataStart, frame.dataEnd));
    if (!isObject(chunk)) throw new TypeError('a chunk is not an object');
    this.failure = findStreamError(chunk, frame.event);
    if (this.failure !== undefined || isPing(chunk, frame.event)) return;
    const repaired = this.#repair(chunk);
    const whole = repaired ?? chunk;
    const hasFinish = this.#noteChoices(whole['choices']);
    this.#noteCalls(chunk['choices']);
    if (!this.started) this.#envelope = envelopeOf(whole);
    this.started = true;
    this.events += 1;
    this.deliveredBytes += textBytes;
    const run = repaired === undefined ? runOf(frame) : wholeRun(toFrame(JSON.stringify(repaired)));
    if (isObject(chunk['usage'])) this.#forwardUsage(whole, run, hasFinish);
    else this.#forward(run);
  }

  /** Usage goes out last, with its cost: a chunk that has it beside the end waits, any other goes on without it. */
  #forwardUsage(chunk: JsonObject, run: ByteRun, hasFinish: boolean): void {
    const isCounted = this.#noteUsage(chunk['usage']);
    const body = scanJsonObject(run.bytes.subarray(run.start + DATA_PREFIX.length, run.end - 2));
    if (Array.isArray(chunk['choices']) && chunk['choices'].length === 0) {
      if (isCounted) this.#usageChunk = body;
      return;
    }
    const isLast = isCounted && hasFinish && this.finished && this.#options.includeUsage;
    // What is said later counts: an earlier chunk of usage is out of date.
    if (isCounted) this.#usageChunk = undefined;
    if (isLast) {
      this.#hold(run, body);
      return;
    }
    if (isCounted) this.#strippedChunk = body;
    this.#forward(wholeRun(toFrame(spliceFields(body, {}, ['usage']))));
  }

  #forward(run: ByteRun): void {
    if (this.#held.length > 0) this.#hold(run, undefined);
    else this.#output.add(run);
  }

  #hold(run: ByteRun, withUsage: JsonBody | undefined): void {
    this.#heldBytes += run.end - run.start;
    if (this.#heldBytes > MAX_HELD_BYTES) this.failure = overflow();
    else this.#held.push({ run, withUsage });
  }

  /** Tells whether a choice ended in this chunk. */
  #noteChoices(choices: unknown): boolean {
    let hasFinish = false;
    for (const choice of Array.isArray(choices) ? choices : []) {
      const index = Number(choice['index']);
      if (index === 0) this.#sawChoice = true;
      if (isObject(choice['delta'])) {
        this.deliveredBytes += mediaBytesOf(choice['delta']);
        this.#hasContent ||= hasContent(choice['delta']);
      }
      const reason = parseFinishReason(choice['finish_reason']);
      this.#noteEnd(index, reason !== undefined);
      if (reason === undefined) continue;
      hasFinish = true;
      this.finishReason ??= reason;
    }
    return hasFinish;
  }

  /** Calls without a name don't reach the caller: an answer of nothing else is none. */
  #noteCalls(choices: unknown): void {
    for (const choice of Array.isArray(choices) ? choices : []) {
      const delta: unknown = isObject(choice) ? (choice['delta'] ?? choice['message']) : undefined;
      if (isObject(delta) && Array.isArray(delta['tool_calls'])) this.#sawCalls ||= delta['tool_calls'].some(isObject);
    }
    const isEmpty = this.#sawCalls && !this.#hasContent && this.#ended.size > 0 && this.#open.size === 0;
    if (isEmpty) throw new TypeError('the answer is a nameless call');
  }

  #noteEnd(index: number, hasEnded: boolean): void {
    if (hasEnded) {
      this.#open.delete(index);
      this.#ended.add(index);
    } else if (!this.#ended.has(index)) {
      this.#open.add(index);
    }
  }

  /** False where nothing was counted: absent never means zero. */
  #noteUsage(value: unknown): boolean {
    const parsed = parseChatUsage(value);
    if (parsed === undefined) return false;
    // Some upstreams end with an empty count: it does not take back a real one.
    if (isEmptyUsage(parsed.usage) && this.usage !== undefined) return true;
    this.usage = parsed.usage;
    this.usageMissing = parsed.missing;
    for (const anomaly of parsed.anomalies) this.#anomalies.add(anomaly);
    return true;
  }

  /** Where usage came only beside text, the chunk callers wait for is made of the last one that had it; of `charged` where none came. */
  #lastUsageChunk(charged: Usage | undefined): JsonBody | undefined {
    if (this.#usageChunk !== undefined) return this.#usageChunk;
    if (this.#held.length > 0) return undefined;
    if (this.#strippedChunk !== undefined) {
      return scanJsonObject(spliceFields(this.#strippedChunk, { choices: '[]' }, []));
    }
    return charged === undefined ? undefined : scanJsonObject(ownUsageChunk(this.#envelope, charged));
  }
}

/** The event as `data: …` on one line, whatever form it came in: some clients read no other. */
function runOf(frame: SseFrame): ByteRun {
  const { bytes, dataStart, dataEnd, isCanonical } = frame;
  if (isCanonical) return { bytes, start: dataStart - DATA_PREFIX.length, end: dataEnd + 2 };
  // Line breaks in the data stand between tokens of JSON, never inside a string.
  return wholeRun(toFrame(bytes.toString('utf8', dataStart, dataEnd).replaceAll('\n', ' ')));
}

function toFrame(json: string | Uint8Array): Uint8Array {
  return typeof json === 'string' ? Buffer.from(renderSseData(json)) : Buffer.concat([DATA_PREFIX, json, FRAME_END]);
}

function hasContent(delta: JsonObject): boolean {
  const { role: _speaker, ...said } = delta;
  return Object.values(said).some((value) => (Array.isArray(value) ? value.length > 0 : Boolean(value)));
}

function envelopeOf({ id, object, created, model }: JsonObject): JsonObject {
  return { id, object, created, model };
}

function ownUsageChunk(envelope: JsonObject, { inputTokens, outputTokens }: Usage): Uint8Array {
  const usage = {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
  return Buffer.from(JSON.stringify({ ...envelope, choices: [], usage }));
}

function costed(body: JsonBody, cost: string): ByteRun {
  return wholeRun(toFrame(spliceUsageCost(body, cost)));
}

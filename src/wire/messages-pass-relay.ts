// A Messages stream for a Messages caller: the upstream's own events, with usage, errors and the end watched.

import { type ByteRun, type ByteRuns, createByteRuns, wholeRun } from './byte-runs.ts';
import { spliceUsageCost } from './chat-response.ts';
import type { ChargedCount } from './chat-usage.ts';
import { isObject, type JsonObject } from './field-checks.ts';
import { scanJsonObject, spliceFields, toBuffer } from './json-scan.ts';
import { eventPayloadBytes, plainDeltaBytes } from './messages-payload-scan.ts';
import { renderMessagesUsage } from './messages-stop.ts';
import { mergeMessagesUsage, parseMessagesUsage } from './messages-usage.ts';
import type { FinishReason, Usage } from './neutral.ts';
import { earlyMessageEnd, type MessagesEnd, parseMessagesEnd, parseMessagesError } from './parse-messages-end.ts';
import { renderStreamError } from './render-error.ts';
import { createSseParser, type SseFrame, type SseParser } from './sse-parser.ts';
import { renderSseEvent } from './sse-writer.ts';
import { overflow, unreadable } from './stream-failures.ts';
import type { StreamRelay } from './stream-relay.ts';
import type { SvcError } from './svc-error.ts';

export function createMessagesPassRelay(options: { readonly requestId: string }): StreamRelay {
  return new MessagesPassRelay(options.requestId);
}

/** Bytes held back from the end of the answer on; what follows it is a few hundred bytes. */
const MAX_HELD_BYTES = 1024 * 1024;

const DELTA_START = Buffer.from('event: content_block_delta\ndata: ');
const FRAME_END = Buffer.from('\n\n');
const LF = 0x0a;
const CR = 0x0d;

type HeldEvent = { readonly type: string; readonly data: Buffer };

class MessagesPassRelay implements StreamRelay {
  started = false;
  events = 0;
  failure: SvcError | undefined;
  done = false;
  usage: Usage | undefined;
  usageMissing: readonly ChargedCount[] = [];
  deliveredBytes = 0;

  readonly #requestId: string;
  readonly #parser: SseParser = createSseParser();
  readonly #anomalies = new Set<string>();
  /** From the answer's end on everything waits for the cost. */
  readonly #held: HeldEvent[] = [];
  #heldBytes = 0;
  #startUsage: unknown;
  #deltaUsage: JsonObject = {};
  #end: MessagesEnd | undefined;
  /** The parser holds no part of an event, so that a chunk begins with one. */
  #isBetweenEvents = false;
  #output: ByteRuns = createByteRuns();

  constructor(requestId: string) {
    this.#requestId = requestId;
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
    return this.#run(() => {
      const bytes = toBuffer(chunk);
      const rest = bytes.subarray(this.#passPlain(bytes));
      if (rest.length === 0) return;
      this.#parser.push(rest, this.#handleFrame);
      this.#isBetweenEvents = rest.length >= FRAME_END.length && rest.subarray(-FRAME_END.length).equals(FRAME_END);
    });
  }

  end(): Uint8Array {
    return this.#run(() => {
      this.#parser.end(this.#handleFrame);
      if (!this.done) this.failure ??= earlyMessageEnd();
    });
  }

  complete(cost: string, charged?: Usage): Uint8Array {
    const output = createByteRuns();
    const last = this.#held.findLast(({ type }) => type === 'message_delta');
    for (const event of this.#held) {
      const data = event === last ? costed(event.data, cost, charged ?? this.usage) : event.data;
      addEvent(output, event.type, wholeRun(data));
    }
    return output.toBytes();
  }

  fail(error: SvcError): Uint8Array {
    return renderStreamError('messages', error, this.#requestId);
  }

  ping(): Uint8Array {
    return Buffer.from(renderSseEvent('ping', { type: 'ping' }));
  }

  #run(feed: () => void): Uint8Array {
    this.#output = createByteRuns();
    try {
      feed();
    } catch (cause) {
      this.failure ??= unreadable(cause);
    }
    if (this.#parser.overflowed) this.failure ??= overflow();
    return this.#output.toBytes();
  }

  /** Most chunks are nothing but whole, plain deltas: they go on as they are. Gives the index of the first other byte. */
  #passPlain(bytes: Buffer): number {
    const isOpen = this.started && this.#end === undefined && this.failure === undefined && !this.done;
    if (!isOpen || !this.#isBetweenEvents || bytes.includes(CR)) return 0;
    let at = 0;
    while (bytes.length - at > DELTA_START.length) {
      const start = at + DELTA_START.length;
      if (bytes.compare(DELTA_START, 0, DELTA_START.length, at, start) !== 0) break;
      const end = bytes.indexOf(LF, start);
      const textBytes = end !== -1 && bytes[end + 1] === LF ? plainDeltaBytes(bytes, start, end) : undefined;
      if (textBytes === undefined) break;
      this.deliveredBytes += textBytes;
      at = end + FRAME_END.length;
    }
    if (at > 0) {
      this.events += 1;
      this.#output.add({ bytes, start: 0, end: at });
    }
    return at;
  }

  readonly #handleFrame = (frame: SseFrame): void => {
    if (this.failure !== undefined || this.done) return;
    const { bytes, dataStart, dataEnd } = frame;
    const textBytes = plainDeltaBytes(bytes, dataStart, dataEnd);
    if (textBytes === undefined || !this.started || this.#held.length > 0) {
      this.#handleParsed(bytes.subarray(dataStart, dataEnd), frame.event);
      return;
    }
    this.events += 1;
    this.deliveredBytes += textBytes;
    this.#output.add(wholeRun(DELTA_START));
    this.#output.add({ bytes, start: dataStart, end: dataEnd });
    this.#output.add(wholeRun(FRAME_END));
  };

  #handleParsed(data: Buffer, name: string): void {
    const event: unknown = JSON.parse(data.toString('utf8'));
    if (!isObject(event)) throw new TypeError('an event is not an object');
    // Clients go by the name, which some upstreams leave out; the payload says the same.
    const type = typeof event['type'] === 'string' ? event['type'] : name;
    if (!/^[\w.-]+$/.test(type)) throw new TypeError('an event has no type');
    if (type === 'error') {
      this.failure = parseMessagesError(event['error']);
      return;
    }
    this.#note(type, event);
    const line = data.includes(LF) ? Buffer.from(data.toString('utf8').replaceAll('\n', ' ')) : data;
    if (this.#end === undefined) addEvent(this.#output, type, wholeRun(line));
    else this.#hold({ type, data: line });
  }

  #note(type: string, event: JsonObject): void {
    if (type !== 'ping') {
      this.started = true;
      this.events += 1;
    }
    this.deliveredBytes += eventPayloadBytes(event);
    if (type === 'message_start' && isObject(event['message'])) {
      this.#startUsage = event['message']['usage'];
      this.#noteUsage();
    } else if (type === 'message_delta') {
      if (isObject(event['delta'])) this.#end = parseMessagesEnd(event['delta']) ?? this.#end;
      this.#deltaUsage = { ...this.#deltaUsage, ...(isObject(event['usage']) ? event['usage'] : {}) };
      this.#noteUsage();
    } else if (type === 'message_stop') {
      this.done = true;
      if (!this.finished) this.failure = earlyMessageEnd();
    }
  }

  #noteUsage(): void {
    const parsed = parseMessagesUsage(mergeMessagesUsage(this.#startUsage, this.#deltaUsage));
    this.usage = parsed?.usage;
    this.usageMissing = parsed?.missing ?? [];
    for (const anomaly of parsed?.anomalies ?? []) this.#anomalies.add(anomaly);
  }

  #hold(event: HeldEvent): void {
    this.#heldBytes += event.data.length;
    if (this.#heldBytes > MAX_HELD_BYTES) this.failure = overflow();
    else this.#held.push(event);
  }
}

function addEvent(output: ByteRuns, type: string, data: ByteRun): void {
  output.add(wholeRun(Buffer.from(`event: ${type}\ndata: `)));
  output.add(data);
  output.add(wholeRun(FRAME_END));
}

/** Every other byte of the event stays; where it has no usage, it gets what was charged. */
function costed(data: Buffer, cost: string, charged: Usage | undefined): Buffer {
  const event = scanJsonObject(data);
  const bytes = isObject(event.value['usage'])
    ? spliceUsageCost(event, cost)
    : spliceFields(event, { usage: JSON.stringify(renderMessagesUsage(charged, cost)) }, []);
  return Buffer.from(bytes);
}

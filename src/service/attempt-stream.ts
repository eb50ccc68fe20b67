// A streamed answer: committed at the upstream's first real event, relayed with back-pressure, ended only when settled.

import type { UpstreamControl } from '../upstream/upstream.ts';
import { parseChatResponse } from '../wire/chat-response.ts';
import type { Usage } from '../wire/neutral.ts';
import type { StreamRelay } from '../wire/stream-relay.ts';
import { isSvcError, SvcError } from '../wire/svc-error.ts';
import type { AttemptInput } from './attempt-whole.ts';
import { ProgressWatch } from './progress-watch.ts';
import type { Answer, ClientGone, Road } from './road.ts';
import { answerCutShort, upstreamFailed, upstreamRefusal } from './upstream-refusal.ts';

/** Silence after which the client gets a sign of life. */
const PING_MS = 15_000;
/** An upstream's error page is read this far for its words. */
const REFUSAL_BYTES_MAX = 64 * 1024;
/** Bytes of an answer that may be buffered before its first real event. */
const PRELUDE_BYTES_MAX = 1024 * 1024;

export function attemptStream(input: AttemptInput): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const stream = new StreamAttempt(input, resolve, reject);
    stream.start();
  });
}

type Ending = SvcError | ClientGone | undefined;

class StreamAttempt implements Answer {
  readonly #input: AttemptInput;
  readonly #road: Road;
  readonly #relay: StreamRelay;
  readonly #commit: (answer: Answer) => void;
  readonly #refuse: (reason: unknown) => void;
  #status = 0;
  #headers: Readonly<Record<string, string>> = {};
  #control: UpstreamControl | undefined;
  #abort: () => void = () => undefined;
  #refusal: Buffer[] = [];
  #refusalBytes = 0;
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  #committed = false;
  #over = false;
  #ending: Ending;
  #ended: ((ending: Ending) => void) | undefined;
  #pinger: NodeJS.Timeout | undefined;
  /** There from the first real event on. */
  #progress: ProgressWatch | undefined;
  /** As of the last chunk that had one. */
  #events = 0;
  /** Runs to the first real event, then between two: comments, pings and white space don't count. */
  #deadline: NodeJS.Timeout | undefined;

  constructor(input: AttemptInput, commit: (answer: Answer) => void, refuse: (reason: unknown) => void) {
    this.#input = input;
    this.#road = input.road;
    this.#relay = input.pair.stream(input.answer);
    this.#commit = commit;
    this.#refuse = refuse;
  }

  start(): void {
    const { firstEventMs } = this.#input.call.timeouts;
    this.#deadline = setTimeout(() => this.#late(firstEventMs), firstEventMs);
    this.#abort = this.#road.offer.upstream.send(this.#input.call, {
      onHead: (status, headers, control) => this.#onHead(status, headers, control),
      onData: (chunk) => this.#onData(chunk),
      onEnd: () => this.#onEnd(),
      onFailure: (failure) => this.#end(upstreamFailed(failure)),
    });
    this.#road.stopper.listen((reason) => this.#end(reason));
  }

  relay(): Promise<Ending> {
    if (this.#over) return Promise.resolve(this.#ending);
    return new Promise((resolve) => {
      this.#ended = resolve;
    });
  }

  finish(cost: string, usage: Usage): void {
    this.#road.down.end(this.#relay.complete(cost, usage));
  }

  fail(error: SvcError): void {
    this.#road.down.end(this.#relay.fail(error));
  }

  #onHead(status: number, headers: Readonly<Record<string, string>>, control: UpstreamControl): void {
    this.#status = status;
    this.#headers = headers;
    this.#control = control;
  }

  get #isStream(): boolean {
    return this.#status === 200 && (this.#headers['content-type'] ?? '').toLowerCase().startsWith('text/event-stream');
  }

  #onData(chunk: Buffer): void {
    if (this.#over) return;
    if (!this.#isStream) {
      this.#keepRefusal(chunk);
      return;
    }
    const out = this.#relay.push(chunk);
    if (this.#relay.failure) {
      this.#broken(out, this.#relay.failure);
      return;
    }
    if (!this.#committed) {
      this.#beforeCommit(out);
      return;
    }
    this.#noteEvents();
    if (out.length > 0) {
      this.#send(out);
      this.#noteProgress();
    }
    if (this.#relay.done) this.#end(undefined);
  }

  #late(ms: number): void {
    this.#end(new SvcError('UPSTREAM_TIMEOUT', `The upstream sent no event for ${ms} ms.`));
  }

  #keepRefusal(chunk: Buffer): void {
    if (this.#refusalBytes < REFUSAL_BYTES_MAX) this.#refusal.push(chunk);
    this.#refusalBytes += chunk.length;
    if (this.#refusalBytes > PRELUDE_BYTES_MAX) this.#onEnd();
  }

  #beforeCommit(out: Uint8Array): void {
    if (out.length > 0) this.#held.push(out);
    this.#heldBytes += out.length;
    if (this.#relay.started) this.#begin();
    else if (this.#heldBytes > PRELUDE_BYTES_MAX) {
      this.#end(
        new SvcError('UPSTREAM_INVALID_RESPONSE', 'The upstream sent no event in the first megabyte of its stream.'),
      );
    }
  }

  #begin(): void {
    const { down, meter, deps } = this.#road;
    meter.firstEventMs = deps.clock.monotonicMs();
    this.#committed = true;
    this.#progress = new ProgressWatch(this.#road);
    const { idleMs } = this.#input.call.timeouts;
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => this.#late(idleMs), idleMs);
    down.begin(200, 'text/event-stream; charset=utf-8');
    down.onDrain(() => this.#control?.resume());
    this.#pinger = setTimeout(() => this.#ping(), PING_MS);
    for (const bytes of this.#held) this.#send(bytes);
    this.#held = [];
    this.#commit(this);
    if (this.#relay.done) this.#end(undefined);
  }

  #send(bytes: Uint8Array): void {
    this.#pinger?.refresh();
    if (!this.#road.down.write(bytes)) this.#control?.pause();
  }

  #ping(): void {
    if (this.#over) return;
    this.#send(this.#relay.ping());
  }

  /** The upstream said itself that it failed, or sent what can't be read. */
  #broken(out: Uint8Array, failure: SvcError): void {
    if (this.#committed && out.length > 0) this.#send(out);
    this.#end(failure);
  }

  #onEnd(): void {
    if (this.#over) return;
    const cutShort = this.#isStream ? undefined : this.#cutShort();
    if (!this.#isStream && cutShort === undefined) {
      this.#end(this.#notAStream());
      return;
    }
    this.#road.meter.refused = cutShort !== undefined;
    const out = cutShort === undefined ? this.#relay.end() : this.#relay.push(cutShort);
    if (out.length > 0 && this.#committed) this.#send(out);
    if (out.length > 0 && !this.#committed) this.#held.push(out);
    if (!this.#relay.failure && this.#relay.started && !this.#committed) this.#begin();
    const empty = (): SvcError => new SvcError('UPSTREAM_INVALID_RESPONSE', 'The upstream sent an empty stream.');
    this.#end(this.#relay.failure ?? (this.#committed ? undefined : empty()));
  }

  #cutShort(): Uint8Array | undefined {
    const call = { dialect: this.#road.call.dialect, path: this.#input.call.path, stream: true };
    return answerCutShort(call, this.#status, Buffer.concat(this.#refusal));
  }

  #notAStream(): SvcError {
    const body = Buffer.concat(this.#refusal);
    if (this.#status < 200 || this.#status > 299) {
      return upstreamRefusal(this.#status, body, this.#headers, this.#road.deps.secrets);
    }
    return (
      errorInAnswer(body) ??
      new SvcError(
        'UPSTREAM_INVALID_RESPONSE',
        'The upstream answered a streaming request with something that is not a stream.',
      )
    );
  }

  /** Once: stops the upstream where it still runs, notes what was measured, and wakes whoever waits. */
  #end(ending: Ending): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#pinger);
    clearTimeout(this.#deadline);
    this.#abort();
    this.#measure();
    this.#road.meter.upstreamEndMs = this.#road.deps.clock.monotonicMs();
    this.#ending = ending;
    if (this.#committed) this.#ended?.(ending);
    else this.#refuse(ending);
  }

  /** What is held back for a while (a tool call behind another) is progress of the upstream all the same. */
  #noteEvents(): void {
    const { events } = this.#relay;
    if (events === this.#events) return;
    this.#events = events;
    this.#deadline?.refresh();
  }

  /** Runs for every chunk of every stream. */
  #noteProgress(): void {
    if (this.#progress === undefined || this.#relay.deliveredBytes < this.#progress.nextBytes) return;
    this.#measure();
    this.#progress.note();
  }

  #measure(): void {
    const { meter } = this.#road;
    meter.usage = this.#relay.usage;
    meter.usageMissing = this.#relay.usageMissing;
    meter.anomalies = this.#relay.anomalies;
    meter.finishReason = this.#relay.finishReason;
    meter.deliveredBytes = this.#committed ? this.#relay.deliveredBytes : 0;
  }
}

/** The error that an upstream sent under status 200; undefined for anything else. */
function errorInAnswer(body: Buffer): SvcError | undefined {
  try {
    parseChatResponse(JSON.parse(body.toString('utf8')));
    return undefined;
  } catch (error) {
    return isSvcError(error) ? error : undefined;
  }
}

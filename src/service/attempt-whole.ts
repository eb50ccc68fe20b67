// An answer without streaming: collected whole, checked, and sent only once it is settled.

import type { UpstreamCall } from '../upstream/upstream.ts';
import { type ParsedUsage, parseChatUsage } from '../wire/chat-usage.ts';
import { parseMessagesUsage } from '../wire/messages-usage.ts';
import { SvcError } from '../wire/svc-error.ts';
import type { Hold } from './hold-credits.ts';
import type { Answer, Road } from './road.ts';
import { answerCutShort, upstreamFailed, upstreamRefusal } from './upstream-refusal.ts';
import type { AnswerInput, WholeAnswer, WirePair } from './wire-pair.ts';

export type AttemptInput = {
  readonly road: Road;
  /** What the answer is paid from: nothing goes upstream without one. */
  readonly hold: Hold;
  readonly call: UpstreamCall;
  readonly pair: WirePair;
  readonly answer: AnswerInput;
};

/** An answer larger than this is not one a model wrote. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;
/** As long as the SDKs wait; upstreams keep slow answers alive with white space, so that no silence tells. */
const ANSWER_MS_MAX = 600_000;

/** `read` makes the whole answer of the upstream's body; it throws for what is none. */
export async function attemptWhole(
  input: Pick<AttemptInput, 'road' | 'hold' | 'call'>,
  read: (body: Buffer) => WholeAnswer,
): Promise<Answer> {
  const { road } = input;
  const reply = await collect(road, input.call);
  road.meter.firstEventMs = road.deps.clock.monotonicMs();
  road.meter.upstreamEndMs = road.meter.firstEventMs;
  const cutShort = answerCutShort(
    { dialect: road.call.dialect, path: input.call.path, stream: false },
    reply.status,
    reply.body,
  );
  if (cutShort === undefined && (reply.status < 200 || reply.status > 299))
    throw upstreamRefusal(reply.status, reply.body, reply.headers, road.deps.secrets);
  const whole = readNotingUsage(road, cutShort ?? reply.body, read);
  const { meter, down } = road;
  meter.usage = whole.usage;
  meter.usageMissing = whole.usageMissing;
  meter.anomalies = whole.anomalies;
  meter.finishReason = whole.finishReason;
  meter.deliveredBytes = whole.deliveredBytes;
  meter.refused = cutShort !== undefined;
  return {
    relay: async () => undefined,
    fail: () => undefined,
    finish(cost, usage) {
      const bytes = whole.finish(cost, usage);
      down.begin(200, 'application/json', bytes.length);
      down.end(bytes);
    },
  };
}

/** An answer that can't be used was billed upstream all the same where it says so: its usage is noted before the error goes on. */
function readNotingUsage(road: Road, body: Buffer, read: (body: Buffer) => WholeAnswer): WholeAnswer {
  try {
    return read(body);
  } catch (error) {
    const parsed = usageIn(body);
    if (parsed !== undefined) {
      road.meter.usage = parsed.usage;
      road.meter.usageMissing = parsed.missing;
      road.meter.anomalies = parsed.anomalies;
    }
    throw error;
  }
}

/** Of either dialect. */
function usageIn(body: Buffer): ParsedUsage | undefined {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    const usage = typeof value === 'object' && value !== null && 'usage' in value ? value.usage : undefined;
    return parseChatUsage(usage) ?? parseMessagesUsage(usage);
  } catch {
    // Not JSON: the error under way says so.
    return undefined;
  }
}

type Reply = { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: Buffer };

function collect(road: Road, call: UpstreamCall): Promise<Reply> {
  let abort = (): void => undefined;
  let timer: NodeJS.Timeout | undefined;
  const reply = new Promise<Reply>((resolve, reject) => {
    const give = (error: unknown): void => {
      abort();
      reject(error);
    };
    let status = 0;
    let headers: Readonly<Record<string, string>> = {};
    let size = 0;
    const chunks: Buffer[] = [];
    abort = road.offer.upstream.send(call, {
      onHead(gotStatus, gotHeaders) {
        status = gotStatus;
        headers = gotHeaders;
      },
      onData(chunk) {
        size += chunk.length;
        chunks.push(chunk);
        if (size > ANSWER_BYTES_MAX) give(invalid(`The upstream's answer is larger than ${ANSWER_BYTES_MAX} bytes.`));
      },
      onEnd() {
        const [first] = chunks;
        resolve({ status, headers, body: chunks.length === 1 && first ? first : Buffer.concat(chunks) });
      },
      onFailure(failure) {
        reject(upstreamFailed(failure));
      },
    });
    const late = (): void =>
      give(new SvcError('UPSTREAM_TIMEOUT', `The upstream's answer was not whole within ${ANSWER_MS_MAX / 1000} s.`));
    timer = setTimeout(late, ANSWER_MS_MAX);
    road.stopper.listen(give);
  });
  return reply.finally(() => clearTimeout(timer));
}

function invalid(message: string): SvcError {
  return new SvcError('UPSTREAM_INVALID_RESPONSE', message);
}

// An answer without streaming: collected whole, checked, and sent only once it is settled.

import type { UpstreamCall } from '../upstream/upstream.ts';
import { inspectChatResponse, parseChatResponse } from '../wire/chat-response.ts';
import { parseChatUsage } from '../wire/chat-usage.ts';
import type { NeutralRequest, ToolCall, Usage } from '../wire/neutral.ts';
import { renderMessagesResponse } from '../wire/render-messages-response.ts';
import { SvcError } from '../wire/svc-error.ts';
import type { ToolNameMap } from '../wire/tool-names.ts';
import type { Hold } from './hold-credits.ts';
import type { Answer, Road } from './road.ts';
import { upstreamRefusal } from './upstream-refusal.ts';

export type AttemptInput = {
  readonly road: Road;
  /** What the answer is paid from: nothing goes upstream without one. */
  readonly hold: Hold;
  readonly call: UpstreamCall;
  readonly toolNames: ToolNameMap;
  readonly model: string;
  readonly inputTokens: number;
};

/** An answer larger than this is not one a model wrote. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;
/** As long as the SDKs wait; upstreams keep slow answers alive with white space, so that no silence tells. */
const ANSWER_MS_MAX = 600_000;

export async function attemptWhole(input: AttemptInput): Promise<Answer> {
  const { road } = input;
  const reply = await collect(road, input.call);
  road.meter.firstEventMs = road.deps.clock.monotonicMs();
  road.meter.upstreamEndMs = road.meter.firstEventMs;
  if (reply.status < 200 || reply.status > 299)
    throw upstreamRefusal(reply.status, reply.body, reply.headers, road.deps.secrets);
  const withCost: Finisher =
    road.call.dialect === 'chat' ? readChat(road, reply.body) : readForMessages(input, reply.body);
  return {
    relay: async () => undefined,
    fail: () => undefined,
    finish(cost, usage) {
      const bytes = withCost(cost, usage);
      road.down.begin(200, 'application/json', bytes.length);
      road.down.end(bytes);
    },
  };
}

type Finisher = (cost: string, usage: Usage) => Uint8Array;

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
        reject(new SvcError(failure.code, failure.message, { cause: failure.cause }));
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

/** Same dialect: the bytes pass, only the cost is put into `usage`. */
function readChat(road: Road, body: Buffer): Finisher {
  const seen = inspectChatResponse(body);
  road.meter.usage = seen.usage;
  road.meter.usageMissing = seen.usageMissing;
  road.meter.anomalies = seen.anomalies;
  road.meter.finishReason = seen.finishReason;
  road.meter.deliveredBytes = seen.textBytes;
  return seen.withCost;
}

function readForMessages(input: AttemptInput, body: Buffer): Finisher {
  const { road } = input;
  const value = parseJson(body);
  const response = parseChatResponse(value);
  const usage = parseChatUsage(
    typeof value === 'object' && value !== null && 'usage' in value ? value.usage : undefined,
  );
  road.meter.usage = usage?.usage;
  road.meter.usageMissing = usage?.missing ?? [];
  road.meter.anomalies = usage?.anomalies ?? [];
  road.meter.finishReason = response.finishReason;
  road.meter.deliveredBytes = response.content.reduce((sum, part) => sum + Buffer.byteLength(textOf(part)), 0);
  const { makeId } = road.deps;
  return (cost, charged) =>
    Buffer.from(
      JSON.stringify(
        renderMessagesResponse(response, {
          id: makeId('msg'),
          cost,
          model: input.model,
          usage: charged,
          toolNames: input.toolNames,
          usedToolIds: toolIdsOf(road.parsed.request),
          newToolId: () => makeId('toolu'),
        }),
      ),
    );
}

/** Ids of tool calls in the history: a new call must not take one of them again. */
export function toolIdsOf(request: NeutralRequest): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const message of request.messages) {
    if (message.role !== 'assistant') continue;
    for (const part of message.content) if (part.type === 'tool_call') ids.add(part.id);
  }
  return ids;
}

function textOf(part: { readonly type: string; readonly text?: string } | ToolCall): string {
  return 'arguments' in part ? part.arguments : (part.text ?? '');
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (cause) {
    throw new SvcError('UPSTREAM_INVALID_RESPONSE', 'The upstream answered with something that is not JSON.', {
      cause,
    });
  }
}

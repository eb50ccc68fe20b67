// Attempt: sends the request upstream and resolves with an answer under way, or throws before anything reached the client.

import type { UpstreamCall } from '../upstream/upstream.ts';
import { attemptStream } from './attempt-stream.ts';
import { attemptWhole } from './attempt-whole.ts';
import type { Plan } from './completion.ts';
import { asPlanned } from './drop-reasoning.ts';
import type { Hold } from './hold-credits.ts';
import type { Answer, Road } from './road.ts';
import { type AnswerInput, wirePairFor } from './wire-pair.ts';

export async function attempt(road: Road, plan: Plan, hold: Hold): Promise<Answer> {
  if (road.stopper.reason) throw road.stopper.reason;
  const { deps, offer, parsed, call: caller } = road;
  const { upstream } = offer;
  const model = plan.model.id;
  const pair = wirePairFor(caller.dialect, upstream.formats);
  const { bytes, headers, toolNames } = pair.body({
    parsed: asPlanned(parsed, plan),
    model,
    injectedMaxTokens: hold.injectedMaxTokens,
    outputTokensHeld: hold.outputTokensMax,
    upstream,
    callerHeaders: caller.callerHeaders,
  });
  const answer: AnswerInput = {
    request: parsed.request,
    model,
    inputTokensEstimate: plan.needs.input_tokens,
    toolNames,
    requestId: caller.requestId,
    makeId: deps.makeId,
    nowMs: deps.clock.nowMs(),
  };
  const call: UpstreamCall = { path: pair.path, body: bytes, headers, timeouts: deps.timeouts };
  road.meter.attempts += 1;
  road.meter.sentMs = deps.clock.monotonicMs();
  const input = { road, hold, call, pair, answer };
  return parsed.request.stream ? attemptStream(input) : attemptWhole(input, (body) => pair.whole(answer, body));
}

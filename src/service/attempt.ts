// Attempt: sends the request upstream and resolves with an answer under way, or throws before anything reached the client.

import type { UpstreamCall } from '../upstream/upstream.ts';
import { attemptStream } from './attempt-stream.ts';
import { attemptWhole } from './attempt-whole.ts';
import type { Plan } from './completion.ts';
import type { Hold } from './hold-credits.ts';
import type { Answer, Road } from './road.ts';
import { upstreamBody } from './upstream-request.ts';

export async function attempt(road: Road, plan: Plan, hold: Hold): Promise<Answer> {
  if (road.stopper.reason) throw road.stopper.reason;
  const { upstream } = road.offer;
  const { bytes, toolNames } = upstreamBody(road.parsed, upstream, plan.model.id, hold.injectedMaxTokens);
  const call: UpstreamCall = { path: '/chat/completions', body: bytes, headers: {}, timeouts: road.deps.timeouts };
  road.meter.attempts += 1;
  road.meter.sentMs = road.deps.clock.monotonicMs();
  const input = { road, hold, call, toolNames, model: plan.model.id, inputTokens: plan.needs.input_tokens };
  return road.parsed.request.stream ? attemptStream(input) : attemptWhole(input);
}

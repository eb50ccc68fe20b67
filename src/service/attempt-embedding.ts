// The one attempt of an embeddings request: its bytes go upstream as they came, and the vectors come back so.

import { inspectEmbeddingsResponse } from '../wire/embeddings-response.ts';
import { spliceFields } from '../wire/json-scan.ts';
import { attemptWhole } from './attempt-whole.ts';
import type { Plan } from './completion.ts';
import type { Hold } from './hold-credits.ts';
import type { Answer, Road } from './road.ts';
import type { WholeAnswer } from './wire-pair.ts';

export async function attemptEmbedding(road: Road, _plan: Plan, hold: Hold): Promise<Answer> {
  if (road.stopper.reason) throw road.stopper.reason;
  const { deps, offer, parsed } = road;
  const remove = offer.upstream.takesSandboxField ? ['svc'] : ['svc', 'sandbox'];
  const call = {
    path: '/embeddings',
    body: spliceFields(parsed.body, {}, remove),
    headers: {},
    timeouts: deps.timeouts,
  };
  road.meter.attempts += 1;
  road.meter.sentMs = deps.clock.monotonicMs();
  const inputs = parsed.embeddings?.inputs ?? 1;
  return attemptWhole({ road, hold, call }, (body) => readEmbeddings(body, inputs));
}

/** Vectors are no text: they are paid for by what was read. */
function readEmbeddings(body: Buffer, inputs: number): WholeAnswer {
  const seen = inspectEmbeddingsResponse(body, inputs);
  return {
    usage: seen.usage,
    usageMissing: seen.usageMissing,
    anomalies: seen.anomalies,
    finishReason: 'stop',
    deliveredBytes: 0,
    finish: (cost) => seen.withCost(cost),
  };
}

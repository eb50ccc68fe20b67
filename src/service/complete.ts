// The road of a completion, from the credential to the usage entry. Nothing else knows the whole of it.

import { type JsonBody, parseJsonBody } from '../wire/json-scan.ts';
import { optimizeRequest } from '../wire/optimize-request.ts';
import { isSvcError, SvcError } from '../wire/svc-error.ts';
import { attempt } from './attempt.ts';
import type { CompletionCall, CompletionDeps, ParsedRequest, Plan } from './completion.ts';
import type { Downstream } from './downstream.ts';
import { type Hold, holdCredits } from './hold-credits.ts';
import { droppedToolsHeader, parseRequest } from './parse-request.ts';
import { type PlanInput, planRequest } from './plan.ts';
import { authenticate } from './principal.ts';
import type { Admission } from './rate-limiter.ts';
import { sizeOf } from './request-size.ts';
import { type Answer, ClientGone, createMeter, type Road, Stopper } from './road.ts';
import { routingHeaders } from './routing-headers.ts';
import { settle } from './settle.ts';
import { type Ending, formatOf, requestedModelOf } from './usage-entry.ts';

/**
 * Serves one completion. Throws a {@link SvcError} while the client can still get a status; once the answer has begun,
 * a failure ends the stream with an error event. Either way the request is settled, once.
 */
export async function complete(deps: CompletionDeps, call: CompletionCall, down: Downstream): Promise<void> {
  const stopper = new Stopper();
  down.onGone(() => stopper.stop(new ClientGone()));
  const leave = deps.inFlight.enter((reason) => stopper.stop(reason));
  try {
    await travel(deps, call, down, stopper);
  } catch (error) {
    if (!(error instanceof ClientGone)) throw error;
  } finally {
    leave();
  }
}

async function travel(deps: CompletionDeps, call: CompletionCall, down: Downstream, stopper: Stopper): Promise<void> {
  const principal = authenticate(deps.store.documents, call.credential, deps.clock.nowMs());
  const sent = await parseCall(call, stopper).catch(async (error: unknown) => {
    await deps.limiter.describe(principal, down.headers);
    throw error;
  });
  Object.assign(down.headers, droppedToolsHeader(sent.request));
  const size = call.kind ? call.kind.size(sent) : sizeOf(sent.request, sent.body.bytes.length);
  const admission = await deps.limiter.admit(principal, tokensGuess(size.inputTokensMax), down.headers);
  const { optimize } = deps.store.documents.preferencesOf(principal.workspace.id);
  const parsed = optimize === 'lossless' ? optimized(call, sent) : sent;
  const offer = deps.offer();
  const road: Road = {
    deps,
    call,
    principal,
    parsed,
    size,
    offer,
    down,
    stopper,
    meter: createMeter(),
    plan: undefined,
    hold: undefined,
  };
  let answer: Answer;
  try {
    const plan = makePlan(road);
    const hold = await reserve(road, plan);
    answer = await (call.kind ? call.kind.attempt(road, plan, hold) : attempt(road, plan, hold));
  } catch (error) {
    await settleFailure(road, admission, error);
    throw error;
  }
  const broken = await answer.relay();
  await settleAnswer(road, admission, answer, broken);
}

async function parseCall(call: CompletionCall, stopper: Stopper): Promise<ParsedRequest> {
  // A body that never comes must not hold up a stop.
  const stopped = new Promise<never>((_resolve, reject) => stopper.listen(reject));
  const body = parseJsonBody(await Promise.race([call.readBody(), stopped]));
  checkUnambiguous(body);
  if (call.kind) return call.kind.parse(body);
  return { body, request: parseRequest(call.dialect, body.value) };
}

/** Only what is within the limits of a request and of the key is worth the work; credits are held for what was sent. */
function optimized(call: CompletionCall, sent: ParsedRequest): ParsedRequest {
  // An embedding is of the very text that was sent.
  if (call.kind) return sent;
  const { body, tokensSaved } = optimizeRequest(sent.body, call.dialect);
  return body === sent.body ? sent : { body, request: parseRequest(call.dialect, body.value), tokensSaved };
}

/** Fields by which an aggregator would choose another model, or more answers, than what credits are held for. */
const REFUSED_FIELDS = ['models', 'route', 'preset', 'best_of'] as const;

/** What is priced here must be what runs there: no field that upstreams may read in two ways, no second model. */
function checkUnambiguous(body: JsonBody): void {
  const seen = new Set<string>();
  for (const { key } of body.fields) {
    // Some servers match field names without regard to case, and take the first or the last: neither may be a surprise.
    const name = key.toLowerCase();
    if (seen.has(name)) {
      throw new SvcError(
        'INVALID_REQUEST',
        `The field ${JSON.stringify(key.slice(0, 100))} is given twice: send it once.`,
        { param: key.slice(0, 100) },
      );
    }
    seen.add(name);
  }
  const refused = REFUSED_FIELDS.find((field) => seen.has(field));
  if (refused !== undefined) {
    throw new SvcError(
      'UNSUPPORTED_FEATURE',
      `${refused} is not taken: it could run another model than the one that is paid for. Ask for a virtual model, or narrow one with svc.models.`,
      { param: refused },
    );
  }
}

/** What admission takes from the token limits; the settlement corrects it by what was used. */
function tokensGuess(inputTokensMax: number): number {
  return Math.ceil(inputTokensMax / 4);
}

function makePlan(road: Road): Plan {
  const { deps, call, principal, parsed, offer, down } = road;
  const input: PlanInput = {
    id: deps.makeId('dec'),
    request: parsed.request,
    catalog: offer.catalog,
    classify: deps.classify,
    preferences: deps.store.documents.preferencesOf(principal.workspace.id),
    principal,
    skipRouting: call.skipRouting,
    optionsHeader: call.options,
    allowUnknownPrice: deps.allowUnknownPrice,
    nowMs: deps.clock.nowMs(),
  };
  const plan = call.kind ? call.kind.plan(input, parsed) : planRequest(input);
  road.plan = plan;
  Object.assign(down.headers, routingHeaders(plan, offer.upstream.name, parsed.tokensSaved ?? 0));
  return plan;
}

async function reserve(road: Road, plan: Plan): Promise<Hold> {
  const { deps, call, principal, parsed, size, offer, down } = road;
  const record = {
    type: 'hold',
    at: deps.clock.nowMs(),
    requestId: call.requestId,
    workspaceId: principal.workspace.id,
    apiKeyId: principal.apiKey.id,
    model: plan.model.id,
    format: formatOf(call),
    stream: parsed.request.stream,
    requestedModel: requestedModelOf(parsed),
    upstream: offer.upstream.name,
  } as const;
  const hold = await holdCredits({
    ledger: deps.store.ledger,
    record,
    apiKey: principal.apiKey,
    model: plan.model,
    catalog: offer.catalog,
    request: parsed.request,
    size,
  });
  road.hold = hold;
  if (hold.injectedMaxTokens !== undefined) down.headers['x-svc-max-tokens'] = String(hold.injectedMaxTokens);
  return hold;
}

/** Nothing reached the client: the hold is released at no charge, and the failure is written down. */
async function settleFailure(road: Road, admission: Admission, error: unknown): Promise<void> {
  const gone = error instanceof ClientGone;
  const known = isSvcError(error) ? error : undefined;
  const ending: Ending = {
    status: gone ? 499 : (known?.status ?? 500),
    errorCode: gone ? null : (known?.code ?? 'INTERNAL_ERROR'),
    reason: gone ? 'client_closed' : road.hold ? 'failed' : 'refused',
  };
  admission.correct(0);
  try {
    await settle(road, ending);
  } catch (settleError) {
    // The client is told of the first failure; the hold stays open and is released at the next start.
    road.deps.log.error({ requestId: road.call.requestId, error: settleError }, 'settlement failed');
  }
}

async function settleAnswer(
  road: Road,
  admission: Admission,
  answer: Answer,
  broken: SvcError | ClientGone | undefined,
): Promise<void> {
  const failed = isSvcError(broken) ? broken : undefined;
  const status = broken instanceof ClientGone ? 499 : 200;
  const reason = broken === undefined ? 'completed' : failed ? 'upstream_truncated' : 'client_closed';
  try {
    const { cost, usage } = await settle(road, { status, errorCode: failed?.code ?? null, reason });
    admission.correct(usage.inputTokens + usage.outputTokens);
    if (failed) answer.fail(failed);
    else if (broken === undefined) answer.finish(cost, usage);
  } catch (error) {
    // The settlement is not on disk: a good ending must not be claimed.
    if (!road.down.begun) throw error;
    road.deps.log.error({ requestId: road.call.requestId, error }, 'settlement failed');
    answer.fail(
      isSvcError(error) ? error : new SvcError('INTERNAL_ERROR', 'The answer could not be settled.', { cause: error }),
    );
  }
}

// Counts the tokens of a Messages request: by the upstream where it can, else by our own estimate. Costs nothing.

import { type JsonBody, parseJsonBody, spliceFields } from '../wire/json-scan.ts';
import type { NeutralRequest } from '../wire/neutral.ts';
import { parseMessagesRequest } from '../wire/parse-messages-request.ts';
import { requestTokens } from '../wire/request-tokens.ts';
import { isSvcError, type SvcError } from '../wire/svc-error.ts';
import { attemptCount } from './attempt-count.ts';
import type { CompletionDeps, Offer } from './completion.ts';
import { planRequest } from './plan.ts';
import { authenticate, type Principal } from './principal.ts';

export type CountCall = {
  readonly credential: string | undefined;
  readBody(): Promise<Buffer>;
  readonly skipRouting: boolean;
  readonly options: string | undefined;
  /** `anthropic-version` and `anthropic-beta` as sent. */
  readonly callerHeaders: Readonly<Record<string, string>>;
  /** Rate-limit headers go in here. */
  readonly headers: Record<string, string>;
  /** Aborted when the client leaves, and by a daemon that stops. */
  readonly stop: AbortController;
};

export type TokenCount = { readonly inputTokens: number; readonly source: 'upstream' | 'estimate' };

/** Counts as one request of the key. Throws what a completion with this body would be refused with, credits apart. */
export async function countTokens(deps: CompletionDeps, call: CountCall): Promise<TokenCount> {
  const leave = deps.inFlight.enter((reason) => call.stop.abort(reason));
  try {
    return await count(deps, call);
  } finally {
    leave();
  }
}

async function count(deps: CompletionDeps, call: CountCall): Promise<TokenCount> {
  const principal = authenticate(deps.store.documents, call.credential, deps.clock.nowMs());
  await deps.limiter.admit(principal, 0, call.headers);
  const body = parseJsonBody(await call.readBody());
  const request = parseMessagesRequest(withMaxTokens(body.value));
  const offer = deps.offer();
  const model = modelFor(deps, call, principal, request, offer);
  const counted = model === undefined ? undefined : await countUpstream(deps, call, body, model, offer);
  if (counted !== undefined) return { inputTokens: counted, source: 'upstream' };
  return { inputTokens: requestTokens(request), source: 'estimate' };
}

/** Undefined where the request is too long for every model: its count is what the caller wants to know then. */
function modelFor(
  deps: CompletionDeps,
  call: CountCall,
  principal: Principal,
  request: NeutralRequest,
  { catalog }: Offer,
): string | undefined {
  try {
    const plan = planRequest({
      id: deps.makeId('dec'),
      request,
      catalog,
      classify: deps.classify,
      preferences: deps.store.documents.preferencesOf(principal.workspace.id),
      principal,
      skipRouting: call.skipRouting,
      optionsHeader: call.options,
      allowUnknownPrice: deps.allowUnknownPrice,
      nowMs: deps.clock.nowMs(),
    });
    return plan.model.id;
  } catch (error) {
    if (isTooLong(error)) return undefined;
    throw error;
  }
}

async function countUpstream(
  deps: CompletionDeps,
  call: CountCall,
  body: JsonBody,
  model: string,
  { upstream }: Offer,
): Promise<number | undefined> {
  if (!upstream.formats.includes('messages')) return undefined;
  const bytes = spliceFields(body, { model: JSON.stringify(model) }, ['svc', 'sandbox']);
  return attemptCount({
    upstream,
    body: bytes,
    headers: call.callerHeaders,
    timeouts: deps.timeouts,
    signal: call.stop.signal,
  });
}

function isTooLong(error: unknown): error is SvcError {
  return isSvcError(error) && error.code === 'CONTEXT_LENGTH_EXCEEDED';
}

/** A count needs no `max_tokens`; a completion does. */
function withMaxTokens(value: JsonBody['value']): JsonBody['value'] {
  return 'max_tokens' in value ? value : { ...value, max_tokens: 1 };
}

// Takes the wish for reasoning out of a request whose model, chosen by svc, has none.

import { asksReasoning } from '../routing/needs.ts';
import { isObject } from '../wire/field-checks.ts';
import { type JsonBody, parseJsonBody, spliceFields } from '../wire/json-scan.ts';
import type { NeutralRequest } from '../wire/neutral.ts';
import type { ParsedRequest, Plan } from './completion.ts';

/** The same request, unless routing had to give reasoning up: then without it, in the bytes too. */
export function asPlanned(parsed: ParsedRequest, plan: Pick<Plan, 'needs'>): ParsedRequest {
  if (plan.needs.reasoning || !asksReasoning(parsed.request.reasoning)) return parsed;
  const { reasoning: _wish, ...request } = parsed.request;
  return { ...parsed, request, body: withoutWish(parsed.body, request) };
}

/** Responses bodies never pass as they are, so theirs need no change. */
function withoutWish(body: JsonBody, { dialect }: NeutralRequest): JsonBody {
  if (dialect === 'responses') return body;
  if (dialect === 'chat') return parseJsonBody(spliceFields(body, {}, ['reasoning', 'reasoning_effort']));
  const field = body.fields.findLast(({ key }) => key === 'output_config');
  const set: Record<string, string> = {};
  if (field && isObject(body.value['output_config'])) {
    const config = parseJsonBody(body.bytes.subarray(field.valueStart, field.valueEnd));
    set['output_config'] = Buffer.from(spliceFields(config, {}, ['effort'])).toString();
  }
  return parseJsonBody(spliceFields(body, set, ['thinking']));
}

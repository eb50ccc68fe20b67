// What sets a call that is no completion apart on the road; everything else it shares with completions, money above all.

import type { JsonBody } from '../wire/json-scan.ts';
import type { ParsedRequest, Plan } from './completion.ts';
import type { Hold } from './hold-credits.ts';
import type { PlanInput } from './plan.ts';
import type { RequestSize } from './request-size.ts';
import type { Answer, Road } from './road.ts';

export interface CallKind {
  /** As usage entries name it. */
  readonly format: string;
  parse(body: JsonBody): ParsedRequest;
  size(parsed: ParsedRequest): RequestSize;
  plan(input: PlanInput, parsed: ParsedRequest): Plan;
  attempt(road: Road, plan: Plan, hold: Hold): Promise<Answer>;
}

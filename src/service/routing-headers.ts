// The routing headers of contract §4: how a request was routed, on every answer after routing, errors included.

import type { Plan } from './completion.ts';

/** `tokensSaved`: by optimisation, about; 0 when none. */
export function routingHeaders(plan: Plan, upstream: string, tokensSaved: number): Record<string, string> {
  return {
    'x-svc-model': headerSafe(plan.model.id),
    ...(plan.virtualModel === null ? {} : { 'x-svc-virtual-model': plan.virtualModel }),
    ...(plan.unclassified ? {} : promptHeaders(plan)),
    'x-svc-tokens-saved': String(tokensSaved),
    'x-svc-classifier': plan.classifier,
    'x-svc-upstream': headerSafe(upstream),
  };
}

function promptHeaders({ classification }: Plan): Record<string, string> {
  return { 'x-svc-task-type': classification.task_type, 'x-svc-complexity': classification.complexity };
}

/** Model names come from the upstream's list: what a header can't carry becomes a question mark. */
function headerSafe(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, '?');
}

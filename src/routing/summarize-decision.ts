// The decision in short, as a usage entry keeps it: made without building the list of candidates.

import type { Classification, Needs, Weights } from './decision.ts';
import type { RouteInput, Routing } from './route.ts';

/** The same shape as the ledger's summary, which routing must not import. */
export type DecisionInShort = {
  readonly id: string;
  readonly preset: string | null;
  readonly weights: Weights | null;
  readonly classification: Omit<Classification, 'signals'>;
  readonly needs: Readonly<Record<string, number | boolean>>;
  readonly chosen: string;
  readonly why: string;
  readonly sticky: boolean;
};

type Asked = Pick<RouteInput, 'id' | 'preset' | 'weights' | 'classification' | 'needs'>;

export function summarizeDecision(input: Asked, routing: Pick<Routing, 'chosen' | 'why'>): DecisionInShort {
  const { task_type, domain, complexity, difficulty, confidence } = input.classification;
  const needs: Needs = input.needs;
  return {
    id: input.id,
    preset: input.preset,
    weights: input.weights,
    classification: { task_type, domain, complexity, difficulty, confidence },
    needs: { ...needs },
    chosen: routing.chosen.id,
    why: routing.why(),
    sticky: false,
  };
}

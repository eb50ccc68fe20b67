import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { DecisionSummary } from '../../src/ledger/records.ts';
import { route } from '../../src/routing/route.ts';
import { summarizeDecision } from '../../src/routing/summarize-decision.ts';
import { anyInput, routed, routeInput } from './routing-samples.ts';

it('is the ledger’s summary, with the signals left out', () => {
  const summary: DecisionSummary = summarizeDecision(routeInput(), routed());
  expect(summary).toEqual({
    id: 'req_1',
    preset: 'svc:auto',
    weights: { speed: 50, quality: 50, cost: 50 },
    classification: { task_type: 'chat', domain: 'other', complexity: 'medium', difficulty: 0.5, confidence: 1 },
    needs: {
      input_tokens: 500,
      max_output_tokens: 0,
      vision: false,
      tools: false,
      structured_output: false,
      reasoning: false,
    },
    chosen: routed().chosen.id,
    why: routed().decision().why,
    sticky: false,
  });
});

it('says what the whole decision says', () => {
  fc.assert(
    fc.property(anyInput, (input) => {
      const routing = route(input);
      if ('none' in routing) return;
      const summary = summarizeDecision(input, routing);
      const { id, preset, weights, needs, chosen, why, sticky } = routing.decision();
      expect(summary).toMatchObject({ id, preset, weights, needs, chosen, why, sticky });
    }),
  );
});

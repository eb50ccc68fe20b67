// The choice and its record: properties that hold for any catalogue, weights and prompt.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCatalog } from '../../src/routing/catalog.ts';
import type { Decision, Weights } from '../../src/routing/decision.ts';
import { passthroughDecision, type RouteInput, route } from '../../src/routing/route.ts';
import {
  ANYTHING,
  AUTO,
  anyInput,
  BIG,
  classification,
  decided,
  flip,
  MID,
  model,
  needs,
  price,
  request,
  routed,
  routeInput,
  THREE,
  TINY,
} from './routing-samples.ts';

const RUNS = { numRuns: 150 };

function decisionOf(input: RouteInput): Decision | undefined {
  const routing = route(input);
  return 'none' in routing ? undefined : routing.decision();
}

function withWeight(input: RouteInput, axis: keyof Weights, more: number): RouteInput {
  return { ...input, weights: { ...input.weights, [axis]: input.weights[axis] + more } };
}

/** One whole step from `changed` toward `given`; undefined where there is none, or weights are told in hundredths. */
function oneStepBack(given: Weights, changed: Weights): Weights | undefined {
  const axis = (['speed', 'quality', 'cost'] as const).find((each) => given[each] !== changed[each]);
  if (!axis || Math.max(given.speed, given.quality, given.cost) < 10) return undefined;
  const nearer = { ...changed, [axis]: changed[axis] + Math.sign(given[axis] - changed[axis]) };
  return nearer.speed + nearer.quality + nearer.cost > 0 ? nearer : undefined;
}

describe('for any catalogue, weights and prompt', () => {
  it('every model is a candidate or excluded, exactly once', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const routing = route(input);
        const ids =
          'none' in routing
            ? routing.none.map(({ model: id }) => id)
            : [...routing.decision().candidates, ...routing.decision().excluded].map(({ model: id }) => id);
        expect(ids.sort()).toEqual(input.catalog.models.map(({ id }) => id).sort());
      }),
      RUNS,
    );
  });

  it('the score is the weighted mean of the numbers shown', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const { speed, quality, cost } = input.weights;
        for (const each of decisionOf(input)?.candidates ?? []) {
          const mean = (speed * each.speed + quality * each.quality + cost * each.cost) / (speed + quality + cost);
          expect(each.score).toBeCloseTo(mean, 12);
          for (const part of [each.score, each.speed, each.quality, each.cost]) {
            expect(part).toBeGreaterThanOrEqual(0);
            expect(part).toBeLessThanOrEqual(1);
          }
        }
      }),
      RUNS,
    );
  });

  it('candidates come best first and the first is chosen', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const routing = route(input);
        if ('none' in routing) return;
        const { candidates, chosen } = routing.decision();
        expect(candidates[0]?.model).toBe(chosen);
        expect(routing.chosen.id).toBe(chosen);
        expect(routing.ranked.map(({ id }) => id)).toEqual(candidates.map(({ model: id }) => id));
        candidates.forEach((each, index) => {
          expect(each.score).toBeLessThanOrEqual(candidates[index - 1]?.score ?? 1);
        });
      }),
      RUNS,
    );
  });

  it('the chosen model is never worse than another in all three', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const [chosen, ...others] = decisionOf(input)?.candidates ?? [];
        if (!chosen) return;
        for (const other of others) {
          const worse = other.quality >= chosen.quality && other.speed >= chosen.speed && other.cost >= chosen.cost;
          const better = other.quality > chosen.quality || other.speed > chosen.speed || other.cost > chosen.cost;
          expect(worse && better).toBe(false);
        }
      }),
      RUNS,
    );
  });

  it('raising the quality weight never lowers the chosen quality', () => {
    fc.assert(
      fc.property(anyInput, fc.integer({ min: 1, max: 200 }), (input, more) => {
        const before = decisionOf(input)?.candidates[0];
        const after = decisionOf(withWeight(input, 'quality', more))?.candidates[0];
        expect(after?.quality ?? 0).toBeGreaterThanOrEqual(before?.quality ?? 0);
      }),
      RUNS,
    );
  });

  it('raising the cost weight never raises the estimated cost', () => {
    fc.assert(
      fc.property(anyInput, fc.integer({ min: 1, max: 200 }), (input, more) => {
        const before = Number(decisionOf(input)?.candidates[0]?.estimated_cost ?? 0);
        const after = Number(decisionOf(withWeight(input, 'cost', more))?.candidates[0]?.estimated_cost ?? 0);
        // Costs within a ten-thousandth of the scale are one cost to the score.
        expect(after).toBeLessThanOrEqual(before * 1.003 + 2e-9);
      }),
      RUNS,
    );
  });

  it('raising the speed weight never lowers the chosen speed', () => {
    fc.assert(
      fc.property(anyInput, fc.integer({ min: 1, max: 200 }), (input, more) => {
        const before = decisionOf(input)?.candidates[0];
        const after = decisionOf(withWeight(input, 'speed', more))?.candidates[0];
        expect(after?.speed ?? 0).toBeGreaterThanOrEqual(before?.speed ?? 0);
      }),
      RUNS,
    );
  });

  it('the same input gives the same decision', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const again = { ...input, catalog: createCatalog([...input.catalog.models]) };
        expect(route(again)).toEqual(route(input));
        expect(decisionOf(again)).toEqual(decisionOf(input));
      }),
      RUNS,
    );
  });

  it('every flip is true when it is applied', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        for (const told of decisionOf(input)?.flips ?? []) {
          const change = told.if;
          const changed =
            'weights' in change
              ? { ...input, weights: change.weights }
              : { ...input, needs: { ...input.needs, ...change } };
          const routing = route(changed);
          expect('none' in routing ? 'none' : routing.chosen.id).toBe(told.then);
          expect(told.then).not.toBe(decisionOf(input)?.chosen);
        }
      }),
      RUNS,
    );
  });
});

describe('a weight flip', () => {
  it('is the smallest whole step on its axis that changes the choice', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const decision = decisionOf(input);
        for (const told of decision?.flips ?? []) {
          const nearer = 'weights' in told.if ? oneStepBack(input.weights, told.if.weights) : undefined;
          if (nearer) expect(decisionOf({ ...input, weights: nearer })?.chosen).toBe(decision?.chosen);
        }
      }),
      RUNS,
    );
  });

  it('is told in hundredths where weights are given as shares of one', () => {
    const weights = { speed: 0.2, quality: 0.5, cost: 0.3 };
    const flips = decided({ weights }).flips.flatMap((flip) => ('weights' in flip.if ? [flip.if.weights] : []));
    expect(flips.length).toBeGreaterThan(0);
    for (const flip of flips) {
      for (const value of Object.values(flip)) expect(value * 100).toBeCloseTo(Math.round(value * 100), 9);
    }
  });

  it('is absent where one model is best in everything', () => {
    const worse = model('acme/worse', { abilities: { general: 0.1 }, pricing: price(50, 90), ttftMs: 60_000 });
    const flips = decided({ catalog: createCatalog([TINY, worse]) }).flips;
    expect(flips.filter((told) => 'weights' in told.if)).toEqual([]);
  });
});

describe('a size flip', () => {
  it('names the prompt size from which the cheap model no longer fits', () => {
    const small = { ...TINY, contextLength: 10_000 };
    const flips = decided({ catalog: createCatalog([small, BIG]), weights: { speed: 0, quality: 0, cost: 1 } }).flips;
    expect(flips).toContainEqual(flip({ input_tokens: 10_001 }, BIG.id));
  });

  it('counts what was asked for as output too', () => {
    const small = { ...TINY, contextLength: 10_000 };
    const input = { catalog: createCatalog([small, BIG]), weights: { speed: 0, quality: 0, cost: 1 } };
    const flips = decided({ ...input, needs: needs({ input_tokens: 4000, max_output_tokens: 1000 }) }).flips;
    expect(flips).toContainEqual(flip({ max_output_tokens: 6001 }, BIG.id));
    expect(flips).toContainEqual(flip({ input_tokens: 9001 }, BIG.id));
  });
});

describe('the decision', () => {
  const decision = decided();

  it('carries what was asked as it was asked', () => {
    expect(decision).toMatchObject({
      id: 'req_1',
      requested: 'svc:auto',
      preset: 'svc:auto',
      weights: AUTO,
      classification: classification(),
      needs: needs(),
      sticky: false,
    });
  });

  it('is made once', () => {
    const routing = routed();
    expect(routing.decision()).toBe(routing.decision());
  });

  it.each([
    ['a trivial chat goes to the cheapest and quickest', 'chat', 0.05, { speed: 100, quality: 30, cost: 70 }, TINY.id],
    [
      'a hard problem under quality weights goes to the strongest',
      'reasoning',
      0.9,
      { speed: 20, quality: 100, cost: 20 },
      BIG.id,
    ],
    ['a medium prompt under even weights takes the middle way', 'coding', 0.5, AUTO, MID.id],
    ['only cost counts', 'coding', 0.9, { speed: 0, quality: 0, cost: 1 }, TINY.id],
    ['only quality counts', 'chat', 0.1, { speed: 0, quality: 1, cost: 0 }, BIG.id],
    ['only speed counts', 'math', 0.9, { speed: 1, quality: 0, cost: 0 }, TINY.id],
  ] as const)('%s', (_name, task_type, difficulty, weights, expected) => {
    expect(decided({ weights, classification: classification({ task_type, difficulty }) }).chosen).toBe(expected);
  });

  it('of equals under the weights takes the one better in the rest, whatever the order', () => {
    const plain = model('acme/plain', { abilities: { general: 0.5 } });
    const abler = model('acme/abler', { abilities: { general: 0.9 } });
    for (const models of [
      [plain, abler],
      [abler, plain],
    ]) {
      const catalog = createCatalog(models);
      expect(routed({ catalog, weights: { speed: 0, quality: 0, cost: 1 } }).chosen.id).toBe('acme/abler');
    }
  });

  it('takes all weights at zero as all alike', () => {
    const none = decided({ weights: { speed: 0, quality: 0, cost: 0 } });
    expect(none.chosen).toBe(decided({ weights: { speed: 1, quality: 1, cost: 1 } }).chosen);
    expect(none.candidates[0]?.score).toBeGreaterThan(0);
  });

  it('marks models whose abilities are a guess, and only those', () => {
    const guessed = { ...MID, id: 'acme/new', estimated: true };
    const rows = decided({ catalog: createCatalog([TINY, guessed]) }).candidates;
    expect(rows.find(({ model: id }) => id === 'acme/new')?.estimated).toBe(true);
    expect(rows.find(({ model: id }) => id === TINY.id)).not.toHaveProperty('estimated');
  });

  it('lists every model with its reason when nothing is eligible', () => {
    const result = route(routeInput({ needs: needs({ input_tokens: 10_000_000 }) }));
    expect('none' in result && result.none.map(({ model: id }) => id)).toEqual(THREE.models.map(({ id }) => id));
    expect('none' in result && result.none.every(({ reason }) => reason.includes('context'))).toBe(true);
  });

  it('is empty-handed over an empty catalogue', () => {
    expect(route(routeInput({ catalog: createCatalog([]) }))).toEqual({ none: [] });
  });
});

describe('the reason', () => {
  it('says so when one model is alone', () => {
    expect(decided({ catalog: createCatalog([MID]) }).why).toBe(
      'acme/mid is the only model that can serve this request.',
    );
  });

  it('names what a weaker choice saves against the strongest', () => {
    const { why } = decided({
      weights: { speed: 0, quality: 1, cost: 3 },
      classification: classification({ difficulty: 0.1, complexity: 'simple' }),
    });
    expect(why).toMatch(
      /^acme\/tiny costs \d+× less \(\$[\d.]+ against \$[\d.]+\) and starts [\d.]+× sooner than zeus\/big/,
    );
    expect(why).toContain('this simple chat prompt');
  });

  it('admits a real loss of quality', () => {
    const { why } = decided({
      weights: { speed: 0, quality: 0, cost: 1 },
      classification: classification({ difficulty: 0.8 }),
    });
    expect(why).toContain('though less likely');
  });

  it('says whom the strongest is ahead of', () => {
    const { why } = decided({
      weights: { speed: 0, quality: 1, cost: 0 },
      classification: classification({ difficulty: 0.8 }),
    });
    expect(why).toMatch(/^zeus\/big is as likely as any .* and ahead of acme\/mid, the next best/);
  });

  it('says free, not infinitely cheaper', () => {
    const free = model('acme/free', { pricing: price(0, 0), abilities: { general: 0.7 } });
    const { why } = decided({ catalog: createCatalog([free, BIG]), weights: { speed: 0, quality: 0, cost: 1 } });
    expect(why).toContain('is free');
    expect(why).not.toContain('Infinity');
  });
});

describe('passthroughDecision', () => {
  const { preset: _preset, weights: _weights, ...rest } = routeInput({ requested: BIG.id });

  it('has the one model as its candidate and no weights', () => {
    const decision = passthroughDecision({ ...rest, model: BIG });
    expect(decision).toMatchObject({
      preset: null,
      weights: null,
      chosen: BIG.id,
      excluded: [],
      flips: [],
      sticky: false,
    });
    expect(decision.candidates.map(({ model: id }) => id)).toEqual([BIG.id]);
    expect(decision.why).toBe('zeus/big was asked for by name.');
    expect(Number(decision.candidates[0]?.estimated_cost)).toBeGreaterThan(0);
  });

  it.each([
    ['its price is unknown', (({ pricing: _, ...unpriced }) => unpriced)(BIG), needs()],
    ['the prompt is longer than its context', BIG, needs({ input_tokens: 9_000_000 })],
    ['it lacks what the request needs', BIG, needs({ vision: true, reasoning: true })],
    ['it has expired', { ...BIG, expires: 5 }, needs()],
  ])('still shows the model when %s', (_name, given, wanted) => {
    const decision = passthroughDecision({ ...rest, model: given, needs: wanted });
    expect(decision.candidates).toHaveLength(1);
    expect(decision.needs).toEqual(wanted);
  });
});

describe('speed', () => {
  it('goes by what the gateway measured where it has', () => {
    const slow = decided({ weights: { speed: 1, quality: 0, cost: 0 } });
    expect(slow.chosen).toBe(TINY.id);
    const measured = (id: string) => (id === TINY.id ? { tokensPerSecond: 2, ttftMs: 40_000 } : undefined);
    const live = decided({ weights: { speed: 1, quality: 0, cost: 0 }, measured });
    expect(live.chosen).toBe(MID.id);
    expect(live.candidates.find(({ model: id }) => id === TINY.id)?.estimated_ttft_ms).toBe(40_000);
  });

  it('does not wait for thinking that was turned off', () => {
    const thinker = model('acme/thinker', { ttftMs: 30_000, supportedParameters: ['reasoning'] });
    const catalog = createCatalog([thinker]);
    const ttft = (reasoning: NonNullable<RouteInput['request']['reasoning']>) =>
      decided({ catalog, request: request({ reasoning }) }).candidates[0]?.estimated_ttft_ms;
    expect(ttft({ enabled: false })).toBe(1500);
    expect(ttft({ effort: 'low' })).toBeLessThan(ttft({ effort: 'high' }) ?? 0);
  });

  it('expects a model to think when it is asked to', () => {
    const hybrid = model('acme/hybrid', { ttftMs: 900, supportedParameters: ['reasoning'] });
    const catalog = createCatalog([hybrid]);
    const plain = decided({ catalog }).candidates[0];
    const asked = decided({ catalog, needs: needs({ reasoning: true }) }).candidates[0];
    expect(asked?.estimated_ttft_ms).toBeGreaterThan(plain?.estimated_ttft_ms ?? 0);
    expect(Number(asked?.estimated_cost)).toBeGreaterThan(Number(plain?.estimated_cost));
  });
});

it('limits are the caller’s own and change nothing else', () => {
  const all = decided();
  const some = decided({ limits: { ...ANYTHING, deny: [TINY.id] } });
  expect(some.excluded).toEqual([{ model: TINY.id, reason: 'on the deny list' }]);
  const quality = (decision: Decision) => decision.candidates.find(({ model: id }) => id === BIG.id)?.quality;
  expect(quality(some)).toBe(quality(all));
});

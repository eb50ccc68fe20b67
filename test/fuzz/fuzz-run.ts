// How much fuzzing a run does: little and seeded in the normal suite, a million executions with TEST_FUZZ=long.

import fc from 'fast-check';

const IS_LONG = process.env['TEST_FUZZ'] === 'long';

/** Executions of all targets together. */
const TOTAL = IS_LONG ? Number(process.env['TEST_FUZZ_RUNS'] ?? 1_000_000) : 1600;

/** So that the normal suite is the same every time; a long run takes another seed each day and says which. */
const SEED = IS_LONG ? Math.floor(Date.now() / 86_400_000) : 20_261;

/** Runs a target for its share of the executions; prints how fast it went where the run is a long one. */
export function fuzz<T>(name: string, share: number, inputs: fc.Arbitrary<T>, target: (input: T) => void): void {
  const numRuns = Math.ceil(TOTAL * share);
  const startedMs = performance.now();
  fc.assert(fc.property(inputs, target), { numRuns, seed: SEED, endOnFailure: IS_LONG });
  if (!IS_LONG) return;
  const seconds = (performance.now() - startedMs) / 1000;
  process.stdout.write(`${name}: ${numRuns} executions, ${Math.round(numRuns / seconds)} per second, seed ${SEED}\n`);
}

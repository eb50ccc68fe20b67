// What a task type alone says about the subject: code is about computers, small talk about nothing.
import { DOMAINS, TASK_TYPES } from '../../src/routing/decision.ts';
import type { Example } from './train-data.ts';

/** Added to each count of a domain within a task type, so that none is ruled out; and how far the counts are believed. */
const PRIOR_COUNT = 1;
const PRIOR_POWER = 0.7;

/** Log shares of the domains within each task type, of the hand-written prompts: benchmarks ask about all alike. */
export function countPriors(examples: readonly Example[]): Float32Array {
  const counts = new Float32Array(TASK_TYPES.length * DOMAINS.length).fill(PRIOR_COUNT);
  for (const { batch, task, domain } of examples) {
    if (batch === '' || task === undefined || domain === undefined) continue;
    const at = TASK_TYPES.indexOf(task) * DOMAINS.length + DOMAINS.indexOf(domain);
    counts[at] = (counts[at] ?? 0) + 1;
  }
  return counts.map((count, at) => {
    const start = at - (at % DOMAINS.length);
    const total = counts.subarray(start, start + DOMAINS.length).reduce((sum, value) => sum + value, 0);
    return PRIOR_POWER * Math.log(count / total);
  });
}

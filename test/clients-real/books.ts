// What the books must say after a client: one usage entry per request that went upstream, each cost right, nothing held.

import { expect } from 'vitest';
import { DEFAULT_MODELS } from '../helpers/fake-upstream.ts';
import { type Gateway, nanoOf } from '../helpers/gateway.ts';
import { TOKENS } from './scripted-loop.ts';

/** With reasoning beside what the shared list has: agents ask for it in every request. */
export const MODELS: readonly Readonly<Record<string, unknown>>[] = DEFAULT_MODELS.map((model) => ({
  ...model,
  supported_parameters: [...listOf(model['supported_parameters']), 'reasoning'],
}));

export async function expectBooks({ upstream, usage, balance }: Gateway): Promise<void> {
  // The last settlement may come a moment after the client has gone.
  await expect.poll(async () => (await balance()).held).toBe('0');
  const entries = await usage();
  expect(entries.length).toBeGreaterThanOrEqual(upstream.requests.length);
  let sum = 0n;
  for (const entry of entries) {
    const { error_code: failure, model, cost } = entry;
    expect(nanoOf(cost), `${model}, ${failure}`).toBe(failure === null ? costOf(String(model)) : 0n);
    sum += nanoOf(cost);
  }
  const answered = entries.filter((entry) => entry['error_code'] === null);
  expect(answered).toHaveLength(upstream.requests.length);
  expect(nanoOf((await balance()).charged)).toBe(sum);
}

function costOf(model: string): bigint {
  const listed = MODELS.find(({ id }) => id === model);
  const { prompt, completion } = (listed?.['pricing'] ?? {}) as { prompt: string; completion: string };
  return BigInt(TOKENS.input) * nanoOf(prompt) + BigInt(TOKENS.output) * nanoOf(completion);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

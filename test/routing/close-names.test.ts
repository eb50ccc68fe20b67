import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { closeNames } from '../../src/routing/close-names.ts';
import { shippedCatalog } from './routing-samples.ts';

const ids = ['svc:auto', 'svc:fast', 'svc:balanced', 'svc:best', ...shippedCatalog().byId.keys()];

describe('closeNames', () => {
  it.each([
    ['svc:fats', 'svc:fast'],
    ['svc:automatic', 'svc:auto'],
    ['gpt-4o', 'openai/gpt-4o'],
    ['gpt-4o-mini', 'openai/gpt-4o-mini'],
    ['openai/gpt4o', 'openai/gpt-4o'],
    ['anthropic/claude-haiku-55', 'anthropic/claude-haiku-5.5'],
    ['claude-sonnet-5', 'anthropic/claude-sonnet-5'],
    ['OpenAI/GPT-4o', 'openai/gpt-4o'],
    ['mistral/mistral-nemo', 'mistralai/mistral-nemo'],
  ])('for %s suggests %s first', (wanted, expected) => {
    expect(closeNames(wanted, ids)[0]).toBe(expected);
  });

  it.each(['', 'zzzzzzzz', '日本語のモデル'])('suggests nothing for %j', (wanted) => {
    expect(closeNames(wanted, ids)).toEqual([]);
  });

  it('gives no more than asked for', () => {
    expect(closeNames('openai/gpt', ids)).toHaveLength(3);
    expect(closeNames('openai/gpt', ids, 1)).toHaveLength(1);
  });

  it('bounds its work on a huge name and a huge list', () => {
    const many = Array.from({ length: 100_000 }, (_, index) => `maker/model-${index}`);
    expect(closeNames('maker/model-'.repeat(100_000), many).length).toBeLessThanOrEqual(3);
  });

  it('only ever suggests what is there', () => {
    fc.assert(
      fc.property(fc.string(), (wanted) => {
        for (const name of closeNames(wanted, ids)) expect(ids).toContain(name);
      }),
      { numRuns: 30 },
    );
  });
});

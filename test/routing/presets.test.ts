import { describe, expect, it } from 'vitest';
import { isVirtual, PRESETS, presetByModel } from '../../src/routing/presets.ts';

describe('the presets', () => {
  it('are the four virtual models with their weights', () => {
    expect(PRESETS.map(({ id, weights }) => [id, weights.speed, weights.quality, weights.cost])).toEqual([
      ['svc:auto', 50, 50, 50],
      ['svc:fast', 100, 30, 70],
      ['svc:balanced', 50, 60, 50],
      ['svc:best', 20, 100, 20],
    ]);
  });

  it('say in a sentence what they are for', () => {
    for (const { description } of PRESETS) expect(description).toMatch(/^[A-Z].{20,80}\.$/);
  });

  it.each(['svc:auto', 'svc:fast', 'svc:balanced', 'svc:best'])('%s is found by its name', (id) => {
    expect(presetByModel(id)?.id).toBe(id);
    expect(isVirtual(id)).toBe(true);
  });

  it.each(['auto', 'svc:', 'svc:AUTO', 'openai/gpt-4o', '', '__proto__', 'constructor'])('%j is no preset', (id) => {
    expect(presetByModel(id)).toBeUndefined();
  });

  it.each([
    ['svc:unknown', true],
    ['openai/svc:auto', false],
  ])('%s is virtual: %s', (id, virtual) => {
    expect(isVirtual(id)).toBe(virtual);
  });
});

// Per-request overrides, from the body field and from the header.

import { describe, expect, it } from 'vitest';
import { parseSvcOptions } from '../../src/service/svc-options.ts';

describe('the options', () => {
  it.each([
    [undefined, undefined, {}],
    [{}, undefined, {}],
    [{ weights: { quality: 100 } }, undefined, { weights: { speed: 0, quality: 100, cost: 0 } }],
    [{ models: { allow: ['a/*'] } }, undefined, { models: { allow: ['a/*'], deny: [] } }],
    [{ max_cost: '0.05' }, undefined, { maxCostNano: 50_000_000 }],
    [{ max_cost: 0.05 }, undefined, { maxCostNano: 50_000_000 }],
    [undefined, '{"max_cost":"1"}', { maxCostNano: 1_000_000_000 }],
    [
      { max_cost: '2' },
      '{"max_cost":"1","weights":{"speed":1}}',
      { maxCostNano: 2_000_000_000, weights: { speed: 1, quality: 0, cost: 0 } },
    ],
  ])('of body %j and header %s are %j', (body, header, expected) => {
    expect(parseSvcOptions(body, header)).toEqual(expected);
  });

  it.each([
    [{ weights: {} }, undefined, 'svc.weights'],
    [{ weights: { speed: 0, quality: 0, cost: 0 } }, undefined, 'above 0'],
    [{ weights: { speed: Number.NaN } }, undefined, 'svc.weights.speed'],
    [{ weights: { speed: 1001 } }, undefined, 'svc.weights.speed'],
    [{ weights: { haste: 1 } }, undefined, 'svc.weights.haste'],
    [{ weights: 5 }, undefined, 'svc.weights'],
    [{ models: { allow: 'a/*' } }, undefined, 'svc.models.allow'],
    [{ models: { deny: [''] } }, undefined, 'svc.models.deny'],
    [{ max_cost: 'five' }, undefined, 'svc.max_cost'],
    [{ max_cost: -1 }, undefined, 'svc.max_cost'],
    [{ price: 1 }, undefined, 'svc.price'],
    [undefined, 'not json', 'X-Svc-Options'],
    [undefined, '[]', 'X-Svc-Options'],
    [undefined, '{"weights":{"speed":"fast"}}', 'X-Svc-Options.weights.speed'],
  ])('of body %j and header %s are refused, naming %s', (body, header, field) => {
    expect(() => parseSvcOptions(body, header)).toThrow(field);
  });
});

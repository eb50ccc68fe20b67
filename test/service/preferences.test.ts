// Preferences: defaults, merging field by field, and what is refused.

import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { PreferencesView } from '../../src/api/types.ts';
import { type ControlFixture, openControl, type Tenant } from '../helpers/control-fixture.ts';

let fixture: ControlFixture;
let ada: Tenant;

beforeAll(async () => {
  fixture = await openControl();
});
beforeEach(async () => {
  ada = await fixture.tenant('ada');
});
afterAll(() => fixture.close());

const read = () => fixture.services.preferences.read(ada.account, ada.workspaceId);
const put = (body: unknown) => fixture.services.preferences.replace(ada.account, ada.workspaceId, body);

const FULL: PreferencesView = {
  weights: { speed: 100, quality: 30, cost: 70 },
  models: { allow: ['openai/*', 'anthropic/*'], deny: ['openai/o3'] },
  max_price: { input: '2.5', output: '10' },
  list_real_models: false,
  optimize: 'lossless',
  fallback: false,
  sticky: false,
};

describe('preferences', () => {
  it('start with defaults in the contract’s shape', () => {
    expect(read()).toEqual({
      weights: null,
      models: { allow: [], deny: [] },
      max_price: { input: null, output: null },
      list_real_models: expect.any(Boolean),
      optimize: 'off',
      fallback: expect.any(Boolean),
      sticky: expect.any(Boolean),
    });
  });

  it('take all fields, and keep them across a restart', async () => {
    expect(await put(FULL)).toEqual(FULL);
    fixture = await fixture.reopen();
    expect(read()).toEqual(FULL);
  });

  it.each([
    [{}, {}],
    [{ sticky: true }, { sticky: true }],
    [{ weights: { speed: 0, quality: 1, cost: 0 } }, { weights: { speed: 0, quality: 1, cost: 0 } }],
    [{ weights: null }, { weights: null }],
    [{ models: { allow: [] } }, { models: { allow: [], deny: ['openai/o3'] } }],
    [{ models: { deny: ['x/*'] } }, { models: { allow: ['openai/*', 'anthropic/*'], deny: ['x/*'] } }],
    [{ models: null }, { models: { allow: [], deny: [] } }],
    [{ max_price: { input: '3.00' } }, { max_price: { input: '3', output: '10' } }],
    [{ max_price: { input: null } }, { max_price: { input: null, output: '10' } }],
    [{ max_price: null }, { max_price: { input: null, output: null } }],
    [
      { optimize: 'off', fallback: true },
      { optimize: 'off', fallback: true },
    ],
  ])('given %j, change to %j and leave the rest', async (body, change) => {
    await put(FULL);
    expect(await put(body)).toEqual({ ...FULL, ...change });
    expect(read()).toEqual({ ...FULL, ...change });
  });

  it.each([
    [[], 'body'],
    [null, 'body'],
    [{ speed: 1 }, 'speed'],
    [{ weights: { speed: 0, quality: 0, cost: 0 } }, 'weights'],
    [{ weights: { speed: -1, quality: 1, cost: 0 } }, 'weights.speed'],
    [{ weights: { speed: '1', quality: 1, cost: 0 } }, 'weights.speed'],
    [{ weights: { speed: 1, quality: 1, cost: 0, latency: 1 } }, 'weights.latency'],
    [{ weights: [1, 2, 3] }, 'weights'],
    [{ models: ['openai/*'] }, 'models'],
    [{ models: { allow: 'openai/*' } }, 'models.allow'],
    [{ models: { allow: [1] } }, 'models.allow'],
    [{ models: { block: [] } }, 'models.block'],
    [{ models: { deny: Array.from({ length: 201 }, () => 'x') } }, 'models.deny'],
    [{ max_price: { input: 2 } }, 'max_price.input'],
    [{ max_price: { output: '-1' } }, 'max_price.output'],
    [{ max_price: { total: '1' } }, 'max_price.total'],
    [{ max_price: '1' }, 'max_price'],
    [{ optimize: 'lossy' }, 'optimize'],
    [{ optimize: null }, 'optimize'],
    [{ fallback: 'yes' }, 'fallback'],
    [{ sticky: null }, 'sticky'],
    [{ list_real_models: 1 }, 'list_real_models'],
  ])('refuse %j and stay as they were', async (body, param) => {
    await put(FULL);
    await expect(put(body)).rejects.toMatchObject({ code: 'INVALID_REQUEST', param });
    expect(read()).toEqual(FULL);
  });

  it('after any puts are what the last value of each field says', async () => {
    const change = fc.record(
      {
        sticky: fc.boolean(),
        fallback: fc.boolean(),
        list_real_models: fc.boolean(),
        optimize: fc.constantFrom('off', 'lossless'),
        weights: fc.option(
          fc.record({ speed: fc.nat(1000), quality: fc.integer({ min: 1, max: 1000 }), cost: fc.nat(1000) }),
        ),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 4 }), async (changes) => {
        await put(FULL);
        for (const each of changes) await put(each);
        expect(read()).toEqual(Object.assign({}, FULL, ...changes));
      }),
      { numRuns: 20 },
    );
  });

  it('lose none of several changes made at once', async () => {
    await put(FULL);
    await Promise.all([put({ sticky: true }), put({ fallback: true }), put({ weights: null })]);
    expect(read()).toEqual({ ...FULL, sticky: true, fallback: true, weights: null });
  });

  it('are the owner’s to change, anyone’s in the workspace to read, and nobody else’s', async () => {
    const bob = await fixture.tenant('bob');
    const { preferences } = fixture.services;
    expect(() => preferences.read(bob.account, ada.workspaceId)).toThrow(
      expect.objectContaining({ code: 'NOT_FOUND' }),
    );
    await expect(preferences.replace(bob.account, ada.workspaceId, {})).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const workspace = fixture.store.documents.workspaceById(ada.workspaceId);
    if (!workspace) throw new Error('no workspace');
    await fixture.store.documents.putWorkspace({
      ...workspace,
      members: [...workspace.members, { accountId: bob.account.id, role: 'member' }],
    });
    expect(preferences.read(bob.account, ada.workspaceId).weights).toBeNull();
    await expect(preferences.replace(bob.account, ada.workspaceId, {})).rejects.toMatchObject({ code: 'FORBIDDEN' });
  });
});

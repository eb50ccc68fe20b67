// Usage queries: filters, pages, sums, and how an entry is shown.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseUsageFilter, renderUsageEntry, type UsageCall } from '../../src/service/usage-query.ts';
import {
  type ControlFixture,
  openControl,
  START_MS,
  spend,
  type Tenant,
  USD,
  usageEntry,
} from '../helpers/control-fixture.ts';

const HOUR_MS = 3_600_000;

describe('renderUsageEntry', () => {
  it('shows the contract’s fields, money and time as text, with the upstream’s cost beside ours and what was odd', () => {
    expect(renderUsageEntry(usageEntry({ cost: 123_450 }))).toEqual({
      id: 'ue_1',
      request_id: 'req_1',
      created_at: '2026-01-15T12:00:00.000Z',
      api_key_id: 'key_1',
      format: 'chat',
      source: null,
      stream: false,
      requested_model: 'svc:auto',
      virtual_model: 'svc:auto',
      model: 'openai/gpt-5-mini',
      upstream: 'default',
      task_type: 'chat',
      complexity: 'simple',
      classifier: 'auto',
      status: 200,
      error_code: null,
      finish_reason: 'stop',
      input_tokens: 100,
      cached_tokens: 0,
      cache_write_tokens: 0,
      output_tokens: 20,
      reasoning_tokens: 0,
      tokens_saved: 0,
      cost: '0.00012345',
      cost_kind: 'measured',
      settle_reason: 'completed',
      latency_ms: 800,
      ttft_ms: 200,
      gateway_ms: 2,
      attempts: 1,
      upstream_cost: '0.000123',
      anomalies: ['usage_clamped'],
      decision: null,
    });
  });
});

describe('parseUsageFilter', () => {
  it.each([
    [{}, {}],
    [{ from: '2026-01-15T12:00:00Z' }, { fromMs: START_MS }],
    [{ to: '2026-01-15T13:00:00.000+01:00' }, { toMs: START_MS }],
    [
      { model: 'openai/gpt-5', key_id: 'key_1', status: '499' },
      { model: 'openai/gpt-5', keyId: 'key_1', status: 499 },
    ],
  ])('reads %j', (filters, expected) => {
    expect(parseUsageFilter(filters)).toEqual(expected);
  });

  it.each([
    [{ from: '7d' }, 'from'],
    [{ from: 'yesterday' }, 'from'],
    [{ from: '2026-01-15' }, 'from'],
    [{ from: '2026-02-31T00:00:00' }, 'from'],
    [{ to: '1768478400' }, 'to'],
    [{ to: '' }, 'to'],
    [{ from: '2026-01-16T00:00:00Z', to: '2026-01-15T00:00:00Z' }, 'from'],
    [{ status: 'ok' }, 'status'],
    [{ status: '2xx' }, 'status'],
    [{ status: '600' }, 'status'],
    [{ status: '-200' }, 'status'],
  ])('refuses %j', (filters, param) => {
    expect(() => parseUsageFilter(filters)).toThrow(expect.objectContaining({ code: 'INVALID_REQUEST', param }));
  });
});

describe('query', () => {
  let fixture: ControlFixture;
  let ada: Tenant;
  let bob: Tenant;

  const query = (call: Partial<UsageCall> = {}) =>
    fixture.services.usage.query(ada.account, {
      workspaceId: ada.workspaceId,
      filters: {},
      limit: 100,
      cursor: null,
      ...call,
    });
  const ids = async (call: Partial<UsageCall> = {}) =>
    (await query(call)).data.map((entry) => ('id' in entry ? entry.id : entry.group));

  beforeAll(async () => {
    fixture = await openControl();
    ada = await fixture.tenant('ada');
    bob = await fixture.tenant('bob');
    for (let i = 1; i <= 5; i += 1) {
      await spend(fixture.store, ada.workspaceId, i === 5 ? 'key_b' : 'key_a', {
        id: `ue_${i}`,
        request_id: `req_${i}`,
        created_at: START_MS + i * HOUR_MS,
        model: i % 2 === 0 ? 'openai/even' : 'openai/odd',
        status: i === 3 ? 502 : 200,
        cost: i === 3 ? 0 : USD / 100,
      });
    }
    await spend(fixture.store, bob.workspaceId, 'key_a', { id: 'ue_bob', request_id: 'req_bob' });
  });
  afterAll(() => fixture.close());

  it('gives this workspace’s entries, newest first', async () => {
    expect(await query()).toMatchObject({ object: 'list', has_more: false, next_cursor: null });
    expect(await ids()).toEqual(['ue_5', 'ue_4', 'ue_3', 'ue_2', 'ue_1']);
  });

  it.each([
    [{ model: 'openai/even' }, ['ue_4', 'ue_2']],
    [{ key_id: 'key_b' }, ['ue_5']],
    [{ status: '502' }, ['ue_3']],
    [{ from: '2026-01-15T15:00:00Z' }, ['ue_5', 'ue_4', 'ue_3']],
    [{ to: '2026-01-15T15:00:00Z' }, ['ue_2', 'ue_1']],
    [{ from: '2026-01-15T14:00:00Z', to: '2026-01-15T16:00:00Z', model: 'openai/odd' }, ['ue_3']],
    [{ model: 'nobody/none' }, []],
  ])('filters by %j', async (filters, expected) => {
    expect(await ids({ filters })).toEqual(expected);
  });

  it('pages through all entries once, whatever the limit', async () => {
    for (const limit of [1, 2, 5, 6]) {
      const seen: string[] = [];
      let cursor: string | null = null;
      do {
        const page = await query({ limit, cursor });
        expect(page.data.length).toBeLessThanOrEqual(limit);
        expect(page.has_more).toBe(page.next_cursor !== null);
        seen.push(...page.data.map((entry) => ('id' in entry ? entry.id : '')));
        cursor = page.next_cursor;
      } while (cursor !== null);
      expect(seen).toEqual(['ue_5', 'ue_4', 'ue_3', 'ue_2', 'ue_1']);
    }
  });

  it('refuses a cursor that it did not give out', async () => {
    await expect(query({ cursor: 'nonsense' })).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });

  it('sums by group, with filters', async () => {
    const sums = await query({ filters: { group_by: 'model' } });
    expect(sums).toMatchObject({ object: 'list', has_more: false, next_cursor: null });
    const odd = {
      group: 'openai/odd',
      requests: 3,
      errors: 1,
      input_tokens: 300,
      cached_tokens: 0,
      output_tokens: 60,
      cost: '0.02',
    };
    const even = {
      group: 'openai/even',
      requests: 2,
      errors: 0,
      input_tokens: 200,
      cached_tokens: 0,
      output_tokens: 40,
      cost: '0.02',
    };
    expect(sums.data).toHaveLength(2);
    expect(sums.data).toEqual(expect.arrayContaining([odd, even]));
    expect((await query({ filters: { group_by: 'key', status: '502' } })).data).toMatchObject([
      { group: 'key_a', requests: 1, cost: '0' },
    ]);
  });

  it.each(['day', 'model', 'key', 'task', 'virtual_model'])(
    'sums by %s to what the entries add up to',
    async (group_by) => {
      const sums = await query({ filters: { group_by } });
      const requests = sums.data.map((sum) => ('requests' in sum ? sum.requests : 0)).reduce((a, b) => a + b, 0);
      expect(requests).toBe(5);
    },
  );

  it('refuses to group by anything else', async () => {
    await expect(query({ filters: { group_by: 'hour' } })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      param: 'group_by',
    });
  });

  it('is hidden from others', async () => {
    await expect(query({ workspaceId: bob.workspaceId })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

// Usage of a workspace: entries newest first, or sums, as filters choose them.

import type { ApiList, UsageEntryView, UsageSumView } from '../api/types.ts';
import { renderUsd } from '../ledger/nano.ts';
import type { UsageEntry } from '../ledger/records.ts';
import type { Account, Store, UsageFilter, UsageGroupBy, UsageSum } from '../store/store.ts';
import { type Fields, invalidField, readChoice, readText, readTimestamp, renderTimestamp } from './request-fields.ts';
import type { WorkspaceService } from './workspaces.ts';

/** Query parameters that `query` understands, beside `limit` and `cursor`. */
export const USAGE_FILTERS = ['from', 'to', 'model', 'key_id', 'status', 'group_by'] as const;

const GROUPS: readonly UsageGroupBy[] = ['day', 'model', 'key', 'task', 'virtual_model'];
const STATUS = /^[1-5]\d\d$/;

export type UsageCall = {
  readonly workspaceId: string;
  /** Texts by name, as the query string has them; of `USAGE_FILTERS` only. */
  readonly filters: Fields;
  readonly limit: number;
  readonly cursor: string | null;
};

export type UsageService = {
  /** With `group_by`, all sums on one page. Throws `INVALID_REQUEST` naming the parameter. */
  query(account: Account, call: UsageCall): Promise<ApiList<UsageEntryView> | ApiList<UsageSumView>>;
};

export function createUsageService(deps: {
  readonly store: Store;
  readonly workspaces: WorkspaceService;
}): UsageService {
  const { ledger } = deps.store;
  return {
    query: async (account, { workspaceId, filters, limit, cursor }) => {
      deps.workspaces.workspaceFor(account, workspaceId, 'read');
      const filter = parseUsageFilter(filters);
      const groupBy = readChoice(filters, 'group_by', GROUPS);
      if (groupBy !== undefined) {
        const sums = ledger.usageSums(workspaceId, groupBy, filter).map(renderSum);
        return { object: 'list', data: sums, has_more: false, next_cursor: null };
      }
      const page = await ledger.usage(workspaceId, filter, limit, cursor);
      const more = page.nextCursor !== null;
      return { object: 'list', data: page.entries.map(renderUsageEntry), has_more: more, next_cursor: page.nextCursor };
    },
  };
}

/** Exported for its tests. */
export function parseUsageFilter(filters: Fields): UsageFilter {
  const fromMs = readTimestamp(filters, 'from');
  const toMs = readTimestamp(filters, 'to');
  if (fromMs !== undefined && toMs !== undefined && fromMs > toMs) throw invalidField('from', 'must not be after `to`');
  const model = readText(filters, 'model');
  const keyId = readText(filters, 'key_id');
  const status = readText(filters, 'status');
  if (status !== undefined && !STATUS.test(status)) throw invalidField('status', 'must be an HTTP status such as 200');
  return {
    ...(fromMs === undefined ? {} : { fromMs }),
    ...(toMs === undefined ? {} : { toMs }),
    ...(model === undefined ? {} : { model }),
    ...(keyId === undefined ? {} : { keyId }),
    ...(status === undefined ? {} : { status: Number(status) }),
  };
}

/** The entry as the API shows it: money as decimal strings, time as RFC 3339. */
export function renderUsageEntry(entry: UsageEntry): UsageEntryView {
  return {
    ...entry,
    created_at: renderTimestamp(entry.created_at),
    cost: renderUsd(entry.cost),
    upstream_cost: entry.upstream_cost === null ? null : renderUsd(entry.upstream_cost),
  };
}

function renderSum(sum: UsageSum): UsageSumView {
  return {
    group: sum.group,
    requests: sum.requests,
    errors: sum.errors,
    input_tokens: sum.inputTokens,
    cached_tokens: sum.cachedTokens,
    output_tokens: sum.outputTokens,
    cost: renderUsd(sum.costNano),
  };
}

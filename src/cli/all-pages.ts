// Reads a list page by page, up to a limit.

import type { ApiList, PageQuery } from '../api/types.ts';

/** The most that the daemon gives at once. */
const PAGE_MAX = 1_000;

/** One list of at most `limit` items; `has_more` and `next_cursor` say where the daemon's own goes on. */
export async function readPages<T>(
  readPage: (page: PageQuery) => Promise<ApiList<T>>,
  limit: number,
): Promise<ApiList<T>> {
  const data: T[] = [];
  let cursor: string | undefined;
  for (;;) {
    const page = await readPage({ limit: Math.min(PAGE_MAX, limit - data.length), cursor });
    data.push(...page.data.slice(0, limit - data.length));
    const next = page.has_more ? page.next_cursor : null;
    // An empty page with more to come would go on for ever.
    if (!next || data.length >= limit || page.data.length === 0) {
      return { object: 'list', data, has_more: Boolean(next), next_cursor: next ?? null };
    }
    cursor = next;
  }
}

// Lists over HTTP: `limit` and `cursor` in the query string, and the envelope of a page.

import type { ApiList } from '../api/types.ts';
import { invalidField } from '../service/request-fields.ts';

const LIMIT_DEFAULT = 100;
const LIMIT_MAX = 1000;
const TEXT_LENGTH_MAX = 500;

export type ListQuery = {
  readonly limit: number;
  readonly cursor: string | null;
  /** The other parameters, each once. */
  readonly filters: Readonly<Record<string, string>>;
};

type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Takes `limit`, `cursor` and the named filters; throws `INVALID_REQUEST` for any other, since a misspelt filter would show too much. */
export function readListQuery(query: Query, filterNames: readonly string[] = []): ListQuery {
  const allowed = ['limit', 'cursor', ...filterNames];
  const given: Record<string, string> = {};
  for (const [name, value] of Object.entries(query)) {
    if (!allowed.includes(name)) throw invalidField(name.slice(0, 60), `is not known; there are ${allowed.join(', ')}`);
    if (typeof value !== 'string') throw invalidField(name, 'must be given once');
    if (value.length > TEXT_LENGTH_MAX) throw invalidField(name, `must have at most ${TEXT_LENGTH_MAX} characters`);
    given[name] = value;
  }
  const { limit, cursor, ...filters } = given;
  return { limit: parseLimit(limit), cursor: cursor ?? null, filters };
}

/** One page of a list that is in memory; the cursor is the id of the last item before it. */
export function renderPage<T extends { readonly id: string }>(items: readonly T[], query: ListQuery): ApiList<T> {
  const start = query.cursor === null ? 0 : items.findIndex((item) => item.id === query.cursor) + 1;
  if (query.cursor !== null && start === 0) throw invalidField('cursor', 'is not one that this list gave out');
  const data = items.slice(start, start + query.limit);
  const more = start + data.length < items.length;
  return { object: 'list', data, has_more: more, next_cursor: more ? (data.at(-1)?.id ?? null) : null };
}

function parseLimit(text: string | undefined): number {
  if (text === undefined) return LIMIT_DEFAULT;
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= LIMIT_MAX) return limit;
  throw invalidField('limit', `must be a whole number from 1 to ${LIMIT_MAX}`);
}

// Lists over HTTP: what the query string may say, and that pages cover a list exactly once.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readListQuery, renderPage } from '../../src/http/list-query.ts';

describe('readListQuery', () => {
  it.each([
    [{}, { limit: 100, cursor: null, filters: {} }],
    [{ limit: '1' }, { limit: 1, cursor: null, filters: {} }],
    [
      { limit: '1000', cursor: 'c' },
      { limit: 1000, cursor: 'c', filters: {} },
    ],
    [
      { model: 'openai/x', status: '' },
      { limit: 100, cursor: null, filters: { model: 'openai/x', status: '' } },
    ],
  ])('reads %j', (query, expected) => {
    expect(readListQuery(query, ['model', 'status'])).toEqual(expected);
  });

  it.each([
    [{ limit: '0' }, 'limit'],
    [{ limit: '1001' }, 'limit'],
    [{ limit: '-1' }, 'limit'],
    [{ limit: '1.5' }, 'limit'],
    [{ limit: '1e2' }, 'limit'],
    [{ limit: '' }, 'limit'],
    [{ limit: ' 5' }, 'limit'],
    [{ limit: '99999999999999999999' }, 'limit'],
    [{ limit: ['1', '2'] }, 'limit'],
    [{ cursor: 'x'.repeat(501) }, 'cursor'],
    [{ modle: 'x' }, 'modle'],
    [{ model: ['a', 'b'] }, 'model'],
    [{ constructor: 'x' }, 'constructor'],
    [{ ['y'.repeat(1000)]: 'x' }, 'y'.repeat(60)],
  ])('refuses %j', (query, param) => {
    expect(() => readListQuery(query, ['model'])).toThrow(expect.objectContaining({ code: 'INVALID_REQUEST', param }));
  });
});

describe('renderPage', () => {
  const items = (count: number) => Array.from({ length: count }, (_, i) => ({ id: `id${i}` }));

  it('gives the envelope', () => {
    expect(renderPage(items(3), { limit: 2, cursor: null, filters: {} })).toEqual({
      object: 'list',
      data: [{ id: 'id0' }, { id: 'id1' }],
      has_more: true,
      next_cursor: 'id1',
    });
    expect(renderPage([], { limit: 2, cursor: null, filters: {} })).toEqual({
      object: 'list',
      data: [],
      has_more: false,
      next_cursor: null,
    });
  });

  it('covers any list exactly once, page by page', () => {
    fc.assert(
      fc.property(fc.nat(30), fc.integer({ min: 1, max: 12 }), (count, limit) => {
        const seen: { id: string }[] = [];
        let cursor: string | null = null;
        do {
          const page: ReturnType<typeof renderPage<{ id: string }>> = renderPage(items(count), {
            limit,
            cursor,
            filters: {},
          });
          seen.push(...page.data);
          expect(page.has_more).toBe(page.next_cursor !== null);
          cursor = page.next_cursor;
        } while (cursor !== null);
        expect(seen).toEqual(items(count));
      }),
    );
  });

  it('refuses a cursor it did not give', () => {
    expect(() => renderPage(items(3), { limit: 2, cursor: 'other', filters: {} })).toThrow(
      expect.objectContaining({ code: 'INVALID_REQUEST', param: 'cursor' }),
    );
  });
});

// GET /v1/models and GET /v1/models/{id} as both SDKs read them, and the front door.

import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDaemon } from '../helpers/daemon.ts';
import { DEFAULT_MODELS, startFakeUpstream } from '../helpers/fake-upstream.ts';
import { type Gateway, gatewayOf } from '../helpers/gateway.ts';
import { readJson } from '../helpers/read-json.ts';

let gateway: Gateway;
let openai: OpenAI;
let anthropic: Anthropic;

const VIRTUAL = ['svc:auto', 'svc:fast', 'svc:balanced', 'svc:best'];

beforeAll(async () => {
  const upstream = await startFakeUpstream();
  const dated = { created: 1_700_000_000, pricing: { prompt: '0.000001', completion: '0.000002' } };
  upstream.models([
    ...DEFAULT_MODELS,
    { id: 'a/b:free', ...dated },
    { id: 'a/b/c d', ...dated },
    { id: 'plain', ...dated },
  ]);
  const daemon = await startDaemon({ env: { SVC_UPSTREAM_URL: upstream.url } });
  gateway = gatewayOf(daemon, upstream);
  openai = new OpenAI({ baseURL: `${daemon.url}/v1`, apiKey: daemon.key, maxRetries: 0 });
  anthropic = new Anthropic({ baseURL: daemon.url, apiKey: daemon.key, maxRetries: 0 });
});

afterAll(async () => {
  await gateway.close();
});

const get = (path: string, key = gateway.daemon.key): Promise<Response> =>
  fetch(gateway.daemon.url + path, { headers: { authorization: `Bearer ${key}` } });

describe('one model', () => {
  it.each([
    ['a slash', 'test/good', 'test/good'],
    ['a slash, encoded', 'test%2Fgood', 'test/good'],
    ['a colon', 'svc:auto', 'svc:auto'],
    ['a colon, encoded', 'svc%3Aauto', 'svc:auto'],
    ['both', 'a/b:free', 'a/b:free'],
    ['both, encoded', 'a%2Fb%3Afree', 'a/b:free'],
    ['two slashes and a space', 'a/b/c%20d', 'a/b/c d'],
    ['neither', 'plain', 'plain'],
    ['a query', 'plain?beta=true', 'plain'],
  ])('is found by a name with %s', async (_name, path, id) => {
    const answer = await get(`/v1/models/${path}`);
    expect([answer.status, await answer.json()]).toMatchObject([200, { id, object: 'model', type: 'model' }]);
    expect(answer.headers.get('x-ratelimit-limit-requests')).toBe('600');
  });

  it.each(['test/goo', 'svc:none', 'test', 'test/good/', 'test%2Fgood%2F', 'TEST/good'])(
    '%s is not found',
    async (path) => {
      const answer = await get(`/v1/models/${path}`);
      expect([answer.status, (await readJson(answer)).error.code]).toEqual([404, 'NOT_FOUND']);
    },
  );

  it.each(['%', 'a%2', '%ff'])('a name that is no text (%s) is not found either', async (path) => {
    expect([400, 404]).toContain((await get(`/v1/models/${path}`)).status);
  });

  it('needs a key', async () => {
    expect((await get('/v1/models/test/good', '')).status).toBe(401);
  });

  it.each(['test/good', 'svc:auto', 'a/b:free'])('%s is what both SDKs expect', async (id) => {
    expect(await openai.models.retrieve(id)).toMatchObject({
      id,
      object: 'model',
      created: expect.any(Number),
      owned_by: expect.any(String),
    });
    const model = await anthropic.models.retrieve(id);
    expect(model).toMatchObject({ id, type: 'model', display_name: expect.any(String) });
    expect(model.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(Date.parse(model.created_at) / 1000).toBe((await openai.models.retrieve(id)).created);
  });

  it('is a NotFoundError to both where there is none', async () => {
    await expect(openai.models.retrieve('x/y')).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(anthropic.models.retrieve('x/y')).rejects.toBeInstanceOf(Anthropic.NotFoundError);
  });
});

describe('the list', () => {
  it.each(['', '?limit=1000', '?limit=1', '?after_id=svc:auto&limit=2', '?before_id=x', '?limit=x'])(
    'is whole with "%s"',
    async (query) => {
      const answer = (await (await get(`/v1/models${query}`)).json()) as { data: { id: string }[] };
      const ids = answer.data.map(({ id }) => id);
      expect(ids.slice(0, 4)).toEqual(VIRTUAL);
      expect(answer).toMatchObject({
        object: 'list',
        has_more: false,
        next_cursor: null,
        first_id: ids[0],
        last_id: ids.at(-1),
      });
    },
  );

  it('ends for both SDKs', async () => {
    const ids = { openai: [] as string[], anthropic: [] as string[] };
    for await (const { id } of openai.models.list()) ids.openai.push(id);
    for await (const { id, type } of anthropic.models.list({ limit: 2 })) {
      expect(type).toBe('model');
      ids.anthropic.push(id);
    }
    expect(ids.openai.slice(0, 4)).toEqual(VIRTUAL);
    expect(ids.anthropic).toEqual(ids.openai);
  });
});

describe('a page, as Anthropic’s clients ask for one', () => {
  const page = async (query: string) => {
    const headers = { 'x-api-key': gateway.daemon.key, 'anthropic-version': '2023-06-01' };
    return fetch(`${gateway.daemon.url}/v1/models${query}`, { headers });
  };
  const [auto, fast, balanced, best] = VIRTUAL;

  it.each([
    ['?limit=1', [auto], true],
    ['?limit=2&after_id=svc:auto', [fast, balanced], true],
    ['?limit=2&before_id=svc:best', [fast, balanced], true],
    ['?limit=3&before_id=svc:best', [auto, fast, balanced], false],
    ['?before_id=svc:balanced', [auto, fast], false],
    ['?before_id=svc:auto', [], false],
    ['?after_id=svc:auto&before_id=svc:best', [fast, balanced], false],
    ['?limit=1&after_id=svc:auto&before_id=svc:best', [fast], true],
  ])('%s is %j', async (query, ids, has_more) => {
    const answer = (await (await page(query)).json()) as { data: { id: string }[] };
    expect(answer.data.map(({ id }) => id)).toEqual(ids);
    expect(answer).toMatchObject({ has_more, first_id: ids[0] ?? null, last_id: ids.at(-1) ?? null });
  });

  it('is whole without a limit, and with one that is large enough', async () => {
    const [all, most] = await Promise.all(['', '?limit=1000'].map(async (query) => (await page(query)).json()));
    expect(most).toEqual(all);
    expect(all).toMatchObject({ has_more: false, first_id: auto });
    expect((all as { data: unknown[] }).data.length).toBeGreaterThan(VIRTUAL.length);
    const last = (all as { last_id: string }).last_id;
    expect(await (await page(`?after_id=${encodeURIComponent(last)}`)).json()).toMatchObject({
      data: [],
      has_more: false,
    });
    expect(best).toBe('svc:best');
  });

  it.each(['limit=0', 'limit=1001', 'limit=x', 'limit=1.5', 'limit=', 'after_id=x', 'before_id=x'])(
    'is refused with %s',
    async (query) => {
      const answer = await page(`?${query}`);
      expect(answer.status).toBe(400);
      expect(await answer.text()).toContain(query.split('=')[0]);
    },
  );

  it('comes as often as the client turns the pages', async () => {
    let pages = 0;
    const ids: string[] = [];
    for await (const each of (await anthropic.models.list({ limit: 2 })).iterPages()) {
      pages += 1;
      expect(each.data.length).toBeLessThanOrEqual(2);
      ids.push(...each.data.map(({ id }) => id));
    }
    expect(pages).toBe(Math.ceil(ids.length / 2));
    expect(ids.slice(0, 4)).toEqual(VIRTUAL);
  });
});

describe('what Anthropic’s clients are promised of a model', () => {
  it.each([
    ['svc:auto', null, null],
    ['test/good', 128_000, 16_384],
  ])('is there for %s', async (id, max_input_tokens, max_tokens) => {
    expect(await anthropic.models.retrieve(id)).toMatchObject({
      capabilities: null,
      line: null,
      lifecycle: 'active',
      deprecated_at: null,
      retires_at: null,
      max_input_tokens,
      max_tokens,
    });
  });

  it('has null where the upstream says no limit of output', async () => {
    expect((await anthropic.models.retrieve('plain')).max_tokens).toBeNull();
  });
});

describe('the front door', () => {
  it.each(['/', '/?x=1'])('GET %s names svc and lists the endpoints, without a key', async (path) => {
    const answer = await fetch(gateway.daemon.url + path);
    expect(answer.status).toBe(200);
    const body = (await answer.json()) as { name: string; endpoints: string[] };
    expect(body.name).toBe('svc');
    expect(body.endpoints).toEqual(expect.arrayContaining(['POST /v1/embeddings', 'POST /v1/messages/count_tokens']));
  });

  it('HEAD / says 200 and nothing else', async () => {
    const answer = await fetch(gateway.daemon.url, { method: 'HEAD' });
    expect([answer.status, await answer.text()]).toEqual([200, '']);
  });
});

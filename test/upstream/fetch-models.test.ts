import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fetchModels } from '../../src/upstream/fetch-models.ts';
import { DEFAULT_MODELS, type FakeReply, type FakeUpstream, startFakeUpstream } from '../helpers/fake-upstream.ts';

let fake: FakeUpstream;
beforeEach(async () => {
  fake = await startFakeUpstream();
});
afterEach(() => fake.close());

const never = new AbortController().signal;

function fetchFrom(baseUrl: string, timeoutMs = 5000): Promise<unknown> {
  return fetchModels({ baseUrl, apiKey: 'sk-secret', timeoutMs }, never);
}

describe('fetching models', () => {
  it('gives the parsed list, whatever its shape', async () => {
    expect(await fetchFrom(fake.url)).toEqual({ data: DEFAULT_MODELS });
    fake.models({ json: ['anything'] });
    expect(await fetchFrom(`${fake.url}/`)).toEqual(['anything']);
  });

  it.each<[string, FakeReply, RegExp]>([
    ['refuses the key', { status: 401, json: {} }, /refused the API key \(401\)/],
    ['forbids it', { status: 403, json: {} }, /refused the API key \(403\)/],
    ['has no such path', { status: 404, json: {} }, /no list of models under its URL/],
    ['redirects', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }, /answered 302/],
    ['breaks', { status: 500, raw: ['oops'] }, /answered 500/],
    ['answers with a page', { raw: ['<!doctype html>'] }, /not JSON/],
    ['answers with nothing', {}, /not JSON/],
    ['breaks off', { raw: ['{"data":'], ending: 'reset' }, /closed the connection/],
    ['closes before it answers', { ending: 'cut' }, /closed the connection/],
    [
      'sends more than 32 MiB',
      { raw: Array.from({ length: 33 }, () => Buffer.alloc(1024 * 1024, '[')) },
      /over 32 MiB/,
    ],
  ])('says it when the upstream %s', async (_, reply, says) => {
    fake.models(reply);
    const error = await fetchFrom(fake.url).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect(String(error)).toMatch(says);
    expect(String(error)).toContain(new URL(fake.url).host);
    expect(String(error)).not.toContain('sk-secret');
  });

  it.each<[string, FakeReply]>([
    ['never answers', { ending: 'hang' }],
    ['stops in the middle', { raw: ['{'], ending: 'hang' }],
  ])('gives up when the upstream %s', async (_, reply) => {
    fake.models(reply);
    await expect(fetchFrom(fake.url, 100)).rejects.toThrow(/did not list its models within 100 ms/);
  });

  it('says it when nothing listens or the URL is no good', async () => {
    await expect(fetchFrom('http://127.0.0.1:1')).rejects.toThrow(/refused the connection/);
    await expect(fetchFrom('http://example.com')).rejects.toThrow(/must be reached over https/);
  });

  it('ends with the signal’s own reason', async () => {
    fake.models({ ending: 'hang' });
    const controller = new AbortController();
    const fetched = fetchModels({ baseUrl: fake.url, apiKey: undefined }, controller.signal);
    const reason = new Error('stop');
    controller.abort(reason);
    await expect(fetched).rejects.toBe(reason);
  });
});

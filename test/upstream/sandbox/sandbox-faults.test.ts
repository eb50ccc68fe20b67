import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../../src/upstream/sandbox/sandbox.ts';
import { SANDBOX_FAULTS } from '../../../src/upstream/sandbox/sandbox-faults.ts';
import {
  type Answered,
  call,
  type Json,
  joinStream,
  parse,
  readEvents,
  startTestSandbox,
  user,
} from './sandbox-client.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.close());

function fail(controls: Json, more: Json = {}, onData?: (text: string) => boolean): Promise<Answered> {
  return call(sandbox.url, { model: 'test/all', messages: user('fail, please'), sandbox: controls, ...more }, onData);
}

function failStream(controls: Json, onData?: (text: string) => boolean): Promise<Answered> {
  return fail(controls, { stream: true, stream_options: { include_usage: true } }, onData);
}

function eventCount(text: string): number {
  return text.split('\n\n').filter((line) => line.startsWith('data: ')).length;
}

const tried = new Set<string>();
function fault(name: string, test: () => Promise<void>): void {
  tried.add(name);
  it(name, test);
}

describe('without a stream', () => {
  fault('status', async () => {
    const plain = await fail({ fail: 'status' });
    expect(plain.status).toBe(500);
    expect(parse(plain)).toEqual({ error: { message: 'The sandbox was told to fail.', code: 500 } });
    const limited = await fail({ fail: 'status', status: 429, retry_after: 7, message: 'slow down' });
    expect(limited).toMatchObject({ status: 429, headers: { 'retry-after': '7' } });
    expect(parse(limited).error.message).toBe('slow down');
    const odd = await fail({ fail: 'status', status: 503, retry_after: 'Wed, 21 Oct 2026 07:28:00 GMT' });
    expect(odd.headers['retry-after']).toBe('Wed, 21 Oct 2026 07:28:00 GMT');
  });

  fault('delay', async () => {
    const before = performance.now();
    const answered = await fail({ fail: 'delay', delay_ms: 60 });
    expect(performance.now() - before).toBeGreaterThanOrEqual(55);
    expect(answered.status).toBe(200);
  });

  fault('reset', async () => {
    await expect(fail({ fail: 'reset' })).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  fault('stall', async () => {
    const answered = await fail({ fail: 'stall', delay_ms: 5 });
    expect(answered.status).toBe(200);
    const silent = await startTestSandbox();
    const asked = call(silent.url, { model: 'test/all', messages: user('x'), sandbox: { fail: 'stall' } });
    await expect(
      Promise.all([asked, new Promise((resolve) => setTimeout(resolve, 30)).then(() => silent.close())]),
    ).rejects.toThrow();
  });

  fault('truncate', async () => {
    const answered = await fail({ fail: 'truncate' });
    expect(answered).toMatchObject({ status: 200, end: 'whole' });
    expect(() => parse(answered)).toThrow();
    expect(answered.text).toMatch(/^\{"id":"gen-/);
  });

  fault('broken_sse', async () => {
    const answered = await fail({ fail: 'broken_sse' });
    expect(answered.status).toBe(200);
    expect(() => parse(answered)).toThrow();
  });

  fault('error_event', async () => {
    const answered = await fail({ fail: 'error_event', message: 'host lost' });
    expect(parse(answered).choices[0]).toMatchObject({ finish_reason: 'error', error: { message: 'host lost' } });
  });

  fault('html', async () => {
    const answered = await fail({ fail: 'html', message: '<b>&' });
    expect(answered).toMatchObject({ status: 200, headers: { 'content-type': 'text/html' } });
    expect(answered.text).toContain('&lt;b>&amp;');
  });

  fault('empty', async () => {
    expect(await fail({ fail: 'empty' })).toMatchObject({
      status: 200,
      text: '',
      headers: { 'content-type': 'application/json' },
    });
  });

  fault('error_200', async () => {
    const answered = await fail({ fail: 'error_200' });
    expect(answered.status).toBe(200);
    expect(parse(answered)).toMatchObject({ error: { code: 502 } });
    expect(parse(answered)).not.toHaveProperty('choices');
  });

  fault('no_usage', async () => {
    const answered = parse(await fail({ fail: 'no_usage' }));
    expect(answered.choices[0].finish_reason).toBe('stop');
    expect(answered).not.toHaveProperty('usage');
  });
});

describe('in a stream', () => {
  it.each([1, 3])('truncate ends it after %i chunks without a finish reason', async (after_chunks) => {
    const answered = await failStream({ fail: 'truncate', after_chunks });
    const { events, done } = readEvents(answered.text);
    expect(answered.end).toBe('whole');
    expect(events).toHaveLength(after_chunks);
    expect(done).toBe(false);
    expect(joinStream(events).finish).toBeUndefined();
  });

  it('truncate after more chunks than there are comes before the finish reason', async () => {
    const { events, done } = readEvents((await failStream({ fail: 'truncate', after_chunks: 1000 })).text);
    expect(events.length).toBeGreaterThan(5);
    expect(joinStream(events).finish).toBeUndefined();
    expect(done).toBe(false);
  });

  it.each([1, 2])('reset breaks the connection after %i chunks', async (after_chunks) => {
    const answered = await failStream({ fail: 'reset', after_chunks });
    expect(answered).toMatchObject({ status: 200, end: 'broken' });
    expect(eventCount(answered.text)).toBe(after_chunks);
  });

  it('reset after 0 chunks comes before the head', async () => {
    await expect(failStream({ fail: 'reset', after_chunks: 0 })).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  it('stall falls silent after its chunks until the reader goes', async () => {
    const answered = await failStream({ fail: 'stall', after_chunks: 2 }, (text) => eventCount(text) === 2);
    expect(answered).toMatchObject({ status: 200, end: 'broken' });
  });

  it.each([0, 2])('stall with a delay, after %i chunks, goes on afterwards', async (after_chunks) => {
    const answered = await failStream({ fail: 'stall', after_chunks, delay_ms: 10 });
    expect(readEvents(answered.text).done).toBe(true);
  });

  it('broken_sse puts one event in that is no JSON, and goes on', async () => {
    const answered = await failStream({ fail: 'broken_sse', after_chunks: 2 });
    const lines = answered.text.split('\n\n').filter((line) => line.startsWith('data: {'));
    const broken = lines.map((line, at) => (isJson(line.slice(6)) ? -1 : at)).filter((at) => at !== -1);
    expect(broken).toEqual([2]);
    expect(answered.text.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  it('error_event is the last event, in OpenRouter’s shape', async () => {
    const { events, done } = readEvents((await failStream({ fail: 'error_event', message: 'host lost' })).text);
    expect(events).toHaveLength(2);
    expect(events.at(-1)).toMatchObject({ error: { message: 'host lost' }, choices: [{ finish_reason: 'error' }] });
    expect(done).toBe(false);
  });

  it('no_usage leaves the usage event out though it was asked for', async () => {
    const { events, done } = readEvents((await failStream({ fail: 'no_usage' })).text);
    expect(joinStream(events)).toMatchObject({ finish: 'stop', usage: undefined });
    expect(done).toBe(true);
  });

  it('empty is an event stream without events', async () => {
    expect(await failStream({ fail: 'empty' })).toMatchObject({
      text: '',
      headers: { 'content-type': 'text/event-stream' },
    });
  });

  it.each([
    ['status', 500, 'application/json'],
    ['error_200', 200, 'application/json'],
    ['html', 200, 'text/html'],
  ])('%s comes instead of it', async (name, status, type) => {
    expect(await failStream({ fail: name })).toMatchObject({ status, headers: { 'content-type': type } });
  });
});

describe('the field', () => {
  it.each<[Json, RegExp]>([
    ['fail', /must be an object/],
    [[], /must be an object/],
    [{ fail: 'explode' }, /must be one of status, delay/],
    [{ fial: 'status' }, /`sandbox\.fial` is not known/],
    [{ fail: 'status', status: 200 }, /`sandbox\.status` must be a whole number from 400 to 599/],
    [{ fail: 'status', status: 429.5 }, /`sandbox\.status`/],
    [{ fail: 'status', retry_after: true }, /`sandbox\.retry_after`/],
    [{ fail: 'status', retry_after: 'a\nb' }, /`sandbox\.retry_after`/],
    [{ fail: 'truncate', after_chunks: -1 }, /`sandbox\.after_chunks`/],
    [{ fail: 'delay', delay_ms: 1e9 }, /`sandbox\.delay_ms` must be a number from 0 to 600000/],
    [{ message: 1 }, /`sandbox\.message`/],
    [{ message: 'x'.repeat(1001) }, /`sandbox\.message`/],
    [{ pace: 'fast' }, /`sandbox\.pace`/],
  ])('%j is refused', async (controls, says) => {
    const answered = await fail(controls);
    expect(answered.status).toBe(400);
    expect(parse(answered).error.message).toMatch(says);
  });

  it.each([{}, null, { fail: null }, { pace: 0 }])('%j asks for nothing', async (controls) => {
    expect((await fail(controls)).status).toBe(200);
  });

  it('has no fault in its table that is not tried here, and none here that is not in the table', () => {
    expect([...tried].sort()).toEqual(SANDBOX_FAULTS.map(({ name }) => name).sort());
    for (const { does } of SANDBOX_FAULTS) expect(does.length).toBeGreaterThan(10);
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

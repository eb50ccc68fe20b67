// Usage that cannot be believed, comes too early or not at all: what was delivered is charged, and the client is told the same.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chatAnswer, chatEvents, type FakeReply } from '../helpers/fake-upstream.ts';
import { type Gateway, nanoOf, startGateway, type UsageRow } from '../helpers/gateway.ts';

let gateway: Gateway;

beforeAll(async () => {
  gateway = await startGateway({
    env: { SVC_UPSTREAM_FIRST_EVENT_TIMEOUT_MS: '700', SVC_UPSTREAM_IDLE_TIMEOUT_MS: '700' },
  });
});

afterAll(async () => {
  await gateway.close();
});

beforeEach(async () => {
  expect((await gateway.balance()).held).toBe('0');
});

const CHAT = '/v1/chat/completions';
const MESSAGES = '/v1/messages';
const body = { model: 'test/good', max_tokens: 1000, messages: [{ role: 'user', content: 'Tell me something long.' }] };
const words = 'some words that were delivered '.repeat(20);

async function entryOf(answer: Response) {
  const id = answer.headers.get('x-request-id');
  const entry = (await gateway.usage()).find(({ request_id }) => request_id === id);
  if (!entry) throw new Error('no usage entry');
  return entry;
}

describe('a whole answer with odd usage', () => {
  it.each([
    ['strings', { prompt_tokens: '10', completion_tokens: '50' }],
    ['null', { prompt_tokens: null, completion_tokens: null }],
    ['negative', { prompt_tokens: -5, completion_tokens: -1 }],
    ['no output count', { prompt_tokens: 10 }],
    ['no input count', { completion_tokens: 50 }],
    ['zeros', { prompt_tokens: 0, completion_tokens: 0 }],
    ['nothing', {}],
  ])('of %s is charged by what was delivered, as an estimate', async (_name, usage) => {
    for (const path of [CHAT, MESSAGES]) {
      gateway.upstream.queue({ json: chatAnswer({ text: words, usage }) });
      const answer = await gateway.post(path, body);
      expect(answer.status).toBe(200);
      await answer.text();
      const entry = await entryOf(answer);
      expect(entry).toMatchObject({ cost_kind: 'estimated', settle_reason: 'completed' });
      expect(Number(entry['input_tokens'])).toBeGreaterThan(0);
      expect(Number(entry['output_tokens'])).toBeGreaterThan(0);
    }
  });

  it.each([1e308, 1e12])('of %d tokens is never charged above the hold', async (tokens) => {
    gateway.upstream.queue({
      json: chatAnswer({ text: words, usage: { prompt_tokens: tokens, completion_tokens: tokens } }),
    });
    const answer = await gateway.post(CHAT, body);
    const entry = await entryOf(answer);
    expect(Number(entry['output_tokens'])).toBeLessThanOrEqual(1000);
    expect(nanoOf(entry.cost)).toBeLessThan(nanoOf('0.05'));
  });

  it('tells a Messages client the counts that were charged', async () => {
    gateway.upstream.queue({ json: chatAnswer({ text: words, usage: null }) });
    const answer = await gateway.post(MESSAGES, body);
    const { usage } = (await answer.json()) as { usage: { input_tokens: number; output_tokens: number } };
    const entry = await entryOf(answer);
    expect(usage).toMatchObject({ input_tokens: entry['input_tokens'], output_tokens: entry['output_tokens'] });
    expect(usage.output_tokens).toBeGreaterThan(0);
  });
});

type UsageField = readonly [name: string, usageWith: (json: string) => string];

const FIELDS: readonly UsageField[] = [
  ['prompt_tokens', (json) => `{"prompt_tokens":${json},"completion_tokens":5}`],
  ['completion_tokens', (json) => `{"prompt_tokens":10,"completion_tokens":${json}}`],
  ['cached_tokens', (json) => withDetail('prompt', `"cached_tokens":${json}`)],
  ['cache_write_tokens', (json) => withDetail('prompt', `"cache_write_tokens":${json}`)],
  ['reasoning_tokens', (json) => withDetail('completion', `"reasoning_tokens":${json}`)],
  ['cost', (json) => `{"prompt_tokens":10,"completion_tokens":5,"cost":${json}}`],
];

function withDetail(side: string, field: string): string {
  return `{"prompt_tokens":10,"completion_tokens":5,"${side}_tokens_details":{${field}}}`;
}

/** `-0` and what JSON can't say as a number apart, everything an upstream could put where a count belongs. */
const ODD = ['-1', '1.5', 'null', '1e308', '"12"', '5000', '{}', '[]', 'true', '9007199254740992'];
/** Costs in dollars that can be believed, though they are far above the charge, which is said. */
const BELIEVED_COSTS: readonly string[] = ['1.5', '5000'];

describe.each(FIELDS)('an upstream that says in %s', (field, usageWith) => {
  it.each(ODD)('%s is charged within the hold, and the entry says so', async (json) => {
    const before = nanoOf((await gateway.balance()).balance);
    const answers: Response[] = [];
    for (const stream of [false, true]) {
      for (const path of [CHAT, MESSAGES]) {
        gateway.upstream.queue(answerWithUsage(usageWith(json), stream));
        const answer = await gateway.post(path, { ...body, stream });
        expect(answer.status).toBe(200);
        expect(await answer.text()).not.toContain('"error"');
        answers.push(answer);
      }
    }
    const entries = (await gateway.usage()).slice(0, 4);
    expect(entries.map(({ request_id }) => request_id).sort()).toEqual(
      answers.map(({ headers }) => headers.get('x-request-id')).sort(),
    );
    for (const entry of entries) checkEntry(entry, field, json);
    const after = await gateway.balance();
    const charged = entries.reduce((sum, { cost }) => sum + nanoOf(cost), 0n);
    expect(before - nanoOf(after.balance)).toBe(charged);
    expect(nanoOf(after.granted) - nanoOf(after.charged)).toBe(nanoOf(after.balance));
    expect(after.held).toBe('0');
  });
});

/** The JSON as text, since `JSON.stringify` would mend some of it. */
function answerWithUsage(usage: string, stream: boolean): FakeReply {
  const put = (text: string): string => text.replace('"usage":{}', `"usage":${usage}`);
  if (stream) return { sse: chatEvents({ text: words, usage: {} }).map(put) };
  return { raw: [put(JSON.stringify(chatAnswer({ text: words, usage: {} })))], headers: JSON_TYPE };
}

const JSON_TYPE = { 'content-type': 'application/json' };

function checkEntry(entry: UsageRow, field: string, json: string): void {
  expect(entry.settle_reason).toBe('completed');
  // 1,000 tokens of output, and the body with its overhead as input, at $15 and $3 a million.
  expect(nanoOf(entry.cost)).toBeGreaterThan(0n);
  expect(nanoOf(entry.cost)).toBeLessThan(nanoOf('0.02'));
  for (const count of ['input', 'cached', 'cache_write', 'output', 'reasoning']) {
    expect(entry[`${count}_tokens`]).toSatisfy(
      (value: number) => Number.isInteger(value) && value >= 0 && value < 2_000,
    );
  }
  const anomalies = entry['anomalies'] as string[];
  const told = field === 'cost' && BELIEVED_COSTS.includes(json);
  if (field !== 'cost') expect(anomalies.length).toBeGreaterThan(0);
  else if (json === 'null') expect(anomalies).toEqual([]);
  else expect(anomalies).toEqual([told ? 'upstream_cost_over_charge' : 'upstream_cost_invalid']);
  expect(entry['upstream_cost']).toBe(told ? json : null);
}

it('usage that comes before the text does not make the text free when the stream breaks', async () => {
  const [first = '', ...rest] = chatEvents({ text: words, usage: null });
  const early = first.replace('}\n\n', ',"usage":{"prompt_tokens":10,"completion_tokens":1,"total_tokens":11}}\n\n');
  gateway.upstream.queue({ sse: [early, ...rest.slice(0, -2)], ending: 'cut' });
  const broken = await gateway.post(CHAT, { ...body, stream: true });
  expect(await broken.text()).not.toContain('[DONE]');
  const entry = await entryOf(broken);
  expect(entry).toMatchObject({ settle_reason: 'upstream_truncated', cost_kind: 'estimated' });
  expect(Number(entry['output_tokens'])).toBeGreaterThan(100);
});

it('a document by URL holds the whole context, since nobody here can count it', async () => {
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  gateway.upstream.queue({
    wait: gate,
    json: chatAnswer({ usage: { prompt_tokens: 100_000, completion_tokens: 5, total_tokens: 100_005 } }),
  });
  const messages = [
    { role: 'user', content: [{ type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } }] },
  ];
  const answering = gateway.post(MESSAGES, { ...body, messages });
  // 128,000 tokens of context at $3 a million.
  await expect.poll(async () => nanoOf((await gateway.balance()).held)).toBeGreaterThanOrEqual(nanoOf('0.384'));
  open();
  const answer = await answering;
  await answer.text();
  expect((await entryOf(answer))['input_tokens']).toBe(100_000);
});

describe('an upstream that keeps a request alive without answering', () => {
  it.each([
    ['before the first event', []],
    ['after some', chatEvents({ text: 'One two three four.' }).slice(0, 2)],
  ])('by comments %s runs into the limit', async (_name, start) => {
    const drip = Array.from({ length: 200 }, () => [': processing\n\n', 50]).flat();
    gateway.upstream.queue({ sse: [...start, ...drip] });
    const answer = await gateway.post(CHAT, { ...body, stream: true });
    const text = await answer.text();
    expect(text).toContain('UPSTREAM_TIMEOUT');
    expect(answer.status).toBe(start.length === 0 ? 502 : 200);
  });
});

it('the books balance after all this', async () => {
  const { granted, charged, balance } = await gateway.balance();
  const sum = (await gateway.usage()).reduce((total, { cost }) => total + nanoOf(cost), 0n);
  expect(nanoOf(charged)).toBe(sum);
  expect(nanoOf(granted) - sum).toBe(nanoOf(balance));
});

describe('an answer that cannot be used', () => {
  const USED = { prompt_tokens: 10, completion_tokens: 50, cost: 0.5 };
  it.each<[string, object]>([
    ['without choices', { choices: [] }],
    ['with an error beside them', { error: { code: 502, message: 'broke' } }],
    ['with a broken choice', { choices: [{ index: 0, error: { code: 502, message: 'broke' } }] }],
  ])('%s costs what the upstream says it used, and that is written down', async (_name, fields) => {
    for (const path of [CHAT, MESSAGES]) {
      gateway.upstream.queue({ json: { ...chatAnswer({ text: words, usage: USED }), ...fields } });
      const answer = await gateway.post(path, body);
      expect(answer.status).toBe(502);
      const entry = await entryOf(answer);
      expect(entry).toMatchObject({
        input_tokens: 10,
        output_tokens: 50,
        cost_kind: 'estimated',
        upstream_cost: '0.5',
      });
      expect(nanoOf(entry.cost)).toBeGreaterThan(0n);
    }
  });

  it.each<[string, object]>([
    ['no usage', {}],
    ['usage of nothing', { usage: { prompt_tokens: 0, completion_tokens: 0 } }],
    ['no output', { usage: { prompt_tokens: 10, completion_tokens: 0 } }],
  ])('costs nothing where it names %s', async (_name, fields) => {
    for (const path of [CHAT, MESSAGES]) {
      gateway.upstream.queue({ json: { error: { message: 'boom' }, ...fields } });
      const entry = await entryOf(await gateway.post(path, body));
      expect(entry).toMatchObject({ cost: '0', cost_kind: 'free' });
    }
  });
});

it('an empty count at the end of a stream does not take back a real one', async () => {
  const [zero, real] = [
    { prompt_tokens: 0, completion_tokens: 0 },
    { prompt_tokens: 10, completion_tokens: 50 },
  ];
  for (const path of [CHAT, MESSAGES]) {
    const events = chatEvents({ text: words, usage: real });
    const last = `data: ${JSON.stringify({ id: 'x', choices: [], usage: zero })}\n\n`;
    gateway.upstream.queue({ sse: [...events.slice(0, -1), last, events.at(-1) ?? ''] });
    const answer = await gateway.post(path, { ...body, stream: true });
    await answer.text();
    expect(await entryOf(answer)).toMatchObject({ input_tokens: 10, output_tokens: 50, cost_kind: 'measured' });
  }
});

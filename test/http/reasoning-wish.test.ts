// Reasoning asked of a virtual model: a need where a listed model has it, else a wish that does not travel.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DEFAULT_MODELS, type FakeUpstream, startFakeUpstream } from '../helpers/fake-upstream.ts';
import { type InProcessGateway, startInProcess } from '../helpers/in-process.ts';
import { readJson } from '../helpers/read-json.ts';

let upstream: FakeUpstream;
let gateway: InProcessGateway;

const THINKER = {
  ...DEFAULT_MODELS[0],
  id: 'test/thinker',
  pricing: { prompt: '0.0001', completion: '0.0004' },
  supported_parameters: ['reasoning', 'tools', 'max_tokens'],
};

beforeAll(async () => {
  upstream = await startFakeUpstream();
  gateway = await startInProcess(upstream, Date.UTC(2026, 10, 1));
});

afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

beforeEach(() => {
  gateway.list(DEFAULT_MODELS);
});

const CHAT = '/v1/chat/completions';
const MESSAGES = '/v1/messages';
const RESPONSES = '/v1/responses';
const MESSAGES_IN = '"messages":[{"role":"user","content":"Hi"}]';

async function ask(path: string, fields: string, model = 'svc:fast') {
  const input = path === RESPONSES ? '"input":"Hi"' : `"max_tokens":2000,${MESSAGES_IN}`;
  const before = upstream.requests.length;
  const answer = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { 'x-api-key': gateway.key, authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: `{"model":"${model}",${input},${fields}}`,
  });
  return { answer, arrived: upstream.requests[before]?.body.toString() ?? '' };
}

const ASKING = [
  ['thinking adaptive', MESSAGES, '"thinking":{"type":"adaptive"},"output_config":{"effort":"high"}'],
  ['thinking enabled', MESSAGES, '"thinking":{"type":"enabled","budget_tokens":1024}'],
  ['an effort', MESSAGES, '"output_config":{"effort":"medium"}'],
  ['reasoning_effort', CHAT, '"reasoning_effort":"high"'],
  ['a reasoning field', CHAT, '"reasoning":{"max_tokens":1024}'],
  ['reasoning', RESPONSES, '"reasoning":{"effort":"low"}'],
] as const;

describe('reasoning asked of a virtual model', () => {
  it.each(ASKING)('is let go where no model has it: %s at %s', async (_name, path, fields) => {
    const { answer, arrived } = await ask(path, fields);
    expect([answer.status, answer.headers.get('x-svc-model')]).toEqual([200, 'test/cheap']);
    expect(arrived).toContain('"model":"test/cheap"');
    expect(arrived).not.toMatch(/reasoning|thinking|effort/);
  });

  it.each(ASKING)('picks the model that has it, however dear: %s at %s', async (_name, path, fields) => {
    gateway.list([...DEFAULT_MODELS, THINKER]);
    const { answer, arrived } = await ask(path, fields);
    expect([answer.status, answer.headers.get('x-svc-model')]).toEqual([200, 'test/thinker']);
    expect(arrived).toContain('"reasoning');
  });

  it('leaves every other byte of a Chat body', async () => {
    const { arrived } = await ask(CHAT, '"reasoning_effort":"high","seed": 12345678901234567890, "x":{"effort":1.0}');
    expect(arrived).toBe(
      `{"model":"test/cheap","max_tokens":2000,${MESSAGES_IN},"seed": 12345678901234567890, "x":{"effort":1.0}}`,
    );
  });

  it('keeps numbers and the format of a Messages body', async () => {
    const schema = '{"type":"object","properties":{"a":{"type":"number","maximum":12345678901234567890}}}';
    const config = `{"effort":"high","format":{"type":"json_schema","schema":${schema}}}`;
    const { answer, arrived } = await ask(MESSAGES, `"output_config":${config}`);
    expect(answer.status).toBe(200);
    expect(arrived).toContain(schema);
    expect(arrived).not.toContain('effort');
  });

  it('that is switched off is said as it was', async () => {
    expect((await ask(CHAT, '"reasoning":{"enabled":false}')).arrived).toContain('"reasoning":{"enabled":false}');
  });

  it('of a model asked for by name goes to it', async () => {
    const { answer, arrived } = await ask(CHAT, '"reasoning_effort":"low"', 'test/cheap');
    expect([answer.status, arrived.includes('"reasoning_effort":"low"')]).toEqual([200, true]);
  });

  it('does not hide what else stands in the way', async () => {
    const { answer } = await ask(CHAT, '"reasoning_effort":"low","svc":{"models":{"allow":["none/*"]}}');
    const { error } = await readJson(answer);
    expect([answer.status, error.code]).toEqual([403, 'MODEL_NOT_ALLOWED']);
    expect(error.message).toContain('allow list');
    expect(error.message).not.toContain('reasoning');
  });
});

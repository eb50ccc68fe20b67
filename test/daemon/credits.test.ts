// Credits under pressure: races never overdraw, the answer is bounded by what can be paid, and 402 says what is missing.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { startDaemon } from '../helpers/daemon.ts';
import { startFakeUpstream } from '../helpers/fake-upstream.ts';
import { type Gateway, gatewayOf, nanoOf } from '../helpers/gateway.ts';
import { readJson } from '../helpers/read-json.ts';

let gateway: Gateway;

// The hold of one request below: ((body bytes + 1,024) × $1 + max_tokens × $4) per million tokens.
const models = [
  {
    id: 'test/dear',
    name: 'Dear',
    created: 1,
    context_length: 128_000,
    pricing: { prompt: '0.000001', completion: '0.000004' },
    architecture: { input_modalities: ['text'] },
    supported_parameters: ['max_tokens', 'tools'],
    top_provider: { max_completion_tokens: 16_000 },
  },
  { id: 'test/unpriced', name: 'Nobody knows', created: 1, context_length: 8000 },
];

beforeAll(async () => {
  const upstream = await startFakeUpstream();
  upstream.models(models);
  const daemon = await startDaemon({ env: { SVC_UPSTREAM_URL: upstream.url, SVC_STARTING_CREDITS: '0.05' } });
  gateway = gatewayOf(daemon, upstream);
});

afterAll(async () => {
  await gateway.close();
});

const CHAT = '/v1/chat/completions';
const body = (max_tokens?: number) => ({
  model: 'test/dear',
  messages: [{ role: 'user', content: 'Hi' }],
  ...(max_tokens === undefined ? {} : { max_tokens }),
});

it('refuses what the balance cannot cover, naming balance and need, with nothing sent', async () => {
  const answer = await gateway.post(CHAT, body(16_000));
  const { error } = await readJson(answer);
  expect([answer.status, error.code, error.retryable]).toEqual([402, 'INSUFFICIENT_CREDITS', false]);
  expect(error.message).toMatch(/\$0\.05 available.*\$0\.0\d+/);
  expect(answer.headers.get('x-svc-model')).toBe('test/dear');
  expect(gateway.upstream.requests).toHaveLength(0);
  expect(await gateway.usage('&status=402')).toMatchObject([
    { cost: '0', cost_kind: 'free', settle_reason: 'refused' },
  ]);
});

it('bounds max_tokens by what can be paid when the client gave none', async () => {
  const answer = await gateway.post(CHAT, body());
  const most = Number(answer.headers.get('x-svc-max-tokens'));
  expect(answer.status).toBe(200);
  expect(most).toBeGreaterThan(1024);
  expect(most).toBeLessThan(12_500);
  expect(gateway.upstream.requests.at(-1)?.json).toMatchObject({ max_tokens: most });
});

it('refuses a model whose price nobody knows', async () => {
  const answer = await gateway.post(CHAT, { ...body(5), model: 'test/unpriced' });
  expect([answer.status, (await readJson(answer)).error.code]).toEqual([403, 'MODEL_NOT_ALLOWED']);
});

it('admits exactly as many parallel requests as the balance covers', async () => {
  const sent = gateway.upstream.requests.length;
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  gateway.upstream.respond(async () => {
    await gate;
    return {
      json: {
        id: 'x',
        object: 'chat.completion',
        created: 1,
        model: 'test/dear',
        choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
      },
    };
  });
  const available = nanoOf((await gateway.balance()).available);
  const bytes = BigInt(JSON.stringify(body(1000)).length);
  const hold = (bytes + 1024n) * 1000n + 1000n * 4000n;
  const covered = Number(available / hold);
  let refused = 0;
  const answers = Array.from({ length: 40 }, async () => {
    const answer = await gateway.post(CHAT, body(1000));
    if (answer.status === 402) refused += 1;
    return answer;
  });
  await expect.poll(() => gateway.upstream.requests.length - sent).toBe(covered);
  // All the others are refused before any of the admitted gives credits back.
  await expect.poll(() => refused).toBe(40 - covered);
  expect(nanoOf((await gateway.balance()).held)).toBe(hold * BigInt(covered));
  open();
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(covered);
  expect(statuses.filter((status) => status === 402)).toHaveLength(40 - covered);
  expect(await gateway.balance()).toMatchObject({ held: '0' });
});

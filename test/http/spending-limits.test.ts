// What a balance or a budget can pay for, over real HTTP: the affordable max_tokens, and exactly as many requests as are covered.

import { afterEach, describe, expect, it } from 'vitest';
import { type Gateway, nanoOf, startGateway } from '../helpers/gateway.ts';

let gateway: Gateway;

afterEach(async () => {
  await gateway.close();
});

const CHAT = '/v1/chat/completions';
const body = { model: 'test/good', messages: [{ role: 'user', content: 'Hello.' }] };
/** `test/good`: $3 and $15 a million. The bound on the input is the body and what an upstream may add to it. */
const inputNano = (sent: object): number => (JSON.stringify(sent).length + 1_024) * 3_000;
const OUTPUT_NANO = 15_000;

const usd = (nano: number): string => `${Math.floor(nano / 1e9)}.${String(nano % 1e9).padStart(9, '0')}`;

async function setBudget(budgetNano: number): Promise<void> {
  const { token, workspaceId } = await gateway.operator();
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const list = await fetch(`${gateway.daemon.url}/workspaces/${workspaceId}/api-keys`, { headers });
  const { data } = (await list.json()) as { data: { id: string }[] };
  const patched = await fetch(`${gateway.daemon.url}/workspaces/${workspaceId}/api-keys/${data[0]?.id}`, {
    method: 'PATCH',
    headers,
    body: JSON.stringify({ budget: usd(budgetNano) }),
  });
  expect(patched.status).toBe(200);
}

describe('a balance that does not cover the model’s cap', () => {
  it.each([false, true])(
    'covers fewer tokens, and upstream and client hear the same number (stream: %s)',
    async (stream) => {
      const sent = { ...body, stream };
      const startNano = inputNano(sent) + 2_345 * OUTPUT_NANO + 77;
      gateway = await startGateway({ env: { SVC_STARTING_CREDITS: usd(startNano) } });
      const answer = await gateway.post(CHAT, sent);
      expect(answer.status).toBe(200);
      await answer.text();
      expect(answer.headers.get('x-svc-max-tokens')).toBe('2345');
      expect(gateway.upstream.requests[0]?.json).toMatchObject({ max_tokens: 2345 });
    },
  );

  it('is refused below 1,024 tokens, with nothing sent upstream', async () => {
    const startNano = inputNano(body) + 1_024 * OUTPUT_NANO - 1;
    gateway = await startGateway({ env: { SVC_STARTING_CREDITS: usd(startNano) } });
    const refused = await gateway.post(CHAT, body);
    expect(refused.status).toBe(402);
    expect(await refused.text()).toContain(usd(startNano));
    expect(gateway.upstream.requests).toEqual([]);
    expect((await gateway.balance()).available).toBe((await gateway.balance()).granted);
  });

  it('never changes what the client asked for itself', async () => {
    gateway = await startGateway({ env: { SVC_STARTING_CREDITS: '0.05' } });
    const asked = { ...body, max_tokens: 100 };
    const answer = await gateway.post(CHAT, asked);
    expect(answer.headers.get('x-svc-max-tokens')).toBeNull();
    expect(gateway.upstream.requests[0]?.json).toMatchObject({ max_tokens: 100 });
    expect((await gateway.post(CHAT, { ...body, max_tokens: 16_000 })).status).toBe(402);
  });

  it('shares what there is among the choices asked for', async () => {
    const sent = { ...body, n: 2 };
    const startNano = inputNano(sent) + 2 * 1_500 * OUTPUT_NANO;
    gateway = await startGateway({ env: { SVC_STARTING_CREDITS: usd(startNano) } });
    const answer = await gateway.post(CHAT, sent);
    expect(answer.headers.get('x-svc-max-tokens')).toBe('1500');
    expect(gateway.upstream.requests[0]?.json).toMatchObject({ max_tokens: 1500 });
  });
});

const PARALLEL = 50;
const costly = { ...body, max_tokens: 1_000 };
const HOLD_NANO = inputNano(costly) + 1_000 * OUTPUT_NANO;

describe('fifty requests at once', () => {
  it.each([
    ['the budget of the key is the lesser', 7, 30, 7, 'The budget'],
    ['the balance is the lesser', 30, 11, 11, 'The workspace'],
    ['both cover the same', 9, 9, 9, 'The'],
  ])('are let in as far as is covered where %s', async (_name, byBudget, byBalance, admitted, words) => {
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    gateway = await startGateway({ env: { SVC_STARTING_CREDITS: usd(byBalance * HOLD_NANO + 1) } });
    await setBudget(byBudget * HOLD_NANO + 1);
    gateway.upstream.respond(() => ({ wait: gate, json: ANSWER }));
    let refused = 0;
    const asking = Array.from({ length: PARALLEL }, async () => {
      const answer = await gateway.post(CHAT, costly);
      const text = await answer.text();
      if (answer.status === 402) refused += 1;
      return { status: answer.status, text };
    });
    await expect.poll(() => refused).toBe(PARALLEL - admitted);
    await gateway.upstream.arrived(admitted);
    const { held, available } = await gateway.balance();
    expect(nanoOf(held)).toBe(BigInt(admitted * HOLD_NANO));
    expect(available.startsWith('-')).toBe(false);
    open();
    const answers = await Promise.all(asking);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(admitted);
    for (const { status, text } of answers) if (status === 402) expect(text).toContain(words);
    expect(gateway.upstream.requests).toHaveLength(admitted);
    const after = await gateway.balance();
    expect(nanoOf(after.charged)).toBe(BigInt(admitted * (10 * 3_000 + 5 * OUTPUT_NANO)));
    expect(after.held).toBe('0');
  });
});

const ANSWER = {
  id: 'gen',
  object: 'chat.completion',
  created: 1,
  model: 'test/good',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
};

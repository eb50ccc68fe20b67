// Prompt optimisation as a workspace switches it on: what reaches the upstream, what headers and usage entries say.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Gateway, startGateway } from '../helpers/gateway.ts';

let gateway: Gateway;

beforeAll(async () => {
  gateway = await startGateway();
});

afterAll(async () => {
  await gateway.close();
});

async function setOptimize(optimize: string): Promise<number> {
  const { token, workspaceId } = await gateway.operator();
  const answer = await fetch(`${gateway.daemon.url}/workspaces/${workspaceId}/preferences`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ optimize }),
  });
  return answer.status;
}

const RESULT = JSON.stringify(
  Array.from({ length: 30 }, (_each, id) => ({ id, price: 1.5, words: ['a b', 'c'] })),
  null,
  4,
);
const CALL = { id: 'call_1', type: 'function', function: { name: 'rows', arguments: '{ "n" : 30 }' } };
/** As some client might write it: spaced, with a field nobody knows and a number in its own spelling. */
const CHAT = `{ "model": "test/cheap",  "x_new": 1.50, "messages": [
  {"role": "system", "content": "Be brief. \\nAnswer in prose."},
  {"role": "user", "content": "Which rows?"},
  {"role": "assistant", "content": "Let me see. \\nNow.", "tool_calls": [${JSON.stringify(CALL)}]},
  {"role": "tool", "tool_call_id": "call_1", "content": ${JSON.stringify(RESULT)}}
] }`;
const CHAT_LESS = CHAT.replace(JSON.stringify(RESULT), JSON.stringify(JSON.stringify(JSON.parse(RESULT))));
const MESSAGES = {
  model: 'test/cheap',
  max_tokens: 50,
  system: [
    { type: 'text', text: 'Be brief.' },
    { type: 'text', text: 'Be brief.' },
    { type: 'text', text: 'Be kind.', cache_control: { type: 'ephemeral' } },
  ],
  messages: [
    { role: 'user', content: 'Which rows?' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'rows', input: { n: 30 } }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: RESULT }] },
  ],
};

async function send(path: string, body: unknown) {
  const seen = gateway.upstream.requests.length;
  const answer = await gateway.post(path, body);
  await answer.text();
  const [entry] = await gateway.usage();
  return {
    status: answer.status,
    saved: Number(answer.headers.get('x-svc-tokens-saved')),
    entry: entry?.['tokens_saved'],
    body: gateway.upstream.requests[seen]?.body.toString() ?? '',
  };
}

describe('off, as it is unless asked for', () => {
  it('sends the very bytes that came', async () => {
    expect(await send('/v1/chat/completions', CHAT)).toEqual({ status: 200, saved: 0, entry: 0, body: CHAT });
  });

  it('leaves what is translated as it is', async () => {
    const { body, saved } = await send('/v1/messages', MESSAGES);
    expect([body.split('Be brief.').length, saved]).toEqual([3, 0]);
    expect(body).toContain(JSON.stringify(RESULT));
  });
});

describe('lossless', () => {
  beforeAll(async () => {
    expect(await setOptimize('lossless')).toBe(200);
  });

  it('takes white space out of a tool’s JSON and leaves every other byte', async () => {
    const { status, saved, entry, body } = await send('/v1/chat/completions', CHAT);
    expect([status, body]).toEqual([200, CHAT_LESS]);
    expect(saved).toBeGreaterThan(100);
    expect(entry).toBe(saved);
  });

  it('gives the same bytes each time, so that prefixes stay cached', async () => {
    const [first, second] = [await send('/v1/chat/completions', CHAT), await send('/v1/chat/completions', CHAT_LESS)];
    expect(second.body).toBe(first.body);
    expect(second.saved).toBe(0);
  });

  it('works on what is translated, and keeps the cache marks', async () => {
    const { body, saved, entry } = await send('/v1/messages', MESSAGES);
    expect(body.split('Be brief.').length).toBe(2);
    expect(body).toContain(JSON.stringify(JSON.stringify(JSON.parse(RESULT))));
    expect(body).toContain('"cache_control":{"type":"ephemeral"}');
    expect(saved).toBeGreaterThan(100);
    expect(entry).toBe(saved);
  });

  it('says it in streams and with errors after routing too', async () => {
    const stream = await send('/v1/chat/completions', CHAT.replace('{ "model"', '{ "stream": true, "model"'));
    expect(stream.saved).toBeGreaterThan(100);
    gateway.upstream.queue({ status: 500, json: { error: { message: 'fell over' } } });
    const failed = await send('/v1/chat/completions', CHAT);
    expect([failed.status, failed.saved, failed.entry]).toEqual([502, stream.saved, stream.saved]);
  });

  it('leaves embeddings alone: their text is what is measured', async () => {
    const text = '{"model":"test/cheap","input":"a \\nb"}';
    gateway.upstream.queue({ json: { data: [{ embedding: [1] }], usage: { prompt_tokens: 1 } } });
    expect(await send('/v1/embeddings', text)).toMatchObject({ status: 200, saved: 0, entry: 0, body: text });
  });

  it('refuses what can’t be parsed as ever', async () => {
    expect((await send('/v1/chat/completions', '{"model": ')).status).toBe(400);
  });

  it('keeps tabs and blanks at line ends', async () => {
    const text = 'id\\tnote\\t\\n1 \\t\\t\\n-- \\nAda   \\n';
    const body = `{"model":"test/cheap","messages":[{"role":"user","content":"${text}"}]}`;
    expect(await send('/v1/chat/completions', body)).toMatchObject({ status: 200, saved: 0, body });
  });

  it('sends long bodies as they came', async () => {
    const long = CHAT.replace('Which rows?', `Which rows? ${'x'.repeat(4 * 1024 * 1024)}`);
    const { status, saved, body } = await send('/v1/chat/completions', long);
    expect([status, saved, body === long]).toEqual([200, 0, true]);
  });

  it('refuses a body of too many entries before any of the work', async () => {
    const items = `{"role":"user","content":"a"}${',{"role":"tool","content":"[ 1 ]"}'.repeat(900_000)}`;
    const body = `{"model":"test/cheap","messages":[${items}]}`;
    const started = performance.now();
    const answer = await gateway.post('/v1/chat/completions', body);
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain('10');
    // It took over six seconds when the work came first; a fraction of one now.
    expect(performance.now() - started).toBeLessThan(4000);
  });
});

// A Messages caller and a Chat upstream over real HTTP: what arrives there, byte for byte, and what comes back.

import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  chatAnswer,
  chatEvents,
  DEFAULT_MODELS,
  type FakeUpstream,
  startFakeUpstream,
} from '../helpers/fake-upstream.ts';
import { type InProcessGateway, startInProcess } from '../helpers/in-process.ts';

let upstream: FakeUpstream;
let gateway: InProcessGateway;

beforeAll(async () => {
  upstream = await startFakeUpstream();
  gateway = await startInProcess(upstream, Date.UTC(2026, 10, 1));
  gateway.list(DEFAULT_MODELS);
});

afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

/** Of one request: its answer, and the body the upstream got for it. */
async function messages(body: string, path = '/v1/messages?beta=true') {
  const answer = await fetch(gateway.url + path, {
    method: 'POST',
    headers: {
      'x-api-key': gateway.key,
      'content-type': 'application/json',
      'anthropic-version': '2026-10-21',
      'anthropic-beta': 'never-heard-of-2027-01-01',
    },
    body,
  });
  const text = await answer.text();
  return { answer, text, arrived: upstream.requests.at(-1)?.body.toString() ?? '' };
}

const BIG = '{"id":12345678901234567890,"x":1.0,"list":[1e3,{"10":1,"2":2}]}';

describe('a Messages request of Claude Code’s kind', () => {
  it('arrives as this Chat request', async () => {
    const { answer, arrived } = await messages(
      `{"model":"test/cheap","max_tokens":64,"system":[{"type":"text","text":"x-anthropic-billing-header: cc_version=2.1;"},
        {"type":"text","text":"You help.","cache_control":{"type":"ephemeral","ttl":"1h"}}],
        "messages":[{"role":"user","content":[{"type":"text","text":"Look","cache_control":{"type":"ephemeral"}}]},
        {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":""},
          {"type":"tool_use","id":"t1","name":"look.up","input":${BIG}}]},
        {"role":"system","content":"Be quick."},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"gone"},
          {"type":"text","text":"Again?"}]}],
        "tools":[{"name":"look.up","input_schema":${BIG},"eager_input_streaming":true}],
        "tool_choice":{"type":"any","disable_parallel_tool_use":true},"stop_sequences":["END"],"temperature":0,
        "thinking":{"type":"adaptive","display":"omitted"},"output_config":{"effort":"medium"},
        "metadata":{"user_id":"someone"},"context_management":{"edits":[]},"service_tier":"standard_only","svc":{}}`,
    );
    expect(answer.status).toBe(200);
    const name = /"name":"(look_up_[0-9a-f]{8})"/.exec(arrived)?.[1];
    const args = JSON.stringify(BIG);
    expect(arrived).toBe(
      [
        '{"model":"test/cheap","messages":[',
        '{"role":"system","content":[{"type":"text","text":"You help.","cache_control":{"type":"ephemeral","ttl":"1h"}}]},',
        '{"role":"user","content":[{"type":"text","text":"Look","cache_control":{"type":"ephemeral"}}]},',
        '{"role":"assistant","content":null,"reasoning":"hm",',
        `"tool_calls":[{"id":"t1","type":"function","function":{"name":"${name}","arguments":${args}}}]},`,
        '{"role":"tool","tool_call_id":"t1","content":"[tool error] gone"},',
        '{"role":"system","content":"Be quick."},',
        '{"role":"user","content":"Again?"}],',
        '"max_tokens":64,"temperature":0,"stop":["END"],',
        `"tools":[{"type":"function","function":{"name":"${name}","parameters":${BIG}}}],`,
        '"tool_choice":"required","parallel_tool_calls":false,',
        '"reasoning":{"enabled":true,"effort":"medium"},"user":"someone","service_tier":"default"}',
      ].join(''),
    );
  });

  it('passes no header of the vendor to a Chat upstream', async () => {
    await messages('{"model":"test/cheap","max_tokens":9,"messages":[{"role":"user","content":"Hi"}]}');
    const { headers } = upstream.requests.at(-1) ?? { headers: {} };
    expect(Object.keys(headers).filter((name) => /anthropic|x-api-key|x-svc/.test(name))).toEqual([]);
  });

  it('is refused by name with a web search of the vendor, before anything is sent', async () => {
    const before = upstream.requests.length;
    const { answer, text } = await messages(
      '{"model":"test/cheap","max_tokens":9,"messages":[{"role":"user","content":"Hi"}],"tools":[{"type":"web_search_20250305","name":"web_search","max_uses":8}]}',
    );
    expect([answer.status, JSON.parse(text).error.code]).toEqual([400, 'UNSUPPORTED_FEATURE']);
    expect(text).toContain('web_search_20250305');
    expect(upstream.requests.length).toBe(before);
  });
});

const ASK =
  '{"model":"test/cheap","max_tokens":64,"messages":[{"role":"user","content":"Hi"}],"tools":[{"name":"a b","input_schema":{"type":"object"}}]';

describe('a Chat answer for a Messages caller', () => {
  it('has the caller’s tool names, the input digit by digit, and usage with its cost', async () => {
    upstream.queue(({ json }) => {
      const { tools } = json as { tools: { function: { name: string } }[] };
      return { json: chatAnswer({ toolCalls: [{ id: 'c1', name: tools[0]?.function.name ?? '', arguments: BIG }] }) };
    });
    const { answer, text } = await messages(`${ASK}}`);
    expect(answer.status).toBe(200);
    expect(text).toContain(`{"type":"tool_use","id":"c1","name":"a b","input":${BIG},"caller":{"type":"direct"}}`);
    const { id, usage, stop_reason, model } = JSON.parse(text);
    expect(id).toMatch(/^msg_/);
    expect([stop_reason, model]).toEqual(['tool_use', 'test/cheap']);
    expect(usage).toMatchObject({ input_tokens: 10, output_tokens: 5, cost: 0.000003 });
  });

  it('streams the caller’s tool names and the arguments untouched', async () => {
    upstream.queue(({ json }) => {
      const { tools } = json as { tools: { function: { name: string } }[] };
      return { sse: chatEvents({ toolCalls: [{ id: 'c1', name: tools[0]?.function.name ?? '', arguments: BIG }] }) };
    });
    const { text } = await messages(`${ASK},"stream":true}`);
    const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? ''));
    const start = events.find(({ type }) => type === 'content_block_start');
    expect(start.content_block).toEqual({ type: 'tool_use', id: 'c1', name: 'a b', input: {} });
    const deltas = events.filter(({ type }) => type === 'content_block_delta').map(({ delta }) => delta.partial_json);
    expect(deltas.join('')).toBe(BIG);
    expect(events.at(-1)).toEqual({ type: 'message_stop' });
  });

  it('gives sealed reasoning to the client and back to its maker', async () => {
    const details = [
      { type: 'reasoning.summary', summary: 'hm', format: 'some-vendor-v1', index: 0 },
      { type: 'reasoning.encrypted', data: 'c2VjcmV0', id: 'rs_1', format: 'some-vendor-v1', index: 1 },
    ];
    const whole = chatAnswer({ text: 'Hello.' }) as { choices: { message: object }[] };
    const [choice] = whole.choices;
    upstream.queue({
      json: { ...whole, choices: [{ ...choice, message: { ...choice?.message, reasoning_details: details } }] },
    });
    const first = JSON.parse((await messages(`${ASK}}`)).text);
    expect(first.content[0]).toMatchObject({
      type: 'thinking',
      thinking: 'hm',
      signature: expect.stringMatching(/^gw1:/),
    });
    const history = JSON.stringify([
      { role: 'assistant', content: first.content },
      { role: 'user', content: 'More' },
    ]);
    const { arrived } = await messages(`{"model":"test/cheap","max_tokens":9,"messages":${history}}`);
    expect(JSON.parse(arrived).messages[0]).toEqual({
      role: 'assistant',
      content: 'Hello.',
      reasoning: 'hm',
      reasoning_details: details,
    });
  });
});

describe('a Chat caller of a Chat upstream', () => {
  it.each(['max_tokens', 'max_completion_tokens'])('sends its own %s, and nothing beside it', async (field) => {
    const body = `{ "model" : "test/cheap", "${field}":64 ,"messages":[{"role":"user","content":"Hi"}],"x":1.0}`;
    const answer = await post(body);
    expect(answer).toBe(200);
    expect(upstream.requests.at(-1)?.body.toString()).toBe(body);
  });
});

/** Without fetch, so that not even the spacing of the body can be touched. */
function post(body: string): Promise<number | undefined> {
  const headers = { authorization: `bearer ${gateway.key}`, 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const sent = request(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode));
    });
    sent.on('error', reject).end(body);
  });
}

// Responses callers where the upstream speaks Messages alone: the whole way there and back, with the real client.

import OpenAI from 'openai';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Gateway, nanoOf, startGateway } from '../helpers/gateway.ts';
import { MESSAGE_STOP, messageDelta, messageStart, nativeSse, textBlock, toolBlock } from '../wire/native-streams.ts';
import { checkResponsesOrder } from '../wire/responses-order.ts';

const USAGE = { input_tokens: 3, cache_read_input_tokens: 10, cache_creation_input_tokens: 5, output_tokens: 4 };
/** 18 tokens read and 4 written at the prices of test/cheap. */
const COST_NANO = 18n * 100n + 4n * 400n;
const BODY = { model: 'test/cheap', input: 'Hi', max_output_tokens: 64 };

let gateway: Gateway;
let client: OpenAI;

beforeAll(async () => {
  gateway = await startGateway({ env: { SVC_UPSTREAM_FORMATS: 'messages' } });
  client = new OpenAI({ baseURL: `${gateway.daemon.url}/v1`, apiKey: gateway.daemon.key, maxRetries: 0 });
});
afterAll(() => gateway.close());

function native(...blocks: readonly Record<string, unknown>[]): { readonly sse: readonly string[] } {
  const calls = blocks.some((event) => JSON.stringify(event).includes('"tool_use"'));
  const events = [messageStart(USAGE), ...blocks, messageDelta(calls ? 'tool_use' : 'end_turn', USAGE), MESSAGE_STOP];
  return { sse: events.map((event) => nativeSse(event).toString()) };
}

async function costOfLast(): Promise<bigint> {
  const [entry] = await gateway.usage();
  expect(entry).toMatchObject({ format: 'responses', cost_kind: 'measured' });
  return nanoOf(entry?.cost ?? '');
}

it('asks in Messages and answers a whole response', async () => {
  const content = [{ type: 'text', text: 'Hello.' }];
  const answer = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'test/cheap',
    content,
    stop_reason: 'end_turn',
  };
  gateway.upstream.queue({ json: { ...answer, stop_sequence: null, usage: USAGE } });
  const response = await client.responses.create(BODY);
  expect(response.output_text).toBe('Hello.');
  expect(response.usage).toMatchObject({ input_tokens: 18, output_tokens: 4 });
  const sent = gateway.upstream.requests.at(-1);
  expect(sent?.path).toMatch(/\/messages$/);
  expect(sent?.json).toMatchObject({ max_tokens: 64, messages: [{ role: 'user' }] });
  expect(await costOfLast()).toBe(COST_NANO);
});

it('streams text and a tool call in the order of the dialect, with usage at the end', async () => {
  gateway.upstream.queue(native(...textBlock(0, 'Let me look.'), ...toolBlock(1, 'toolu_1', 'look', '{"at":1}')));
  const tool = { type: 'function' as const, name: 'look', parameters: { type: 'object' }, strict: false };
  const answer = await gateway.post('/v1/responses', { ...BODY, stream: true, tools: [tool] });
  const collected = checkResponsesOrder(await answer.text(), true);
  expect(JSON.stringify(collected)).toContain('Let me look.');
  expect(JSON.stringify(collected)).toContain('"name":"look"');
  expect(JSON.stringify(collected)).toContain('"input_tokens":18');
  expect(await costOfLast()).toBe(COST_NANO);
});

it('ends a stream that breaks with an error, never as if it were whole', async () => {
  const { sse } = native(...textBlock(0, 'Half'));
  gateway.upstream.queue({ sse: sse.slice(0, 3), ending: 'cut' });
  const answer = await gateway.post('/v1/responses', { ...BODY, stream: true });
  const text = await answer.text();
  checkResponsesOrder(text, false);
  expect(text).toContain('response.failed');
  expect(text).not.toContain('response.completed');
});

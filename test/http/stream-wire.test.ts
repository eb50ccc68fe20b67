// The official clients over real HTTP, with upstreams that send the nastiest streams that are still legal, and some that aren't.

import Anthropic, { APIError as AnthropicError } from '@anthropic-ai/sdk';
import OpenAI, { APIError } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Piece } from '../helpers/fake-upstream.ts';
import { type Gateway, startGateway } from '../helpers/gateway.ts';
import { checkChat } from '../wire/chat-order.ts';
import { chunk, cutAt, ENVELOPE, sse, tool, USAGE, usageChunk } from '../wire/chat-streams.ts';
import { checkOrder } from '../wire/message-order.ts';

let gateway: Gateway;
let openai: OpenAI;
let anthropic: Anthropic;

beforeAll(async () => {
  gateway = await startGateway();
  openai = new OpenAI({ baseURL: `${gateway.daemon.url}/v1`, apiKey: gateway.daemon.key, maxRetries: 0 });
  anthropic = new Anthropic({ baseURL: gateway.daemon.url, apiKey: gateway.daemon.key, maxRetries: 0 });
});

afterAll(async () => {
  await gateway.close();
});

const chatBody = {
  model: 'test/cheap',
  messages: [{ role: 'user' as const, content: 'Hi' }],
  stream_options: { include_usage: true },
};
const messagesBody = { model: 'test/cheap', max_tokens: 50, messages: [{ role: 'user' as const, content: 'Hi' }] };
const bare = { ...ENVELOPE, choices: [{ delta: { content: 'Hé' } }] };

type Nasty = {
  readonly name: string;
  readonly pieces: readonly Piece[];
  readonly text: string;
  readonly calls: readonly (readonly [string, unknown])[];
};

const plain = sse(
  chunk({ role: 'assistant', content: 'Hé' }),
  chunk({ content: '😀' }),
  chunk({}, 'stop'),
  usageChunk(),
);
const calls = sse(
  chunk({ role: 'assistant', content: null }),
  chunk({ content: 'Hé' }),
  chunk(tool(0, 'c1', undefined, '{"a"')),
  chunk(tool(1, 'c2', 'run', '{"b":')),
  chunk(tool(0, undefined, 'look', ':')),
  chunk({
    tool_calls: [
      { index: 1, id: 'c2', type: 'function', function: { name: 'run', arguments: '2' } },
      { index: 1, function: { arguments: '}' } },
    ],
  }),
  chunk(tool(0, undefined, undefined, '1}')),
  chunk({ content: '😀' }, 'tool_calls', { usage: USAGE }),
  '[DONE]',
);

const nasty: readonly Nasty[] = [
  {
    name: 'in single bytes',
    pieces: [...cutAt(plain, plain.map((_, at) => at) as unknown as number[])],
    text: 'Hé😀',
    calls: [],
  },
  {
    name: 'with CRLF, comments and no [DONE]',
    pieces: [`: PROCESSING\r\n\r\n${plain.toString().replaceAll('\n', '\r\n')}`],
    text: 'Hé😀',
    calls: [],
  },
  {
    name: 'with a BOM, CR and no last blank line',
    pieces: [`\u{feff}${plain.toString().replaceAll('\n', '\r').trimEnd()}`],
    text: 'Hé😀',
    calls: [],
  },
  {
    name: 'with hardly an envelope',
    pieces: [
      sse(
        { choices: [bare.choices[0]] },
        { choices: null },
        { choices: [{ delta: { content: '😀' }, finish_reason: '' }] },
        { choices: [{ finish_reason: 'stop' }], usage: USAGE },
        '[DONE]',
      ),
    ],
    text: 'Hé😀',
    calls: [],
  },
  {
    name: 'with interleaved tool calls and late names',
    pieces: [calls],
    text: 'Hé😀',
    calls: [
      ['look', { a: 1 }],
      ['run', { b: 2 }],
    ],
  },
  {
    name: 'with calls that have no index or id, and arguments as objects',
    pieces: [
      sse(
        chunk({ role: 'assistant', content: 'Hé😀' }),
        chunk(tool(undefined, undefined, 'look', { a: 1 })),
        chunk(tool(undefined, 'c2', 'run', '')),
        chunk({}, 'stop'),
        usageChunk(),
        '[DONE]',
      ),
    ],
    text: 'Hé😀',
    calls: [
      ['look', { a: 1 }],
      ['run', {}],
    ],
  },
  {
    name: 'with usage on every chunk and content after the end',
    pieces: [
      sse(
        chunk({ role: 'assistant', content: 'Hé' }, null, { usage: USAGE }),
        chunk({ content: '😀' }, null, { usage: USAGE }),
        chunk({}, 'stop', { usage: USAGE }),
        chunk({ content: '' }),
        '[DONE]',
      ),
    ],
    text: 'Hé😀',
    calls: [],
  },
];

describe.each(nasty)('a stream $name', ({ pieces, text, calls: expected }) => {
  const sorted = [...expected].sort();

  it('is whole for openai .create', async () => {
    gateway.upstream.queue({ sse: pieces });
    let content = '';
    let usage: unknown;
    let finish: unknown;
    for await (const part of await openai.chat.completions.create({ ...chatBody, stream: true })) {
      content += part.choices[0]?.delta.content ?? '';
      finish = part.choices[0]?.finish_reason ?? finish;
      usage = part.usage ?? usage;
    }
    expect([content, typeof finish]).toEqual([text, 'string']);
    expect(usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 5, cost: expect.any(Number) });
  });

  it('is whole for openai .stream', async () => {
    gateway.upstream.queue({ sse: pieces });
    const final = await openai.chat.completions.stream(chatBody).finalChatCompletion();
    const message = final.choices[0]?.message;
    expect([message?.role, message?.content]).toEqual(['assistant', text]);
    const found = (message?.tool_calls ?? []).map((call) => {
      expect(call.id).not.toBe('');
      return call.type === 'function' ? [call.function.name, JSON.parse(call.function.arguments || '{}')] : [];
    });
    expect(found.sort()).toEqual(sorted);
    expect(final.usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 5 });
  });

  it('is whole for @anthropic-ai/sdk .stream', async () => {
    gateway.upstream.queue({ sse: pieces });
    const final = await anthropic.messages.stream(messagesBody).finalMessage();
    const blocks = final.content;
    expect(blocks.map((block) => (block.type === 'text' ? block.text : '')).join('')).toBe(text);
    const found = blocks.flatMap((block) => (block.type === 'tool_use' ? [[block.name, block.input]] : []));
    expect(found.sort()).toEqual(sorted);
    expect(final.stop_reason).toBe(expected.length > 0 ? 'tool_use' : 'end_turn');
    expect(final.usage).toMatchObject({ input_tokens: 10, output_tokens: 5 });
  });

  it('is strict on the wire of both', async () => {
    gateway.upstream.queue({ sse: pieces }, { sse: pieces });
    const chat = await (
      await gateway.post('/v1/chat/completions', { ...chatBody, stream_options: {}, stream: true })
    ).text();
    expect(checkChat(chat, true).usage).toBeUndefined();
    const messages = await (await gateway.post('/v1/messages', { ...messagesBody, stream: true })).text();
    checkOrder(messages, true);
  });
});

describe('a stream that breaks', () => {
  const begun = sse(chunk({ role: 'assistant', content: 'Hé' }));
  const gate = (): Promise<unknown> => new Promise((resolve) => setTimeout(resolve, 30));
  const rows: readonly (readonly [string, readonly Piece[], 'end' | 'reset' | 'cut'])[] = [
    ['by its end', [], 'end'],
    ['by [DONE]', [sse('[DONE]')], 'end'],
    ['by a reset', [], 'reset'],
    ['by a cut connection', [], 'cut'],
    ['by an error', [sse({ error: { message: 'it broke', code: 502 } })], 'end'],
    ['by an error beside choices', [sse({ ...ENVELOPE, choices: [], error: { message: 'it broke' } })], 'end'],
    ['by a finish reason', [sse(chunk({}, 'error'), '[DONE]')], 'end'],
    ['by an event named error', ['event: error\ndata: {"message":"it broke"}\n\n'], 'end'],
    ['by broken JSON', ['data: {"choices":[{"index":0,"delta":{"tool_calls":[\n\n', sse('[DONE]')], 'end'],
    ['by a reset after its finish reason', [sse(chunk({}, 'stop'))], 'reset'],
  ];

  it.each(rows)('%s never looks whole to any client', async (_name, tail, ending) => {
    const reply = { sse: [begun, gate(), ...tail], ending };
    gateway.upstream.queue(reply, reply, reply);
    const created = (async () => {
      for await (const _part of await openai.chat.completions.create({ ...chatBody, stream: true }));
    })();
    await expect(created).rejects.toBeInstanceOf(APIError);
    await expect(openai.chat.completions.stream(chatBody).finalChatCompletion()).rejects.toBeInstanceOf(Error);
    await expect(anthropic.messages.stream(messagesBody).finalMessage()).rejects.toBeInstanceOf(AnthropicError);
  });

  it.each(rows)('%s ends with one error event in either dialect', async (_name, tail, ending) => {
    const reply = { sse: [begun, gate(), ...tail], ending };
    gateway.upstream.queue(reply, reply);
    const chat = await (await gateway.post('/v1/chat/completions', { ...chatBody, stream: true })).text();
    expect(checkChat(chat, false).error).toMatchObject({ retryable: true });
    const messages = await (await gateway.post('/v1/messages', { ...messagesBody, stream: true })).text();
    expect(checkOrder(messages, false).error).toMatchObject({ error: { retryable: true } });
  });
});

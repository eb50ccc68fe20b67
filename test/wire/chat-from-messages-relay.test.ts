import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createChatFromMessagesRelay } from '../../src/wire/chat-from-messages-relay.ts';
import type { StreamRelay } from '../../src/wire/stream-relay.ts';
import { createToolNameMap } from '../../src/wire/tool-names.ts';
import { anyCuts, cutAt } from './chat-streams.ts';
import {
  anyNativeStream,
  blockDelta,
  blockStart,
  blockStop,
  MESSAGE_STOP,
  messageDelta,
  messageStart,
  nativeSse,
  PING,
  richStream,
  textBlock,
  thinkingBlock,
  toolBlock,
} from './native-streams.ts';

const LONG_NAME = `mcp__server__${'x'.repeat(80)}`;
const toolNames = createToolNameMap([LONG_NAME]);
const FORMAT = 'anthropic-claude-v1';
const CHARGED = { inputTokens: 50, cachedTokens: 20, cacheWriteTokens: 10, outputTokens: 9, reasoningTokens: 3 };

type Chunk = {
  id: string;
  object: string;
  created: number;
  model: string;
  choices: { index: number; delta: Record<string, unknown>; finish_reason: string | null }[];
  usage?: unknown;
  error?: unknown;
};

function createRelay(includeUsage = true): StreamRelay {
  return createChatFromMessagesRelay({
    id: 'chatcmpl_1',
    createdMs: 1_700_000_000_500,
    model: 'asked',
    includeUsage,
    toolNames,
    requestId: 'req_1',
  });
}

function relayAll(pieces: readonly Uint8Array[], relay = createRelay()): string {
  const out: Uint8Array[] = [];
  for (const piece of pieces) {
    out.push(relay.push(piece));
    if (relay.failure !== undefined) break;
  }
  if (relay.failure === undefined) out.push(relay.end());
  out.push(relay.failure === undefined ? relay.complete('0.00042', CHARGED) : relay.fail(relay.failure));
  return Buffer.concat(out).toString();
}

/** Every frame is one `data:` line or a comment; `[DONE]` comes last or not at all. */
function chunksOf(stream: string): Chunk[] {
  const frames = stream.split('\n\n');
  expect(frames.pop()).toBe('');
  const data = frames.filter((frame) => !frame.startsWith(': '));
  for (const frame of data) expect(frame).toMatch(/^data: [^\n]+$/);
  const done = data.indexOf('data: [DONE]');
  if (done !== -1) expect(done).toBe(data.length - 1);
  return data.filter((frame) => frame !== 'data: [DONE]').map((frame) => JSON.parse(frame.slice(6)));
}

function deltas(...events: readonly Record<string, unknown>[]): Record<string, unknown>[] {
  const all = chunksOf(relayAll([nativeSse(messageStart(), ...events, messageDelta('end_turn'), MESSAGE_STOP)]));
  return all.flatMap(({ choices }) => choices.map(({ delta }) => delta)).slice(1, -1);
}

const call = (index: number, fields: object): object => ({ tool_calls: [{ index, ...fields }] });

describe('a Messages stream for a Chat caller', () => {
  it('has role, content, end, usage and [DONE], in this order', () => {
    const out = relayAll([nativeSse(messageStart(), ...textBlock(0, 'Hi'), messageDelta('end_turn'), MESSAGE_STOP)]);
    const envelope = {
      id: 'chatcmpl_1',
      object: 'chat.completion.chunk',
      created: 1_700_000_000,
      model: 'claude-real',
    };
    const chunk = (delta: object, finish: string | null = null, more: object = {}): object => ({
      ...envelope,
      choices: [{ index: 0, delta, finish_reason: finish, ...more }],
    });
    expect(chunksOf(out)).toEqual([
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: 'Hi' }),
      chunk({}, 'stop', { native_finish_reason: 'end_turn' }),
      {
        ...envelope,
        choices: [],
        usage: {
          prompt_tokens: 50,
          completion_tokens: 9,
          total_tokens: 59,
          prompt_tokens_details: { cached_tokens: 20, cache_write_tokens: 10 },
          completion_tokens_details: { reasoning_tokens: 3 },
          cost: 0.00042,
        },
      },
    ]);
    expect(out.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  it('has no usage chunk unless it was asked for', () => {
    const out = relayAll([nativeSse(...richStream())], createRelay(false));
    expect(chunksOf(out).every(({ choices, usage }) => choices.length === 1 && usage === undefined)).toBe(true);
  });

  it.each<[string, Record<string, unknown>[], object[]]>([
    ['text in pieces', textBlock(0, 'a', '', 'b'), [{ content: 'a' }, { content: 'b' }]],
    ['text a block starts with', [blockStart(0, { type: 'text', text: 'ab' })], [{ content: 'ab' }]],
    [
      'thinking and its signature',
      thinkingBlock(0, 't', 'S='),
      [
        { reasoning: 't', reasoning_details: [{ type: 'reasoning.text', text: 't', format: FORMAT, index: 0 }] },
        { reasoning_details: [{ type: 'reasoning.text', signature: 'S=', format: FORMAT, index: 0 }] },
      ],
    ],
    [
      'hidden thinking, and more after it',
      [blockStart(0, { type: 'redacted_thinking', data: 'D' }), blockStop(0), ...thinkingBlock(1, 't', '')],
      [
        { reasoning_details: [{ type: 'reasoning.encrypted', data: 'D', format: FORMAT, index: 0 }] },
        { reasoning: 't', reasoning_details: [{ type: 'reasoning.text', text: 't', format: FORMAT, index: 1 }] },
      ],
    ],
    [
      'calls counted by themselves, under the names the caller gave',
      [
        ...textBlock(0, 'x'),
        ...toolBlock(1, 'toolu_1', 'look', '', '{"a"', ':1.0}'),
        ...toolBlock(2, 'toolu_2', toolNames.toUpstream(LONG_NAME), '{}'),
      ],
      [
        { content: 'x' },
        call(0, { id: 'toolu_1', type: 'function', function: { name: 'look', arguments: '' } }),
        call(0, { function: { arguments: '{"a"' } }),
        call(0, { function: { arguments: ':1.0}' } }),
        call(1, { id: 'toolu_2', type: 'function', function: { name: LONG_NAME, arguments: '' } }),
        call(1, { function: { arguments: '{}' } }),
      ],
    ],
    [
      'a call without arguments, which clients parse all the same',
      toolBlock(0, 'toolu_1', 'look', ''),
      [
        call(0, { id: 'toolu_1', type: 'function', function: { name: 'look', arguments: '' } }),
        call(0, { function: { arguments: '{}' } }),
      ],
    ],
    [
      'arguments given at once',
      [blockStart(0, { type: 'tool_use', id: 'toolu_1', name: 'look', input: { a: 1 } }), blockStop(0)],
      [
        call(0, { id: 'toolu_1', type: 'function', function: { name: 'look', arguments: '' } }),
        call(0, { function: { arguments: '{"a":1}' } }),
      ],
    ],
    [
      "nothing of the upstream's own tools",
      [
        blockStart(0, { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }),
        blockDelta(0, { type: 'input_json_delta', partial_json: '{"q":1}' }),
        blockStop(0),
        blockStart(1, { type: 'web_search_tool_result', content: [] }),
        blockStop(1),
        blockStart(2, { type: 'text', text: '' }),
        blockDelta(2, { type: 'citations_delta', citation: { url: 'x' } }),
        blockDelta(2, { type: 'text_delta', text: 'ok' }),
        blockStop(2),
      ],
      [{ content: 'ok' }],
    ],
    ['nothing of events to come', [{ type: 'some_new_event', index: 0 }], []],
    ['the text of a delta without its block', [blockDelta(7, { type: 'text_delta', text: 'x' })], [{ content: 'x' }]],
    [
      'the thinking of deltas without their block, as one',
      ['a', 'b'].map((thinking) => blockDelta(7, { type: 'thinking_delta', thinking })),
      ['a', 'b'].map((text) => ({
        reasoning: text,
        reasoning_details: [{ type: 'reasoning.text', text, format: FORMAT, index: 0 }],
      })),
    ],
    ['nothing of arguments without their block', [blockDelta(7, { type: 'input_json_delta', partial_json: '{}' })], []],
    [
      'nothing of a delta in a block of a kind to come',
      [blockStart(7, { type: 'some_new_block' }), blockDelta(7, { type: 'text_delta', text: 'x' })],
      [],
    ],
  ])('%s', (_name, events, expected) => {
    expect(deltas(...events)).toEqual(expected);
  });

  it.each<[string, Record<string, unknown>[], string]>([
    ['end_turn', [], 'stop'],
    ['stop_sequence', [], 'stop'],
    ['pause_turn', [], 'stop'],
    ['max_tokens', [], 'length'],
    ['model_context_window_exceeded', [], 'length'],
    ['tool_use', toolBlock(0, 't', 'look', '{}'), 'tool_calls'],
    ['end_turn', toolBlock(0, 't', 'look', '{}'), 'tool_calls'],
    ['tool_use', [], 'stop'],
    ['refusal', [], 'content_filter'],
  ])('%s', (reason, events, expected) => {
    const chunks = chunksOf(relayAll([nativeSse(messageStart(), ...events, messageDelta(reason), MESSAGE_STOP)]));
    expect(chunks.at(-2)?.choices[0]).toMatchObject({
      delta: {},
      finish_reason: expected,
      native_finish_reason: reason,
    });
  });

  it('gives the words of a refusal before its end', () => {
    const refused = messageDelta('refusal', null, { stop_details: { type: 'refusal', explanation: 'No.' } });
    const chunks = chunksOf(relayAll([nativeSse(messageStart(), refused, MESSAGE_STOP)]));
    expect(chunks.map(({ choices }) => choices[0]?.delta).slice(1, 3)).toEqual([{ refusal: 'No.' }, {}]);
  });

  it('sends nothing of the end before it is settled', () => {
    const relay = createRelay();
    const out = Buffer.from(relay.push(nativeSse(...richStream()))).toString();
    expect(relay).toMatchObject({ done: true, finished: true, finishReason: 'tool_calls' });
    expect(chunksOf(out).every(({ choices }) => choices[0]?.finish_reason === null)).toBe(true);
  });

  it('turns a ping into a comment, which starts nothing', () => {
    const relay = createRelay();
    expect(Buffer.from(relay.push(nativeSse(PING))).toString()).toBe(': ping\n\n');
    expect(relay.started).toBe(false);
    expect(Buffer.from(relay.ping()).toString()).toBe(': ping\n\n');
  });

  it('counts what native streams count', () => {
    const relay = createRelay();
    relayAll([nativeSse(...richStream())], relay);
    expect(relay.usage).toEqual({
      inputTokens: 1230,
      cachedTokens: 1000,
      cacheWriteTokens: 200,
      outputTokens: 42,
      reasoningTokens: 0,
    });
    expect(relay.usageMissing).toEqual([]);
    const said = Buffer.byteLength('Let me see… 😀Hello "you"\n{"at":1.0}lookrun');
    expect(relay.deliveredBytes).toBe(said);
  });

  it('says the upstream usage where nobody charged another', () => {
    const relay = createRelay();
    relay.push(nativeSse(...richStream()));
    expect(chunksOf(Buffer.from(relay.complete('1')).toString()).at(-1)?.usage).toMatchObject({
      prompt_tokens: 1230,
      completion_tokens: 42,
    });
  });

  it('gives the same bytes however the stream is cut, and what clients ask of every chunk', () => {
    fc.assert(
      fc.property(anyNativeStream, anyCuts, (events, cuts) => {
        const bytes = nativeSse(...events);
        const out = relayAll([bytes]);
        expect(relayAll(cutAt(bytes, cuts))).toBe(out);
        const chunks = chunksOf(out);
        for (const { id, object, choices } of chunks) {
          expect([id, object, Array.isArray(choices)]).toEqual(['chatcmpl_1', 'chat.completion.chunk', true]);
        }
        expect(chunks[0]?.choices[0]?.delta['role']).toBe('assistant');
        expect(chunks.filter(({ choices }) => typeof choices[0]?.finish_reason === 'string')).toHaveLength(1);
        checkCalls(chunks);
      }),
    );
  });

  it('never looks whole when it is cut short', () => {
    fc.assert(
      fc.property(anyNativeStream, fc.nat(), (events, place) => {
        const bytes = nativeSse(...events);
        const out = relayAll([bytes.subarray(0, place % (bytes.length - 3))]);
        expect(out).not.toContain('[DONE]');
        const last = chunksOf(out).at(-1);
        expect(Object.keys(last ?? {})).toEqual(['error']);
      }),
    );
  });
});

/** Calls are numbered from 0 without a gap, have id and name once, and arguments that are JSON. */
function checkCalls(chunks: readonly Chunk[]): void {
  const args: string[] = [];
  for (const { choices } of chunks) {
    for (const { index, id, function: named } of (choices[0]?.delta['tool_calls'] ?? []) as {
      index: number;
      id?: string;
      function: { arguments: string };
    }[]) {
      if (id !== undefined) expect(index).toBe(args.length);
      args[index] = (args[index] ?? '') + named.arguments;
    }
  }
  for (const text of args) expect(() => JSON.parse(text)).not.toThrow();
}

describe('a native stream that fails for a Chat caller', () => {
  it.each<[string, object, string]>([
    ['overloaded_error', { message: 'Overloaded' }, 'UPSTREAM_ERROR'],
    ['rate_limit_error', { message: 'slow down' }, 'UPSTREAM_RATE_LIMITED'],
    ['invalid_request_error', { message: 'prompt is too long: 9 tokens > 8 maximum' }, 'CONTEXT_LENGTH_EXCEEDED'],
  ])('by %s', (type, error, code) => {
    const out = relayAll([
      nativeSse(messageStart(), ...textBlock(0, 'Hi'), { type: 'error', error: { type, ...error } }),
    ]);
    expect(chunksOf(out).at(-1)).toEqual({
      error: { type: expect.any(String), code, retryable: expect.any(Boolean), ...error },
    });
    expect(out).not.toContain('[DONE]');
  });

  it.each([
    ['no event that can be read', 'data: {"type"\n\n'],
    ['an event that is no object', 'data: 7\n\n'],
  ])('by %s', (_name, text) => {
    const relay = createRelay();
    relayAll([nativeSse(messageStart()), Buffer.from(text)], relay);
    expect(relay.failure?.code).toBe('UPSTREAM_INVALID_RESPONSE');
  });

  it('by message_stop without a stop reason', () => {
    const relay = createRelay();
    relayAll([nativeSse(messageStart(), MESSAGE_STOP)], relay);
    expect(relay.failure?.code).toBe('UPSTREAM_ERROR');
  });

  it('before its first event has not started', () => {
    const relay = createRelay();
    relayAll([nativeSse({ type: 'error', error: { type: 'overloaded_error', message: 'x' } })], relay);
    expect(relay.started).toBe(false);
  });
});

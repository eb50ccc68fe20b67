// What odd Chat upstreams send, the same rules for callers of every dialect.

import { describe, expect, it } from 'vitest';
import { inspectChatResponse, parseChatResponse } from '../../src/wire/chat-response.ts';
import { parseResponsesRequest } from '../../src/wire/parse-responses-request.ts';
import { createResponsesStreamRelay } from '../../src/wire/responses-stream-relay.ts';
import type { StreamRelay } from '../../src/wire/stream-relay.ts';
import { createToolCallSlots } from '../../src/wire/tool-call-slots.ts';
import { createToolIdChooser } from '../../src/wire/tool-ids.ts';
import { chunk, ENVELOPE, sse, tool, USAGE, usageChunk } from './chat-streams.ts';
import { chatRelay, messagesRelay, relayAll } from './stream-relays.ts';

function responsesRelay(): StreamRelay {
  let made = 0;
  const newId = (prefix: string): string => {
    made += 1;
    return `${prefix}_${made}`;
  };
  return createResponsesStreamRelay({
    head: { id: 'resp_1', model: 'm', createdAt: 1, request: parseResponsesRequest({ model: 'm', input: 'hi' }) },
    newId,
    chooseCallId: createToolIdChooser(new Set(), () => newId('call')),
    toolOf: (name) => ({ kind: 'function', name }),
    withEncrypted: false,
    inputTokensEstimate: 7,
    requestId: 'req_1',
  });
}

const TEXT = chunk({ role: 'assistant', content: 'hello' });
const STOP = chunk({}, 'stop');
const NAMED_PING = Buffer.from('event: ping\ndata: {"type":"ping"}\n\n');

const callers = [
  ['chat', () => chatRelay()],
  ['messages', messagesRelay],
  ['responses', responsesRelay],
] as const;

describe.each(callers)('a stream for a %s caller', (dialect, createRelay) => {
  it('keeps a real count where an empty one follows', () => {
    const relay = createRelay();
    const empty = usageChunk({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 });
    relayAll(relay, [sse(TEXT, STOP, usageChunk(USAGE), empty, '[DONE]')]);
    expect(relay.usage).toMatchObject({ inputTokens: 10, outputTokens: 5 });
  });

  it.each<[string, Buffer]>([
    ['an event named error', Buffer.from('event: error\ndata: {"message":"broke"}\n\n')],
    ['a bare error object', sse({ object: 'error', message: 'broke' })],
    ['the finish reason ERROR', sse(chunk({}, 'ERROR'))],
    ['an error in another choice', sse({ ...ENVELOPE, choices: [{ index: 1, error: { message: 'broke' } }] })],
  ])('fails with %s', (_name, failure) => {
    const relay = createRelay();
    relayAll(relay, [sse(TEXT), failure, sse(STOP, '[DONE]')]);
    expect(relay.failure).toMatchObject({ code: 'UPSTREAM_ERROR' });
  });

  it('reads a message in place of a delta', () => {
    const relay = createRelay();
    const whole = { index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' };
    const out = relayAll(relay, [sse({ ...ENVELOPE, choices: [whole] }, '[DONE]')]);
    expect(relay.failure).toBeUndefined();
    expect(out).toContain('hello');
    if (dialect === 'chat') expect(out).toContain('"delta":{"role":"assistant","content":"hello"}');
    expect(out).not.toContain('"message":{"role":"assistant","content":"hello"}');
    expect(relay.deliveredBytes).toBe(5);
  });

  it('takes a message after deltas for a repeat', () => {
    const relay = createRelay();
    const last = { index: 0, message: { role: 'assistant', content: 'again' }, finish_reason: 'stop' };
    const out = relayAll(relay, [sse(TEXT, { ...ENVELOPE, choices: [last] }, '[DONE]')]);
    expect(relay.finishReason).toBe('stop');
    if (dialect !== 'chat') expect(out).not.toContain('again');
    expect(out).not.toContain('"delta":{"role":"assistant","content":"again"}');
  });

  it('fails where a call without a name is all there was', () => {
    const relay = createRelay();
    relayAll(relay, [sse(chunk(tool(0, 'c1', undefined, '{}')), chunk({}, 'tool_calls'), '[DONE]')]);
    expect(relay.failure).toMatchObject({ code: 'UPSTREAM_INVALID_RESPONSE' });
  });

  it('goes on with text beside a call without a name', () => {
    const relay = createRelay();
    relayAll(relay, [sse(TEXT, chunk({ content: ' you' }), chunk(tool(0, 'c1', undefined, '{}')), STOP, '[DONE]')]);
    expect(relay.failure).toBeUndefined();
  });

  it('drops pings: they neither begin the answer nor count as events', () => {
    const relay = createRelay();
    expect(relay.push(NAMED_PING)).toHaveLength(0);
    expect(relay.push(sse({ type: 'ping' }))).toHaveLength(0);
    expect([relay.started, relay.events]).toEqual([false, 0]);
    relay.push(sse(TEXT));
    expect([relay.started, relay.events]).toEqual([true, 1]);
    expect(relay.push(NAMED_PING)).toHaveLength(0);
    expect(relay.events).toBe(1);
    relay.push(sse(chunk({ content: 'more' })));
    expect(relay.events).toBe(2);
  });

  it('keeps calls apart that share an id', () => {
    const calls = [0, 1].map((index) => chunk(tool(index, 'same', index === 0 ? 'look' : 'run', '{')));
    const rest = [0, 1].map((index) => chunk(tool(index, undefined, undefined, `"n":${index}}`)));
    const out = relayAll(createRelay(), [sse(...calls, ...rest, chunk({}, 'tool_calls'), '[DONE]')]);
    expect([out.includes('"name":"look"'), out.includes('"name":"run"')]).toEqual([true, true]);
    if (dialect === 'messages') expect(out.match(/"id":"same"/g)).toHaveLength(1);
  });
});

describe('the slot of a piece of a tool call', () => {
  it.each<[string, [number | undefined, string | undefined, string | undefined][], number[]]>([
    [
      'goes by the number where calls share an id',
      [
        [0, 'x', 'a'],
        [1, 'x', 'b'],
        [0, 'x', ''],
        [1, 'x', ''],
      ],
      [0, 1, 0, 1],
    ],
    [
      'goes by the id where the number changes',
      [
        [0, 'x', 'a'],
        [1, 'x', ''],
        [2, 'x', 'a'],
      ],
      [0, 0, 0],
    ],
    [
      'goes by the id where all numbers are 0',
      [
        [0, 'x', 'a'],
        [0, 'y', 'b'],
        [0, 'x', ''],
      ],
      [0, 1, 0],
    ],
    [
      'goes by the id where there is no number',
      [
        [undefined, 'x', 'a'],
        [undefined, 'y', 'b'],
        [undefined, 'x', 'a'],
      ],
      [0, 1, 0],
    ],
    [
      'is the last one where there is neither',
      [
        [undefined, 'x', 'a'],
        [undefined, '', ''],
      ],
      [0, 0],
    ],
    [
      'goes by the number where the name repeats',
      [
        [0, 'x', 'a'],
        [0, 'x', 'a'],
      ],
      [0, 0],
    ],
  ])('%s', (_name, pieces, slots) => {
    const slotOf = createToolCallSlots();
    const found = pieces.map(([index, id, name]) => slotOf({ index, id, function: { name, arguments: '' } }).slot);
    expect(found).toEqual(slots);
  });
});

describe('a whole answer', () => {
  const answer = (message: object, finish = 'stop'): string =>
    JSON.stringify({ choices: [{ index: 0, message, finish_reason: finish }] });

  it.each(['ERROR', 'Error', 'error'])('fails with the finish reason %s', (finish) => {
    const text = answer({ content: 'a' }, finish);
    expect(() => parseChatResponse(JSON.parse(text))).toThrow(expect.objectContaining({ code: 'UPSTREAM_ERROR' }));
    expect(() => inspectChatResponse(Buffer.from(text))).toThrow(expect.objectContaining({ code: 'UPSTREAM_ERROR' }));
  });

  it('is invalid where its arguments nest too deeply to be written', () => {
    const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
    const call = '{"id":"c","type":"function","function":{"name":"look","arguments":DEEP}}';
    const text = answer({ tool_calls: ['CALL'] }, 'tool_calls').replace('"CALL"', call.replace('DEEP', deep));
    const invalid = expect.objectContaining({ code: 'UPSTREAM_INVALID_RESPONSE' });
    expect(() => parseChatResponse(JSON.parse(text))).toThrow(invalid);
    expect(() => inspectChatResponse(Buffer.from(text))).toThrow(invalid);
  });

  it('is invalid where a call without a name is all there is', () => {
    const call = { id: 'c', type: 'function', function: { arguments: '{}' } };
    const invalid = expect.objectContaining({ code: 'UPSTREAM_INVALID_RESPONSE' });
    expect(() => parseChatResponse(JSON.parse(answer({ tool_calls: [call] }, 'tool_calls')))).toThrow(invalid);
    const beside = parseChatResponse(JSON.parse(answer({ content: 'a', tool_calls: [call] }, 'tool_calls')));
    expect(beside.content).toHaveLength(2);
  });
});

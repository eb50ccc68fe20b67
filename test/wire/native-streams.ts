// Messages streams for the tests, as the API itself sends them.

import fc from 'fast-check';

export const START_USAGE = {
  input_tokens: 30,
  cache_creation_input_tokens: 200,
  cache_read_input_tokens: 1000,
  output_tokens: 1,
} as const;

/** As the API sends it: all counts once more, those of the output whole. */
export const END_USAGE = { ...START_USAGE, output_tokens: 42 } as const;

type Fields = Record<string, unknown>;

/** Text as in an upstream's bytes: name, payload, blank line. */
export function nativeSse(...events: readonly Fields[]): Buffer {
  return Buffer.from(events.map((event) => `event: ${event['type']}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
}

export function messageStart(usage: unknown = START_USAGE): Fields {
  const message = { id: 'msg_up', type: 'message', role: 'assistant', model: 'claude-real', content: [] };
  return { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null, usage } };
}

export function blockStart(index: number, block: Fields): Fields {
  return { type: 'content_block_start', index, content_block: block };
}

export function blockDelta(index: number, delta: Fields): Fields {
  return { type: 'content_block_delta', index, delta };
}

export function blockStop(index: number): Fields {
  return { type: 'content_block_stop', index };
}

export function messageDelta(stopReason: string | null, usage: unknown = END_USAGE, more: Fields = {}): Fields {
  const delta = { stop_reason: stopReason, stop_sequence: null, ...more };
  return { type: 'message_delta', delta, ...(usage === null ? {} : { usage }) };
}

export const MESSAGE_STOP: Fields = { type: 'message_stop' };
export const PING: Fields = { type: 'ping' };

export function textBlock(index: number, ...pieces: readonly string[]): Fields[] {
  const deltas = pieces.map((text) => blockDelta(index, { type: 'text_delta', text }));
  return [blockStart(index, { type: 'text', text: '' }), ...deltas, blockStop(index)];
}

export function thinkingBlock(index: number, text: string, signature: string): Fields[] {
  return [
    blockStart(index, { type: 'thinking', thinking: '', signature: '' }),
    blockDelta(index, { type: 'thinking_delta', thinking: text }),
    blockDelta(index, { type: 'signature_delta', signature }),
    blockStop(index),
  ];
}

export function toolBlock(index: number, id: string, name: string, ...json: readonly string[]): Fields[] {
  const deltas = json.map((partial) => blockDelta(index, { type: 'input_json_delta', partial_json: partial }));
  return [blockStart(index, { type: 'tool_use', id, name, input: {} }), ...deltas, blockStop(index)];
}

/** A good answer with everything in it. */
export function richStream(): Fields[] {
  return [
    messageStart(),
    PING,
    ...thinkingBlock(0, 'Let me see… 😀', 'SIG+/=='),
    ...textBlock(1, 'Hel', 'lo "you"\n'),
    ...toolBlock(2, 'toolu_a', 'look', '{"at":', '1.0}'),
    ...toolBlock(3, 'toolu_b', 'run'),
    messageDelta('tool_use'),
    MESSAGE_STOP,
  ];
}

const anyWords = fc.array(
  fc.oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 10 }),
    fc.constantFrom('"', '\\', '\n\n', 'é😀', '}}'),
  ),
  { maxLength: 4 },
);

const anyBlock = fc.oneof(
  anyWords.map((words) => ({ kind: 'text', words })),
  anyWords.map((words) => ({ kind: 'thinking', words })),
  fc.constantFrom([], ['{}'], ['{"a"', ':1}']).map((words) => ({ kind: 'tool', words })),
);

/** Good streams of up to five blocks, each text in pieces. */
export const anyNativeStream: fc.Arbitrary<Fields[]> = fc
  .record({
    blocks: fc.array(anyBlock, { maxLength: 5 }),
    stop: fc.constantFrom('end_turn', 'max_tokens', 'tool_use', 'refusal', 'pause_turn'),
  })
  .map(({ blocks, stop }) => [
    messageStart(),
    ...blocks.flatMap(({ kind, words }, index) => {
      if (kind === 'text') return textBlock(index, ...['x', ...words]);
      if (kind === 'thinking') return thinkingBlock(index, ['t', ...words].join(''), `sig${index}`);
      return toolBlock(index, `toolu_${index}`, 'look', ...words);
    }),
    messageDelta(stop),
    MESSAGE_STOP,
  ]);

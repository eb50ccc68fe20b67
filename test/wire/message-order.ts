// Checks that a Messages stream keeps the dialect's order, and puts the message together the way clients do.

export type MessagesEvent = { readonly event: string; readonly data: Record<string, unknown> };
export type Collected = {
  readonly events: readonly MessagesEvent[];
  readonly blocks: readonly Record<string, unknown>[];
  readonly start: Record<string, unknown> | undefined;
  readonly delta: Record<string, unknown> | undefined;
  readonly error: Record<string, unknown> | undefined;
};

const DELTA_KINDS: Readonly<Record<string, readonly string[]>> = {
  text: ['text_delta'],
  thinking: ['thinking_delta', 'signature_delta'],
  tool_use: ['input_json_delta'],
  redacted_thinking: [],
};

/** Every frame must be `event: x`, one `data:` line, a blank line. Throws otherwise. */
export function parseEvents(text: string): MessagesEvent[] {
  if (text === '') return [];
  if (!text.endsWith('\n\n')) throw new Error('the stream does not end with a blank line');
  return text
    .slice(0, -2)
    .split('\n\n')
    .map((frame) => {
      const match = /^event: ([a-z_]+)\ndata: (\{[^\n]*\})$/.exec(frame);
      if (match === null) throw new Error(`not a frame: ${JSON.stringify(frame)}`);
      const data = JSON.parse(match[2] ?? '') as Record<string, unknown>;
      if (data['type'] !== match[1]) throw new Error(`event ${match[1]} carries type ${String(data['type'])}`);
      return { event: String(match[1]), data };
    });
}

/** Throws on the first event out of order; `isWhole` asks for a good end. */
export function checkOrder(text: string, isWhole: boolean): Collected {
  const state: State = { events: parseEvents(text), blocks: [], isOver: false };
  for (const { event, data } of state.events) {
    if (state.isOver) throw new Error(`${event} after the end`);
    if (event === 'ping') continue;
    checkPlace(state, event);
    const apply = STEPS[event];
    if (apply === undefined) throw new Error(`unknown event ${event}`);
    apply(state, data);
  }
  if (isWhole && (!state.isOver || state.error !== undefined)) throw new Error('the stream has no good end');
  const { events, blocks, start, delta, error } = state;
  return { events, blocks, start, delta, error };
}

type Fields = Record<string, unknown>;
type State = {
  readonly events: readonly MessagesEvent[];
  readonly blocks: Fields[];
  open?: Fields | undefined;
  start?: Fields;
  delta?: Fields;
  error?: Fields;
  isOver: boolean;
};

function checkPlace(state: State, event: string): void {
  if (event === 'error') return;
  if ((event === 'message_start') !== (state.start === undefined)) throw new Error(`${event} out of place`);
  if (state.delta !== undefined && event !== 'message_stop') throw new Error(`${event} after message_delta`);
}

const STEPS: Readonly<Record<string, (state: State, data: Fields) => void>> = {
  error(state, data) {
    const error = data['error'] as Fields;
    for (const key of ['type', 'code', 'message']) {
      if (typeof error[key] !== 'string') throw new Error(`an error without ${key}`);
    }
    state.error = data;
    state.isOver = true;
  },
  message_start(state, data) {
    state.start = data['message'] as Fields;
    checkCounts(state.start['usage'] as Fields);
    if (!/^msg_/.test(String(state.start['id']))) throw new Error('a message without an id');
  },
  content_block_start(state, data) {
    if (state.open !== undefined) throw new Error('two blocks are open');
    checkFields(data['content_block'] as Fields);
    if (data['index'] !== state.blocks.length) throw new Error(`index ${String(data['index'])} leaves a gap`);
    state.open = { ...(data['content_block'] as Fields) };
    if (state.open['type'] === 'tool_use') checkToolStart(state.open);
    state.blocks.push(state.open);
  },
  content_block_delta(state, data) {
    applyDelta(openBlock(state, data), data['delta'] as Fields);
  },
  content_block_stop(state, data) {
    const block = openBlock(state, data);
    if (block['type'] === 'thinking' && block['thinking'] === '' && block['signature'] === '') {
      throw new Error('an empty thinking block');
    }
    if (block['type'] === 'text' && block['text'] === '') throw new Error('an empty text block');
    state.open = undefined;
  },
  message_delta(state, data) {
    if (state.open !== undefined) throw new Error('message_delta while a block is open');
    checkCounts(data['usage'] as Fields);
    const reason = String((data['delta'] as Fields)['stop_reason']);
    if (!STOP_REASONS.has(reason)) throw new Error(`stop_reason ${reason}`);
    state.delta = data;
  },
  message_stop(state) {
    if (state.delta === undefined) throw new Error('message_stop without message_delta');
    state.isOver = true;
  },
};

const STOP_REASONS: ReadonlySet<string> = new Set([
  'end_turn',
  'max_tokens',
  'stop_sequence',
  'tool_use',
  'pause_turn',
  'refusal',
  'model_context_window_exceeded',
]);

/** Clients crash on a usage object that lacks one of them. */
function checkCounts(usage: Fields): void {
  for (const key of ['input_tokens', 'output_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens']) {
    if (!Number.isInteger(usage[key]) || Number(usage[key]) < 0) throw new Error(`usage.${key} is no count`);
  }
}

/** What each kind of block starts with, all of it text. */
const START_FIELDS: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  thinking: ['thinking', 'signature'],
  tool_use: ['id', 'name'],
  redacted_thinking: ['data'],
};

function checkFields(block: Fields): void {
  const fields = START_FIELDS[String(block['type'])];
  if (fields === undefined) throw new Error(`a block of type ${String(block['type'])}`);
  for (const key of fields) if (typeof block[key] !== 'string') throw new Error(`${key} of a block is no text`);
}

function openBlock(state: State, data: Fields): Fields {
  if (state.open === undefined || data['index'] !== state.blocks.length - 1)
    throw new Error('a closed block is touched');
  return state.open;
}

function checkToolStart(block: Record<string, unknown>): void {
  if (typeof block['id'] !== 'string' || block['id'] === '') throw new Error('a tool without an id');
  if (typeof block['name'] !== 'string' || block['name'] === '') throw new Error('a tool without a name');
  if (JSON.stringify(block['input']) !== '{}') throw new Error('a tool that starts with input');
  block['json'] = '';
}

function applyDelta(block: Record<string, unknown>, delta: Record<string, unknown>): void {
  const kind = String(delta['type']);
  if (!DELTA_KINDS[String(block['type'])]?.includes(kind))
    throw new Error(`${kind} in a ${String(block['type'])} block`);
  for (const [key, value] of Object.entries(delta)) {
    if (typeof value !== 'string') throw new Error(`${key} of a delta is no text`);
    if (value === '') throw new Error('an empty delta');
  }
  if (kind === 'text_delta') block['text'] = String(block['text']) + String(delta['text']);
  if (kind === 'thinking_delta') block['thinking'] = String(block['thinking']) + String(delta['thinking']);
  if (kind === 'input_json_delta') block['json'] = String(block['json']) + String(delta['partial_json']);
  if (kind === 'signature_delta') {
    if (block['signature'] !== '') throw new Error('a second signature');
    block['signature'] = delta['signature'];
  }
}

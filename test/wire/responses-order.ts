// The order of events in a Responses stream, checked event by event; and what a client collects from them.

import { isDeepStrictEqual } from 'node:util';

export type Fields = Record<string, unknown>;

export type CollectedResponse = {
  readonly events: readonly Fields[];
  /** Items as `output_item.done` gave them. */
  readonly items: readonly Fields[];
  /** The `response` of the last event. */
  readonly last?: Fields;
  /** The event `error`, where there was one. */
  readonly error?: Fields;
  /** Names of the events in order, repeats of one kind in a row counted once. */
  readonly names: readonly string[];
};

/** Every frame has the event's name and one line of data; comments are left out. */
export function parseResponsesEvents(text: string): Fields[] {
  if (text === '') return [];
  if (!text.endsWith('\n\n')) throw new Error('the stream does not end with a blank line');
  const frames = text.slice(0, -2).split('\n\n');
  return frames
    .filter((frame) => !/^: \w+$/.test(frame))
    .map((frame) => {
      const match = /^event: ([a-z_.]+)\ndata: (\{[^\n]*\})$/.exec(frame);
      if (match === null) throw new Error(`not a frame: ${JSON.stringify(frame)}`);
      const data = JSON.parse(match[2] ?? '') as Fields;
      if (data['type'] !== match[1]) throw new Error(`event ${match[1]} carries type ${String(data['type'])}`);
      return data;
    });
}

/** Throws on the first event out of order; `isWhole` asks for a good end. */
export function checkResponsesOrder(text: string, isWhole: boolean): CollectedResponse {
  const events = parseResponsesEvents(text);
  const state: State = { items: [], isOver: false };
  for (const [index, event] of events.entries()) {
    const type = String(event['type']);
    if (event['sequence_number'] !== index) throw new Error(`${type} has not the number ${index}`);
    checkPlace(state, type);
    const apply = STEPS[type];
    if (apply === undefined) throw new Error(`unknown event ${type}`);
    apply(state, event);
  }
  if (isWhole && (!state.isOver || state.error !== undefined)) throw new Error('the stream has no good end');
  const names = events.map((event) => String(event['type'])).filter((name, index, all) => name !== all[index - 1]);
  const { error, last } = state;
  return {
    events,
    items: state.items.map(({ done }) => done ?? {}),
    names,
    ...(last === undefined ? {} : { last }),
    ...(error === undefined ? {} : { error }),
  };
}

type Item = {
  readonly id: string;
  readonly type: string;
  readonly parts: { readonly type: string; text: string; isOpen: boolean }[];
  text: string;
  said: string | undefined;
  done: Fields | undefined;
};
type State = {
  readonly items: Item[];
  created?: Fields;
  progressed?: boolean;
  error?: Fields;
  last?: Fields;
  isOver: boolean;
};

const ENDS = new Set(['response.completed', 'response.incomplete', 'response.failed']);

function checkPlace(state: State, type: string): void {
  if (state.isOver) throw new Error(`${type} after the end`);
  if (type === 'error') return;
  if (state.error !== undefined) {
    if (type !== 'response.failed') throw new Error(`${type} after an error`);
    return;
  }
  if (type === 'response.failed') throw new Error('a failure without an error event');
  if ((type === 'response.created') !== (state.created === undefined)) throw new Error(`${type} out of place`);
  const isStart = type === 'response.created' || type === 'response.in_progress';
  if (!isStart && !state.progressed) throw new Error(`${type} before response.in_progress`);
}

const STEPS: Readonly<Record<string, (state: State, event: Fields) => void>> = {
  error(state, event) {
    state.error = event;
  },
  'response.created'(state, event) {
    state.created = responseOf(event, 'in_progress');
  },
  'response.in_progress'(state, event) {
    if (state.progressed) throw new Error('a second response.in_progress');
    state.progressed = true;
    expectSame(responseOf(event, 'in_progress'), state.created, 'response.in_progress');
  },
  'response.completed': end,
  'response.incomplete': end,
  'response.failed': end,
  'response.output_item.added'(state, event) {
    const item = event['item'] as Fields;
    if (event['output_index'] !== state.items.length) throw new Error('an item out of place');
    const type = String(item['type']);
    // Of what has no end of its own, only one is under way.
    const isSpoken = type === 'message' || type === 'reasoning';
    if (state.items.some((other) => other.done === undefined && isSpokenType(other.type))) {
      throw new Error(`${type} begins inside another item${isSpoken ? '' : ' that is spoken'}`);
    }
    if (state.items.some((other) => other.id === item['id'])) throw new Error('an item id is used twice');
    checkFresh(item);
    state.items.push({ id: String(item['id']), type, parts: [], text: '', said: undefined, done: undefined });
  },
  'response.output_item.done'(state, event) {
    const item = openItem(state, event, false);
    const done = event['item'] as Fields;
    if (done['id'] !== item.id || done['type'] !== item.type) throw new Error('another item is done than was added');
    if (item.parts.some((part) => part.isOpen)) throw new Error('an item is done with an open part');
    checkDone(item, done);
    item.done = done;
  },
  'response.content_part.added': (state, event) => addPart(openItem(state, event), event, 'content_index'),
  'response.content_part.done': (state, event) => endPart(openItem(state, event), event, 'content_index'),
  'response.output_text.delta': (state, event) =>
    addDelta(openItem(state, event), event, 'output_text', event['delta']),
  'response.output_text.done': (state, event) => checkSaid(openItem(state, event), event['text']),
  'response.refusal.delta': (state, event) => addDelta(openItem(state, event), event, 'refusal', event['delta']),
  'response.refusal.done': (state, event) => checkSaid(openItem(state, event), event['refusal']),
  'response.reasoning_summary_part.added': (state, event) => addPart(openItem(state, event), event, 'summary_index'),
  'response.reasoning_summary_part.done': (state, event) => endPart(openItem(state, event), event, 'summary_index'),
  'response.reasoning_summary_text.delta': (state, event) =>
    addDelta(openItem(state, event), event, 'summary_text', event['delta']),
  'response.reasoning_summary_text.done': (state, event) => checkSaid(openItem(state, event), event['text']),
  'response.function_call_arguments.delta': (state, event) => addInput(openItem(state, event), 'function_call', event),
  'response.function_call_arguments.done': (state, event) =>
    endInput(openItem(state, event), 'function_call', event['arguments']),
  'response.custom_tool_call_input.delta': (state, event) =>
    addInput(openItem(state, event), 'custom_tool_call', event),
  'response.custom_tool_call_input.done': (state, event) =>
    endInput(openItem(state, event), 'custom_tool_call', event['input']),
};

function isSpokenType(type: string): boolean {
  return type === 'message' || type === 'reasoning';
}

function responseOf(event: Fields, status: string): Fields {
  const response = event['response'] as Fields;
  if (response['object'] !== 'response' || response['status'] !== status) throw new Error(`not a ${status} response`);
  return response;
}

function end(state: State, event: Fields): void {
  const type = String(event['type']);
  const response = responseOf(event, type.slice('response.'.length));
  if (state.created !== undefined && response['id'] !== state.created['id']) throw new Error('another response ends');
  if (type !== 'response.failed') {
    if (state.items.some((item) => item.done === undefined)) throw new Error(`${type} while an item is open`);
    expectSame(
      response['output'],
      state.items.map((item) => item.done),
      'output',
    );
    if (typeof (response['usage'] as Fields | null)?.['total_tokens'] !== 'number') throw new Error('no usage');
  }
  if ((response['error'] !== null) !== (type === 'response.failed')) throw new Error(`${type} with a wrong error`);
  state.last = response;
  state.isOver = ENDS.has(type);
}

function openItem(state: State, event: Fields, named = true): Item {
  const item = state.items[Number(event['output_index'])];
  if (item === undefined || item.done !== undefined) throw new Error(`${String(event['type'])} for no open item`);
  if (named && event['item_id'] !== item.id) throw new Error(`${String(event['type'])} names another item`);
  return item;
}

function checkFresh(item: Fields): void {
  const list = item['type'] === 'reasoning' ? item['summary'] : (item['content'] ?? []);
  if (JSON.stringify(list) !== '[]') throw new Error('an item that starts with content');
  if (item['type'] !== 'reasoning' && item['status'] !== 'in_progress') throw new Error('an item not in progress');
  if (item['type'] === 'function_call' && item['arguments'] !== '')
    throw new Error('a call that starts with arguments');
  if (item['type'] === 'custom_tool_call' && item['input'] !== '') throw new Error('a call that starts with input');
  if (!isSpokenType(String(item['type'])) && (item['call_id'] === '' || item['name'] === '')) {
    throw new Error('a call without id or name');
  }
}

function addPart(item: Item, event: Fields, indexName: string): void {
  if (event[indexName] !== item.parts.length) throw new Error(`${indexName} leaves a gap`);
  if (item.parts.some((part) => part.isOpen)) throw new Error('two parts are open');
  const part = event['part'] as Fields;
  if ((part['text'] ?? part['refusal']) !== '') throw new Error('a part that starts with text');
  item.parts.push({ type: String(part['type']), text: '', isOpen: true });
}

function addDelta(item: Item, event: Fields, type: string, delta: unknown): void {
  const part = item.parts.at(-1);
  const index = event['content_index'] ?? event['summary_index'];
  if (!part?.isOpen || part.type !== type || index !== item.parts.length - 1) throw new Error(`a delta for no ${type}`);
  if (typeof delta !== 'string' || delta === '') throw new Error('an empty delta');
  part.text += delta;
}

function checkSaid(item: Item, said: unknown): void {
  if (item.parts.at(-1)?.text !== said) throw new Error('another text is done than was sent');
  item.said = String(said);
}

function endPart(item: Item, event: Fields, indexName: string): void {
  const part = item.parts.at(-1);
  const given = event['part'] as Fields;
  const text = given['text'] ?? given['refusal'];
  if (!part?.isOpen || event[indexName] !== item.parts.length - 1) throw new Error('a part that is not open ends');
  if (given['type'] !== part.type || text !== part.text || item.said !== text) throw new Error('another part is done');
  if (text === '') throw new Error('an empty part');
  part.isOpen = false;
}

function addInput(item: Item, type: string, event: Fields): void {
  if (item.type !== type || item.said !== undefined) throw new Error(`arguments for no ${type}`);
  if (typeof event['delta'] !== 'string' || event['delta'] === '') throw new Error('an empty delta');
  item.text += event['delta'];
}

function endInput(item: Item, type: string, text: unknown): void {
  if (item.type !== type || text !== item.text) throw new Error('other arguments are done than were sent');
  item.said = item.text;
}

function checkDone(item: Item, done: Fields): void {
  if (item.type === 'message' || item.type === 'reasoning') {
    const list = (item.type === 'message' ? done['content'] : done['summary']) as Fields[];
    const texts = list.map((part) => [part['type'], part['text'] ?? part['refusal']]);
    expectSame(
      texts,
      item.parts.map((part) => [part.type, part.text]),
      'content',
    );
    if (item.type === 'message' && list.length === 0) throw new Error('an empty message');
    if (item.type === 'reasoning' && list.length === 0 && done['encrypted_content'] === undefined) {
      throw new Error('an empty reasoning item');
    }
  } else if (item.said === undefined || (done['arguments'] ?? done['input']) !== item.said) {
    throw new Error('a call is done before its arguments');
  }
  if (item.type !== 'reasoning' && !['completed', 'incomplete'].includes(String(done['status']))) {
    throw new Error('an item is done without a status');
  }
}

function expectSame(given: unknown, expected: unknown, what: string): void {
  if (!isDeepStrictEqual(given, expected)) throw new Error(`${what} differs: ${JSON.stringify(given)}`);
}

// Checks that a Chat stream keeps what the strict `.stream()` helpers of the SDKs ask for, and puts the answer together.

type Fields = Record<string, unknown>;
type CollectedCall = { readonly id: string; readonly name: string; arguments: string };
type CollectedChoice = {
  readonly role: string;
  content: string;
  finish: string | undefined;
  readonly calls: (CollectedCall | Fields)[];
};
type CollectedChat = {
  readonly choices: ReadonlyMap<number, CollectedChoice>;
  readonly usage: Fields | undefined;
  readonly error: Fields | undefined;
};

type State = { choices: Map<number, CollectedChoice>; usage?: Fields; error?: Fields; isDone: boolean };

/** Throws on the first frame a strict client would stumble over; `isWhole` asks for a good end. */
export function checkChat(text: string, isWhole: boolean): CollectedChat {
  const state: State = { choices: new Map(), isDone: false };
  for (const data of dataOf(text)) {
    if (state.isDone || state.error !== undefined) throw new Error(`${data} after the end`);
    if (data === '[DONE]') state.isDone = true;
    else checkChunk(state, JSON.parse(data) as Fields);
  }
  if (isWhole) checkEnd(state);
  if (!isWhole && state.isDone) checkEnd(state);
  return { choices: state.choices, usage: state.usage, error: state.error };
}

/** Every frame is one comment or one `data:` line, and a blank line. */
function dataOf(text: string): string[] {
  if (text === '') return [];
  if (!text.endsWith('\n\n')) throw new Error('the stream does not end with a blank line');
  const data: string[] = [];
  for (const frame of text.slice(0, -2).split('\n\n')) {
    if (/[\n\r]/.test(frame)) throw new Error(`not one line: ${JSON.stringify(frame)}`);
    if (frame.startsWith(': ')) continue;
    if (!/^data: \S/.test(frame)) throw new Error(`not a frame: ${JSON.stringify(frame)}`);
    data.push(frame.slice('data: '.length));
  }
  return data;
}

function checkEnd(state: State): void {
  if (!state.isDone || state.error !== undefined) throw new Error('the stream has no good end');
  if (state.choices.size === 0) throw new Error('a good end without a choice');
  for (const [index, { finish }] of state.choices) {
    if (finish === undefined) throw new Error(`choice ${index} has no finish reason`);
  }
}

function checkChunk(state: State, chunk: Fields): void {
  if (chunk['error'] !== undefined && chunk['choices'] === undefined) {
    checkError(chunk);
    state.error = chunk['error'] as Fields;
    return;
  }
  for (const key of ['id', 'object', 'model']) expectType(chunk, key, 'string');
  expectType(chunk, 'created', 'number');
  if (!Array.isArray(chunk['choices'])) throw new Error('choices is not an array');
  const usage = chunk['usage'];
  if (usage !== undefined && usage !== null) {
    if (typeof usage !== 'object' || Array.isArray(usage)) throw new Error('usage is not an object');
    state.usage = usage as Fields;
  }
  for (const choice of chunk['choices'] as unknown[]) checkChoice(state, asObject(choice, 'a choice'));
}

/** With a `choices` beside it, some clients overlook an error. */
function checkError(chunk: Fields): void {
  if (Object.keys(chunk).join() !== 'error') throw new Error('an error with other keys beside it');
  const error = asObject(chunk['error'], 'an error');
  for (const key of ['code', 'message', 'type']) expectType(error, key, 'string');
  expectType(error, 'retryable', 'boolean');
}

function checkChoice(state: State, choice: Fields): void {
  const index = choice['index'];
  if (typeof index !== 'number' || !Number.isInteger(index) || index < 0) throw new Error(`index ${String(index)}`);
  const delta = asObject(choice['delta'], 'a delta');
  const known = state.choices.get(index) ?? startChoice(delta);
  state.choices.set(index, known);
  if (typeof delta['content'] === 'string') known.content += delta['content'];
  const finish = choice['finish_reason'] ?? undefined;
  if (finish !== undefined && typeof finish !== 'string') throw new Error('an odd finish reason');
  if (finish === 'error' || finish === '') throw new Error(`${JSON.stringify(finish)} reads as an end`);
  known.finish = finish ?? known.finish;
  const calls = delta['tool_calls'] ?? [];
  if (!Array.isArray(calls)) throw new Error('tool_calls is not an array');
  for (const call of calls as unknown[]) checkCall(known, asObject(call, 'a tool call'));
}

function startChoice(delta: Fields): CollectedChoice {
  if (typeof delta['role'] !== 'string') throw new Error('the first delta has no role');
  return { role: delta['role'], content: '', finish: undefined, calls: [] };
}

function checkCall(choice: CollectedChoice, call: Fields): void {
  const index = Number(call['index']);
  const known = choice.calls[index];
  if (known === undefined) {
    if (index !== choice.calls.length) throw new Error(`tool index ${index} leaves a gap`);
    choice.calls.push(startCall(call));
    return;
  }
  if (!('arguments' in known)) return;
  const named = call['function'] === undefined ? {} : asObject(call['function'], 'a function');
  for (const repeat of [call['id'], call['type'], named['name']]) {
    if (repeat !== undefined) throw new Error(`${String(repeat)} is repeated`);
  }
  const text = named['arguments'] ?? '';
  if (typeof text !== 'string') throw new Error('arguments are no text');
  known.arguments += text;
}

function startCall(call: Fields): CollectedCall | Fields {
  expectType(call, 'id', 'string');
  expectType(call, 'type', 'string');
  if (call['id'] === '') throw new Error('a call without an id');
  if (call['type'] !== 'function') return call;
  const named = asObject(call['function'], 'a function');
  expectType(named, 'name', 'string');
  expectType(named, 'arguments', 'string');
  if (named['name'] === '') throw new Error('a call without a name');
  return { id: String(call['id']), name: String(named['name']), arguments: String(named['arguments']) };
}

function expectType(fields: Fields, key: string, type: string): void {
  if (typeof fields[key] !== type) throw new Error(`${key} is ${JSON.stringify(fields[key])}, not a ${type}`);
}

function asObject(value: unknown, what: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`${what} is no object`);
  return value as Fields;
}

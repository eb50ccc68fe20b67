// What the classifier gets to read of a request.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CONTEXT_CHARS,
  type CodeBuffer,
  createTurnBuffers,
  HEAD_CHARS,
  readLastTurn,
  TAIL_CHARS,
} from '../../src/routing/last-turn.ts';
import type { ContentPart, NeutralMessage, NeutralRequest } from '../../src/wire/neutral.ts';

const image: ContentPart = { type: 'image', mediaType: 'image/png', data: 'AAAA' };
const text = (value: string): ContentPart => ({ type: 'text', text: value });
const user = (...content: ContentPart[]): NeutralMessage => ({ role: 'user', content });
const assistant = (value: string): NeutralMessage => ({ role: 'assistant', content: [text(value)] });
const called: NeutralMessage = {
  role: 'assistant',
  content: [{ type: 'tool_call', id: 'c1', name: 'search', arguments: '{}' }],
};
const result = (...content: ContentPart[]): NeutralMessage => ({
  role: 'tool',
  toolCallId: 'c1',
  isError: false,
  content,
});

function request(messages: readonly NeutralMessage[], more: Partial<NeutralRequest> = {}): NeutralRequest {
  const base = {
    dialect: 'chat',
    model: 'svc:auto',
    tools: [],
    stream: false,
    includeUsage: false,
    choices: 1,
  } as const;
  return { ...base, messages, ...more };
}

function read(messages: readonly NeutralMessage[], more: Partial<NeutralRequest> = {}) {
  return readLastTurn(request(messages, more), createTurnBuffers());
}

function textOf(buffer: CodeBuffer): string {
  return String.fromCharCode(...buffer.codes.subarray(0, buffer.length));
}

describe('the text of the last turn', () => {
  it.each<[string, readonly NeutralMessage[], string]>([
    ['is the only user message', [user(text('hello'))], 'hello'],
    ['is the last of several', [user(text('one')), assistant('two'), user(text('three'))], 'three'],
    ['joins its parts with a line break', [user(text('a'), text('b'))], 'a\nb'],
    ['leaves out machine-made notes', [user(text('<system-reminder>x</system-reminder>'), text('fix it'))], 'fix it'],
    ['is the note where nothing else is there', [user(text('<system-reminder>x'))], '<system-reminder>x'],
    ['is the words before a bare image', [user(text('see this')), user(image)], 'see this'],
    ['is empty for a bare image after an answer', [user(text('old')), assistant('ok'), user(image)], ''],
    ['is the task while a tool loop goes on', [user(text('find it')), called, result(text('found'))], 'find it'],
    ['is empty where no user speaks', [assistant('hi')], ''],
    ['is empty without messages', [], ''],
  ])('%s', (_name, messages, expected) => {
    expect(textOf(read(messages).text)).toBe(expected);
  });

  it('keeps the beginning and the end of a long prompt', () => {
    const turn = read([user(text(`BEGIN ${'x'.repeat(400_000)} END`))]);
    const sampled = textOf(turn.text);
    expect(sampled.startsWith('BEGIN x')).toBe(true);
    expect(sampled.endsWith('x END')).toBe(true);
    expect(sampled).toHaveLength(HEAD_CHARS + TAIL_CHARS + 1);
    expect(turn.textLength).toBe(400_010);
  });

  it('finds the question behind many pasted parts', () => {
    const pastes = Array.from({ length: 50 }, (_, index) => text(`file ${index} `.repeat(40)));
    const sampled = textOf(read([user(...pastes, text('what is wrong here?'))]).text);
    expect(sampled.startsWith('file 0')).toBe(true);
    expect(sampled.endsWith('\nwhat is wrong here?')).toBe(true);
  });

  it('never outgrows its buffer, whatever the parts', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string(), fc.integer({ min: 0, max: 300 })), { maxLength: 30 }), (pieces) => {
        const texts = pieces.map(([piece, times]) => piece.repeat(times));
        const whole = texts.join('\n');
        const turn = read([user(...texts.map(text))]);
        const sampled = textOf(turn.text);
        if (whole.startsWith('<system-reminder>')) return;
        expect(turn.textLength).toBe(whole.length);
        if (whole.length <= HEAD_CHARS + TAIL_CHARS) expect(sampled).toBe(whole);
        else expect(sampled).toBe(`${whole.slice(0, HEAD_CHARS)}\n${whole.slice(-TAIL_CHARS)}`);
      }),
    );
  });

  it('forgets the request before', () => {
    const buffers = createTurnBuffers();
    readLastTurn(request([{ role: 'system', content: [text('be brief')] }, user(text('a long question'))]), buffers);
    const turn = readLastTurn(request([user(text('hi'))]), buffers);
    expect([textOf(turn.text), textOf(turn.system), textOf(turn.previousUser)]).toEqual(['hi', '', '']);
  });
});

describe('what surrounds the last turn', () => {
  it('keeps the head of the previous user turn and of the system prompt', () => {
    const system: NeutralMessage = { role: 'system', content: [text('s'.repeat(5000))] };
    const turn = read([system, user(text('first')), assistant('answer'), user(text('and then?'))]);
    expect(textOf(turn.previousUser)).toBe('first\n');
    expect(turn.system.length).toBe(CONTEXT_CHARS);
    expect(turn.turns).toBe(2);
  });

  it.each<[string, readonly NeutralMessage[], string]>([
    ['nothing', [user(text('x'))], 'none'],
    ['an answer', [user(text('x')), assistant('It is so.'), user(text('y'))], 'text'],
    ['code', [user(text('x')), assistant('```js\n1\n```'), user(text('y'))], 'code'],
    ['a question back', [user(text('x')), assistant('Which one?**'), user(text('y'))], 'question'],
    ['a tool call', [user(text('x')), called, user(text('y'))], 'tool_call'],
    ['a tool result', [user(text('x')), called, result(text('z')), user(text('y'))], 'tool_call'],
  ])('knows that %s came before', (_name, messages, expected) => {
    expect(read(messages).previous).toBe(expected);
  });

  it.each<[string, readonly NeutralMessage[], { toolLoop: boolean; afterTool: boolean }]>([
    ['a tool result at the end', [user(text('x')), called, result(text('z'))], { toolLoop: true, afterTool: false }],
    [
      'only notes behind a tool result',
      [user(text('x')), called, result(text('z')), user(text('<system-reminder>n'))],
      { toolLoop: true, afterTool: true },
    ],
    [
      'only a screenshot behind a tool result',
      [user(text('x')), called, result(text('z')), user(image)],
      { toolLoop: true, afterTool: true },
    ],
    [
      'words behind a tool result',
      [user(text('x')), called, result(text('z')), user(text('stop'))],
      { toolLoop: false, afterTool: true },
    ],
    [
      'an answer in between',
      [user(text('x')), called, result(text('z')), assistant('done'), user(text('thanks'))],
      { toolLoop: false, afterTool: false },
    ],
  ])('tells a tool loop from its end: %s', (_name, messages, expected) => {
    expect(read(messages)).toMatchObject(expected);
  });

  it.each<[string, readonly NeutralMessage[], { imageInLast: boolean; imageAnywhere: boolean }]>([
    ['no image', [user(text('x'))], { imageInLast: false, imageAnywhere: false }],
    ['one in the last turn', [user(image, text('x'))], { imageInLast: true, imageAnywhere: true }],
    [
      'one long before',
      [user(image), assistant('a cat'), user(text('ok'))],
      { imageInLast: false, imageAnywhere: true },
    ],
    ['one in a tool result', [user(text('x')), called, result(image)], { imageInLast: false, imageAnywhere: true }],
  ])('sees images: %s', (_name, messages, expected) => {
    expect(read(messages)).toMatchObject(expected);
  });

  it('offers no tools when the choice of tools is none', () => {
    const tools = [{ name: 'search', description: 'Searches the web' }];
    expect(read([user(text('x'))], { tools })).toMatchObject({ toolCount: 1, toolForced: false });
    expect(read([user(text('x'))], { tools, toolChoice: { type: 'none' } }).toolCount).toBe(0);
    expect(read([user(text('x'))], { tools, toolChoice: { type: 'tool', name: 'search' } }).toolForced).toBe(true);
    expect(textOf(read([user(text('x'))], { tools }).tools)).toBe('search\nSearches the web\n');
  });

  it('bounds what it reads of a long list of tools', () => {
    const tools = Array.from({ length: 500 }, (_, index) => ({ name: `tool_${index}`, description: 'd'.repeat(5000) }));
    expect(read([user(text('x'))], { tools }).tools.length).toBeLessThanOrEqual(2000);
  });

  it('notes files and a wish for JSON', () => {
    const turn = read([user({ type: 'file', filename: 'a.pdf', data: 'AAAA' }, text('x'))], {
      responseFormat: { type: 'json_object' },
    });
    expect(turn).toMatchObject({ fileInLast: true, jsonAsked: true });
  });
});

// Lossless optimisation: what goes, what stays to the byte, and that twice is once.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJsonBody } from '../../src/wire/json-scan.ts';
import { dropJsonSpace, minifyJsonText, trimLineEnds } from '../../src/wire/lossless-text.ts';
import type { Dialect } from '../../src/wire/neutral.ts';
import { optimizeRequest } from '../../src/wire/optimize-request.ts';

const optimize = (text: string, dialect: Dialect = 'chat'): string => {
  const { body } = optimizeRequest(parseJsonBody(Buffer.from(text)), dialect);
  return Buffer.from(body.bytes).toString();
};

describe('a text', () => {
  it.each([
    ['loses blanks at a line’s end', 'a \nb\t\nc', 'a\nb\nc'],
    ['keeps a Markdown line break', 'a  \nb', 'a  \nb'],
    ['has a longer one made the usual two', 'a    \nb', 'a  \nb'],
    ['keeps a break after a tab', 'a\t  \nb', 'a  \nb'],
    ['loses blanks of an empty line', 'a\n  \nb', 'a\n\nb'],
    ['keeps its last line, which may go on', 'a \nb ', 'a\nb '],
    ['keeps carriage returns', 'a \r\nb', 'a\r\nb'],
    ['keeps code between fences', '```js \na \n``` \nb \nc', '```js \na \n``` \nb\nc'],
    ['keeps code between tildes', '~~~\na \n~~~\nb \nc', '~~~\na \n~~~\nb\nc'],
    ['keeps code in a fence that never ends', '```\na \nb \n', '```\na \nb \n'],
    ['closes no fence by a shorter one', '````\n```\na \n````\nb \n', '````\n```\na \n````\nb\n'],
    ['closes no fence by one further in', '```\n        ```\na \n```\nb \n', '```\n        ```\na \n```\nb\n'],
    ['closes no fence by one of the other kind', '```\n~~~\na \n```\n', '```\n~~~\na \n```\n'],
    ['opens no fence by code in a line', '```x``` y\nb \nc', '```x``` y\nb\nc'],
    ['keeps fenced code in a list', '- ```\n  a \n  ```\nb \n', '- ```\n  a \n  ```\nb\n'],
    ['keeps code by indentation', '    a \n\tb \nc \n', '    a \n\tb \nc\n'],
    ['keeps a patch whole', '@@ -1,2 +1,2 @@\n \n-a \n+b\n', '@@ -1,2 +1,2 @@\n \n-a \n+b\n'],
    ['keeps preformatted text', '<pre>\na \n</pre>\n', '<pre>\na \n</pre>\n'],
    ['with a carriage return by itself stays', 'a \r \nb', 'a \r \nb'],
    ['that has none stays', 'a\nb', 'a\nb'],
    ['that is empty stays', '', ''],
  ])('%s', (_name, text, expected) => {
    expect(trimLineEnds(text)).toBe(expected);
  });

  const lines = fc.array(
    fc.constantFrom('a', ' ', '\t', '  ', '```', '~~~', '\r', '\n', '\n', '- ', '> ', '`', '    '),
    {
      maxLength: 40,
    },
  );
  it('changed twice is as changed once, and loses nothing but blanks', () => {
    fc.assert(
      fc.property(lines, (pieces) => {
        const text = pieces.join('');
        const once = trimLineEnds(text);
        expect(trimLineEnds(once)).toBe(once);
        expect(once.replaceAll(/[ \t]/g, '')).toBe(text.replaceAll(/[ \t]/g, ''));
      }),
      { numRuns: 1000 },
    );
  });

  it('of many blanks takes linear time', () => {
    const started = performance.now();
    trimLineEnds(`${' '.repeat(500_000)}x${' \n'.repeat(200_000)}`);
    expect(performance.now() - started).toBeLessThan(1000);
  });
});

describe('JSON in a text', () => {
  it.each([
    ['loses white space between its marks', '{ "a" : [ 1 , 2 ] }\n', '{"a":[1,2]}'],
    ['keeps its numbers as written', '[ 1.0, 1e400, -0, 12345678901234567890 ]', '[1.0,1e400,-0,12345678901234567890]'],
    ['keeps duplicate keys and their order', '{ "b": 1, "a": 2, "b": 3 }', '{"b":1,"a":2,"b":3}'],
    ['keeps escapes and what is between quotes', '{ "a\\" b": "\\u00e9 \\/ \\\\" }', '{"a\\" b":"\\u00e9 \\/ \\\\"}'],
    ['that is a bare text stays', '"a  b" ', '"a  b" '],
    ['that is broken stays', '{ "a": }', '{ "a": }'],
    ['that goes on stays', '{ "a": 1 } { "b": 2 }', '{ "a": 1 } { "b": 2 }'],
    ['that is prose stays', '[ ] todo', '[ ] todo'],
    ['that is minified stays', '{"a":"b c"}', '{"a":"b c"}'],
  ])('%s', (_name, text, expected) => {
    expect(minifyJsonText(text)).toBe(expected);
  });

  it('means the same as before', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), fc.constantFrom(0, 1, 2, '\t'), (json, indent) => {
        const value: unknown = JSON.parse(json);
        const pretty = JSON.stringify(value, null, indent);
        expect(JSON.parse(dropJsonSpace(pretty))).toEqual(value);
        expect(dropJsonSpace(pretty)).toBe(JSON.stringify(value));
        expect(minifyJsonText(minifyJsonText(pretty))).toBe(minifyJsonText(pretty));
      }),
    );
  });
});

const PRETTY = '{ \\"a\\": 1.0 }';
const MINI = '{\\"a\\":1.0}';

describe('a request', () => {
  it.each<[string, Dialect, string, string]>([
    [
      'a tool’s answer',
      'chat',
      `{"messages":[{"role":"tool","content":"${PRETTY}"}]}`,
      `{"messages":[{"role":"tool","content":"${MINI}"}]}`,
    ],
    [
      'a tool’s answer in parts',
      'chat',
      `{"messages":[{"role":"tool","content":[{"type":"text","text":"${PRETTY}"}]}]}`,
      `{"messages":[{"role":"tool","content":[{"type":"text","text":"${MINI}"}]}]}`,
    ],
    [
      'a tool_result',
      'messages',
      `{"messages":[{"role":"user","content":[{"type":"tool_result","content":"${PRETTY}"}]}]}`,
      `{"messages":[{"role":"user","content":[{"type":"tool_result","content":"${MINI}"}]}]}`,
    ],
    [
      'the blocks of a tool_result',
      'messages',
      `{"messages":[{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"${PRETTY}"}]}]}]}`,
      `{"messages":[{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"${MINI}"}]}]}]}`,
    ],
    [
      'a function_call_output',
      'responses',
      `{"input":[{"type":"function_call_output","output":"${PRETTY}"}]}`,
      `{"input":[{"type":"function_call_output","output":"${MINI}"}]}`,
    ],
    [
      'a schema of Chat',
      'chat',
      '{"tools":[ {"function": {"parameters":{ "a" : "b c" } }}]}',
      '{"tools":[ {"function": {"parameters":{"a":"b c"} }}]}',
    ],
    [
      'a schema of Messages',
      'messages',
      '{"tools":[{"name":"x", "input_schema":{ "a" : 1.0 }}]}',
      '{"tools":[{"name":"x", "input_schema":{"a":1.0}}]}',
    ],
    [
      'a schema of Responses',
      'responses',
      '{"tools":[{"type":"function", "parameters":{ "a" : 1 }}]}',
      '{"tools":[{"type":"function", "parameters":{"a":1}}]}',
    ],
    [
      'what the user says',
      'chat',
      '{"messages":[{"role":"user","content":"a \\nb"}]}',
      '{"messages":[{"role":"user","content":"a\\nb"}]}',
    ],
    [
      'what the developer says',
      'chat',
      '{"messages":[{"role":"developer","content":"a \\nb"}]}',
      '{"messages":[{"role":"developer","content":"a\\nb"}]}',
    ],
    ['a system text', 'messages', '{"system":"a \\nb"}', '{"system":"a\\nb"}'],
    [
      'system blocks',
      'messages',
      '{"system":[{"type":"text","text":"a \\nb","cache_control":{"type":"ephemeral"}}]}',
      '{"system":[{"type":"text","text":"a\\nb","cache_control":{"type":"ephemeral"}}]}',
    ],
    [
      'instructions',
      'responses',
      '{"instructions":"a \\nb","input":"c \\nd"}',
      '{"instructions":"a\\nb","input":"c\\nd"}',
    ],
    [
      'input parts',
      'responses',
      '{"input":[{"role":"user","content":[{"type":"input_text","text":"a \\nb"}]}]}',
      '{"input":[{"role":"user","content":[{"type":"input_text","text":"a\\nb"}]}]}',
    ],
    [
      'a system block that comes again',
      'messages',
      '{"system":[{"type":"text","text":"a"}, {"type":"text","text":"b"},\n {"text":"a", "type":"text"}, {"type":"text","text":"a"}]}',
      '{"system":[{"type":"text","text":"a"}, {"type":"text","text":"b"},\n {"text":"a", "type":"text"}]}',
    ],
    [
      'a system block that differs by blanks alone',
      'messages',
      '{"system":[{"type":"text","text":"a\\nb"},{"type":"text","text":"a \\nb"},{"type":"text","text":"c"}]}',
      '{"system":[{"type":"text","text":"a\\nb"},{"type":"text","text":"c"}]}',
    ],
    [
      'a system message that comes again',
      'chat',
      '{"messages":[{"role":"system","content":"a"},{"role":"system","content":"a"},{"role":"user","content":"a"}]}',
      '{"messages":[{"role":"system","content":"a"},{"role":"user","content":"a"}]}',
    ],
  ])('loses what means nothing in %s', (_name, dialect, text, expected) => {
    expect(optimize(text, dialect)).toBe(expected);
    expect(optimize(expected, dialect)).toBe(expected);
  });

  it.each<[string, Dialect, string]>([
    ['the model’s own words', 'chat', '{"messages":[{"role":"assistant","content":"a \\nb"}]}'],
    [
      'a call’s arguments',
      'chat',
      `{"messages":[{"role":"assistant","tool_calls":[{"function":{"arguments":"${PRETTY}"}}]}]}`,
    ],
    [
      'thinking and tool_use',
      'messages',
      `{"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"a \\nb","signature":"x \\ny"},{"type":"tool_use","input":{ "a": "b \\nc" }}]}]}`,
    ],
    [
      'images',
      'messages',
      '{"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","data":"a \\nb"}}]}]}',
    ],
    [
      'a text document',
      'messages',
      '{"messages":[{"role":"user","content":[{"type":"document","source":{"type":"text","data":"a \\nb"}}]}]}',
    ],
    ['JSON that the user wrote', 'chat', `{"messages":[{"role":"user","content":"${PRETTY}"}]}`],
    ['a tool’s answer that is no JSON', 'chat', '{"messages":[{"role":"tool","content":"a \\nb "}]}'],
    [
      'a cache mark on a block that comes again',
      'messages',
      '{"system":[{"type":"text","text":"a","cache_control":{}},{"type":"text","text":"a","cache_control":{}}]}',
    ],
    [
      'a block that carries a mark where the first has none',
      'messages',
      '{"system":[{"type":"text","text":"a"},{"type":"text","text":"a","cache_control":{}}]}',
    ],
    [
      'a system message that comes again later on',
      'chat',
      '{"messages":[{"role":"system","content":"a"},{"role":"user","content":"b"},{"role":"system","content":"a"}]}',
    ],
    [
      'user messages that come again',
      'chat',
      '{"messages":[{"role":"user","content":"a"},{"role":"user","content":"a"}]}',
    ],
    ['a message that names a key twice', 'chat', '{"messages":[{"role":"user","role":"user","content":"a \\nb"}]}'],
    ['other fields', 'chat', '{"metadata":{ "content": "a \\nb" }, "stop":"a \\nb", "messages":[]}'],
    ['another dialect’s fields', 'chat', '{"system":"a \\nb","instructions":"a \\nb","messages":[]}'],
    ['what is no such thing', 'chat', '{"messages":{"role":"tool"},"tools":[1,null,[ ]]}'],
  ])('keeps %s to the byte', (_name, dialect, text) => {
    const body = parseJsonBody(Buffer.from(text));
    const result = optimizeRequest(body, dialect);
    expect(result).toEqual({ body, tokensSaved: 0 });
    expect(result.body).toBe(body);
  });

  it('says about how many tokens are gone', () => {
    const rows = Array.from({ length: 100 }, (_each, id) => ({ id, name: `row ${id}`, tags: ['a', 'b'] }));
    const content = JSON.stringify(rows, null, 4);
    const text = JSON.stringify({ messages: [{ role: 'tool', content }] });
    const { tokensSaved } = optimizeRequest(parseJsonBody(Buffer.from(text)), 'chat');
    // Counted with o200k: 3,502 tokens before, 1,702 after.
    expect(tokensSaved).toBeGreaterThan(1620);
    expect(tokensSaved).toBeLessThan(1980);
  });
});

/** Texts that have something to lose. */
const loose = fc
  .array(fc.constantFrom('word', ' ', '\n', '\t', '```\n', '{ "a": [ 1 ] }', 'é', '"', '\\', '  \n'), { maxLength: 12 })
  .map((pieces) => pieces.join(''));
const pretty = fc.json({ maxDepth: 3 }).map((json) => JSON.stringify(JSON.parse(json), null, 2));
const mark = fc.option(fc.constant({ type: 'ephemeral' }), { nil: undefined });
const textBlock = fc.record({ type: fc.constant('text'), text: loose, cache_control: mark });
const userBlock = fc.oneof(
  textBlock,
  fc.record({ type: fc.constant('tool_result'), tool_use_id: fc.string(), content: fc.oneof(pretty, loose) }),
  fc.record({ type: fc.constant('image'), source: fc.record({ data: loose }) }),
);
const assistantBlock = fc.oneof(
  textBlock,
  fc.record({ type: fc.constant('thinking'), thinking: loose, signature: loose }),
  fc.record({ type: fc.constant('tool_use'), input: fc.dictionary(fc.string(), loose) }),
);
const messagesRequest = fc.record({
  model: fc.string(),
  system: fc.array(textBlock, { maxLength: 4 }),
  messages: fc.array(
    fc.oneof(
      fc.record({ role: fc.constant('user'), content: fc.array(userBlock, { maxLength: 3 }) }),
      fc.record({ role: fc.constant('assistant'), content: fc.array(assistantBlock, { maxLength: 3 }) }),
    ),
    { maxLength: 4 },
  ),
  tools: fc.array(fc.record({ name: fc.string(), input_schema: fc.dictionary(fc.string(), fc.jsonValue()) }), {
    maxLength: 2,
  }),
  metadata: fc.record({ user_id: loose }),
});

type Block = { type: string; text?: string; content?: string; cache_control?: unknown };
type Request = {
  system: Block[];
  messages: { role: string; content: Block[] }[];
};

/** The request with every changed place made equal, so that all else can be compared. */
function levelled(text: string): unknown {
  const request = JSON.parse(text) as Request;
  const squash = (each: string | undefined): string => (each ?? '').replaceAll(/\s/g, '');
  const seen = new Set<string>();
  request.system = request.system
    .map((block) => ({ ...block, text: squash(block.text) }))
    .filter((block) => {
      const key = JSON.stringify(block);
      const again = seen.has(key) && block.cache_control === undefined;
      seen.add(key);
      return !again;
    });
  for (const { role, content } of request.messages) {
    if (role !== 'user') continue;
    for (const block of content) {
      if (block.type === 'text') block.text = squash(block.text);
      if (block.type === 'tool_result') block.content = squash(block.content);
    }
  }
  return request;
}

describe('any request', () => {
  it('changes in the allowed places alone, keeps every cache mark, and twice is once', () => {
    fc.assert(
      fc.property(messagesRequest, fc.constantFrom(0, 2), (request, indent) => {
        const text = JSON.stringify(request, null, indent);
        const once = optimize(text, 'messages');
        expect(levelled(once)).toEqual(levelled(text));
        expect(once.split('"cache_control"').length).toBe(text.split('"cache_control"').length);
        expect(optimize(once, 'messages')).toBe(once);
      }),
      { numRuns: 500 },
    );
  });
});

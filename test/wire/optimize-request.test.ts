// Lossless optimisation: what goes, what stays to the byte, and that twice is once.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJsonBody } from '../../src/wire/json-scan.ts';
import { dropJsonSpace, minifyJsonText } from '../../src/wire/lossless-text.ts';
import type { Dialect } from '../../src/wire/neutral.ts';
import { OPTIMIZE_MAX_BYTES, OPTIMIZE_MAX_SPANS, optimizeRequest } from '../../src/wire/optimize-request.ts';

const optimize = (text: string, dialect: Dialect = 'chat'): string => {
  const { body } = optimizeRequest(parseJsonBody(Buffer.from(text)), dialect);
  return Buffer.from(body.bytes).toString();
};

/** Texts in which white space at line ends means something, or may. */
const LINE_ENDS = [
  ['a table with tabs, the last column empty', 'id\tname\tnote\n1\tAda\t\n2\tBob\t\t\n'],
  ['a patch of an agent', '*** Begin Patch\n*** Update File: a.md\n@@\n \n-a \n+b  \n*** End Patch\n'],
  ['a hunk', '@@ -1,2 +1,2 @@\n \n-a \n+b\n'],
  ['code in markup', '<code>a \nb   \n</code>\n'],
  ['code without a fence', 'x = """a \nb   \n"""\n'],
  ['fenced code', '```\na \n```\n'],
  ['the mark of a mail signature', 'Bye\n-- \nAda\n'],
  ['a Markdown line break', 'a  \nb\n'],
  ['a column of fixed width', 'Ada       \nBob       \n'],
  ['many blanks', `a${' '.repeat(50)}\n   \nb`],
] as const;

describe('line ends', () => {
  it.each(LINE_ENDS)('of %s stay, whoever says it', (_name, text) => {
    const parts = [{ type: 'text', text }];
    const chat = ['system', 'developer', 'user', 'tool', 'assistant'].flatMap((role) => [
      { role, content: text },
      { role, content: parts },
    ]);
    const system = [...parts, { type: 'text', text: 'b' }];
    const result = { type: 'tool_result', tool_use_id: 'a', content: text };
    const user = { role: 'user', content: [...parts, result] };
    const input = [...chat, { type: 'function_call_output', output: text }];
    for (const [dialect, body] of [
      ['chat', { messages: chat.slice(2) }],
      ['messages', { system, messages: [user] }],
      ['messages', { system: text, messages: [{ role: 'user', content: text }] }],
      ['responses', { instructions: text, input }],
      ['responses', { instructions: text, input: text }],
    ] as const) {
      expect(optimize(JSON.stringify(body), dialect)).toBe(JSON.stringify(body));
    }
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
      'a system block that comes again',
      'messages',
      '{"system":[{"type":"text","text":"a"}, {"type":"text","text":"b"},\n {"text":"a", "type":"text"}, {"type":"text","text":"a"}]}',
      '{"system":[{"type":"text","text":"a"}, {"type":"text","text":"b"},\n {"text":"a", "type":"text"}]}',
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
    [
      'a system block that differs by blanks alone',
      'messages',
      '{"system":[{"type":"text","text":"a\\nb"},{"type":"text","text":"a \\nb"}]}',
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
  request.system = request.system.filter((block) => {
    const key = JSON.stringify(block);
    const again = seen.has(key) && block.cache_control === undefined;
    seen.add(key);
    return !again;
  });
  for (const { role, content } of request.messages) {
    if (role !== 'user') continue;
    for (const block of content) {
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

describe('the work is bounded', () => {
  const spaced = JSON.stringify(JSON.stringify([1, 2], null, 2));
  const tool = `{"role":"tool","content":${spaced}}`;
  const body = (items: readonly string[]) => parseJsonBody(Buffer.from(`{"messages":[${items.join(',')}]}`));

  it('a body of the greatest length is worked on, one a byte longer is not', () => {
    const rest = body([tool, '{"role":"user","content":""}']).bytes.length;
    const filled = (length: number) => body([tool, `{"role":"user","content":"${'x'.repeat(length - rest)}"}`]);
    const [fits, over] = [filled(OPTIMIZE_MAX_BYTES), filled(OPTIMIZE_MAX_BYTES + 1)];
    expect(fits.bytes.length).toBe(OPTIMIZE_MAX_BYTES);
    expect(optimizeRequest(fits, 'chat').tokensSaved).toBeGreaterThan(0);
    expect(optimizeRequest(over, 'chat').body).toBe(over);
  });

  it.each<[string, Dialect, (count: number) => string]>([
    ['messages', 'chat', (count) => `{"messages":[${tool}${`,${tool}`.repeat(count)}]}`],
    ['system blocks', 'messages', (count) => `{"system":[${'{"type":"text","text":"a"},'.repeat(count)}{}]}`],
    [
      'input items',
      'responses',
      (count) => `{"input":[${'{"type":"function_call_output","output":"[ 1 ]"},'.repeat(count)}{}]}`,
    ],
    ['tools', 'chat', (count) => `{"tools":[${'{"parameters":{ "a": 1 }},'.repeat(count)}{}]}`],
    [
      'parts',
      'messages',
      (count) =>
        `{"messages":[{"role":"user","content":[{"type":"tool_result","content":"[ 1 ]"}${',{}'.repeat(count)}]}]}`,
    ],
  ])('a body of too many %s goes as it came', (_name, dialect, make) => {
    const few = parseJsonBody(Buffer.from(make(100)));
    expect(optimizeRequest(few, dialect).body).not.toBe(few);
    const many = parseJsonBody(Buffer.from(make(OPTIMIZE_MAX_SPANS)));
    expect(optimizeRequest(many, dialect)).toEqual({ body: many, tokensSaved: 0 });
  });

  it('a message of very many fields is left alone', () => {
    const fields = Array.from({ length: 1001 }, (_each, at) => `"k${at}":0`).join(',');
    const crowded = body([`{"role":"tool","content":${spaced},${fields}}`]);
    expect(optimizeRequest(crowded, 'chat').body).toBe(crowded);
  });
});

// What a request needs, and how well its length is guessed.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimateTextTokens } from '../../src/routing/estimate-tokens.ts';
import { needsOf } from '../../src/routing/needs.ts';
import type { NeutralMessage, NeutralRequest } from '../../src/wire/neutral.ts';
import { request } from './routing-samples.ts';

const IMAGE = { type: 'image', url: 'https://example.test/cat.png' } as const;
const user = (text: string): NeutralMessage => ({ role: 'user', content: [{ type: 'text', text }] });
const tokensOf = (...messages: NeutralMessage[]): number => needsOf(request({ messages })).input_tokens;

describe('what is needed', () => {
  it.each<[string, Partial<NeutralRequest>, object]>([
    [
      'nothing special',
      {},
      { vision: false, tools: false, structured_output: false, reasoning: false, max_output_tokens: 0 },
    ],
    ['an image of the user', { messages: [{ role: 'user', content: [IMAGE] }] }, { vision: true }],
    [
      'an image in a tool result',
      { messages: [{ role: 'tool', toolCallId: 'a', isError: false, content: [IMAGE] }] },
      { vision: true },
    ],
    ['an image earlier on', { messages: [{ role: 'user', content: [IMAGE] }, user('thanks')] }, { vision: true }],
    ['tools', { tools: [{ name: 'search' }] }, { tools: true }],
    ['JSON', { responseFormat: { type: 'json_object' } }, { structured_output: true }],
    [
      'JSON by a schema',
      { responseFormat: { type: 'json_schema', name: 'x', schema: {} } },
      { structured_output: true },
    ],
    ['an output limit', { maxTokens: 77 }, { max_output_tokens: 77 }],
    ['reasoning by effort', { reasoning: { effort: 'low' } }, { reasoning: true }],
    ['reasoning by budget', { reasoning: { maxTokens: 1024 } }, { reasoning: true }],
    ['reasoning switched on', { reasoning: { enabled: true } }, { reasoning: true }],
    ['reasoning switched off', { reasoning: { enabled: false, effort: 'high' } }, { reasoning: false }],
    ['effort none', { reasoning: { effort: 'none' } }, { reasoning: false }],
    ['an empty reasoning field', { reasoning: {} }, { reasoning: false }],
  ])('with %s', (_name, overrides, expected) => {
    expect(needsOf(request(overrides))).toMatchObject(expected);
  });

  it('takes the caller’s own count where there is one', () => {
    expect(needsOf(request(), 1234.2).input_tokens).toBe(1235);
  });
});

const PROSE =
  'The committee met on Tuesday to consider whether the new bridge should be built of stone or of steel, and after a long and rather heated discussion it decided to ask the engineers for another report. ';
const CODE =
  'export function add(a: number, b: number): number {\n  if (a === 0) {\n    return b;\n  }\n  return a + b; // sum\n}\n';
const CHINESE =
  '这座新桥应该用石头还是钢材建造，委员会在星期二开会讨论，经过长时间的激烈讨论，决定请工程师再写一份报告。';
const RUSSIAN = 'Комитет собрался во вторник, чтобы решить, строить ли новый мост из камня или из стали. ';

describe('the length of a text', () => {
  // Counts by a current byte-pair vocabulary of 200,000 entries lie within these bounds.
  it.each([
    ['English prose', PROSE, 34, 52],
    ['code', CODE, 27, 48],
    ['Chinese', CHINESE, 25, 50],
    ['Russian', RUSSIAN, 18, 42],
    ['nothing', '', 0, 0],
    ['emoji', '😀😀😀', 3, 9],
  ])('%s is guessed within reason', (_name, text, least, most) => {
    const tokens = estimateTextTokens(text, 2000);
    expect(tokens).toBeGreaterThanOrEqual(least);
    expect(tokens).toBeLessThanOrEqual(most);
  });

  it('is about the same sampled as read whole', () => {
    for (const text of [PROSE, CODE, CHINESE, RUSSIAN].map((each) => each.repeat(100))) {
      const whole = estimateTextTokens(text, text.length);
      expect(Math.abs(estimateTextTokens(text, 1500) / whole - 1)).toBeLessThan(0.1);
    }
  });

  it('never is negative or more than two tokens a character', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', ' ', '7', '{', 'é', 'ж', '字', '한', 'ก', '\u{1F600}', '\uD800') }),
        fc.integer({ min: 1, max: 50 }),
        (text, look) => {
          const tokens = estimateTextTokens(text, look);
          expect(tokens).toBeGreaterThanOrEqual(0);
          expect(tokens).toBeLessThanOrEqual(2 * text.length);
        },
      ),
    );
  });
});

describe('the length of a request', () => {
  it('grows with every message', () => {
    expect(tokensOf(user(PROSE), user(PROSE))).toBeGreaterThan(1.8 * tokensOf(user(PROSE)));
  });

  it('counts an image as about a thousand tokens, whatever its bytes', () => {
    const big = tokensOf({
      role: 'user',
      content: [{ type: 'image', data: 'A'.repeat(3_000_000), mediaType: 'image/png' }],
    });
    expect(big).toBe(tokensOf({ role: 'user', content: [IMAGE] }));
    expect(big).toBeGreaterThanOrEqual(1000);
    expect(big).toBeLessThan(1100);
  });

  it('counts tools, schemas, tool calls, thinking, files and unknown parts', () => {
    const plain = needsOf(request()).input_tokens;
    const schema = {
      type: 'object',
      properties: { city: { type: 'string', description: 'where to look' } },
      required: ['city'],
    };
    const tool = { name: 'weather', description: 'Tells the weather of a city.', parameters: schema };
    const longer: NeutralRequest[] = [
      request({ tools: [tool] }),
      request({ responseFormat: { type: 'json_schema', name: 'x', schema } }),
      request({
        messages: [
          ...request().messages,
          {
            role: 'assistant',
            content: [{ type: 'tool_call', id: '1', name: 'weather', arguments: '{"city":"Ulm"}' }],
          },
        ],
      }),
      request({
        messages: [...request().messages, { role: 'assistant', content: [{ type: 'thinking', text: PROSE }] }],
      }),
      request({ messages: [{ role: 'user', content: [{ type: 'file', data: 'A'.repeat(60_000) }] }] }),
      request({
        messages: [
          ...request().messages,
          {
            role: 'user',
            content: [{ type: 'opaque', dialect: 'chat', value: { deep: [1, null, 'text', { more: true }] } }],
          },
        ],
      }),
    ];
    for (const each of longer) expect(needsOf(each).input_tokens).toBeGreaterThan(plain + 5);
    const json = JSON.stringify(tool.parameters).length / 4;
    const counted = needsOf(request({ tools: [tool] })).input_tokens - plain;
    expect(counted).toBeGreaterThan(json);
    expect(counted).toBeLessThan(json * 1.5 + 20);
  });

  it('looks at a bounded part of a huge conversation', () => {
    const messages = Array.from({ length: 2000 }, () => user(PROSE.repeat(80)));
    const whole = estimateTextTokens(PROSE.repeat(80), 1e6) * 2000;
    expect(Math.abs(tokensOf(...messages) / whole - 1)).toBeLessThan(0.2);
  });

  it('ends on endlessly nested JSON', () => {
    let nested: unknown = 'x';
    for (let depth = 0; depth < 50_000; depth += 1) nested = [nested];
    expect(needsOf(request({ tools: [{ name: 'a', parameters: nested }] })).input_tokens).toBeLessThan(200);
  });
});

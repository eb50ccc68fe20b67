// The estimate of whole requests: texts counted with o200k_base, overheads as Anthropic documents them.

import { describe, expect, it } from 'vitest';
import { parseMessagesRequest } from '../../src/wire/parse-messages-request.ts';
import { requestTokens } from '../../src/wire/request-tokens.ts';
import { PNG_BASE64 } from '../helpers/samples.ts';
import { TOKEN_SAMPLES } from './token-samples.ts';

const tokensOf = (body: object): number =>
  requestTokens(parseMessagesRequest({ model: 'a/b', max_tokens: 1, messages: [], ...body }));
const user = (...content: object[]): object => ({ role: 'user', content });
const text = (name: keyof typeof TOKEN_SAMPLES): object => ({ type: 'text', text: TOKEN_SAMPLES[name].text });
const counted = (...names: (keyof typeof TOKEN_SAMPLES)[]): number =>
  names.reduce((sum, name) => sum + TOKEN_SAMPLES[name].tokens, 0);

/** o200k_base: 3 tokens of name, 25 of description, 88 of schema. */
const TOOL = {
  name: 'search_flights',
  description:
    'Searches flights between two cities. Use it before you quote a price. Returns at most ten flights, the cheapest first.',
  input_schema: {
    type: 'object',
    properties: {
      from: { type: 'string', description: 'City or airport code' },
      to: { type: 'string', description: 'City or airport code' },
      date: { type: 'string', format: 'date' },
      seats: { type: 'integer', minimum: 1, maximum: 9 },
      cabin: { type: 'string', enum: ['economy', 'premium', 'business'] },
    },
    required: ['from', 'to', 'date'],
  },
};
const TOOL_TOKENS = 3 + 25 + 88;
/** 24 tokens of arguments; the result has 108 as it stands, 166 pretty-printed. */
const CALL = {
  type: 'tool_use',
  id: 'toolu_1',
  name: 'search_flights',
  input: { from: 'Berlin', to: 'Munich', date: '2026-03-14', seats: 2 },
};
const FLIGHTS = [
  {
    id: 'LH2034',
    from: 'BER',
    to: 'MUC',
    departs: '2026-03-14T07:05:00+01:00',
    price: { amount: 129.5, currency: 'EUR' },
    seats_left: 4,
  },
  {
    id: 'LH2038',
    from: 'BER',
    to: 'MUC',
    departs: '2026-03-14T09:05:00+01:00',
    price: { amount: 99, currency: 'EUR' },
    seats_left: 11,
  },
];
const result = (content: unknown): object => ({ type: 'tool_result', tool_use_id: 'toolu_1', content });

/** The head of a PNG, which is all that is looked at. */
function png(width: number, height: number): object {
  const head = Buffer.alloc(24);
  Buffer.from(PNG_BASE64, 'base64').copy(head, 0, 0, 16);
  head.writeUInt32BE(width, 16);
  head.writeUInt32BE(height, 20);
  return { type: 'image', source: { type: 'base64', media_type: 'image/png', data: head.toString('base64') } };
}

const pdf = (bytes: Buffer): object => ({
  type: 'document',
  source: { type: 'base64', media_type: 'application/pdf', data: bytes.toString('base64') },
});
const PAGES = Buffer.from('%PDF-1.7\n<</Type /Pages /Count 2>>\n<</Type /Page>>\n<</Type/Page/Parent 1 0 R>>\n');
const PAGE = 2250 + 1560;

describe('a request is estimated within 10 %', () => {
  it.each(Object.entries(TOKEN_SAMPLES))('where it says %s', (_name, sample) => {
    const tokens = tokensOf({ messages: [{ role: 'user', content: sample.text }] });
    expect(Math.abs(tokens / (sample.tokens + 7) - 1)).toBeLessThanOrEqual(0.1);
  });

  it.each<[string, object, number]>([
    [
      'a system prompt and a question',
      { system: TOKEN_SAMPLES.instructions.text, messages: [user(text('english'))] },
      counted('instructions', 'english') + 11,
    ],
    [
      'system blocks',
      { system: [text('instructions'), text('technical')], messages: [user(text('chat'))] },
      counted('instructions', 'technical', 'chat') + 11,
    ],
    [
      'a conversation in two languages',
      { messages: [user(text('german')), { role: 'assistant', content: [text('english')] }, user(text('french'))] },
      counted('german', 'english', 'french') + 15,
    ],
    ['one tool', { tools: [TOOL], messages: [user(text('chat'))] }, counted('chat') + TOOL_TOKENS + 8 + 346 + 7],
    [
      'a tool that must be called',
      { tools: [TOOL], tool_choice: { type: 'any' }, messages: [user(text('chat'))] },
      counted('chat') + TOOL_TOKENS + 8 + 313 + 7,
    ],
    [
      'ten tools',
      {
        tools: Array.from({ length: 10 }, (_each, at) => ({ ...TOOL, name: `${TOOL.name}_${at}` })),
        messages: [user(text('chat'))],
      },
      counted('chat') + 10 * (TOOL_TOKENS + 2 + 8) + 346 + 7,
    ],
    [
      'a call and its answer',
      {
        tools: [TOOL],
        messages: [user(text('chat')), { role: 'assistant', content: [CALL] }, user(result(JSON.stringify(FLIGHTS)))],
      },
      counted('chat') + TOOL_TOKENS + 8 + 346 + 3 + 24 + 108 + 27,
    ],
    [
      'a pretty answer in blocks',
      {
        tools: [TOOL],
        messages: [
          user(text('chat')),
          { role: 'assistant', content: [CALL] },
          user(result([{ type: 'text', text: JSON.stringify(FLIGHTS, null, 2) }])),
        ],
      },
      counted('chat') + TOOL_TOKENS + 8 + 346 + 3 + 24 + 166 + 27,
    ],
    ['a picture', { messages: [user(png(1000, 1000), text('chat'))] }, counted('chat') + 1334 + 7],
    ['a small picture', { messages: [user(png(200, 200), text('chat'))] }, counted('chat') + 54 + 7],
    ['a large picture, scaled down', { messages: [user(png(4000, 3000), text('chat'))] }, counted('chat') + 1600 + 7],
    [
      'a long strip, scaled down',
      { messages: [user(png(15_680, 1000), text('chat'))] },
      counted('chat') + Math.ceil((1568 * 100) / 750) + 7,
    ],
    [
      'a picture in a tool’s answer',
      {
        tools: [TOOL],
        messages: [user(text('chat')), { role: 'assistant', content: [CALL] }, user(result([png(750, 100)]))],
      },
      counted('chat') + TOOL_TOKENS + 8 + 346 + 3 + 24 + 100 + 27,
    ],
    ['two pages of PDF', { messages: [user(pdf(PAGES), text('chat'))] }, counted('chat') + 2 * PAGE + 7],
    [
      'a packed PDF, by its size',
      { messages: [user(pdf(Buffer.alloc(180_000)), text('chat'))] },
      counted('chat') + 3 * PAGE + 7,
    ],
    [
      'a text document',
      {
        messages: [
          user(
            { type: 'document', source: { type: 'text', media_type: 'text/plain', data: TOKEN_SAMPLES.german.text } },
            text('chat'),
          ),
        ],
      },
      counted('german', 'chat') + 7,
    ],
    [
      'code, a patch and a log',
      { messages: [user(text('typescript'), text('diff'), text('log'))] },
      counted('typescript', 'diff', 'log') + 7,
    ],
    [
      'every text at once',
      { messages: [user(...Object.values(TOKEN_SAMPLES).map((sample) => ({ type: 'text', text: sample.text })))] },
      Object.values(TOKEN_SAMPLES).reduce((sum, { tokens }) => sum + tokens, 7),
    ],
  ])('with %s', (_name, body, tokens) => {
    expect(Math.abs(tokensOf(body) / tokens - 1)).toBeLessThanOrEqual(0.1);
  });
});

describe('thinking', () => {
  const thinking = { type: 'thinking', thinking: TOKEN_SAMPLES.technical.text, signature: 'x' };
  const asked = user(text('chat'));
  const called = { role: 'assistant', content: [thinking, CALL] };

  it('of a turn that is over is not counted', () => {
    const later = [asked, called, user(result('none')), { role: 'assistant', content: [text('english')] }, asked];
    const without = [asked, { role: 'assistant', content: [CALL] }, ...later.slice(2)];
    expect(tokensOf({ messages: later })).toBe(tokensOf({ messages: without }));
  });

  it('of the turn under way is', () => {
    const more = tokensOf({ messages: [asked, called, user(result('none'))] });
    const less = tokensOf({ messages: [asked, { role: 'assistant', content: [CALL] }, user(result('none'))] });
    expect(more - less).toBeGreaterThan(0.9 * counted('technical'));
  });
});

it('takes bounded time for a request of many long texts', () => {
  const long = { type: 'text', text: TOKEN_SAMPLES.technical.text.repeat(80) };
  const started = performance.now();
  const tokens = tokensOf({
    messages: [user(...Array.from({ length: 30 }, () => long)), user(...Array.from({ length: 300 }, () => long))],
  });
  expect(performance.now() - started).toBeLessThan(2000);
  expect(Math.abs(tokens / (330 * 80 * counted('technical')) - 1)).toBeLessThan(0.12);
});

it('counts no tools where the list is empty', () => {
  expect(tokensOf({ tools: [], messages: [user(text('chat'))] })).toBe(tokensOf({ messages: [user(text('chat'))] }));
});

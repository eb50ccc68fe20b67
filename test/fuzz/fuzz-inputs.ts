// What the fuzz targets are fed: bytes, real samples with changes in them, and JSON that is odd in its structure.

import fc from 'fast-check';
import { chunk, ENVELOPE, goodStream, harmedStream, sse, tool, USAGE, usageChunk } from '../wire/chat-streams.ts';

const SAMPLES: readonly Buffer[] = [
  sse(
    chunk({ role: 'assistant', content: '' }),
    chunk({ content: 'Hi é😀' }),
    chunk(tool(0, 'c', 'look', '{"a":1}')),
    chunk({}, 'stop'),
    usageChunk(),
    '[DONE]',
  ),
  sse(
    chunk({ reasoning: 'hm', reasoning_details: [{ type: 'reasoning.text', text: 'hm', signature: 's', index: 0 }] }),
    chunk({ reasoning_details: [{ type: 'reasoning.encrypted', data: 'X', format: 'openai-responses-v1' }] }),
    chunk({ content: 'a' }, 'stop', { usage: USAGE }),
  ),
  Buffer.from(': OPENROUTER PROCESSING\r\n\r\nevent: x\r\ndata: {"error":{"message":"no","code":502}}\r\n\r\n'),
  Buffer.from('\u{feff}data: {"choices":\ndata: [{"delta":{"content":"\\ud83d"},"finish_reason":"length"}]}\n\n'),
];

const REQUEST_SAMPLES: readonly unknown[] = [
  {
    model: 'svc:auto',
    messages: [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Hi' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'look', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c', content: 'x' },
    ],
    tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }],
    tool_choice: 'auto',
    stream: true,
    stream_options: { include_usage: true },
    max_tokens: 5,
    temperature: 0.5,
    stop: ['a'],
    response_format: { type: 'json_object' },
    reasoning: { effort: 'low' },
  },
  {
    model: 'svc:auto',
    max_tokens: 100,
    system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
    messages: [
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', signature: 's' },
          { type: 'tool_use', id: 'c', name: 'look', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c', content: [{ type: 'text', text: 'x' }], is_error: true },
          { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'AA' } },
        ],
      },
      { role: 'system', content: 'later' },
    ],
    tools: [{ name: 'look', input_schema: { type: 'object' } }],
    tool_choice: { type: 'tool', name: 'look', disable_parallel_tool_use: true },
    thinking: { type: 'enabled', budget_tokens: 1024 },
    stop_sequences: ['a'],
    stream: true,
  },
];

/** JSON text no serializer writes: repeated keys, huge numbers, depths, names of prototypes. */
const ODD_TEXTS: readonly string[] = [
  '{"a":1,"a":2}',
  '1e999',
  '-1e999',
  '123456789012345678901234567890',
  '-0',
  '0.1e-400',
  '{"__proto__":{"role":"user","index":0}}',
  '{"constructor":{"prototype":{}},"hasOwnProperty":1,"toString":null}',
  '"\\ud800"',
  '"\\u0000"',
  '""',
  'null',
  'true',
  '[]',
  '{}',
  '[[[[[[[[[[]]]]]]]]]]',
  `${'['.repeat(70)}${']'.repeat(70)}`,
  `${'{"a":'.repeat(70)}1${'}'.repeat(70)}`,
  `${'['.repeat(3000)}`,
  '"[DONE]"',
  '{"type":"text","text":5}',
  '[null,1,"x",{}]',
];

const KEYS: readonly string[] = [
  'model',
  'messages',
  'role',
  'content',
  'type',
  'text',
  'tool_calls',
  'function',
  'arguments',
  'name',
  'id',
  'index',
  'choices',
  'delta',
  'finish_reason',
  'usage',
  'prompt_tokens',
  'completion_tokens',
  'error',
  'created',
  'object',
  'reasoning',
  'reasoning_details',
  'signature',
  'system',
  'max_tokens',
  'tools',
  'input',
  'source',
  'stream',
  'stop',
  'thinking',
  'tool_choice',
  'input_schema',
  'svc',
  '__proto__',
  'constructor',
  'tool_use_id',
  'is_error',
  'metadata',
];

const oddText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...ODD_TEXTS),
  fc.string({ unit: 'binary', maxLength: 8 }).map((text) => JSON.stringify(text)),
);

/** Text that is JSON but for what was put in: keys of the dialects with values of any kind and depth. */
export const oddJson: fc.Arbitrary<string> = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    oddText,
    tie('object'),
    fc.array(tie('value'), { maxLength: 3 }).map((all) => `[${all.join()}]`),
  ),
  object: fc
    .array(fc.tuple(fc.constantFrom(...KEYS), tie('value')), { maxLength: 6 })
    .map((fields) => `{${fields.map(([key, value]) => `"${key}":${value}`).join()}}`),
})).object;

/** Chunks whose frame is right, so that what is odd lies deep inside. */
const oddChunk: fc.Arbitrary<string> = fc
  .tuple(oddJson, fc.constantFrom('null', '"stop"', '""', '7'))
  .map(([delta, finish]) => {
    const { id, object, created, model } = ENVELOPE;
    const head = JSON.stringify({ id, object, created, model }).slice(0, -1);
    return `${head},"choices":[{"index":0,"delta":${delta},"finish_reason":${finish}}]}`;
  });

type Change = { readonly at: number; readonly kind: number; readonly bytes: Uint8Array };
const anyChanges: fc.Arbitrary<Change[]> = fc.array(
  fc.record({ at: fc.nat(100_000), kind: fc.nat(3), bytes: fc.uint8Array({ maxLength: 4 }) }),
  { maxLength: 5 },
);

/** Puts bytes in, over or in place of others, or repeats a stretch. */
function change(sample: Uint8Array, changes: readonly Change[]): Buffer {
  let bytes = Buffer.from(sample);
  for (const { at, kind, bytes: put } of changes) {
    const place = at % (bytes.length + 1);
    const end = Math.min(bytes.length, place + (kind === 0 ? 0 : put.length * (kind === 3 ? 20 : 1)));
    const middle = kind === 2 ? Buffer.alloc(0) : kind === 3 ? bytes.subarray(place, end) : put;
    const after = kind === 3 ? bytes.subarray(place) : bytes.subarray(end);
    bytes = Buffer.concat([bytes.subarray(0, place), middle, after]);
  }
  return bytes;
}

const sseToken = fc.constantFrom(
  'data: ',
  'data:',
  'event: error',
  '\n',
  '\r',
  '\r\n',
  '\n\n',
  ': c',
  '{}',
  '[DONE]',
  '\u{feff}',
  'id: 1',
  '{"error":',
);

export const anyStreamBytes: fc.Arbitrary<Buffer> = fc.oneof(
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  fc.array(fc.oneof(sseToken, oddText), { maxLength: 20 }).map((all) => Buffer.from(all.join(''))),
  fc.tuple(fc.constantFrom(...SAMPLES), anyChanges).map(([sample, changes]) => change(sample, changes)),
  fc.array(fc.oneof(oddChunk, oddJson), { maxLength: 6 }).map((all) => sse(...all, '[DONE]')),
  fc.tuple(goodStream, anyChanges).map(([sample, changes]) => change(sample, changes)),
  harmedStream,
);

export const anyRequestBytes: fc.Arbitrary<Buffer> = fc.oneof(
  fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes)),
  oddJson.map((text) => Buffer.from(text)),
  fc
    .tuple(fc.constantFrom(...REQUEST_SAMPLES), fc.nat(200), oddJson, oddText)
    .map(([sample, place, object, text]) => Buffer.from(withOdd(sample, place, place % 2 === 0 ? object : text))),
  fc
    .tuple(fc.constantFrom(...REQUEST_SAMPLES), anyChanges)
    .map(([sample, changes]) => change(Buffer.from(JSON.stringify(sample)), changes)),
);

/** The sample as text, with the value at one place of all replaced. */
function withOdd(sample: unknown, place: number, text: string): string {
  let count = 0;
  JSON.stringify(sample, (_key, value: unknown) => {
    count += 1;
    return value;
  });
  let at = -1;
  const marked = JSON.stringify(sample, (_key, value: unknown) => {
    at += 1;
    return at === 1 + (place % Math.max(1, count - 1)) ? '@odd@' : value;
  });
  return marked.replace('"@odd@"', () => text);
}

// Chat streams for the tests, as real upstreams send them and as broken ones do.

import fc from 'fast-check';

export const ENVELOPE = {
  id: 'gen-1',
  object: 'chat.completion.chunk',
  created: 1_700_000_000,
  model: 'openai/gpt-4o',
} as const;

export const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } as const;

export function chunk(delta: unknown, finishReason: string | null = null, more: object = {}): object {
  return { ...ENVELOPE, choices: [{ index: 0, delta, finish_reason: finishReason }], ...more };
}

export function usageChunk(usage: unknown = USAGE): object {
  return { ...ENVELOPE, choices: [], usage };
}

export function sse(...events: readonly (object | string)[]): Buffer {
  return Buffer.from(
    events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`).join(''),
  );
}

export function tool(
  index: number | undefined,
  id: string | undefined,
  name: string | undefined,
  args: unknown,
): object {
  const call = { index, id, type: id === undefined ? undefined : 'function', function: { name, arguments: args } };
  return { tool_calls: [call] };
}

/** Cuts bytes at the given places. */
export function cutAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const cuts = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  const pieces: Uint8Array[] = [];
  let from = 0;
  for (const cut of [...cuts, bytes.length]) {
    pieces.push(bytes.slice(from, cut));
    from = cut;
  }
  return pieces;
}

const anyText = fc.oneof(
  fc.constant(''),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom('"', '\\', '\n\n', 'é😀'),
);

const anyToolPiece = fc.record(
  {
    index: fc.oneof(fc.nat(3), fc.constant(null)),
    id: fc.oneof(fc.constantFrom('call_a', 'call_b', '', 'odd id!'), fc.constant(null)),
    type: fc.constant('function'),
    function: fc.record(
      {
        name: fc.constantFrom('look', 'run', '', null),
        arguments: fc.constantFrom('', '{', '"a":1', '}', '{}', 'bad', null, { b: 2 }),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
);

const anyDetail = fc.record(
  {
    type: fc.constantFrom('reasoning.text', 'reasoning.summary', 'reasoning.encrypted'),
    text: anyText,
    summary: anyText,
    signature: fc.constantFrom('sig', '', null),
    data: fc.constantFrom('blob', null),
    format: fc.constantFrom('anthropic-claude-v1', 'openai-responses-v1', 'unknown', null),
    index: fc.nat(2),
  },
  { requiredKeys: ['type'] },
);

const anyDelta = fc.record(
  {
    role: fc.constant('assistant'),
    content: fc.oneof(anyText, fc.constant(null), fc.constant([{ type: 'text', text: 'part' }])),
    reasoning: anyText,
    reasoning_content: anyText,
    reasoning_details: fc.array(anyDetail, { maxLength: 2 }),
    refusal: fc.oneof(anyText, fc.constant(null)),
    tool_calls: fc.oneof(fc.array(anyToolPiece, { maxLength: 3 }), fc.constant(null)),
  },
  { requiredKeys: [] },
);

const anyChunk = fc.oneof(
  { weight: 8, arbitrary: anyDelta.map((delta) => chunk(delta)) },
  { weight: 1, arbitrary: fc.constant(usageChunk()) },
  { weight: 1, arbitrary: fc.constant({ ...ENVELOPE, choices: null }) },
  { weight: 1, arbitrary: anyDelta.map((delta) => chunk(delta, null, { usage: USAGE })) },
);

const anyFinish = fc.constantFrom('stop', 'length', 'tool_calls', 'content_filter', 'odd');

/** Streams that end well. */
export const goodStream = fc
  .tuple(fc.array(anyChunk, { maxLength: 12 }), anyDelta, anyFinish, fc.array(anyChunk, { maxLength: 2 }), fc.boolean())
  .map(([chunks, delta, finish, after, hasDone]) => {
    // An answer of nothing but calls without a name is a failure.
    const text = JSON.stringify([chunks, delta]).includes('_call') ? [chunk({ content: 'and' })] : [];
    return sse(...chunks, ...text, chunk(delta, finish), ...after, ...(hasDone ? ['[DONE]'] : []));
  });

/** Streams of any kind: cut short, with errors, with rubbish in between. */
export const anyStream = fc
  .array(
    fc.oneof(
      { weight: 8, arbitrary: anyChunk.map((value) => sse(value)) },
      { weight: 1, arbitrary: fc.tuple(anyDelta, anyFinish).map(([delta, finish]) => sse(chunk(delta, finish))) },
      {
        weight: 2,
        arbitrary: fc
          .constantFrom(
            ': comment\n\n',
            'data: [DONE]\n\n',
            'data: {"error":{"message":"no","code":500}}\n\n',
            'data: {broken\n\n',
            'data: 7\n\n',
            '\r\n\r\n',
            'event: x\ndata: {}\n\n',
            'data: {"choices":\ndata: []}\n\n',
            '\u{feff}',
            'junk',
          )
          .map((text) => Buffer.from(text)),
      },
    ),
    { maxLength: 14 },
  )
  .map((pieces) => Buffer.concat(pieces));

export const anyCuts = fc.array(fc.nat(5000), { maxLength: 12 });

const anyOdd: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown[]>(null, true, false, 0, -1, 1.5, 2 ** 60, '', 'x', '\ud800', 'error', [], {}, [null], {
    a: 1,
  }),
  fc.constantFrom<unknown[]>(['x'], [{}], [[]], { error: {} }, '[DONE]', 'a\r\nb\u2028', 'é😀'),
  fc.constant(JSON.parse('{"__proto__":{"role":1},"constructor":null}')),
);

/** One event of a stream on its way through a bad upstream: `''` where it was lost. */
const anyHarm = fc.record({
  kind: fc.constantFrom('keep', 'keep', 'keep', 'drop', 'twice', 'swap', 'odd', 'odd', 'remove', 'crlf', 'comment'),
  at: fc.nat(1000),
  odd: anyOdd,
});
type Harm = { readonly kind: string; readonly at: number; readonly odd: unknown };

/** Good streams that were harmed: events lost, repeated and swapped, odd types in any field, cut anywhere. */
export const harmedStream = fc
  .tuple(goodStream, fc.array(anyHarm, { minLength: 1, maxLength: 16 }), fc.option(fc.nat(100)))
  .map(([stream, harms, cut]) => {
    const events = stream.toString().split('\n\n').slice(0, -1);
    for (const [at, harm] of harms.entries()) harmEvent(events, at, harm);
    const bytes = Buffer.from(events.map((event) => (event === '' ? '' : `${event}\n\n`)).join(''));
    return cut === null ? bytes : bytes.subarray(0, Math.floor((bytes.length * cut) / 100));
  });

function harmEvent(events: string[], at: number, { kind, at: place, odd }: Harm): void {
  const event = events[at];
  if (event === undefined) return;
  const other = place % events.length;
  if (kind === 'drop') events[at] = '';
  else if (kind === 'twice') events[at] = `${event}\n\n${event}`;
  else if (kind === 'swap') [events[at], events[other]] = [events[other] ?? '', event];
  else if (kind === 'crlf') events[at] = `${event}\r`;
  else if (kind === 'comment') events[at] = `: PROCESSING\n\n${event}`;
  else if (kind === 'odd' || kind === 'remove') events[at] = harmField(event, place, kind === 'odd' ? [odd] : []);
}

/** Puts a value in the place of another, or takes it out, somewhere in the JSON of an event. */
function harmField(event: string, place: number, replacement: readonly unknown[]): string {
  if (!event.startsWith('data: {')) return event;
  let chunkValue: unknown;
  try {
    chunkValue = JSON.parse(event.slice('data: '.length));
  } catch {
    // Harmed before, by being doubled.
    return event;
  }
  const places: (readonly [Record<string, unknown>, string])[] = [];
  collectPlaces(chunkValue, places);
  const found = places[place % Math.max(1, places.length)];
  if (found === undefined) return event;
  const [holder, key] = found;
  if (replacement.length === 0) delete holder[key];
  else holder[key] = replacement[0];
  return `data: ${JSON.stringify(chunkValue)}`;
}

function collectPlaces(value: unknown, places: (readonly [Record<string, unknown>, string])[]): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    places.push([value as Record<string, unknown>, key]);
    collectPlaces(inner, places);
  }
}

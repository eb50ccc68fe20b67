// Nothing may be lost that both dialects can express: conversations to Chat and back, and answers that come back as history.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { messagesOverChat } from '../../src/service/pairs/messages-over-chat.ts';
import { parseJsonBody } from '../../src/wire/json-scan.ts';
import type { ContentPart, NeutralMessage, NeutralRequest } from '../../src/wire/neutral.ts';
import { parseChatRequest } from '../../src/wire/parse-chat-request.ts';
import { parseMessagesRequest } from '../../src/wire/parse-messages-request.ts';
import type { ToolNameMap } from '../../src/wire/tool-names.ts';

const words = fc.string({ unit: 'grapheme', maxLength: 12 });
const someWords = words.filter((text) => text !== '');
const base64 = fc.base64String({ minLength: 4, maxLength: 16 });
const id = fc.stringMatching(/^[a-zA-Z0-9_-]{1,30}$/);
const toolName = fc.oneof(fc.stringMatching(/^[a-z_]{1,12}$/), fc.string({ minLength: 1, maxLength: 90 }));
const mark = fc.option(fc.constantFrom({ type: 'ephemeral' }, { type: 'ephemeral', ttl: '1h' }), { nil: undefined });

/** The block, with a cache mark or without. */
function markable<T extends object>(block: fc.Arbitrary<T>): fc.Arbitrary<object> {
  return fc
    .tuple(block, mark)
    .map(([plain, found]) => (found === undefined ? plain : { ...plain, cache_control: found }));
}

const text = markable(words.map((said) => ({ type: 'text', text: said })));
const source = fc.oneof(
  base64.map((data) => ({ type: 'base64', media_type: 'image/png', data })),
  fc.webUrl().map((url) => ({ type: 'url', url })),
);
const image = markable(source.map((from) => ({ type: 'image', source: from })));
const file = markable(
  fc.tuple(base64, fc.option(someWords, { nil: undefined })).map(([data, title]) => ({
    type: 'document',
    source: { type: 'base64', media_type: 'application/pdf', data },
    ...(title === undefined ? {} : { title }),
  })),
);
const document = markable(someWords.map((data) => ({ type: 'document', source: { type: 'text', data } })));
const part = fc.oneof(text, image, file, document);
const parts = fc.oneof(words, fc.array(part, { maxLength: 4 }));
const result = fc.record({
  type: fc.constant('tool_result'),
  tool_use_id: id,
  content: fc.option(parts, { nil: undefined }),
  is_error: fc.boolean(),
});
const signed = fc
  .tuple(words, fc.base64String({ minLength: 4, maxLength: 40 }))
  .map(([thinking, signature]) => ({ type: 'thinking', thinking, signature }));
const redacted = fc.base64String({ minLength: 4, maxLength: 40 }).map((data) => ({ type: 'redacted_thinking', data }));
const call = fc.record({
  type: fc.constant('tool_use'),
  id,
  name: toolName,
  input: fc.dictionary(fc.string({ maxLength: 6 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 }),
});

const turn = fc.oneof(
  fc.record({
    role: fc.constant('system'),
    content: fc.oneof(someWords, fc.array(text, { minLength: 1, maxLength: 3 })),
  }),
  fc.record({
    role: fc.constant('user'),
    content: fc.oneof(words, fc.array(fc.oneof(part, result), { maxLength: 5 })),
  }),
  fc.record({
    role: fc.constant('assistant'),
    content: fc.oneof(words, fc.array(fc.oneof(text, signed, redacted, call), { maxLength: 5 })),
  }),
);

const tool = fc
  .record({
    name: toolName,
    description: fc.option(words, { nil: undefined }),
    input_schema: fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 }),
    strict: fc.option(fc.boolean(), { nil: undefined }),
    cache_control: mark,
  })
  .map((made) => JSON.parse(JSON.stringify(made)) as { name: string });

const body = fc
  .record(
    {
      messages: fc.array(turn, { minLength: 1, maxLength: 6 }),
      system: fc.oneof(words, fc.array(text, { maxLength: 3 })),
      tools: fc.uniqueArray(tool, { minLength: 1, maxLength: 3, selector: ({ name }) => name }),
      tool_choice: fc.constantFrom(
        { type: 'auto' },
        { type: 'any', disable_parallel_tool_use: true },
        { type: 'none' },
        { type: 'tool', name: 'look' },
      ),
      stop_sequences: fc.array(someWords, { minLength: 1, maxLength: 6 }),
      temperature: fc.constantFrom(0, 0.5, 1),
      top_p: fc.constantFrom(0, 0.25, 1),
      top_k: fc.nat(),
      stream: fc.boolean(),
      output_config: fc.constantFrom(
        { effort: 'low' },
        { format: { type: 'json_schema', schema: { type: 'object' } } },
      ),
      metadata: fc.record({ user_id: fc.string({ maxLength: 128 }) }),
      session_id: fc.string({ minLength: 1, maxLength: 200 }),
      service_tier: fc.constant('auto'),
    },
    { requiredKeys: ['messages', 'tools'] },
  )
  .map(({ messages, ...fields }) => ({
    model: 'svc:auto',
    max_tokens: 4096,
    ...fields,
    messages: [{ role: 'user', content: 'Hi' }, ...messages],
  }));

/** To Chat over the wire, and what a Chat server reads of it. */
function thereAndBack(
  asked: object,
  model: string,
): { before: NeutralRequest; after: NeutralRequest; names: ToolNameMap } {
  const parsedBody = parseJsonBody(Buffer.from(JSON.stringify(asked)));
  const before = parseMessagesRequest(parsedBody.value);
  const sent = messagesOverChat.body({
    parsed: { body: parsedBody, request: before },
    model,
    injectedMaxTokens: undefined,
    outputTokensHeld: 4_096,
    upstream: { dialect: 'openrouter', takesSandboxField: false },
    callerHeaders: {},
  });
  return { before, after: parseChatRequest(parseJsonBody(sent.bytes).value), names: sent.toolNames };
}

const ERROR_MARK = /^\[tool error\] ?/;

/** What both dialects can say of a message: Chat has one order within a turn, and no empty texts. */
function essence(message: NeutralMessage, names: ToolNameMap): object | undefined {
  const content = message.content
    .filter((each) => each.type !== 'text' || each.text !== '')
    .map((each) => {
      if (each.type === 'tool_call') return { ...each, name: names.toCaller(each.name) };
      return each.type === 'file' ? { ...each, filename: each.filename ?? 'document.pdf' } : each;
    });
  const of = (...types: string[]) => content.filter((each) => types.includes(each.type));
  const ordered = [...of('thinking'), ...of('text', 'image', 'file', 'opaque'), ...of('tool_call')];
  if (message.role === 'system' && ordered.length === 0) return undefined;
  if (message.role !== 'tool') return { role: message.role, content: ordered };
  return { role: 'tool', toolCallId: message.toolCallId, content: withoutErrorMark(ordered as ContentPart[]) };
}

function withoutErrorMark(content: readonly ContentPart[]): readonly ContentPart[] {
  const at = content.findIndex((each) => each.type === 'text');
  const first = content[at];
  if (first?.type !== 'text' || !ERROR_MARK.test(first.text)) return content;
  const rest = first.text.replace(ERROR_MARK, '');
  return rest === '' ? content.toSpliced(at, 1) : content.with(at, { ...first, text: rest });
}

function essences(messages: readonly NeutralMessage[], names: ToolNameMap): readonly object[] {
  return messages.map((message) => essence(message, names)).filter((each) => each !== undefined);
}

/** System messages that Chat puts behind the results they stood before are another matter, tested by row. */
function hasWaiting(messages: readonly NeutralMessage[]): boolean {
  return messages.some((message, at) => {
    const last = messages.slice(0, at).findLast(({ role }) => role !== 'system' && role !== 'tool');
    return message.role === 'system' && last?.content.some((each) => each.type === 'tool_call') === true;
  });
}

describe('a conversation of a Messages caller', () => {
  it('is the same conversation for a Chat server', () => {
    fc.assert(
      fc.property(body, fc.constantFrom('anthropic/claude-opus-4', 'some/model'), (asked, model) => {
        const { before, after, names } = thereAndBack(asked, model);
        fc.pre(!hasWaiting(before.messages));
        expect(essences(after.messages, names)).toEqual(essences(before.messages, names));
      }),
      { numRuns: 300 },
    );
  });

  it('is asked in the same way', () => {
    fc.assert(
      fc.property(body, (asked) => {
        const { before, after, names } = thereAndBack(asked, 'some/model');
        const named = ({ name, ...rest }: { readonly name: string }) => ({ ...rest, name: names.toCaller(name) });
        expect(after.tools.map(named)).toEqual(before.tools);
        const { toolChoice } = after;
        expect(toolChoice?.type === 'tool' ? named(toolChoice) : toolChoice).toEqual(before.toolChoice);
        expect(pick(after)).toEqual(pick(before));
      }),
      { numRuns: 300 },
    );
  });

  it('says of every failed tool that it failed, and of no other', () => {
    fc.assert(
      fc.property(fc.array(result, { minLength: 1, maxLength: 5 }), (results) => {
        const { after } = thereAndBack(
          { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: results }] },
          'm',
        );
        const marked = after.messages.map(({ content }) => {
          const first = content.find((each) => each.type === 'text');
          return first?.type === 'text' && first.text.startsWith('[tool error]');
        });
        expect(marked).toEqual(results.map(({ is_error }) => is_error));
      }),
    );
  });
});

/** Reasoning is another matter: Chat takes a budget or an effort, not both. */
function pick(request: NeutralRequest): object {
  const { maxTokens, temperature, topP, topK, stop, responseFormat, user, session, serviceTier } = request;
  const { parallelToolCalls, stream } = request;
  const fields = { maxTokens, temperature, topP, topK, stop, responseFormat, user, session, serviceTier };
  return { ...fields, parallelToolCalls, stream };
}

const openaiDetails = fc
  .tuple(fc.array(someWords, { maxLength: 2 }), fc.array(base64, { minLength: 1, maxLength: 2 }))
  .map(([summaries, sealed]) => [
    ...summaries.map((summary, index) => ({
      type: 'reasoning.summary',
      summary,
      format: 'openai-responses-v1',
      index,
    })),
    ...sealed.map((data, index) => ({
      type: 'reasoning.encrypted',
      data,
      id: `rs_${index}`,
      format: 'openai-responses-v1',
    })),
  ]);
const claudeDetails = fc.array(
  fc.oneof(
    fc.tuple(someWords, base64).map(([said, signature]) => ({
      type: 'reasoning.text',
      text: said,
      signature,
      format: 'anthropic-claude-v1',
    })),
    base64.map((data) => ({ type: 'reasoning.encrypted', data, format: 'anthropic-claude-v1' })),
  ),
  { maxLength: 3 },
);
const made = fc.oneof(
  openaiDetails.map((details) => ({ model: 'openai/gpt-5', details: details as readonly object[] })),
  claudeDetails.map((details) => ({
    model: 'anthropic/claude-opus-4',
    details: details.map((detail, index) => ({ ...detail, index })) as readonly object[],
  })),
);
const calls = fc.uniqueArray(
  fc.record({
    id,
    name: fc.stringMatching(/^[a-z_]{1,12}$/),
    input: fc.dictionary(words, fc.jsonValue(), { maxKeys: 3 }),
  }),
  { maxLength: 3, selector: (each) => each.id },
);

describe('a Chat answer that a Messages client sends back as history', () => {
  it('reaches the model that made it as it was', () => {
    fc.assert(
      fc.property(made, words, calls, ({ model, details }, content, asked) => {
        const tool_calls = asked.map((each) => ({
          id: each.id,
          type: 'function',
          function: { name: each.name, arguments: JSON.stringify(each.input) },
        }));
        const message = { content, reasoning_details: details, tool_calls };
        const replayed = replay(message, model);
        expect(replayed['content']).toBe(content === '' && asked.length > 0 ? null : content);
        expect(replayed['reasoning_details'] ?? []).toEqual(details);
        expect(replayed['tool_calls'] ?? []).toEqual(tool_calls);
      }),
      { numRuns: 300 },
    );
  });

  it('shows its sealed reasoning to no other vendor', () => {
    fc.assert(
      fc.property(made, someWords, ({ model, details }, content) => {
        const other = model.startsWith('openai/') ? 'anthropic/claude-opus-4' : 'google/gemini-3-pro';
        expect(replay({ content, reasoning_details: details }, model, other)['reasoning_details']).toBeUndefined();
      }),
    );
  });
});

/** The assistant turn that `next` gets after `model` gave `message` and the client sent it back with a question. */
function replay(message: object, model: string, next = model): Record<string, unknown> {
  const first = thereAndBack({ model, max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }, model);
  const whole = messagesOverChat.whole(
    {
      request: first.before,
      model,
      inputTokensEstimate: 1,
      toolNames: first.names,
      requestId: 'req_1',
      makeId: (prefix) => `${prefix}_new`,
      nowMs: 0,
    },
    Buffer.from(JSON.stringify({ model, choices: [{ index: 0, message, finish_reason: 'stop' }] })),
  );
  const usage = { inputTokens: 1, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 1, reasoningTokens: 0 };
  const { content } = JSON.parse(Buffer.from(whole.finish('0', usage)).toString()) as { content: unknown };
  const asked = { model: next, max_tokens: 9, messages: [{ role: 'assistant', content }] };
  const parsedBody = parseJsonBody(Buffer.from(JSON.stringify(asked)));
  const { bytes } = messagesOverChat.body({
    parsed: { body: parsedBody, request: parseMessagesRequest(parsedBody.value) },
    model: next,
    injectedMaxTokens: undefined,
    outputTokensHeld: 4_096,
    upstream: { dialect: 'openrouter', takesSandboxField: false },
    callerHeaders: {},
  });
  return JSON.parse(Buffer.from(bytes).toString()).messages[0] as Record<string, unknown>;
}

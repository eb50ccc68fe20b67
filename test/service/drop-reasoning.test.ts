// A plan that gave reasoning up, and the request's bytes and fields as they then go upstream.

import { describe, expect, it } from 'vitest';
import { asPlanned } from '../../src/service/drop-reasoning.ts';
import { parseJsonBody } from '../../src/wire/json-scan.ts';
import { parseChatRequest } from '../../src/wire/parse-chat-request.ts';
import { parseMessagesRequest } from '../../src/wire/parse-messages-request.ts';
import { needs } from '../routing/routing-samples.ts';

const START = '{"model":"svc:auto","max_tokens":5000,"messages":[{"role":"user","content":"Hi"}]';

function parsedOf(dialect: 'chat' | 'messages', more: string) {
  const body = parseJsonBody(Buffer.from(`${START}${more}}`));
  return { body, request: dialect === 'chat' ? parseChatRequest(body.value) : parseMessagesRequest(body.value) };
}

describe('a request whose plan gave reasoning up', () => {
  it.each([
    ['chat', ',"reasoning_effort":"high","n": 1', ',"n": 1'],
    ['chat', ',"reasoning": {"effort":"low"}', ''],
    ['messages', ',"thinking":{"type":"adaptive"}, "stream":true', ', "stream":true'],
    ['messages', ',"thinking":{"type":"enabled","budget_tokens":2048}', ''],
    ['messages', ',"output_config":{"effort":"low"},"top_k": 5', ',"output_config":{},"top_k": 5'],
    [
      'messages',
      ',"output_config":{"effort":"low","format": {"type":"json_schema","schema":{"maximum":1.0}}}',
      ',"output_config":{"format": {"type":"json_schema","schema":{"maximum":1.0}}}',
    ],
  ] as const)('of %s with %s goes as %s', (dialect, more, left) => {
    const parsed = parsedOf(dialect, more);
    const planned = asPlanned(parsed, { needs: needs({ reasoning: false }) });
    expect(Buffer.from(planned.body.bytes).toString()).toBe(`${START}${left}}`);
    expect(planned.body).toEqual(parseJsonBody(planned.body.bytes));
    expect(planned.request).toEqual({ ...parsed.request, reasoning: undefined });
    expect('reasoning' in planned.request).toBe(false);
  });

  it.each([
    ['has it', ',"reasoning_effort":"high"', true],
    ['never wanted it', '', false],
    ['did not want it', ',"reasoning_effort":"none"', false],
  ])('is left alone where it %s', (_name, more, reasoning) => {
    const parsed = parsedOf('chat', more);
    expect(asPlanned(parsed, { needs: needs({ reasoning }) })).toBe(parsed);
  });
});

describe('an answer’s blocks given back as history', () => {
  it('are read with what clients’ types add to them', () => {
    const use = { type: 'tool_use', id: 't', name: 'look', input: {}, caller: { type: 'direct' } };
    const content = [{ type: 'text', text: 'a', citations: null }, use];
    const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'b' }] };
    const messages = [{ role: 'user', content: 'Hi' }, { role: 'assistant', content }, result];
    const request = parseMessagesRequest({ model: 'a/b', max_tokens: 5, messages });
    expect(request.messages[1]?.content).toMatchObject([
      { type: 'text', text: 'a' },
      { type: 'tool_call', id: 't', name: 'look' },
    ]);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../../src/upstream/sandbox/sandbox.ts';
import { call, parse, startTestSandbox, tool, user } from './sandbox-client.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.close());

describe('refusals', () => {
  const png = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } };
  const aTool = tool('t', '', {});
  it.each<[string, unknown, number, RegExp]>([
    ['no JSON', '{', 400, /not JSON/],
    ['no object', '[]', 400, /must be a JSON object/],
    ['no model', { messages: user('hi') }, 400, /`model` is required/],
    ['an unknown model', { model: 'no/such', messages: user('hi') }, 400, /no\/such is not a valid model ID/],
    ['no messages', { model: 'test/all' }, 400, /`messages` is required/],
    ['empty messages', { model: 'test/all', messages: [] }, 400, /`messages` is required/],
    ['a message without a role', { model: 'test/all', messages: [{ content: 'x' }] }, 400, /messages\[0\]\.role/],
    ['an image without a URL', { model: 'test/all', messages: user([{ type: 'image_url' }]) }, 400, /image_url\.url/],
    ['tools that are no array', { model: 'test/all', messages: user('x'), tools: {} }, 400, /`tools` must be an array/],
    [
      'a tool without a name',
      { model: 'test/all', messages: user('x'), tools: [{}] },
      400,
      /tools\[0\]\.function\.name/,
    ],
    ['an unknown tool_choice', { model: 'test/all', messages: user('x'), tool_choice: 'any' }, 400, /`tool_choice`/],
    [
      'a tool_choice that is not offered',
      {
        model: 'test/all',
        messages: user('x'),
        tools: [aTool],
        tool_choice: { type: 'function', function: { name: 'u' } },
      },
      400,
      /not in `tools`/,
    ],
    ['max_tokens 0', { model: 'test/all', messages: user('x'), max_tokens: 0 }, 400, /`max_tokens`/],
    ['a stop that is no text', { model: 'test/all', messages: user('x'), stop: 1 }, 400, /`stop`/],
    ['a stream that is no boolean', { model: 'test/all', messages: user('x'), stream: 'yes' }, 400, /`stream`/],
    [
      'an unknown response_format',
      { model: 'test/all', messages: user('x'), response_format: { type: 'xml' } },
      400,
      /`response_format`/,
    ],
    [
      'a prompt over the context',
      { model: 'test/plain', messages: user('word '.repeat(3000)) },
      400,
      /maximum context length is 2000 tokens/,
    ],
    [
      'max_tokens over the context',
      { model: 'test/plain', messages: user('x'), max_tokens: 2000 },
      400,
      /2000 in the output/,
    ],
    ['an image for a blind model', { model: 'test/plain', messages: user([png]) }, 404, /support image input/],
    [
      'tools for a model without',
      { model: 'test/plain', messages: user('x'), tools: [aTool] },
      404,
      /support tool use/,
    ],
  ])('%s', async (_, body, status, says) => {
    const answered = await call(sandbox.url, body);
    expect(answered.status).toBe(status);
    expect(parse(answered).error).toMatchObject({ code: status, message: expect.stringMatching(says) });
  });

  it('an unknown path is a 404 in the same shape, and other methods too', async () => {
    for (const [path, method] of [
      ['/nothing', 'GET'],
      ['/models', 'POST'],
      ['/chat/completions', 'GET'],
    ]) {
      const response = await fetch(sandbox.url + path, { method: method ?? 'GET' });
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ error: { code: 404 } });
    }
  });
});

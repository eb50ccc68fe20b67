import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../../src/upstream/sandbox/sandbox.ts';
import { call, type Json, parse, startTestSandbox, tool, user } from './sandbox-client.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.close());

const WEATHER = tool('get_weather', 'Current weather of a city', { city: { type: 'string' } });
const READ = tool('Read', 'Reads a file from disk', { file_path: { type: 'string' } });
const SEARCH = tool('web_search', 'Finds pages on the internet', { query: { type: 'string' } });
const ALL = [WEATHER, READ, SEARCH];

async function message(body: Json): Promise<Json> {
  return parse(await call(sandbox.url, { model: 'test/all', tools: ALL, ...body })).choices[0].message;
}

async function calls(body: Json): Promise<[string, Json][]> {
  const { tool_calls = [] } = await message(body);
  return tool_calls.map((one: Json) => [one.function.name, JSON.parse(one.function.arguments)]);
}

describe('tool_choice auto', () => {
  it.each<[string, [string, Json][]]>([
    ['What is the weather in Paris?', [['get_weather', { city: 'Paris' }]]],
    ['Please read src/main.ts for me', [['Read', { file_path: 'src/main.ts' }]]],
    ['search for "cheap flights"', [['web_search', { query: 'search for "cheap flights"' }]]],
    [
      'Which pages on the internet are about bees?',
      [['web_search', { query: 'Which pages on the internet are about bees?' }]],
    ],
    ['thanks, bye', []],
    ['Explain this regex: ^a+$', []],
    ['What is 2 + 2?', []],
  ])('%s', async (prompt, expected) => {
    expect(await calls({ messages: user(prompt) })).toEqual(expected);
  });

  it('looks at the last thing the person said, not at what clients put before it', async () => {
    const content = [
      { type: 'text', text: 'Reminder: you can read files and search the web.' },
      { type: 'text', text: 'thanks' },
    ];
    expect(await calls({ messages: user(content) })).toEqual([]);
  });
});

describe('the other tool choices', () => {
  it('none calls nothing', async () => {
    expect(await calls({ messages: user('weather in Paris'), tool_choice: 'none' })).toEqual([]);
  });

  it('required calls the best one, also where nothing fits', async () => {
    expect(await calls({ messages: user('read a.txt'), tool_choice: 'required' })).toEqual([
      ['Read', { file_path: 'a.txt' }],
    ]);
    expect(await calls({ messages: user('hm'), tool_choice: 'required' })).toHaveLength(1);
  });

  it('a named function is called whatever was said', async () => {
    const tool_choice = { type: 'function', function: { name: 'web_search' } };
    expect(await calls({ messages: user('weather in Paris'), tool_choice })).toEqual([
      ['web_search', { query: 'weather in Paris' }],
    ]);
  });
});

describe('parallel calls', () => {
  it.each<[string, Json, [string, Json][]]>([
    [
      'weather in Paris and London',
      {},
      [
        ['get_weather', { city: 'Paris' }],
        ['get_weather', { city: 'London' }],
      ],
    ],
    [
      'weather in paris and london',
      {},
      [
        ['get_weather', { city: 'paris' }],
        ['get_weather', { city: 'london' }],
      ],
    ],
    [
      'the weather of both Rome, Oslo',
      {},
      [
        ['get_weather', { city: 'Rome' }],
        ['get_weather', { city: 'Oslo' }],
      ],
    ],
    [
      'read a.ts, then search the web for "b"',
      {},
      [
        ['Read', { file_path: 'a.ts' }],
        ['web_search', { query: 'read a.ts, then search the web for "b"' }],
      ],
    ],
    ['weather in Paris and London', { parallel_tool_calls: false }, [['get_weather', { city: 'Paris' }]]],
    [
      'read a.ts, then search the web for "b"',
      { parallel_tool_calls: false },
      [['web_search', { query: 'read a.ts, then search the web for "b"' }]],
    ],
    ['weather in Paris or London', {}, [['get_weather', { city: 'Paris' }]]],
  ])('%s %j', async (prompt, more, expected) => {
    expect(await calls({ messages: user(prompt), ...more })).toEqual(expected);
  });

  it('have ids of their own, other ones in the next turn', async () => {
    const one = await message({ messages: user('weather in Paris and London') });
    const two = await message({
      messages: [...user('weather in Paris and London'), ...user('weather in Paris and London')],
    });
    const ids = [...one.tool_calls, ...two.tool_calls].map((made: Json) => made.id);
    expect(new Set(ids).size).toBe(4);
    for (const id of ids) expect(id).toMatch(/^call_[\w]+$/);
  });
});

describe('after a tool’s result', () => {
  const asked = [
    ...user('weather in Paris and London'),
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'get_weather', arguments: '{}' } }],
    },
  ];
  it('the answer is a text that quotes it, all of them where there are several', async () => {
    const one = { role: 'tool', tool_call_id: 'c1', content: 'sunny, 21 °C' };
    const two = { role: 'tool', tool_call_id: 'c2', content: [{ type: 'text', text: 'rain' }] };
    const answer = await message({ messages: [...asked, one, two] });
    expect(answer.tool_calls).toBeUndefined();
    expect(answer.content).toContain('The tool returned: “sunny, 21 °C”.');
    expect(answer.content).toContain('The tool returned: “rain”.');
  });

  it('an image in it is seen', async () => {
    const url = `data:image/gif;base64,${Buffer.from('GIF89a\x05\x00\x07\x00').toString('base64')}`;
    const result = { role: 'tool', tool_call_id: 'c1', content: [{ type: 'image_url', image_url: { url } }] };
    expect((await message({ messages: [...asked, result] })).content).toContain('a GIF image of 5 × 7 pixels');
  });

  it('a system message after it changes nothing', async () => {
    const result = { role: 'tool', tool_call_id: 'c1', content: 'sunny' };
    const answer = await message({ messages: [...asked, result, { role: 'system', content: 'weather' }] });
    expect(answer.content).toContain('sunny');
  });
});

describe('a call', () => {
  it('that does not fit into max_tokens is cut in its arguments', async () => {
    const body = {
      model: 'test/all',
      tools: ALL,
      messages: user('read src/a/very/long/path/to/main.ts'),
      max_tokens: 4,
    };
    const answer = parse(await call(sandbox.url, body));
    expect(answer.choices[0].finish_reason).toBe('length');
    expect(answer.usage.completion_tokens).toBe(4);
    const [made] = answer.choices[0].message.tool_calls;
    expect('{"file_path":"src/a/very/long/path/to/main.ts"}'.startsWith(made.function.arguments)).toBe(true);
  });

  it('of a tool without a schema, or with an odd one, has an object as its arguments', async () => {
    for (const parameters of [undefined, null, 1, { type: 'string' }, { type: 'array' }, {}]) {
      const odd = { type: 'function', function: { name: 'ping', parameters } };
      expect(await calls({ messages: user('ping'), tools: [odd] })).toEqual([['ping', {}]]);
    }
  });
});

// Embeddings requests and answers as the wire has them.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inspectEmbeddingsResponse } from '../../src/wire/embeddings-response.ts';
import { parseEmbeddingsRequest } from '../../src/wire/parse-embeddings-request.ts';

const parse = (input: unknown, more: object = {}) => parseEmbeddingsRequest({ model: 'a/b', input, ...more });

describe('a request', () => {
  it.each<[string, unknown, object]>([
    ['a text', 'abc', { inputs: 1, texts: ['abc'], tokenIds: 0 }],
    ['texts', ['a', 'b'], { inputs: 2, texts: ['a', 'b'], tokenIds: 0 }],
    ['token ids', [1, 2, 3], { inputs: 1, texts: [], tokenIds: 3 }],
    ['lists of token ids', [[1, 2], [3]], { inputs: 2, texts: [], tokenIds: 3 }],
  ])('takes %s', (_name, input, expected) => {
    expect(parse(input)).toMatchObject({ model: 'a/b', svc: undefined, ...expected });
  });

  it.each<[string, unknown, string]>([
    ['nothing', undefined, 'input'],
    ['null', null, 'input'],
    ['a number', 5, 'input'],
    ['an empty text', '', 'input'],
    ['an empty array', [], 'input'],
    ['an empty text among others', ['a', ''], 'input[1]'],
    ['an empty list of ids', [[1], []], 'input[1]'],
    ['an id below 0', [1, -1], 'input[1]'],
    ['half an id', [[1.5]], 'input[0][0]'],
    ['a text among ids', [1, 'a'], 'input[1]'],
    ['ids among texts', ['a', [1]], 'input'],
    ['an object', [{ text: 'a' }], 'input[0]'],
    ['too many', Array(4097).fill('a'), 'input'],
  ])('refuses %s and names it', (_name, input, param) => {
    expect(() => parse(input)).toThrow(expect.objectContaining({ code: 'INVALID_REQUEST', param }));
  });

  it.each([
    ['model', { model: 1 }],
    ['dimensions', { dimensions: 0 }],
    ['encoding_format', { encoding_format: 1 }],
    ['user', { user: {} }],
    ['svc', { svc: [] }],
  ])('refuses a wrong %s', (param, more) => {
    expect(() => parse('a', more)).toThrow(expect.objectContaining({ param }));
  });

  it('counts every id once, however they are spread', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.nat(), { minLength: 1 }), { minLength: 1 }), (lists) => {
        expect(parse(lists)).toMatchObject({ inputs: lists.length, tokenIds: lists.flat().length });
      }),
    );
  });
});

describe('an answer', () => {
  const answer = (usage: string): Buffer => Buffer.from(`{"data":[{"embedding":[1]}],"usage":${usage},"x":1.0}`);

  it.each([
    ['its prompt tokens', '{"prompt_tokens":3,"total_tokens":9}', { inputTokens: 3, outputTokens: 0 }, []],
    ['its total where that is all', '{"total_tokens":9}', { inputTokens: 9, outputTokens: 0 }, []],
    [
      'no output, whatever it says',
      '{"prompt_tokens":3,"completion_tokens":8}',
      { inputTokens: 3, outputTokens: 0 },
      [],
    ],
    ['the upstream’s own cost', '{"prompt_tokens":3,"cost":0.5}', { upstreamCost: 0.5 }, []],
    ['nonsense as missing', '{"prompt_tokens":-1}', { inputTokens: 0 }, ['inputTokens']],
  ])('is read for %s', (_name, usage, expected, missing) => {
    const seen = inspectEmbeddingsResponse(answer(usage), 1);
    expect(seen.usage).toMatchObject(expected);
    expect(seen.usageMissing).toEqual(missing);
  });

  it.each(['null', '{}', '5', '{"cost":1}'])('has no usage in %s: absent is not zero', (usage) => {
    expect(inspectEmbeddingsResponse(answer(usage), 1).usage).toBeUndefined();
  });

  it('gets its cost into the bytes and keeps the others', () => {
    const seen = inspectEmbeddingsResponse(answer('{"prompt_tokens":3, "cost":1}'), 1);
    expect(Buffer.from(seen.withCost('0.5')).toString()).toBe(answer('{"prompt_tokens":3, "cost":0.5}').toString());
    const without = Buffer.from('{"data":[{"embedding":"AA=="}]}');
    expect(Buffer.from(inspectEmbeddingsResponse(without, 1).withCost('1')).equals(without)).toBe(true);
  });

  it.each([
    ['no JSON', 'nope'],
    ['an array', '[]'],
    ['no data', '{"usage":{}}'],
    ['no vectors', '{"data":[]}'],
    ['too many vectors', '{"data":[{"embedding":[1]},{"embedding":[1]}]}'],
    ['an empty vector', '{"data":[{"embedding":[]}]}'],
    ['an empty text', '{"data":[{"embedding":""}]}'],
    ['no entry', '{"data":[null]}'],
  ])('that is %s is none', (_name, text) => {
    expect(() => inspectEmbeddingsResponse(Buffer.from(text), 1)).toThrow(
      expect.objectContaining({ code: 'UPSTREAM_INVALID_RESPONSE' }),
    );
  });

  it('that is the upstream’s own error says so', () => {
    const error = Buffer.from('{"error":{"message":"no room","code":500}}');
    expect(() => inspectEmbeddingsResponse(error, 1)).toThrow('no room');
  });
});

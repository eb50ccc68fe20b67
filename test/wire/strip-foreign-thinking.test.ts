import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJsonBody } from '../../src/wire/json-scan.ts';
import { sealReasoning } from '../../src/wire/parse-reasoning.ts';
import { stripForeignThinking } from '../../src/wire/strip-foreign-thinking.ts';

const SEAL = sealReasoning([{ type: 'reasoning.encrypted', data: 'x' }]);

function strip(messages: string): string | undefined {
  return stripForeignThinking(parseJsonBody(Buffer.from(`{"a": 1.0, "messages" : ${messages} , "model":"m"}`)));
}

const thinking = (signature: string): string =>
  `{"type":"thinking","thinking":"t","signature":${JSON.stringify(signature)}}`;
const TEXT = '{"n": 1.0, "type":"text","text":"]}, \\" \\u00e9"}';

describe('thinking that no Messages upstream takes back', () => {
  it.each<[string, string, string | undefined]>([
    ['signed thinking stays', `[{"role":"assistant","content":[${thinking('SIG')},${TEXT}]}]`, undefined],
    ['text alone stays', '[{"role":"assistant","content":"t"}]', undefined],
    ['hidden thinking stays', '[{"role":"assistant","content":[{"type":"redacted_thinking","data":"D"}]}]', undefined],
    ["a user's block of that name stays", `[{"role":"user","content":[${thinking('')}]}]`, undefined],
    [
      'unsigned, first',
      `[{"role":"assistant", "content":[ ${thinking('')} , ${TEXT} ] }]`,
      `[{"role":"assistant", "content":[ ${TEXT} ] }]`,
    ],
    [
      'unsigned, last',
      `[{"role":"assistant","content":[${TEXT}, ${thinking('')}]}]`,
      `[{"role":"assistant","content":[${TEXT}]}]`,
    ],
    [
      'without a signature',
      `[{"role":"assistant","content":[{"type":"thinking","thinking":"t"},${TEXT}]}]`,
      `[{"role":"assistant","content":[${TEXT}]}]`,
    ],
    [
      'sealed by svc',
      `[{"role":"assistant","content":[${thinking(SEAL)},${TEXT}]}]`,
      `[{"role":"assistant","content":[${TEXT}]}]`,
    ],
    [
      'sealed and hidden',
      `[{"role":"assistant","content":[{"type":"redacted_thinking","data":"${SEAL}"},${TEXT}]}]`,
      `[{"role":"assistant","content":[${TEXT}]}]`,
    ],
    [
      'between others',
      `[{"role":"assistant","content":[${thinking('S')}, ${thinking('')},${TEXT}]}]`,
      `[{"role":"assistant","content":[${thinking('S')},${TEXT}]}]`,
    ],
    [
      'all there was of a turn',
      `[{"role":"user","content":"a"}, {"role":"assistant","content":[${thinking('')}]}, {"role":"user","content":"b"}]`,
      '[{"role":"user","content":"a"}, {"role":"user","content":"b"}]',
    ],
  ])('%s', (_name, messages, expected) => {
    expect(strip(messages)).toBe(expected);
  });

  it('what is left is the same JSON, block by block', () => {
    const block = fc.record({
      type: fc.constantFrom('thinking', 'text'),
      signature: fc.constantFrom('', 'S', SEAL),
      text: fc.string(),
    });
    const turn = fc.record({
      role: fc.constantFrom('user', 'assistant'),
      content: fc.oneof(fc.string(), fc.array(block, { maxLength: 4 })),
    });
    fc.assert(
      fc.property(fc.array(turn, { maxLength: 4 }), fc.constantFrom(undefined, 1, '\t'), (turns, indent) => {
        const expected = turns.flatMap(({ role, content }) => {
          if (role !== 'assistant' || typeof content === 'string') return [{ role, content }];
          const kept = content.filter(({ type, signature }) => type !== 'thinking' || signature === 'S');
          return kept.length === 0 && content.length > 0 ? [] : [{ role, content: kept }];
        });
        const text = JSON.stringify(turns, null, indent);
        expect(JSON.parse(strip(text) ?? text)).toEqual(expected);
      }),
    );
  });
});

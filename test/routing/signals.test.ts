// Hand-made signals: what each says about which prompt.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLexicon, LEXICON_CLASSES } from '../../src/routing/classifier-lexicon.ts';
import { createReader } from '../../src/routing/classifier-reader.ts';
import { hashStem, hashWord } from '../../src/routing/classifier-tokens.ts';
import { SIGNAL_NAMES, signalIndex } from '../../src/routing/signals.ts';
import type { NeutralMessage, NeutralRequest, NeutralTool } from '../../src/wire/neutral.ts';

const read = createReader();

function signalsOf(prompt: string, tools: readonly NeutralTool[] = [], before: readonly NeutralMessage[] = []) {
  const request: NeutralRequest = {
    dialect: 'chat',
    model: 'svc:auto',
    messages: [...before, { role: 'user', content: [{ type: 'text', text: prompt }] }],
    tools,
    stream: false,
    includeUsage: false,
    choices: 1,
  };
  const { signals } = read(request);
  return Object.fromEntries(SIGNAL_NAMES.map((name, index) => [name, signals[index] ?? 0]));
}

describe('signals', () => {
  it.each<[string, string, string]>([
    ['fenced code', 'fenced', 'fix:\n```js\nlet a\n```'],
    ['inline code', 'backticks', 'what is `git reset`'],
    ['code without fences', 'code_lines', 'why\nfor (;;) {\n  go();\n}\n'],
    ['brackets', 'code_symbols', 'a[i] = (b) => { c; }'],
    ['formulas', 'math_symbols', 'x^2 + y^2 = r^2'],
    ['LaTeX', 'latex', '\\frac{a}{b} and $x$'],
    ['digits', 'digits', '123 456'],
    ['a question at the end', 'ends_with_question', 'is it so? '],
    ['a full-width question mark', 'ends_with_question', '好吗？'],
    ['bullets', 'bullets', 'list:\n- a\n- b'],
    ['links', 'urls', 'see https://example.org'],
    ['Cyrillic', 'cyrillic', 'привет'],
    ['Arabic', 'arabic', 'مرحبا'],
    ['Han', 'han', '你好'],
    ['kana', 'kana', 'ありがとう'],
    ['Hangul', 'hangul', '안녕'],
    ['other scripts', 'other_script', 'नमस्ते'],
    ['accents', 'latin_ext', 'été à où'],
    ['very short prompts', 'tiny', 'hey'],
    ['long pastes', 'paste', 'word '.repeat(400)],
    ['prompts longer than what is read', 'sampled', 'word '.repeat(2000)],
  ])('tell %s by %s', (_name, signal, prompt) => {
    expect(signalsOf(prompt)[signal]).toBeGreaterThan(0);
    expect(signalsOf('tell me about the weather over there my friend')[signal]).toBe(0);
  });

  it.each<[string, string]>([
    ['translate', 'Translate this to French: hello'],
    ['translate', 'traduis ça en anglais'],
    ['translate', 'Переведите, пожалуйста'],
    ['translate', '翻译成英文:你好'],
    ['translate', '번역해 줘'],
    ['translate', 'übersetze das'],
    ['summarize', 'summarize this'],
    ['summarize', '要約してください'],
    ['summarize', 'resume el texto'],
    ['extract', 'extract all dates'],
    ['write', 'napisz wiersz'],
    ['math', 'вычисли сумму'],
    ['social', 'thanks!'],
    ['code', 'python error'],
    ['question', 'why and how'],
  ])('know the word for %s in "%s"', (name, prompt) => {
    expect(signalsOf(prompt)[`first_${name}`]).toBe(1);
    expect(signalsOf(prompt)[`says_${name}`]).toBeGreaterThan(0);
  });

  it('look for task words at the ends of a long prompt, not in the paste', () => {
    const paste = 'lorem ipsum dolor '.repeat(60);
    expect(signalsOf(`${paste} translate ${paste}`)['says_translate']).toBe(0);
    expect(signalsOf(`${paste} translate this`)['says_translate']).toBeGreaterThan(0);
  });

  it('see that a prompt speaks of what the tools do', () => {
    const tools = [{ name: 'get_weather', description: 'Current weather for a city' }];
    expect(signalsOf('what is the weather in Rome', tools)['tool_match']).toBeGreaterThan(0);
    expect(signalsOf('explain recursion', tools)['tool_match']).toBe(0);
    expect(signalsOf('explain recursion', tools)['tools']).toBe(1);
  });

  it('see where the conversation stands', () => {
    const before: NeutralMessage[] = [
      { role: 'user', content: [{ type: 'text', text: 'x' }] },
      { role: 'assistant', content: [{ type: 'text', text: '```py\n1\n```' }] },
    ];
    expect(signalsOf('and now?', [], before)).toMatchObject({ follow_up: 1, after_code: 1, after_text: 0 });
    expect(signalsOf('and now?')).toMatchObject({ follow_up: 0, after_code: 0 });
  });

  it('stay between 0 and 1 whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 3000 }), (prompt) => {
        for (const [name, value] of Object.entries(signalsOf(prompt))) {
          expect(value >= 0 && value <= 1, `${name} is ${value}`).toBe(true);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('have one name each', () => {
    expect(new Set(SIGNAL_NAMES).size).toBe(SIGNAL_NAMES.length);
    expect(SIGNAL_NAMES[signalIndex('fenced')]).toBe('fenced');
  });
});

describe('the lexicon', () => {
  const lexicon = createLexicon();
  const bit = (name: (typeof LEXICON_CLASSES)[number]): number => 1 << LEXICON_CLASSES.indexOf(name);

  it.each([
    ['translate', 'translate', hashWord('translate')],
    ['traduzir', 'translate', hashStem('traduzir')],
    ['요약', 'summarize', hashWord('요약')],
    ['thanks', 'social', hashWord('thanks')],
  ] as const)('has %s under %s', (_word, name, hash) => {
    expect((lexicon.get(hash) ?? 0) & bit(name)).not.toBe(0);
  });

  it('fits its classes into one number', () => {
    expect(LEXICON_CLASSES.length).toBeLessThanOrEqual(31);
  });
});

// The training's parts: reading the corpus, figures, calibration, and that a small model learns.
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Example, parseCorpusLine, promptRequest, readCorpus } from '../../config/build/train-data.ts';
import { figures, fitTemperature, fitThresholds } from '../../config/build/train-figures.ts';
import { quantise, toSamples, trainModel } from '../../config/build/train-model.ts';
import { createRandom } from '../../config/build/train-random.ts';
import { renderClassifierWeights } from '../../src/routing/classifier-weights.ts';
import { createClassifier } from '../../src/routing/classify.ts';
import { COMPLEXITIES, TASK_TYPES } from '../../src/routing/decision.ts';

const folder = new URL('../../config/corpus', import.meta.url).pathname;
const labels = { task_type: 'qa', domain: 'other', complexity: 'simple' };
const parse = (row: Readonly<Record<string, unknown>>) => parseCorpusLine(JSON.stringify(row), 'b.jsonl', 'b.jsonl:1');

describe('a line of the corpus', () => {
  it('is a prompt', () => {
    const example = parse({ ...labels, prompt: 'why?', lang: 'en' });
    expect(example).toMatchObject({ task: 'qa', domain: 'other', complexity: 'simple', lang: 'en', batch: 'b.jsonl' });
    expect(example.request.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'why?' }] }]);
  });

  it('is a prompt with an image, tools and a system prompt', () => {
    const { request } = parse({ ...labels, prompt: 'x', image: true, tools: ['get: Gets: all'], system: 'brief' });
    expect(request.tools).toEqual([{ name: 'get', description: 'Gets: all' }]);
    expect(request.messages.map(({ role }) => role)).toEqual(['system', 'user']);
    expect(request.messages[1]?.content.map(({ type }) => type)).toEqual(['image', 'text']);
  });

  it('is a conversation', () => {
    const messages = [
      { role: 'user', text: 'a', image: true },
      { role: 'assistant', text: 'b' },
      { role: 'assistant', call: 'get' },
      { role: 'tool', text: 'c' },
    ];
    const { request } = parse({ ...labels, messages });
    expect(request.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'assistant', 'tool']);
    expect(request.messages[2]?.content[0]).toMatchObject({ type: 'tool_call', name: 'get' });
  });

  it.each([
    ['an unknown task type', { ...labels, task_type: 'poetry', prompt: 'x' }],
    ['an unknown domain', { ...labels, domain: 'cooking', prompt: 'x' }],
    ['an unknown complexity', { ...labels, complexity: 'hard', prompt: 'x' }],
    ['nothing to read', labels],
    ['a message from nobody', { ...labels, messages: [{ role: 'ghost', text: 'x' }] }],
  ])('is refused with %s, by file and line', (_name, row) => {
    expect(() => parse(row)).toThrow(/b\.jsonl:1/);
  });
});

describe('the corpus', () => {
  const corpus = readCorpus(folder);

  it('covers every task type, complexity and more than ten languages in several batches', () => {
    expect(corpus.length).toBeGreaterThanOrEqual(700);
    expect(new Set(corpus.map(({ task }) => task)).size).toBe(TASK_TYPES.length);
    expect(new Set(corpus.map(({ complexity }) => complexity)).size).toBe(COMPLEXITIES.length);
    expect(new Set(corpus.map(({ lang }) => lang)).size).toBeGreaterThan(10);
    expect(readdirSync(folder).filter((name) => name.endsWith('.jsonl')).length).toBeGreaterThanOrEqual(4);
  });

  it('says nothing twice', () => {
    const lines = readdirSync(folder)
      .filter((name) => name.endsWith('.jsonl'))
      .flatMap((name) => readFileSync(`${folder}/${name}`, 'utf8').trim().split('\n'));
    expect(new Set(lines).size).toBe(lines.length);
  });

  it('holds tools and images that do not decide the task', () => {
    const withTools = corpus.filter(({ request }) => request.tools.length > 0);
    expect(withTools.some(({ task }) => task !== 'agentic')).toBe(true);
    const withImages = corpus.filter(({ request }) => JSON.stringify(request.messages).includes('"image"'));
    expect(withImages.some(({ task }) => task !== 'vision')).toBe(true);
  });
});

describe('figures', () => {
  it('count what a person would count', () => {
    const said = figures(
      ['a', 'b', 'c'],
      [
        ['a', 'a'],
        ['a', 'b'],
        ['b', 'b'],
        ['b', 'b'],
      ],
    );
    expect(said.accuracy).toBe(0.75);
    expect(said.worst).toMatchObject({ label: 'a', recall: 0.5, precision: 1 });
    expect(said.classes.map(({ label }) => label)).toEqual(['a', 'b']);
    expect(said.macroF1).toBeCloseTo((2 / 3 + 4 / 5) / 2);
  });

  it('find thresholds that part what can be parted', () => {
    const { simpleBelow, complexFrom } = fitThresholds([
      [0.1, 'simple'],
      [0.25, 'simple'],
      [0.4, 'medium'],
      [0.5, 'medium'],
      [0.7, 'complex'],
      [0.9, 'complex'],
    ]);
    expect(simpleBelow > 0.25 && simpleBelow <= 0.4).toBe(true);
    expect(complexFrom > 0.5 && complexFrom <= 0.7).toBe(true);
  });

  it('warm up scores that are too sure of themselves', () => {
    const sure = { scores: [9, 0], truth: 0 };
    const wrong = { scores: [9, 0], truth: 1 };
    expect(fitTemperature([sure, sure, wrong])).toBeGreaterThan(5);
    expect(fitTemperature([sure, sure, sure])).toBeLessThan(0.5);
  });
});

describe('training', () => {
  const examples: Example[] = [
    ['translate this to French', 'translation'],
    ['translate the letter to Polish', 'translation'],
    ['please translate my text', 'translation'],
    ['what is a quark', 'qa'],
    ['what is the capital of Peru', 'qa'],
    ['who is the queen', 'qa'],
  ].map(([prompt = '', task]) => ({
    request: promptRequest(prompt),
    task: task === 'qa' ? 'qa' : 'translation',
    domain: 'other',
    complexity: 'simple',
    difficulty: 0.1,
    lang: 'en',
    batch: 'b',
  }));
  const training = { epochs: 20, rate: 0.25, signalRate: 0.1, domainBoost: 1, decay: 0, dropout: 0 };
  const calibration = { temperature: 1, simpleBelow: 0.3, complexFrom: 0.7 };
  const weights = quantise(trainModel(toSamples(examples), 1, training), calibration);

  it('learns what it is shown, one byte per weight', () => {
    const classify = createClassifier(weights);
    for (const { request, task } of examples) {
      expect(classify(request)).toMatchObject({ task_type: task, domain: 'other', complexity: 'simple' });
    }
    expect(classify(promptRequest('translate a song')).task_type).toBe('translation');
  });

  it('comes out the same from the same seed, to the byte', () => {
    const again = quantise(trainModel(toSamples(examples), 1, training), calibration);
    expect(Buffer.from(renderClassifierWeights(again)).equals(Buffer.from(renderClassifierWeights(weights)))).toBe(
      true,
    );
  });

  it('draws numbers that can be repeated', () => {
    const [one, two] = [createRandom(5), createRandom(5)];
    const drawn = Array.from({ length: 1000 }, one);
    expect(drawn).toEqual(Array.from({ length: 1000 }, two));
    expect(Math.min(...drawn)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...drawn)).toBeLessThan(1);
    expect(drawn.reduce((sum, value) => sum + value, 0) / 1000).toBeCloseTo(0.5, 1);
  });
});

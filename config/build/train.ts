// `npm run train [-- DATA]`: trains the classifier, prints held-out figures, writes config/classifier.bin.
import { writeFileSync } from 'node:fs';
import { DIFFICULTY_OUTPUT, OUTPUTS, renderClassifierWeights } from '../../src/routing/classifier-weights.ts';
import { createClassifier } from '../../src/routing/classify.ts';
import { TASK_TYPES } from '../../src/routing/decision.ts';
import { readBenchmarks } from './train-benchmarks.ts';
import { type Example, readCorpus } from './train-data.ts';
import { fitTemperature, fitThresholds, type Outcome, renderFigures } from './train-figures.ts';
import {
  type Calibration,
  type Model,
  quantise,
  rawScores,
  type Sample,
  toSamples,
  trainModel,
} from './train-model.ts';
import { createRandom } from './train-random.ts';

const SEED = 20_250_701;
const CONFIG = new URL('../', import.meta.url).pathname;
/** The corpus is cut into this many parts by batch file; each is held out once. */
const FOLDS = 4;
const UNCALIBRATED: Calibration = { temperature: 1, simpleBelow: 1 / 3, complexFrom: 2 / 3 };

const data = process.argv[2] ?? new URL('../../../shared/data/routing', import.meta.url).pathname;
print(run(data));

function run(dataFolder: string): string {
  const corpus = readCorpus(`${CONFIG}corpus`);
  const examples = [...corpus, ...readBenchmarks(dataFolder, createRandom(SEED))];
  const samples = toSamples(examples);
  const batches = [...new Set(corpus.map(({ batch }) => batch))];
  const folds = Array.from({ length: FOLDS }, (_, fold) => {
    const held = new Set(batches.filter((_batch, index) => index % FOLDS === fold));
    const model = trainModel(
      samples.filter(({ example }) => !held.has(example.batch)),
      SEED,
    );
    return { model, held: samples.filter(({ example }) => held.has(example.batch)) };
  });
  const outcomes = folds.flatMap((fold) => {
    // Each part is judged with thresholds and temperature fitted on the other parts.
    const calibration = calibrate(folds.filter((other) => other !== fold));
    const classify = createClassifier(quantise(fold.model, calibration));
    return fold.held.map(({ example }) => outcomeOf(example, classify(example.request)));
  });
  const weights = quantise(trainModel(samples, SEED), calibrate(folds));
  const bytes = renderClassifierWeights(weights);
  writeFileSync(`${CONFIG}classifier.bin`, bytes);
  const head = `${corpus.length} hand-written prompts in ${batches.length} batches, ${examples.length - corpus.length} benchmark prompts`;
  const tail = `classifier.bin: ${bytes.length} bytes, temperature ${weights.temperature.toFixed(2)}, thresholds ${weights.simpleBelow.toFixed(2)} and ${weights.complexFrom.toFixed(2)}`;
  return `${head}\nheld out by batch, ${FOLDS} parts:\n${renderFigures(outcomes)}\n${tail}\n`;
}

type Fold = { readonly model: Model; readonly held: readonly Sample[] };

function calibrate(folds: readonly Fold[]): Calibration {
  const scored = folds.flatMap(({ model, held }) =>
    held.map((sample) => {
      const scores = new Float64Array(OUTPUTS);
      rawScores(model, sample, scores);
      return { sample, scores };
    }),
  );
  const thresholds = fitThresholds(
    scored.map(({ sample, scores }) => {
      const raw = 1 / (1 + Math.exp(-(scores[DIFFICULTY_OUTPUT] ?? 0)));
      return [raw, sample.example.complexity ?? 'medium'] as const;
    }),
  );
  const rows = scored.flatMap(({ sample: { allowed, example }, scores }) => {
    if (allowed === undefined || example.task === undefined) return [];
    const masked = allowed.map((open, task) => (open ? (scores[task] ?? 0) : -1e9));
    return [{ scores: masked, truth: TASK_TYPES.indexOf(example.task) }];
  });
  return scored.length === 0 ? UNCALIBRATED : { ...thresholds, temperature: fitTemperature(rows) };
}

function outcomeOf(example: Example, said: ReturnType<ReturnType<typeof createClassifier>>): Outcome {
  return {
    task: example.task ?? '',
    taskSaid: said.task_type,
    domain: example.domain ?? '',
    domainSaid: said.domain,
    complexity: example.complexity ?? '',
    complexitySaid: said.complexity,
    confidence: said.confidence,
    lang: example.lang,
  };
}

function print(text: string): void {
  process.stdout.write(text);
}

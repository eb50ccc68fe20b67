// Fits the linear model: AdaGrad over hashed features, three heads at once, then one byte per weight.

import { createReader } from '../../src/routing/classifier-reader.ts';
import {
  type ClassifierWeights,
  DIFFICULTY_OUTPUT,
  DOMAIN_START,
  GROUP_OUTPUTS,
  OUTPUTS,
  signalOutputs,
} from '../../src/routing/classifier-weights.ts';
import { allowedTask, ruledTask } from '../../src/routing/classify.ts';
import { DOMAINS, TASK_TYPES } from '../../src/routing/decision.ts';
import { BUCKETS, GROUPS } from '../../src/routing/features.ts';
import { SIGNAL_NAMES, SUBJECT_SIGNALS_START } from '../../src/routing/signals.ts';
import type { Example } from './train-data.ts';
import { countPriors } from './train-priors.ts';
import { createRandom, shuffle } from './train-random.ts';
import { softmaxSlope } from './train-softmax.ts';
import { weigher } from './train-weigher.ts';

export type Training = {
  readonly epochs: number;
  readonly rate: number;
  readonly signalRate: number;
  /** A subject shows in single rare words, a task in the common ones: domains learn this much faster from words. */
  readonly domainBoost: number;
  /** Pull towards zero each time a weight is touched: most features are seen once or twice. */
  readonly decay: number;
  /** Share of an example's features left out at each visit, so that no single word decides. */
  readonly dropout: number;
};
const TRAINING: Training = { epochs: 8, rate: 0.08, signalRate: 0.3, domainBoost: 20, decay: 2e-5, dropout: 0.5 };
/** Where the sum of squares starts: without it AdaGrad would make up for an example's small weight. */
const EPSILON = 0.02;

/** Benchmark prompts look alike and little like what people type: they weigh less than what is hand-written. */
const TASK_SHARE = 0.1;
/** What a prompt is about shows in its words, wherever it comes from. */
const DOMAIN_SHARE = 1;
const DIFFICULTY_SHARE = 0.02;
/** What a listed word is worth before training. */
const SUBJECT_START = 5;
const BENCHMARK_VISITS = 0.25;

/** An example as the model sees it. */
export type Sample = {
  readonly rows: Uint16Array;
  readonly ends: readonly number[];
  readonly signals: Float32Array;
  readonly example: Example;
  /** Task types that the request allows; undefined where a rule decides, which teaches the task head nothing. */
  readonly allowed: readonly boolean[] | undefined;
  readonly taskWeight: number;
  readonly domainWeight: number;
};

export type Model = {
  readonly rows: Float32Array;
  readonly signals: Float32Array;
  readonly bias: Float32Array;
  /** TASK_TYPES × DOMAINS, counted, not learned. */
  readonly priors: Float32Array;
};

/** Reads all examples once; rare classes are weighted up by the root of their rarity. */
export function toSamples(examples: readonly Example[]): Sample[] {
  const read = createReader();
  const taskWeight = weigher(examples, ({ task }) => task, TASK_SHARE, 0.5);
  const domainWeight = weigher(examples, ({ domain }) => domain, DOMAIN_SHARE, 0.15);
  return examples.map((example) => {
    const { turn, features, signals } = read(example.request);
    return {
      rows: features.rows.slice(0, features.count),
      ends: Array.from(features.ends),
      signals: signals.slice(),
      example,
      allowed: ruledTask(turn) === undefined ? TASK_TYPES.map((_, task) => allowedTask(turn, task)) : undefined,
      taskWeight: taskWeight(example),
      domainWeight: domainWeight(example),
    };
  });
}

export function trainModel(samples: readonly Sample[], seed: number, training = TRAINING): Model {
  const random = createRandom(seed);
  const model = startingModel(samples.map(({ example }) => example));
  const squares = emptyModel();
  const longest = samples.reduce((length, { rows }) => Math.max(length, rows.length), 0);
  const scratch = { scores: new Float64Array(OUTPUTS), kept: new Uint8Array(longest) };
  const order = samples.map((_, index) => index);
  for (let epoch = 0; epoch < training.epochs; epoch++) {
    shuffle(order, random);
    for (const index of order) {
      const sample = samples[index];
      // Benchmarks outnumber the rest by far; a share of them each round keeps training short.
      if (sample === undefined || (sample.example.batch === '' && random() > BENCHMARK_VISITS)) continue;
      step({ model, squares, sample, scratch, random, training });
    }
  }
  return model;
}

export type Calibration = Pick<ClassifierWeights, 'temperature' | 'simpleBelow' | 'complexFrom'>;

/** One byte per weight, each output with its own step. */
export function quantise(model: Model, calibration: Calibration): ClassifierWeights {
  const scales = new Float32Array(OUTPUTS);
  for (let index = 0; index < model.rows.length; index++) {
    const output = index % OUTPUTS;
    scales[output] = Math.max(scales[output] ?? 0, Math.abs(model.rows[index] ?? 0));
  }
  for (let output = 0; output < OUTPUTS; output++) scales[output] = Math.max(scales[output] ?? 0, 1e-6) / 127;
  const rows = new Int8Array(BUCKETS * OUTPUTS);
  for (let index = 0; index < rows.length; index++) {
    rows[index] = Math.round((model.rows[index] ?? 0) / (scales[index % OUTPUTS] ?? 1));
  }
  return {
    rows,
    scales,
    bias: model.bias.slice(),
    signals: model.signals.slice(),
    priors: model.priors.slice(),
    ...calibration,
  };
}

/** The raw scores of a sample: tasks, domains, difficulty before the squashing. */
export function rawScores(model: Model, sample: Sample, scores: Float64Array): void {
  scores.set(model.bias);
  addSignals(model, sample, scores);
  forEachGroup(sample, (start, end, factor, outputs) => {
    for (let index = start; index < end; index++)
      addRow(model.rows, (sample.rows[index] ?? 0) * OUTPUTS, factor, scores, outputs);
  });
}

function addPriors(model: Model, { example }: Sample, scores: Float64Array): void {
  if (example.batch === '' || example.task === undefined) return;
  const start = TASK_TYPES.indexOf(example.task) * DOMAINS.length;
  for (let domain = 0; domain < DOMAINS.length; domain++) {
    scores[DOMAIN_START + domain] = (scores[DOMAIN_START + domain] ?? 0) + (model.priors[start + domain] ?? 0);
  }
}

/** Words listed under a subject speak for it before any example has. */
function startingModel(examples: readonly Example[]): Model {
  const model = { ...emptyModel(), priors: countPriors(examples) };
  for (let domain = 0; domain < DOMAINS.length; domain++) {
    model.signals[(SUBJECT_SIGNALS_START + domain) * OUTPUTS + DOMAIN_START + domain] = SUBJECT_START;
  }
  return model;
}

function emptyModel(): Model {
  return {
    rows: new Float32Array(BUCKETS * OUTPUTS),
    signals: new Float32Array(SIGNAL_NAMES.length * OUTPUTS),
    bias: new Float32Array(OUTPUTS),
    priors: new Float32Array(TASK_TYPES.length * DOMAINS.length),
  };
}

type Step = {
  readonly model: Model;
  readonly squares: Model;
  readonly sample: Sample;
  readonly scratch: { readonly scores: Float64Array; readonly kept: Uint8Array };
  readonly random: () => number;
  readonly training: Training;
};

function step({ model, squares, sample, scratch, random, training }: Step): void {
  const { scores, kept } = scratch;
  const { dropout, decay } = training;
  for (let index = 0; index < sample.rows.length; index++) kept[index] = random() < dropout ? 0 : 1;
  const spread = 1 / (1 - dropout);
  scores.set(model.bias);
  addSignals(model, sample, scores);
  forEachGroup(sample, (start, end, factor, outputs) => {
    for (let index = start; index < end; index++) {
      if (kept[index] === 1) addRow(model.rows, (sample.rows[index] ?? 0) * OUTPUTS, factor * spread, scores, outputs);
    }
  });
  addPriors(model, sample, scores);
  toGradient(sample, scores);
  const { rate, signalRate, domainBoost } = training;
  const slow = { weights: model.signals, squares: squares.signals, rate: signalRate, boost: 1, decay };
  for (let index = 0; index < sample.signals.length; index++) {
    const value = sample.signals[index] ?? 0;
    if (value !== 0) descend(slow, { base: index * OUTPUTS, value, outputs: signalOutputs(index) }, scores);
  }
  descend({ ...slow, weights: model.bias, squares: squares.bias }, { base: 0, value: 1, outputs: ALL }, scores);
  const table = { weights: model.rows, squares: squares.rows, rate, boost: domainBoost, decay };
  forEachGroup(sample, (start, end, factor, outputs) => {
    const value = factor * spread;
    for (let index = start; index < end; index++) {
      if (kept[index] === 1) descend(table, { base: (sample.rows[index] ?? 0) * OUTPUTS, value, outputs }, scores);
    }
  });
}

type Range = readonly [number, number];
const ALL: Range = [0, OUTPUTS];

function forEachGroup(
  sample: Sample,
  visit: (start: number, end: number, factor: number, outputs: Range) => void,
): void {
  let start = 0;
  GROUPS.forEach((group, index) => {
    const end = sample.ends[index] ?? start;
    if (end > start) visit(start, end, 1 / Math.sqrt(end - start), GROUP_OUTPUTS[group]);
    start = end;
  });
}

function addSignals(model: Model, sample: Sample, scores: Float64Array): void {
  for (let index = 0; index < sample.signals.length; index++) {
    const value = sample.signals[index] ?? 0;
    if (value !== 0) addRow(model.signals, index * OUTPUTS, value, scores, signalOutputs(index));
  }
}

function addRow(table: Float32Array, base: number, factor: number, scores: Float64Array, [from, to]: Range): void {
  for (let output = from; output < to; output++) {
    scores[output] = (scores[output] ?? 0) + (table[base + output] ?? 0) * factor;
  }
}

/** Replaces scores by the loss's slope in each of them, 0 where the label is missing. */
function toGradient(sample: Sample, scores: Float64Array): void {
  const { example } = sample;
  const task = example.task === undefined ? -1 : TASK_TYPES.indexOf(example.task);
  const domain = example.domain === undefined ? -1 : DOMAINS.indexOf(example.domain);
  const taskWeight = sample.allowed === undefined ? 0 : sample.taskWeight;
  softmaxSlope(scores, {
    start: 0,
    count: TASK_TYPES.length,
    target: task,
    weight: taskWeight,
    allowed: sample.allowed,
  });
  softmaxSlope(scores, { start: DOMAIN_START, count: DOMAINS.length, target: domain, weight: sample.domainWeight });
  const guess = 1 / (1 + Math.exp(-(scores[DIFFICULTY_OUTPUT] ?? 0)));
  scores[DIFFICULTY_OUTPUT] =
    example.difficulty === undefined
      ? 0
      : (guess - example.difficulty) * (example.batch === '' ? DIFFICULTY_SHARE : 1) * 2;
}

type Table = {
  readonly weights: Float32Array;
  readonly squares: Float32Array;
  readonly rate: number;
  readonly boost: number;
  readonly decay: number;
};
type Place = { readonly base: number; readonly value: number; readonly outputs: Range };

function descend(
  { weights, squares, rate, boost, decay }: Table,
  { base, value, outputs }: Place,
  slopes: Float64Array,
): void {
  const [from, to] = outputs;
  for (let output = from; output < to; output++) {
    const slope = (slopes[output] ?? 0) * value;
    if (slope === 0) continue;
    const at = base + output;
    const weight = weights[at] ?? 0;
    const pulled = slope + decay * weight;
    const square = (squares[at] ?? 0) + pulled * pulled;
    squares[at] = square;
    const domain = output >= DOMAIN_START;
    const pace = domain ? rate * boost : rate;
    weights[at] = weight - (pace * pulled) / Math.sqrt(square + EPSILON);
  }
}

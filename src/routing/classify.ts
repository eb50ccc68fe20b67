// Says what a request asks for: a small linear model, with the contract's fixed rules around it.
import type { NeutralRequest } from '../wire/neutral.ts';
import { createReader, type Reading } from './classifier-reader.ts';
import {
  type ClassifierWeights,
  DIFFICULTY_OUTPUT,
  DOMAIN_START,
  GROUP_OUTPUTS,
  OUTPUTS,
  signalOutputs,
} from './classifier-weights.ts';
import { type Classification, type Complexity, DOMAINS, type Domain, TASK_TYPES, type TaskType } from './decision.ts';
import { GROUPS } from './features.ts';
import type { LastTurn } from './last-turn.ts';
import { signalIndex } from './signals.ts';

/** Confidence in a task type that a rule fixed. */
const RULE_CONFIDENCE = 0.98;
const FORBIDDEN = -1e9;

const AGENTIC = TASK_TYPES.indexOf('agentic');
const VISION = TASK_TYPES.indexOf('vision');

/** Deterministic; reads at most a few thousand characters however long the request is. Not re-entrant, but synchronous. */
export function createClassifier(weights: ClassifierWeights): (request: NeutralRequest) => Classification {
  const read = createReader();
  const scores = new Float64Array(OUTPUTS);
  const sums = new Int32Array(OUTPUTS);
  return (request) => {
    const reading = read(request);
    score(weights, reading, scores, sums);
    const { task, confidence, margin } = chooseTask(reading.turn, scores, weights.temperature);
    const domain = chooseDomain(weights, TASK_TYPES.indexOf(task), scores);
    const raw = 1 / (1 + Math.exp(-(scores[DIFFICULTY_OUTPUT] ?? 0)));
    const difficulty = round(stretchDifficulty(raw, weights));
    return {
      task_type: task,
      domain,
      complexity: complexityOf(difficulty),
      difficulty,
      confidence: round(confidence),
      signals: shownSignals(reading, margin),
    };
  };
}

/** A task type that the request rules out gets no probability: no tools, no acting; no image, nothing to see. */
export function allowedTask(turn: LastTurn, task: number): boolean {
  if (task === AGENTIC) return turn.toolCount > 0 || turn.afterTool || turn.toolLoop;
  return task !== VISION || turn.imageAnywhere;
}

/** The task type that needs no model: a tool loop goes on, or an image came without a word. */
export function ruledTask(turn: LastTurn): TaskType | undefined {
  if (turn.toolLoop) return 'agentic';
  return turn.imageInLast && turn.textLength === 0 ? 'vision' : undefined;
}

/** `simple` up to a third, `complex` from two thirds of the difficulty scale. */
export function complexityOf(difficulty: number): Complexity {
  if (difficulty < 1 / 3) return 'simple';
  return difficulty < 2 / 3 ? 'medium' : 'complex';
}

function score(weights: ClassifierWeights, reading: Reading, scores: Float64Array, sums: Int32Array): void {
  const { features, signals } = reading;
  for (let output = 0; output < OUTPUTS; output++) scores[output] = weights.bias[output] ?? 0;
  for (let index = 0; index < signals.length; index++) {
    const value = signals[index] ?? 0;
    if (value !== 0) addSignal(weights.signals, index, value, scores);
  }
  let start = 0;
  GROUPS.forEach((group, index) => {
    const end = features.ends[index] ?? start;
    const [from, to] = GROUP_OUTPUTS[group];
    if (end > start) addGroup({ weights, rows: features.rows, start, end, from, to }, scores, sums);
    start = end;
  });
}

function addSignal(table: Float32Array, signal: number, value: number, scores: Float64Array): void {
  const base = signal * OUTPUTS;
  const [from, to] = signalOutputs(signal);
  for (let output = from; output < to; output++) {
    scores[output] = (scores[output] ?? 0) + (table[base + output] ?? 0) * value;
  }
}

type Group = {
  readonly weights: ClassifierWeights;
  readonly rows: Uint16Array;
  readonly start: number;
  readonly end: number;
  readonly from: number;
  readonly to: number;
};

function addGroup({ weights, rows, start, end, from, to }: Group, scores: Float64Array, sums: Int32Array): void {
  const table = weights.rows;
  sums.fill(0);
  for (let index = start; index < end; index++) {
    const base = (rows[index] ?? 0) * OUTPUTS;
    for (let output = from; output < to; output++) {
      sums[output] = (sums[output] ?? 0) + (table[base + output] ?? 0);
    }
  }
  const factor = 1 / Math.sqrt(end - start);
  for (let output = from; output < to; output++) {
    scores[output] = (scores[output] ?? 0) + (sums[output] ?? 0) * factor * (weights.scales[output] ?? 0);
  }
}

type Choice = { readonly task: TaskType; readonly confidence: number; readonly margin: number };

function chooseTask(turn: LastTurn, scores: Float64Array, temperature: number): Choice {
  const ruled = ruledTask(turn);
  if (ruled !== undefined) return { task: ruled, confidence: RULE_CONFIDENCE, margin: 1 };
  for (let task = 0; task < TASK_TYPES.length; task++) if (!allowedTask(turn, task)) scores[task] = FORBIDDEN;
  const best = bestOf(scores, 0, TASK_TYPES.length);
  const top = scores[best] ?? 0;
  let total = 0;
  let second = 0;
  for (let task = 0; task < TASK_TYPES.length; task++) {
    const weight = Math.exp(((scores[task] ?? 0) - top) / temperature);
    total += weight;
    if (task !== best && weight > second) second = weight;
  }
  return { task: TASK_TYPES[best] ?? 'chat', confidence: 1 / total, margin: (1 - second) / total };
}

function chooseDomain({ priors }: ClassifierWeights, task: number, scores: Float64Array): Domain {
  for (let index = 0; index < DOMAINS.length; index++) {
    scores[DOMAIN_START + index] = (scores[DOMAIN_START + index] ?? 0) + (priors[task * DOMAINS.length + index] ?? 0);
  }
  return DOMAINS[bestOf(scores, DOMAIN_START, DOMAINS.length) - DOMAIN_START] ?? 'other';
}

function bestOf(scores: Float64Array, start: number, count: number): number {
  let best = start;
  for (let index = start + 1; index < start + count; index++) {
    if ((scores[index] ?? 0) > (scores[best] ?? 0)) best = index;
  }
  return best;
}

/** Moves the trained thresholds to one and two thirds, so that difficulty and complexity never disagree. */
function stretchDifficulty(raw: number, { simpleBelow, complexFrom }: ClassifierWeights): number {
  if (raw < simpleBelow) return raw / simpleBelow / 3;
  if (raw < complexFrom) return (1 + (raw - simpleBelow) / (complexFrom - simpleBelow)) / 3;
  return Math.min(1, (2 + (raw - complexFrom) / (1 - complexFrom)) / 3);
}

function shownSignals({ turn, signals, features }: Reading, margin: number): Record<string, number> {
  const signal = (name: Parameters<typeof signalIndex>[0]): number => round(signals[signalIndex(name)] ?? 0);
  return {
    chars: turn.textLength,
    turns: turn.turns,
    tools: turn.toolCount,
    tool_match: signal('tool_match'),
    tool_loop: Number(turn.toolLoop || turn.afterTool),
    image: Number(turn.imageInLast),
    image_before: signal('image_before'),
    fenced: signal('fenced'),
    code_symbols: signal('code_symbols'),
    math_symbols: signal('math_symbols'),
    digits: signal('digits'),
    questions: signal('questions'),
    paste_ratio: signal('paste_ratio'),
    features: features.count,
    margin: round(margin),
  };
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}

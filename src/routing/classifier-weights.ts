// The trained weights' file: what is in it, how it is written and how it is read back.
import { DOMAINS, TASK_TYPES } from './decision.ts';
import { BUCKETS, FEATURE_VERSION, type GROUPS } from './features.ts';
import { SIGNAL_NAMES, SUBJECT_SIGNALS_START } from './signals.ts';

/** The outputs of one row: task types, then difficulty, then domains. */
export const DIFFICULTY_OUTPUT = TASK_TYPES.length;
export const DOMAIN_START = DIFFICULTY_OUTPUT + 1;
export const OUTPUTS = DOMAIN_START + DOMAINS.length;

/** A signal speaks for these outputs. Shape says nothing about the subject: from benchmarks it would learn each one's layout. */
export function signalOutputs(signal: number): readonly [number, number] {
  return signal < SUBJECT_SIGNALS_START ? SHAPE_OUTPUTS : SUBJECT_OUTPUTS;
}
const SHAPE_OUTPUTS = [0, DOMAIN_START] as const;
const SUBJECT_OUTPUTS = [DOMAIN_START, OUTPUTS] as const;

/**
 * Which outputs a group of features speaks for, from the first up to but not including the second. What is asked for shows in the
 * person's own words, the subject in all of them; kept apart, the two don't spoil each other where hashes meet.
 */
export const GROUP_OUTPUTS: Readonly<Record<(typeof GROUPS)[number], readonly [number, number]>> = {
  lead: [0, DOMAIN_START],
  chars: [0, DOMAIN_START],
  body: [DIFFICULTY_OUTPUT, OUTPUTS],
  circumstances: [0, DOMAIN_START],
  context: [0, DOMAIN_START],
};

const PRIORS = TASK_TYPES.length * DOMAINS.length;

const MAGIC = 0x57435653; // "SVCW", little-endian
const FORMAT = 1;
/** Magic, format, feature version, rows, outputs, signals, then the three numbers of the calibration. */
const HEADER_BYTES = 9 * 4;
const CHECKSUM_BYTES = 4;

export type ClassifierWeights = {
  /** BUCKETS × OUTPUTS, row by row, so that a feature reads one short stretch of memory. */
  readonly rows: Int8Array;
  /** Per output: what one step of `rows` is worth. */
  readonly scales: Float32Array;
  readonly bias: Float32Array;
  /** SIGNALS × OUTPUTS. */
  readonly signals: Float32Array;
  /** TASK_TYPES × DOMAINS: what is added to the domains' scores once the task type is known (code is about computers). */
  readonly priors: Float32Array;
  /** Task scores are divided by this before they become probabilities. */
  readonly temperature: number;
  /** Raw difficulty where `simple` ends and where `complex` begins, 0 < simpleBelow < complexFrom < 1. */
  readonly simpleBelow: number;
  readonly complexFrom: number;
};

/** Throws an Error that says what is wrong with a damaged file or one made for other code. */
export function parseClassifierWeights(bytes: Uint8Array): ClassifierWeights {
  const floats = OUTPUTS * (2 + SIGNAL_NAMES.length) + PRIORS;
  const expected = HEADER_BYTES + floats * 4 + BUCKETS * OUTPUTS + CHECKSUM_BYTES;
  if (bytes.byteLength !== expected) {
    throw new Error(`classifier weights: ${bytes.byteLength} bytes instead of ${expected}`);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  checkHeader(view);
  const end = bytes.byteLength - CHECKSUM_BYTES;
  if (view.getUint32(end, true) !== checksum(bytes.subarray(0, end))) {
    throw new Error('classifier weights: the checksum does not match');
  }
  const values = new Float32Array(floats);
  for (let index = 0; index < floats; index++) values[index] = view.getFloat32(HEADER_BYTES + index * 4, true);
  const weights = {
    rows: new Int8Array(bytes.slice(HEADER_BYTES + floats * 4, end).buffer),
    scales: values.slice(0, OUTPUTS),
    bias: values.slice(OUTPUTS, OUTPUTS * 2),
    signals: values.slice(OUTPUTS * 2, floats - PRIORS),
    priors: values.slice(floats - PRIORS),
    temperature: view.getFloat32(24, true),
    simpleBelow: view.getFloat32(28, true),
    complexFrom: view.getFloat32(32, true),
  };
  checkValues(weights, values);
  return weights;
}

/** The file for these weights; throws an Error when an array has the wrong length. */
export function renderClassifierWeights(weights: ClassifierWeights): Uint8Array {
  const { rows, scales, bias, signals, priors } = weights;
  const fits = scales.length === OUTPUTS && bias.length === OUTPUTS && rows.length === BUCKETS * OUTPUTS;
  if (!fits || signals.length !== SIGNAL_NAMES.length * OUTPUTS || priors.length !== PRIORS) {
    throw new Error('classifier weights: an array has the wrong length');
  }
  const floats = [...scales, ...bias, ...signals, ...priors];
  const bytes = new Uint8Array(HEADER_BYTES + floats.length * 4 + rows.length + CHECKSUM_BYTES);
  const view = new DataView(bytes.buffer);
  header().forEach((value, index) => {
    view.setUint32(index * 4, value, true);
  });
  view.setFloat32(24, weights.temperature, true);
  view.setFloat32(28, weights.simpleBelow, true);
  view.setFloat32(32, weights.complexFrom, true);
  floats.forEach((value, index) => {
    view.setFloat32(HEADER_BYTES + index * 4, value, true);
  });
  bytes.set(new Uint8Array(rows.buffer, rows.byteOffset, rows.length), HEADER_BYTES + floats.length * 4);
  const end = bytes.length - CHECKSUM_BYTES;
  view.setUint32(end, checksum(bytes.subarray(0, end)), true);
  return bytes;
}

function header(): readonly number[] {
  return [MAGIC, FORMAT, FEATURE_VERSION, BUCKETS, OUTPUTS, SIGNAL_NAMES.length];
}

function checkHeader(view: DataView): void {
  const names = [
    'magic number',
    'format',
    'feature version',
    'number of rows',
    'number of outputs',
    'number of signals',
  ];
  header().forEach((value, index) => {
    const found = view.getUint32(index * 4, true);
    if (found !== value) throw new Error(`classifier weights: the ${names[index]} is ${found}, expected ${value}`);
  });
}

function checkValues(weights: ClassifierWeights, values: Float32Array): void {
  if (!values.every(Number.isFinite)) throw new Error('classifier weights: a weight is not a number');
  const { temperature, simpleBelow, complexFrom } = weights;
  const ordered = simpleBelow > 0 && simpleBelow < complexFrom && complexFrom < 1;
  if (!ordered || !(temperature > 0 && temperature < 100)) {
    throw new Error('classifier weights: the calibration is out of range');
  }
}

/** FNV-1a: enough against a torn or wrong file; the file is not a secret. */
function checksum(bytes: Uint8Array): number {
  let hash = 0x811c9dc5 | 0;
  for (let index = 0; index < bytes.length; index++) hash = Math.imul(hash ^ (bytes[index] ?? 0), 0x01000193);
  return hash >>> 0;
}

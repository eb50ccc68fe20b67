// The weights' file: what is written comes back, what is damaged is refused.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type ClassifierWeights,
  DIFFICULTY_OUTPUT,
  DOMAIN_START,
  OUTPUTS,
  parseClassifierWeights,
  renderClassifierWeights,
} from '../../src/routing/classifier-weights.ts';
import { DOMAINS, TASK_TYPES } from '../../src/routing/decision.ts';
import { BUCKETS } from '../../src/routing/features.ts';
import { SIGNAL_NAMES } from '../../src/routing/signals.ts';

function someWeights(more: Partial<ClassifierWeights> = {}): ClassifierWeights {
  return {
    rows: Int8Array.from({ length: BUCKETS * OUTPUTS }, (_, index) => ((index * 31) % 255) - 127),
    scales: Float32Array.from({ length: OUTPUTS }, (_, index) => 0.01 * (index + 1)),
    bias: Float32Array.from({ length: OUTPUTS }, (_, index) => index - 10),
    signals: Float32Array.from({ length: SIGNAL_NAMES.length * OUTPUTS }, (_, index) => Math.sin(index)),
    priors: Float32Array.from({ length: TASK_TYPES.length * DOMAINS.length }, (_, index) => -index),
    temperature: 1.5,
    simpleBelow: 0.25,
    complexFrom: 0.75,
    ...more,
  };
}

const file = renderClassifierWeights(someWeights());

describe('the weights file', () => {
  it('comes back as it was written', () => {
    const { rows, ...others } = parseClassifierWeights(file);
    const { rows: written, ...otherWritten } = someWeights();
    expect(others).toEqual(otherWritten);
    // Deep equality over a million entries is slow.
    expect(Buffer.from(rows.buffer).equals(Buffer.from(written.buffer))).toBe(true);
  });

  it('is the same each time it is written', () => {
    expect(Buffer.from(renderClassifierWeights(someWeights())).equals(Buffer.from(file))).toBe(true);
  });

  it('is read from anywhere in a larger buffer', () => {
    const larger = new Uint8Array(file.length + 7);
    larger.set(file, 3);
    expect(parseClassifierWeights(larger.subarray(3, 3 + file.length)).temperature).toBe(1.5);
  });

  it('stays under two megabytes', () => {
    expect(file.length).toBeLessThan(2_000_000);
  });

  it('has one output for each task type and domain, and one for difficulty', () => {
    expect([DIFFICULTY_OUTPUT, DOMAIN_START, OUTPUTS]).toEqual([
      TASK_TYPES.length,
      TASK_TYPES.length + 1,
      TASK_TYPES.length + DOMAINS.length + 1,
    ]);
  });

  it('does not alias the bytes it was read from', () => {
    const copy = file.slice();
    const weights = parseClassifierWeights(copy);
    const before = weights.rows[5];
    copy.fill(0);
    expect(weights.rows[5]).toBe(before);
  });
});

describe('a damaged weights file', () => {
  it.each<[string, (bytes: Uint8Array) => Uint8Array, RegExp]>([
    ['empty', () => new Uint8Array(0), /0 bytes instead of/],
    ['cut short', (bytes) => bytes.subarray(0, 1000), /1000 bytes instead of/],
    ['too long', (bytes) => new Uint8Array(bytes.length + 10), /bytes instead of/],
    ['no weights at all', (bytes) => bytes.fill(0), /magic number/],
    ['of another format', (bytes) => bytes.fill(9, 4, 5), /format is 9/],
    ['made for other features', (bytes) => bytes.fill(99, 8, 9), /feature version is 99/],
    ['with another number of rows', (bytes) => bytes.fill(3, 12, 13), /number of rows/],
    ['with another number of outputs', (bytes) => bytes.fill(3, 16, 17), /number of outputs/],
    ['with another number of signals', (bytes) => bytes.fill(3, 20, 21), /number of signals/],
  ])('is refused when it is %s', (_name, damage, message) => {
    expect(() => parseClassifierWeights(damage(file.slice()))).toThrow(message);
  });

  it('is refused wherever a byte behind the header was changed', () => {
    fc.assert(
      fc.property(fc.integer({ min: 36, max: file.length - 1 }), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const bytes = file.slice();
        bytes[at] = (bytes[at] ?? 0) ^ change;
        expect(() => parseClassifierWeights(bytes)).toThrow(/checksum/);
      }),
      { numRuns: 12 },
    );
  });

  it.each<[string, Partial<ClassifierWeights>, RegExp]>([
    ['a weight that is no number', { bias: new Float32Array(OUTPUTS).fill(Number.NaN) }, /not a number/],
    ['an endless weight', { scales: new Float32Array(OUTPUTS).fill(Number.POSITIVE_INFINITY) }, /not a number/],
    ['thresholds in the wrong order', { simpleBelow: 0.8, complexFrom: 0.2 }, /calibration/],
    ['a threshold outside the scale', { complexFrom: 1.2 }, /calibration/],
    ['no temperature', { temperature: 0 }, /calibration/],
    ['a temperature that is no number', { temperature: Number.NaN }, /calibration/],
  ])('is refused with %s', (_name, change, message) => {
    const bytes = renderClassifierWeights(someWeights(change));
    expect(() => parseClassifierWeights(bytes)).toThrow(message);
  });

  it.each<[string, Partial<ClassifierWeights>]>([
    ['rows', { rows: new Int8Array(5) }],
    ['scales', { scales: new Float32Array(1) }],
    ['bias', { bias: new Float32Array(OUTPUTS + 1) }],
    ['priors', { priors: new Float32Array(3) }],
    ['signals', { signals: new Float32Array(OUTPUTS) }],
  ])('is not written with %s of the wrong length', (_name, change) => {
    expect(() => renderClassifierWeights(someWeights(change))).toThrow(/wrong length/);
  });
});

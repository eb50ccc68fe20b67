// Names and order of the files in the journal's directory.

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DamagedStateError, errorCode } from './store-errors.ts';

const SEGMENT_NAME = /^([0-9]{12})\.ndjson(\.gz)?$/;
const CARRY_NAME = /^carry-([0-9]{12})\.json$/;

/** Numbers, ascending. */
export type JournalFiles = {
  /** The segments that count, without a gap; the first is where a reader begins. */
  readonly segments: readonly number[];
  /** Of those that count, the ones that are there uncompressed, whether or not compressed as well. */
  readonly plain: readonly number[];
  /** Segments before the first that counts: they are about to be deleted, or a crash came before that. */
  readonly expired: readonly number[];
  /** The segments whose start a carry file is for. */
  readonly carries: readonly number[];
};

export function segmentPath(directory: string, segment: number): string {
  return join(directory, `${padded(segment)}.ndjson`);
}

export function compressedSegmentPath(directory: string, segment: number): string {
  return join(directory, `${padded(segment)}.ndjson.gz`);
}

/** What everything before a segment added up to. */
export function carryPath(directory: string, segment: number): string {
  return join(directory, `carry-${padded(segment)}.json`);
}

/** The segments that count, ascending; throws `DamagedStateError` where one is missing. */
export async function listSegments(directory: string): Promise<readonly number[]> {
  return (await listJournalFiles(directory)).segments;
}

/**
 * A segment counts once, whichever form it has, and only from the newest carry file on. Throws `DamagedStateError` where one is
 * missing that no carry stands for.
 */
export async function listJournalFiles(directory: string): Promise<JournalFiles> {
  const plain = new Set<number>();
  const all = new Set<number>();
  const carries: number[] = [];
  for (const name of await namesIn(directory)) {
    const segment = SEGMENT_NAME.exec(name);
    const carry = CARRY_NAME.exec(name);
    if (segment?.[1] !== undefined) all.add(Number(segment[1]));
    if (segment?.[1] !== undefined && segment[2] === undefined) plain.add(Number(segment[1]));
    if (carry?.[1] !== undefined) carries.push(Number(carry[1]));
  }
  const present = ascending(all);
  const first = firstThatCounts(present, ascending(carries));
  const segments = present.filter((segment) => segment >= first);
  segments.forEach((segment, index) => {
    const expected = first + index;
    if (segment !== expected) throw new DamagedStateError(segmentPath(directory, expected), 'the segment is missing');
  });
  return {
    segments,
    plain: segments.filter((segment) => plain.has(segment)),
    expired: present.filter((segment) => segment < first),
    carries: ascending(carries),
  };
}

/** The newest carry with nothing missing after it, whatever there still is before; the oldest segment where there is none. */
function firstThatCounts(present: readonly number[], carries: readonly number[]): number {
  return carries.findLast((carry) => isWhole(present, carry)) ?? present[0] ?? 1;
}

function isWhole(present: readonly number[], first: number): boolean {
  const from = present.indexOf(first);
  return from !== -1 && present.length - from === (present.at(-1) ?? first) - first + 1;
}

function padded(segment: number): string {
  return String(segment).padStart(12, '0');
}

function ascending(numbers: Iterable<number>): readonly number[] {
  return [...numbers].sort((a, b) => a - b);
}

async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

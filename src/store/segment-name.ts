// Names and order of the journal's segment files.

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DamagedStateError, errorCode } from './store-errors.ts';

const SEGMENT_NAME = /^([0-9]{12})\.ndjson$/;

export function segmentPath(directory: string, segment: number): string {
  return join(directory, `${String(segment).padStart(12, '0')}.ndjson`);
}

/** The numbers of the segments in a journal directory, ascending; throws `DamagedStateError` where one is missing between. */
export async function listSegments(directory: string): Promise<readonly number[]> {
  const segments: number[] = [];
  for (const name of await namesIn(directory)) {
    const match = SEGMENT_NAME.exec(name);
    if (match?.[1] !== undefined) segments.push(Number(match[1]));
  }
  segments.sort((a, b) => a - b);
  segments.forEach((segment, index) => {
    const expected = (segments[0] ?? 1) + index;
    if (segment !== expected) throw new DamagedStateError(segmentPath(directory, expected), 'the segment is missing');
  });
  return segments;
}

async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

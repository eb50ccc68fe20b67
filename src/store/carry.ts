// What expired segments added up to: the file that stands in for them, and its proof in the journal.
//
// `journal/carry-<segment>.json` is the state at the start of that segment. It begins with the SHA-256 of all that follows:
// `{"digest":"<64 hex digits>","format":1,…}` and a line feed. The file gets its name only when a `carry` record with the same
// digest is in the journal, which ties it to the journal like a record; from that moment the segments before it do not count.

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { LedgerState } from '../ledger/ledger-fold.ts';
import type { Disk } from './disk.ts';
import type { CarryRecord, JournalRecord } from './journal-format.ts';
import type { JournalPosition } from './journal-reader.ts';
import { jsonPieces } from './json-pieces.ts';
import { parseLedgerState } from './ledger-state-parser.ts';
import { replaceFile } from './replace-file.ts';
import { carryPath, listJournalFiles } from './segment-name.ts';
import { DamagedStateError, errorCode } from './store-errors.ts';
import type { RollupState } from './usage-rollup.ts';

/** `position` is the start of the segment it is for. */
export type CarryState = {
  readonly position: JournalPosition;
  readonly ledger: LedgerState;
  readonly rollup: RollupState;
};
export type Carry = CarryState & { readonly file: string; readonly digest: string };

const FORMAT = 1;
const DIGEST_START = '{"digest":"';
const BODY_AT = DIGEST_START.length + 64 + 2;
/** Hashed and turned to bytes at a time. */
const SLICE_CHARACTERS = 32_768;

/**
 * The carry that a journal begins with; null where it begins with its first segment. Throws `DamagedStateError` where the first
 * segment there is has none.
 */
export async function readJournalBase(directory: string): Promise<Carry | null> {
  const { segments, carries } = await listJournalFiles(directory);
  const [first] = segments;
  if (first === undefined && carries.length > 0) {
    throw new DamagedStateError(directory, 'there are no segments, but a carry file');
  }
  return first === undefined || first === 1 ? null : readCarry(directory, first);
}

/** Throws `DamagedStateError` for a file that is missing or not exactly what was written. */
export async function readCarry(directory: string, segment: number): Promise<Carry> {
  const file = carryPath(directory, segment);
  const bytes = await readCarryFile(file);
  const digest = bytes.toString('latin1', DIGEST_START.length, BODY_AT - 2);
  const body = bytes.subarray(BODY_AT);
  if (bytes.toString('latin1', 0, BODY_AT) !== `${DIGEST_START}${digest}",`) {
    throw new DamagedStateError(file, 'does not begin with its digest');
  }
  if (createHash('sha256').update(body).digest('hex') !== digest) {
    throw new DamagedStateError(file, 'does not fit its digest');
  }
  try {
    const state = parseState(JSON.parse(`{${body.toString('utf8')}`));
    if (state.position.segment !== segment) throw new Error(`it is for segment ${state.position.segment}`);
    return { ...state, file, digest };
  } catch (error) {
    throw new DamagedStateError(file, error instanceof Error ? error.message : String(error), error);
  }
}

export type CarryWriting = {
  readonly disk: Disk;
  readonly directory: string;
  /** Awaited between small steps. */
  readonly pause: () => Promise<void>;
  /** Puts the digest into the journal, when the content is durable; the file is given up where this fails. */
  readonly record: (digest: string) => Promise<unknown>;
};

/** Once this resolves the journal begins with the segment of the state, and that is durable. */
export async function writeCarry(state: CarryState, writing: CarryWriting): Promise<void> {
  const { disk, directory, pause, record } = writing;
  const { position, ledger, rollup } = state;
  const hash = createHash('sha256');
  const slices: Buffer[] = [];
  let text = '';
  const flush = async () => {
    const slice = Buffer.from(text, 'utf8');
    hash.update(slice);
    slices.push(slice);
    text = '';
    await pause();
  };
  let isFirst = true;
  for (const piece of jsonPieces({ format: FORMAT, position, ledger, rollup })) {
    // The opening brace comes before the digest.
    text += isFirst ? piece.slice(1) : piece;
    isFirst = false;
    if (text.length >= SLICE_CHARACTERS) await flush();
  }
  text += '\n';
  await flush();
  const digest = hash.digest('hex');
  const bytes = Buffer.concat([Buffer.from(`${DIGEST_START}${digest}",`, 'latin1'), ...slices]);
  await replaceFile(disk, carryPath(directory, position.segment), bytes, async () => {
    await record(digest);
  });
}

/** Holds the carry a reader began with against what the journal says of it. */
export class CarryCheck {
  readonly #base: Carry | null;
  #record: CarryRecord | null = null;

  constructor(base: Carry | null) {
    this.#base = base;
  }

  /** The last record for a segment counts: after one before it the file was given up. */
  take(record: JournalRecord): void {
    if (record.type === 'carry' && record.segment === this.#base?.position.segment) this.#record = record;
  }

  /** Throws `DamagedStateError`. `sawAll`: the journal was read from the carry on. */
  finish(sawAll: boolean): void {
    if (this.#base === null) return;
    const { file, digest } = this.#base;
    if (this.#record === null && sawAll) {
      throw new DamagedStateError(file, 'the journal has no record of it, and the segments before it are missing');
    }
    if (this.#record !== null && this.#record.digest !== digest) {
      throw new DamagedStateError(file, 'is not the one that the journal has a record of');
    }
  }
}

async function readCarryFile(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    throw new DamagedStateError(file, 'is missing, and so are the segments before it', error);
  }
}

function parseState(value: unknown): CarryState {
  if (!isObject(value)) throw new Error('is not an object');
  if (value['format'] !== FORMAT) throw new Error('is of a format that this version does not read');
  const position = parsePosition(value['position']);
  return { position, ledger: parseLedgerState(value['ledger']), rollup: parseRollup(value['rollup']) };
}

function parsePosition(value: unknown): JournalPosition {
  const { segment, offset, nextSeq, prev } = isObject(value) ? value : {};
  if (!isCount(segment) || !isCount(nextSeq) || offset !== 0 || typeof prev !== 'string') {
    throw new Error('its position is malformed');
  }
  return { segment, offset, nextSeq, prev };
}

/** Lists of numbers beside the list of names they count in; what they mean is for the rollup to see. */
function parseRollup(value: unknown): RollupState {
  const { names, ...columns } = isObject(value) ? value : {};
  if (!isListOf(names, isText) || !Object.values(columns).every((column) => isListOf(column, isNumber))) {
    throw new Error('its rollup is malformed');
  }
  return value as RollupState;
}

function isListOf<T>(value: unknown, isItem: (item: unknown) => item is T): value is readonly T[] {
  return Array.isArray(value) && value.every(isItem);
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// Some ten thousand usage rows: in memory, and as the bytes of a file that says itself whether it is whole.

import { crc32 } from 'node:zlib';
import type { UsageEntry } from '../ledger/records.ts';
import type { RecordPlace } from './journal-format.ts';
import type { UsageCells } from './usage-cells.ts';
import { type CellNeed, ChunkCells } from './usage-chunk-cells.ts';
import {
  columnsOver,
  copyColumns,
  countBelow,
  makeColumns,
  ROW_BYTES,
  type UsageColumns,
} from './usage-row-columns.ts';

export const CHUNK_ROWS = 65_536;

/** A new chunk is small, so that a daemon that does little stays small. */
const FIRST_CAPACITY = 256;

// The header, in the machine's byte order, which a machine with another sees by the version:
// magic (8 bytes), version, number, rows, greatest name (4 each), earliest and latest created_at (8 each), 0 (4), CRC-32.
// The CRC is of all bytes before and after it.
const MAGIC = Buffer.from('svcusage', 'latin1');
const VERSION = 1;
const HEADER_BYTES = 48;
const CRC_AT = 44;

/** The row's names as numbers of the dictionary. */
export type RowNames = {
  readonly workspace: number;
  readonly key: number;
  readonly model: number;
  readonly virtualModel: number;
  readonly task: number;
};

export class UsageChunk {
  /** From 1. */
  readonly number: number;
  #columns = makeColumns(FIRST_CAPACITY);
  #rows = 0;
  #greatestName = 0;
  #earliestMs = Number.POSITIVE_INFINITY;
  #latestMs = Number.NEGATIVE_INFINITY;
  #checksum: number | null = null;
  #cells: ChunkCells | null = null;

  constructor(number: number) {
    this.number = number;
  }

  /** Takes over the bytes, which nobody may change afterwards. Throws an `Error` that says what is wrong with them. */
  static decode(bytes: Buffer): UsageChunk {
    if (bytes.length < HEADER_BYTES) throw new Error('it is too short');
    if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) throw new Error('it is no usage chunk');
    const own = aligned(bytes);
    const header = headerOf(own);
    const [version = 0, number = 0, rows = 0, greatestName = 0] = header.numbers;
    if (version !== VERSION) throw new Error(`it is of version ${version}, which this version does not read`);
    if (own.length !== HEADER_BYTES + rows * ROW_BYTES) throw new Error(`its length does not fit ${rows} rows`);
    if (header.crc[0] !== checksumOf(own)) throw new Error('its checksum is wrong');
    if (number === 0 || rows > CHUNK_ROWS) throw new Error('its header makes no sense');
    const chunk = new UsageChunk(number);
    chunk.#columns = columnsOver(own.buffer, own.byteOffset + HEADER_BYTES, rows);
    chunk.#rows = rows;
    chunk.#greatestName = greatestName;
    chunk.#earliestMs = header.times[0] ?? 0;
    chunk.#latestMs = header.times[1] ?? 0;
    chunk.#checksum = header.crc[0] ?? 0;
    return chunk;
  }

  get rows(): number {
    return this.#rows;
  }

  /** True once it takes no more rows. */
  get sealed(): boolean {
    return this.#rows === CHUNK_ROWS;
  }

  /** Its first `rows` rows count. */
  get columns(): UsageColumns {
    return this.#columns;
  }

  /** The number of the dictionary that must exist for all names of the rows to exist. */
  get greatestName(): number {
    return this.#greatestName;
  }

  /** Of all rows; later than `latestMs` without any. */
  get earliestMs(): number {
    return this.#earliestMs;
  }

  get latestMs(): number {
    return this.#latestMs;
  }

  /** The CRC-32 that the encoded bytes carry; null while they were never made for the rows there are. */
  get checksum(): number | null {
    return this.#checksum;
  }

  add(place: RecordPlace, entry: UsageEntry, names: RowNames): void {
    if (this.sealed) throw new Error(`usage chunk ${this.number} is full`);
    const row = this.#rows;
    if (row === this.#columns.capacity) this.#grow();
    const columns = this.#columns;
    columns.seq[row] = place.seq;
    columns.segment[row] = place.segment;
    columns.offset[row] = place.offset;
    columns.bytes[row] = place.bytes;
    columns.createdAt[row] = entry.created_at;
    columns.cost[row] = entry.cost;
    columns.inputTokens[row] = entry.input_tokens;
    columns.cachedTokens[row] = entry.cached_tokens;
    columns.outputTokens[row] = entry.output_tokens;
    columns.status[row] = entry.status;
    columns.workspace[row] = names.workspace;
    columns.key[row] = names.key;
    columns.model[row] = names.model;
    columns.virtualModel[row] = names.virtualModel;
    columns.task[row] = names.task;
    const { workspace, key, model, virtualModel, task } = names;
    this.#greatestName = Math.max(this.#greatestName, workspace, key, model, virtualModel, task);
    this.#earliestMs = Math.min(this.#earliestMs, entry.created_at);
    this.#latestMs = Math.max(this.#latestMs, entry.created_at);
    this.#checksum = null;
    this.#rows += 1;
  }

  place(row: number): RecordPlace {
    const { seq, segment, offset, bytes } = this.#columns;
    return { seq: seq[row] ?? 0, segment: segment[row] ?? 0, offset: offset[row] ?? 0, bytes: bytes[row] ?? 0 };
  }

  get lastSeq(): number {
    return this.#columns.seq[this.#rows - 1] ?? 0;
  }

  rowsBeforeSeq(seq: number): number {
    return countBelow(this.#columns.seq, this.#rows, seq);
  }

  rowsBeforeSegment(segment: number): number {
    return countBelow(this.#columns.segment, this.#rows, segment);
  }

  /** All rows of a sealed chunk in sum, exact for such a need; null where that would save nothing. Made when first asked for. */
  cells(need: CellNeed): UsageCells | null {
    if (!this.sealed) return null;
    this.#cells ??= new ChunkCells(this.#columns, this.#rows);
    return this.#cells.of(need);
  }

  /** A copy; at most some 5 MB. */
  encode(): Buffer {
    // Buffers made by size may share memory with others and then lie unaligned.
    const bytes = Buffer.from(new ArrayBuffer(HEADER_BYTES + this.#rows * ROW_BYTES));
    MAGIC.copy(bytes);
    const header = headerOf(bytes);
    header.numbers.set([VERSION, this.number, this.#rows, this.#greatestName]);
    header.times.set([this.#earliestMs, this.#latestMs]);
    copyColumns(this.#columns, columnsOver(bytes.buffer, HEADER_BYTES, this.#rows), this.#rows);
    this.#checksum = checksumOf(bytes);
    header.crc[0] = this.#checksum;
    return bytes;
  }

  #grow(): void {
    const larger = makeColumns(Math.min(CHUNK_ROWS, Math.max(FIRST_CAPACITY, this.#rows * 2)));
    copyColumns(this.#columns, larger, this.#rows);
    this.#columns = larger;
  }
}

function headerOf(bytes: Buffer): { numbers: Uint32Array; times: Float64Array; crc: Uint32Array } {
  const { buffer, byteOffset } = bytes;
  return {
    numbers: new Uint32Array(buffer, byteOffset + MAGIC.length, 4),
    times: new Float64Array(buffer, byteOffset + 24, 2),
    crc: new Uint32Array(buffer, byteOffset + CRC_AT, 1),
  };
}

function checksumOf(bytes: Buffer): number {
  return crc32(bytes.subarray(HEADER_BYTES), crc32(bytes.subarray(0, CRC_AT)));
}

function aligned(bytes: Buffer): Buffer {
  if (bytes.byteOffset % 8 === 0) return bytes;
  const copy = Buffer.from(new ArrayBuffer(bytes.length));
  bytes.copy(copy);
  return copy;
}

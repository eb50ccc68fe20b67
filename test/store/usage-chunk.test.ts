// Chunks of usage rows through their bytes and back, and bytes that are not what was written.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RecordPlace } from '../../src/store/journal-format.ts';
import { CHUNK_ROWS, UsageChunk } from '../../src/store/usage-chunk.ts';
import { makeEntry, NOON } from './fixtures/records.ts';

type Row = { readonly place: RecordPlace; readonly fields: Record<string, number>; readonly names: readonly number[] };

const NO_NAMES = { workspace: 1, key: 2, model: 0, virtualModel: 0, task: 0 };

function chunkOf(rows: readonly Row[], number = 1): UsageChunk {
  const chunk = new UsageChunk(number);
  for (const { place, fields, names } of rows) {
    const [workspace = 0, key = 0, model = 0, virtualModel = 0, task = 0] = names;
    chunk.add(place, makeEntry(fields), { workspace, key, model, virtualModel, task });
  }
  return chunk;
}

function rowsOf(chunk: UsageChunk): readonly Row[] {
  const { columns } = chunk;
  return Array.from({ length: chunk.rows }, (_, row) => ({
    place: chunk.place(row),
    fields: {
      created_at: columns.createdAt[row] ?? -1,
      cost: columns.cost[row] ?? -1,
      input_tokens: columns.inputTokens[row] ?? -1,
      cached_tokens: columns.cachedTokens[row] ?? -1,
      output_tokens: columns.outputTokens[row] ?? -1,
      status: columns.status[row] ?? -1,
    },
    names: [columns.workspace, columns.key, columns.model, columns.virtualModel, columns.task].map((c) => c[row] ?? -1),
  }));
}

const uint32 = fc.nat(0xffff_ffff);
const amount = fc.maxSafeNat();
const anyRow: fc.Arbitrary<Row> = fc.record({
  place: fc.record({ seq: amount, segment: uint32, offset: uint32, bytes: uint32 }),
  fields: fc.record({
    created_at: fc.maxSafeInteger(),
    cost: amount,
    input_tokens: amount,
    cached_tokens: amount,
    output_tokens: amount,
    status: fc.nat(999),
  }),
  names: fc.array(fc.nat(0x7fff_ffff), { minLength: 5, maxLength: 5 }),
});

const small = (): UsageChunk =>
  chunkOf(
    Array.from({ length: 3 }, (_, n) => ({
      place: { seq: n + 2, segment: 1, offset: n * 700, bytes: 699 },
      fields: { created_at: NOON + n, cost: n },
      names: [1, 2, 3, 0, 4],
    })),
  );

function fillTo(chunk: UsageChunk, rows: number, fields: (row: number) => Record<string, number> = () => ({})): void {
  for (let row = chunk.rows; row < rows; row += 1) {
    const place = { seq: row + 2, segment: 1 + Math.floor(row / 1_000), offset: row, bytes: 1 };
    chunk.add(place, makeEntry(fields(row)), NO_NAMES);
  }
}

describe('the bytes of a chunk', () => {
  it('are decoded to the rows they were made of', () => {
    fc.assert(
      fc.property(
        fc.array(anyRow, { maxLength: 20 }),
        fc.integer({ min: 1, max: 1e9 }),
        fc.nat(7),
        (rows, number, shift) => {
          const chunk = chunkOf(rows, number);
          // At any place in memory, as a pooled buffer may be.
          const encoded = chunk.encode();
          const decoded = UsageChunk.decode(Buffer.concat([Buffer.alloc(shift), encoded]).subarray(shift));
          expect(rowsOf(decoded)).toEqual(rows);
          const { number: sameNumber, greatestName, earliestMs, latestMs, lastSeq, checksum } = decoded;
          expect({ sameNumber, greatestName, earliestMs, latestMs, lastSeq, checksum }).toEqual({
            sameNumber: number,
            greatestName: Math.max(0, ...rows.flatMap(({ names }) => names)),
            earliestMs: Math.min(Number.POSITIVE_INFINITY, ...rows.map(({ fields }) => fields['created_at'] ?? 0)),
            latestMs: Math.max(Number.NEGATIVE_INFINITY, ...rows.map(({ fields }) => fields['created_at'] ?? 0)),
            lastSeq: rows.at(-1)?.place.seq ?? 0,
            checksum: chunk.checksum,
          });
          expect(decoded.encode()).toEqual(encoded);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('go on growing after they were decoded', () => {
    const decoded = UsageChunk.decode(small().encode());
    fillTo(decoded, 700);
    expect(decoded.rows).toBe(700);
    expect(rowsOf(decoded).slice(0, 3)).toEqual(rowsOf(small()));
    expect(rowsOf(UsageChunk.decode(decoded.encode()))).toEqual(rowsOf(decoded));
  });

  it('are not decoded with any byte changed', () => {
    const bytes = small().encode();
    for (let at = 0; at < bytes.length; at += 1) {
      for (const bit of [0, 3, 7]) {
        const damaged = Buffer.from(bytes);
        damaged[at] = (bytes[at] ?? 0) ^ (1 << bit);
        expect(() => UsageChunk.decode(damaged), `byte ${at}, bit ${bit}`).toThrow(Error);
      }
    }
  });

  it('are not decoded cut off at any place, nor with more behind', () => {
    const bytes = small().encode();
    for (let length = 0; length < bytes.length; length += 1) {
      expect(() => UsageChunk.decode(Buffer.from(bytes.subarray(0, length))), `${length} bytes`).toThrow(Error);
    }
    expect(() => UsageChunk.decode(Buffer.concat([bytes, Buffer.alloc(82)]))).toThrow('length');
  });

  it.each<[string, (bytes: Buffer) => Buffer, string]>([
    ['nothing', () => Buffer.alloc(0), 'too short'],
    ['another file', () => Buffer.alloc(4_096, '{"a":1}'), 'no usage chunk'],
    ['a later version', (bytes) => bytes.fill(2, 8, 9), 'version 2'],
    ['a row too few', (bytes) => bytes.subarray(0, bytes.length - 82), 'does not fit 3 rows'],
    ['a changed amount', (bytes) => bytes.fill(99, 60, 61), 'checksum'],
    ['a changed checksum', (bytes) => bytes.fill((bytes[44] ?? 0) ^ 1, 44, 45), 'checksum'],
  ])('say what is wrong with %s', (_name, change, reason) => {
    expect(() => UsageChunk.decode(change(small().encode()))).toThrow(reason);
  });

  it('carry a checksum that is known until a row is added', () => {
    const chunk = small();
    expect(chunk.checksum).toBeNull();
    const bytes = chunk.encode();
    expect(chunk.checksum).toBe(bytes.readUInt32LE(44));
    expect(UsageChunk.decode(bytes).checksum).toBe(chunk.checksum);
    fillTo(chunk, 4);
    expect(chunk.checksum).toBeNull();
  });

  it('are a copy that later rows do not reach', () => {
    const chunk = small();
    const bytes = chunk.encode();
    const before = Buffer.from(bytes);
    fillTo(chunk, 5);
    expect(bytes).toEqual(before);
  });
});

describe('a chunk', () => {
  it('is sealed once it is full, and has cells from then on', () => {
    const chunk = new UsageChunk(7);
    fillTo(chunk, CHUNK_ROWS - 1);
    expect([chunk.sealed, chunk.cells('all')]).toEqual([false, null]);
    fillTo(chunk, CHUNK_ROWS);
    expect(chunk.sealed).toBe(true);
    expect(() => fillTo(chunk, CHUNK_ROWS + 1)).toThrow('usage chunk 7 is full');
    const cells = UsageChunk.decode(chunk.encode()).cells('all');
    expect(cells?.count).toBe(1);
    expect(cells?.columns.requests[0]).toBe(CHUNK_ROWS);
    expect(cells?.columns.inputTokens[0]).toBe(CHUNK_ROWS * 100);
  });

  it('has no cells where these would be nearly as many as its rows', () => {
    const chunk = new UsageChunk(1);
    fillTo(chunk, CHUNK_ROWS, (row) => ({ created_at: NOON + (row % 20_000) * 86_400_000 }));
    expect(chunk.cells('all')).toBeNull();
  });

  it('finds rows by their number and segment', () => {
    const chunk = new UsageChunk(1);
    fillTo(chunk, 2_500);
    expect([0, 2, 3, 1_000, 9_999].map((seq) => chunk.rowsBeforeSeq(seq))).toEqual([0, 0, 1, 998, 2_500]);
    expect([0, 1, 2, 3, 4].map((segment) => chunk.rowsBeforeSegment(segment))).toEqual([0, 0, 1_000, 2_000, 2_500]);
  });
});

// Block gzip: any gzip program reads it, each block alone can be read, and no changed bit goes unseen.
import { spawnSync } from 'node:child_process';
import { randomFillSync } from 'node:crypto';
import { crc32, deflateRawSync, gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  BLOCK_TEXT_BYTES,
  decodeMember,
  END_MEMBER,
  encodeMember,
  readMemberSize,
} from '../../src/store/block-gzip.ts';

const end = Buffer.from(END_MEMBER, 'hex');
const bytesOf = fc.uint8Array({ minLength: 1, maxLength: 3_000 }).map((bytes) => Buffer.from(bytes));
const hasGzip = spawnSync('gzip', ['--version']).status === 0;

describe('a member', () => {
  it('gives back its text', async () => {
    await fc.assert(
      fc.asyncProperty(bytesOf, async (text) => {
        expect(await decodeMember(await encodeMember(text))).toEqual(text);
      }),
    );
  });

  it('is what gunzip reads, one after the other and with the end', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(bytesOf, { maxLength: 5 }), async (texts) => {
        const members = await Promise.all(texts.map(encodeMember));
        expect(gunzipSync(Buffer.concat([...members, end]))).toEqual(Buffer.concat(texts));
      }),
    );
  });

  it.runIf(hasGzip)('is what the gzip program reads', async () => {
    const texts = ['first\n'.repeat(9_000), 'second\n'].map((text) => Buffer.from(text));
    const members = await Promise.all(texts.map(encodeMember));
    const { stdout, stderr } = spawnSync('gzip', ['-dc'], { input: Buffer.concat([...members, end]) });
    expect(stderr.toString()).toBe('');
    expect(stdout.equals(Buffer.concat(texts))).toBe(true);
  });

  it('says its size at its beginning, so that the next one is found', async () => {
    const members = await Promise.all(['one', 'two'.repeat(500)].map((text) => encodeMember(Buffer.from(text))));
    const file = Buffer.concat(members);
    expect(readMemberSize(file, 0)).toBe(members[0]?.length);
    expect(readMemberSize(file, members[0]?.length ?? 0)).toBe(members[1]?.length);
    expect(readMemberSize(file, 1)).toBeNull();
    expect(readMemberSize(file, file.length)).toBeNull();
    expect(readMemberSize(end, 0)).toBeNull();
  });

  it('has the size field of BGZF, which other tools look for', async () => {
    const member = await encodeMember(Buffer.from('text'));
    expect(member.subarray(0, 4).toString('hex')).toBe('1f8b0804');
    expect(member.toString('latin1', 12, 14)).toBe('BC');
    expect(member.readUInt16LE(14)).toBe(2);
    expect(member.readUInt16LE(16)).toBe(member.length - 1);
  });

  it('fits its size field even when its text cannot be compressed', async () => {
    const text = randomFillSync(Buffer.alloc(BLOCK_TEXT_BYTES));
    const member = await encodeMember(text);
    expect(member.length).toBeLessThanOrEqual(65_536);
    expect(text.equals((await decodeMember(member)) as Buffer)).toBe(true);
  });
});

describe('damage to a member', () => {
  it('is seen whichever bit is changed', async () => {
    const member = await encodeMember(Buffer.from('{"crc":"00000000","seq":1}\n'.repeat(5)));
    for (let bit = 0; bit < member.length * 8; bit += 1) {
      const changed = Buffer.from(member);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(await decodeMember(changed), `bit ${bit}`).toBeTypeOf('string');
    }
  });

  it('is seen wherever it is cut', async () => {
    const member = await encodeMember(Buffer.from('some text to cut'));
    for (let length = 0; length < member.length; length += 1) {
      expect(await decodeMember(member.subarray(0, length))).toBeTypeOf('string');
    }
  });

  it('cannot make it inflate to more than a block', async () => {
    const bomb = deflateRawSync(Buffer.alloc(10_000_000));
    const member = Buffer.concat([(await encodeMember(Buffer.from('x'))).subarray(0, 26), bomb, Buffer.alloc(8)]);
    member.writeUInt16LE(member.length - 1, 16);
    expect(await decodeMember(member)).toBeTypeOf('string');
    member.writeUInt32LE(crc32(bomb), 22);
    expect(await decodeMember(member)).toBe('the compressed block is damaged');
  });
});

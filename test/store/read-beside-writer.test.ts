// What a writer does meanwhile is read again; what is really wrong is told.
import { expect, it } from 'vitest';
import { readBesideWriter } from '../../src/store/read-beside-writer.ts';
import { DamagedJournalError, DamagedStateError } from '../../src/store/store-errors.ts';

const gone = (): Error => Object.assign(new Error('no such file'), { code: 'ENOENT' });
const damagedAt = (offset: number): Error => new DamagedJournalError({ file: 'a', offset, seq: 1 }, 'bad');

/** Fails with each of the errors in turn, then answers how often it was called. */
function failing(errors: readonly Error[]): { read: () => Promise<number>; calls: () => number } {
  let calls = 0;
  return {
    read: async () => {
      const error = errors[calls];
      calls += 1;
      if (error !== undefined) throw error;
      return calls;
    },
    calls: () => calls,
  };
}

it.each<[string, readonly Error[]]>([
  ['nothing', []],
  ['a file that went away', [gone()]],
  ['damage that was none', [damagedAt(5)]],
  ['damage that moves on with the writer', [damagedAt(5), damagedAt(9), damagedAt(12)]],
  ['a gap while a file was renamed', [new DamagedStateError('b', 'the segment is missing')]],
])('gets over %s', async (_name, errors) => {
  expect(await readBesideWriter(failing(errors).read)).toBe(errors.length + 1);
});

it.each<[string, readonly Error[], number]>([
  ['damage that is there a second time', [damagedAt(5), damagedAt(5), damagedAt(5)], 2],
  ['damage that is there again after another', [damagedAt(5), damagedAt(9), damagedAt(9)], 3],
  ['a file that stays away', [gone(), gone(), gone(), gone(), gone(), gone()], 5],
  ['any other failure, at once', [Object.assign(new Error('denied'), { code: 'EACCES' })], 1],
])('throws %s', async (_name, errors, calls) => {
  const { read, calls: called } = failing(errors);
  await expect(readBesideWriter(read)).rejects.toBe(errors[calls - 1]);
  expect(called()).toBe(calls);
});

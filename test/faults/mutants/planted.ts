// Bugs to plant in a copy of the sources, each with the tests that have to find it.

export type Mutant = {
  readonly name: string;
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly find: string;
  readonly replace: string;
  readonly tests: readonly string[];
};

const LEDGER = ['test/store/file-ledger.test.ts'];
const FOLD = ['test/ledger/ledger-fold.test.ts'];
const QUICK = ['test/faults/mutants/fixtures/quick-books.ts'];
const CRASHES = ['test/faults/mutants/fixtures/quick-crashes.ts'];

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'a settlement does not look whether there is one',
    file: 'src/store/file-ledger.ts',
    find: 'if (this.#fold.isSettled(requestId)) return false;',
    replace: '',
    tests: LEDGER,
  },
  {
    name: 'a settlement does not wait for one under way',
    file: 'src/store/file-ledger.ts',
    find: 'if (settling !== undefined) {',
    replace: 'if (settling !== undefined && requestId === "") {',
    tests: LEDGER,
  },
  {
    name: 'a hold counts only once it is written',
    file: 'src/store/file-ledger.ts',
    find: `    this.#fold.apply(record);
    this.#unwritten.add(requestId);
    await tracked(this.#holding, requestId, this.#writeHold(journal, record));`,
    replace: `    this.#unwritten.add(requestId);
    await tracked(this.#holding, requestId, this.#writeHold(journal, record));
    this.#fold.apply(record);`,
    tests: LEDGER,
  },
  {
    name: 'a hold that could not be written is not undone',
    file: 'src/store/file-ledger.ts',
    find: 'this.#fold.undoHold(record.requestId);',
    replace: '',
    tests: LEDGER,
  },
  {
    name: 'a hold is freed twice over',
    file: 'src/ledger/ledger-fold.ts',
    find: 'this.#sumsOf(hold.workspaceId).heldNano -= hold.amountNano;',
    replace: 'this.#sumsOf(hold.workspaceId).heldNano -= 2 * hold.amountNano;',
    tests: FOLD,
  },
  {
    name: 'a charge is rounded down',
    file: 'src/ledger/usage-guard.ts',
    find: 'const whole = Math.max(0, Math.ceil(chargeNano)) + 0;',
    replace: 'const whole = Math.max(0, Math.floor(chargeNano)) + 0;',
    tests: ['test/ledger/usage-guard.test.ts', 'test/ledger/price.test.ts'],
  },
  {
    name: 'a charge may be more than was held',
    file: 'src/ledger/usage-guard.ts',
    find: "if (chargeNano > heldNano) return { chargeNano: heldNano, anomalies: ['charge_over_hold'] };",
    replace: '',
    tests: ['test/ledger/usage-guard.test.ts'],
  },
  {
    name: 'the id of a grant is forgotten',
    file: 'src/ledger/ledger-fold.ts',
    find: 'this.#grantIds.add(record.id);',
    replace: '',
    tests: FOLD,
  },
  {
    name: 'a budget takes no notice of open holds',
    file: 'src/ledger/key-spend.ts',
    find: 'return (charged ?? 0) + this.heldNano;',
    replace: 'return charged ?? 0;',
    tests: LEDGER,
  },
  {
    name: 'a batch is not synced',
    file: 'src/store/journal.ts',
    find: `    await this.#file.datasync();
    this.#position = after;`,
    replace: '    this.#position = after;',
    tests: CRASHES,
  },
  {
    name: 'a batch is acknowledged before it is synced',
    file: 'src/store/journal.ts',
    find: `    await this.#file.datasync();
    this.#position = after;`,
    replace: `    const syncing = this.#file.datasync();
    this.#position = after;
    setTimeout(() => syncing.catch(() => undefined), 0);`,
    tests: CRASHES,
  },
  {
    name: 'only the first of a batch is acknowledged',
    file: 'src/store/journal.ts',
    find: 'pending.resolve(place.seq);',
    replace: 'if (index === 0) pending.resolve(place.seq);',
    tests: QUICK,
  },
  {
    name: 'the number of records does not rise',
    file: 'src/store/journal-batch.ts',
    find: '    seq += 1;\n',
    replace: '',
    tests: LEDGER,
  },
  {
    name: 'a new segment is not made durable by its name',
    file: 'src/store/journal.ts',
    find: 'await syncOrFatal(this.#disk, this.#options.directory);',
    replace: '',
    tests: CRASHES,
  },
  {
    name: 'a torn tail is cut without being kept',
    file: 'src/store/torn-tail.ts',
    find: 'await writeNewFile(disk, saved, await readTail(torn));',
    replace: 'await writeNewFile(disk, saved, (await readTail(torn)).subarray(0, 0));',
    tests: QUICK,
  },
  {
    name: 'a document is renamed before it is written',
    file: 'src/store/replace-file.ts',
    find: `    await writeWhole(file, bytes, 0);
    await file.datasync();`,
    replace: '    await writeWhole(file, bytes, 0);',
    tests: CRASHES,
  },
  {
    name: 'what was delivered before a crash is not charged',
    file: 'src/store/hold-recovery.ts',
    find: 'if (progress === undefined) return {',
    replace: 'if (progress === undefined || hold !== undefined) return {',
    tests: CRASHES,
  },
];

// Do the tests find bugs? Each planted bug has to make at least one of them fail.
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { MUTANTS, type Mutant } from './mutants/planted.ts';
import { scale, seededRandom } from './scale.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Another one each day, so that in time the normal suite sees them all. */
const SEED = Math.floor(Date.now() / 86_400_000);
const CHOSEN = choose(scale(1, MUTANTS.length));

let copy = '';

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'svc-mutants-'));
  for (const name of ['src', 'test', 'package.json', 'tsconfig.json']) {
    await cp(join(ROOT, name), join(copy, name), { recursive: true });
  }
  await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  const config = {
    test: { include: ['test/**/*.test.ts', 'test/faults/mutants/fixtures/*.ts'], testTimeout: 120_000, bail: 1 },
  };
  await writeFile(join(copy, 'vitest.config.mjs'), `export default ${JSON.stringify(config)};\n`);
});
afterAll(() => rm(copy, { recursive: true, force: true }));

function choose(count: number): readonly Mutant[] {
  const random = seededRandom(SEED);
  const rest = [...MUTANTS];
  return Array.from({ length: count }, () => rest.splice(Math.floor(random() * rest.length), 1)).flat();
}

/** The output of a run that failed, or null of one that passed. */
async function runTests(tests: readonly string[]): Promise<string | null> {
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  // A run within a run must not take this one's settings for its own.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/VITEST|TEST_FAULTS|NODE_ENV/.test(name)),
  );
  try {
    await promisify(execFile)(process.execPath, [vitest, 'run', ...tests], { cwd: copy, env, maxBuffer: 1e8 });
    return null;
  } catch (error) {
    return error instanceof Error && 'stdout' in error ? String(error.stdout) : String(error);
  }
}

it('without a bug the tests of the chosen ones pass', async () => {
  expect(await runTests([...new Set(CHOSEN.flatMap(({ tests }) => tests))]), `seed ${SEED}`).toBeNull();
});

it('each is planted in one place', async () => {
  expect(MUTANTS.length).toBeGreaterThanOrEqual(10);
  for (const { file, find, name } of MUTANTS) {
    expect((await readFile(join(copy, file), 'utf8')).split(find), name).toHaveLength(2);
  }
});

it.each(CHOSEN)('the tests find that $name', async ({ file, find, replace, tests }) => {
  const path = join(copy, file);
  const source = await readFile(path, 'utf8');
  await writeFile(
    path,
    source.replace(find, () => replace),
  );
  try {
    const output = await runTests(tests);
    // A run that never got as far as a test has found nothing.
    expect(output, `seed ${SEED}`).toMatch(/Tests .*\d+ failed|Unhandled/);
  } finally {
    await writeFile(path, source);
  }
});

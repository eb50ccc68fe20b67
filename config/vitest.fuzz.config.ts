// The long fuzzing run: the same files as in the normal suite, a million executions instead of a few thousand.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/fuzz/**/*.test.ts'],
    env: { TEST_FUZZ: 'long' },
    testTimeout: 7_200_000,
    pool: 'forks',
  },
});

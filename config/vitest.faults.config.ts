// The long fault tests: the same files as in the normal suite, with every seed and state they can take.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/faults/**/*.test.ts'],
    globalSetup: ['test/helpers/build-once.ts'],
    env: { TEST_FAULTS: 'long' },
    testTimeout: 3_600_000,
    hookTimeout: 60_000,
    pool: 'forks',
    expect: { poll: { timeout: 15_000 } },
  },
});

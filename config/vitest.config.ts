// The one test configuration. Files run in parallel; each test owns its temp directory and port.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/helpers/build-once.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    // Most of a test's time is waiting for processes and disks.
    maxWorkers: '100%',
    // Polls wait for what a loaded machine does late, never for a moment in time.
    expect: { poll: { timeout: 15_000 } },
  },
});

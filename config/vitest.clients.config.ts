// Real clients, installed into a cache and run against the daemon: slow, and in need of npm's registry the first time.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/clients-real/real-clients.ts'],
    globalSetup: ['test/helpers/build-once.ts'],
    testTimeout: 180_000,
    hookTimeout: 180_000,
    pool: 'forks',
    expect: { poll: { timeout: 15_000 } },
  },
});

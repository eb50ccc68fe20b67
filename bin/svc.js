#!/usr/bin/env node
// Starts the built command line, or says how to build it.

import { existsSync } from 'node:fs';

process.env.NODE_ENV ??= 'production';

if (existsSync(new URL('../dist/cli/main.js', import.meta.url))) {
  const [{ main }, { processIo }] = await Promise.all([
    import('../dist/cli/main.js'),
    import('../dist/cli/process-io.js'),
  ]);
  process.exitCode = await main(process.argv.slice(2), processIo());
} else {
  process.stderr.write('error: svc is not built here\nhint: run "npm run build" in the folder of its package.json\n');
  process.exitCode = 1;
}

#!/usr/bin/env node
// Starts the built command line, or says how to build it.

process.env.NODE_ENV ??= 'production';

let main;
let processIo;
try {
  ({ main } = await import('../dist/cli/main.js'));
  ({ processIo } = await import('../dist/cli/process-io.js'));
} catch (error) {
  if (error?.code !== 'ERR_MODULE_NOT_FOUND' || !String(error.message).includes('/dist/cli/')) throw error;
  process.stderr.write('error: svc is not built here\nhint: run "npm run build" in the folder of its package.json\n');
  process.exit(1);
}

process.exitCode = await main(process.argv.slice(2), processIo());

// opencode, without a terminal: `opencode run`.

import { join } from 'node:path';
import { type ClientRun, type ClientUnderTest, PROMPT, readNote } from './client-under-test.ts';
import { runConfigure } from './run-configure.ts';

function run(title: string, model: string): ClientRun {
  return {
    title,
    model,
    stream: true,
    messages: false,
    async prepare(place) {
      await runConfigure('opencode', model, place);
      const env = { SVC_API_KEY: place.key, OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' };
      return { command: opencode(place.directory), args: ['run', PROMPT], env };
    },
    call: readNote(/^read$/),
  };
}

export const OPENCODE: ClientUnderTest = {
  name: 'opencode',
  title: 'opencode',
  probe: (directory) => ({ command: opencode(directory), args: ['--version'] }),
  runs: [run('opencode run, a real model', 'test/good'), run('opencode run, svc:auto', 'svc:auto')],
};

/** The package's own starter wants its install script; the platform's package has the program itself. */
function opencode(directory: string): string {
  return join(directory, `node_modules/opencode-${process.platform}-${process.arch}/bin/opencode`);
}

// Continue, without a terminal: `cn -p`.

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
      await runConfigure('continue', model, place);
      const args = ['-p', '--auto', '--config', join(place.home, '.continue/config.yaml'), PROMPT];
      return { command: cn(place.directory), args, env: { CONTINUE_TELEMETRY_ENABLED: '0' } };
    },
    call: readNote(/^Read$/),
  };
}

export const CONTINUE: ClientUnderTest = {
  name: 'continue',
  title: 'Continue',
  probe: (directory) => ({ command: cn(directory), args: ['--version'] }),
  runs: [run('cn -p, a real model', 'test/good'), run('cn -p, svc:auto', 'svc:auto')],
};

function cn(directory: string): string {
  return join(directory, 'node_modules/.bin/cn');
}

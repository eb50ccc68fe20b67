// Qwen Code, without a terminal: `qwen -p`.

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
      await runConfigure('qwen-code', model, place);
      // It would send even loopback through a proxy, so it alone gets none.
      const env = { SVC_API_KEY: place.key, HTTP_PROXY: '', HTTPS_PROXY: '', http_proxy: '', https_proxy: '' };
      return { command: qwen(place.directory), args: ['-y', '-p', PROMPT], env };
    },
    call: readNote(/^read_file$/),
  };
}

export const QWEN_CODE: ClientUnderTest = {
  name: 'qwen-code',
  title: 'Qwen Code',
  probe: (directory) => ({ command: qwen(directory), args: ['--version'] }),
  runs: [run('qwen -p, a real model', 'test/good'), run('qwen -p, svc:auto', 'svc:auto')],
};

function qwen(directory: string): string {
  return join(directory, 'node_modules/.bin/qwen');
}

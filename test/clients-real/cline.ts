// Cline, without a terminal: the two lines that `svc configure cline` prints, the second with a prompt behind it.

import { join } from 'node:path';
import { type ClientRun, type ClientUnderTest, PROMPT } from './client-under-test.ts';
import { printedLines } from './run-configure.ts';

function run(title: string, model: string): ClientRun {
  return {
    title,
    model,
    stream: true,
    messages: false,
    async prepare(place) {
      const lines = await printedLines('cline', model, place);
      const path = `${join(place.directory, 'node_modules/.bin')}:${process.env['PATH'] ?? ''}`;
      return {
        command: 'sh',
        args: ['-ec', `${lines} "$PROMPT"`],
        env: { SVC_API_KEY: place.key, PATH: path, PROMPT },
      };
    },
    call: (tools, { work }) => {
      const tool = tools.find(({ name }) => name === 'read_files');
      if (tool === undefined) return undefined;
      return { name: tool.name, arguments: { files: [{ path: `${work}/note.txt` }] } };
    },
  };
}

export const CLINE: ClientUnderTest = {
  name: 'cline',
  title: 'Cline',
  probe: (directory) => ({ command: join(directory, 'node_modules/.bin/cline'), args: ['--version'] }),
  runs: [run('cline, a real model', 'test/good'), run('cline, svc:auto', 'svc:auto')],
};

// Claude Code, without a terminal: `claude -p`.

import { join } from 'node:path';
import { type ClientRun, type ClientUnderTest, PROMPT, readNote } from './client-under-test.ts';
import { runConfigure } from './run-configure.ts';

/** By variables, as its documentation has it, or by the settings file that svc writes. */
function run(title: string, model: string, by: 'variables' | 'configure'): ClientRun {
  return {
    title,
    model,
    stream: true,
    messages: true,
    async prepare(place) {
      const command = claude(place.directory);
      const quiet = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' };
      if (by === 'configure') {
        await runConfigure('claude-code', model, place);
        return { command, args: ['-p', PROMPT], env: quiet };
      }
      const env = { ...quiet, ANTHROPIC_BASE_URL: place.url, ANTHROPIC_API_KEY: place.key };
      return { command, args: ['-p', PROMPT, '--model', model], env };
    },
    call: readNote(/^Read$/),
  };
}

export const CLAUDE_CODE: ClientUnderTest = {
  name: 'claude-code',
  title: 'Claude Code',
  probe: (directory) => ({ command: claude(directory), args: ['--version'] }),
  runs: [
    run('claude -p with variables, a real model', 'test/good', 'variables'),
    run('claude -p with variables, svc:auto', 'svc:auto', 'variables'),
    run('claude -p set up by svc configure, svc:auto', 'svc:auto', 'configure'),
  ],
};

/** The package's own starter wants its install script; the platform's package has the program itself. */
function claude(directory: string): string {
  const platform = `${process.platform}-${process.arch}`;
  return join(directory, `node_modules/@anthropic-ai/claude-code-${platform}/claude`);
}

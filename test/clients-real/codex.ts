// Codex, without a terminal: `codex exec`.

import { join } from 'node:path';
import {
  type ClientRun,
  type ClientUnderTest,
  type OfferedTool,
  type Place,
  PROMPT,
  type ToolCall,
} from './client-under-test.ts';
import { runConfigure } from './run-configure.ts';

function run(title: string, model: string): ClientRun {
  return {
    title,
    model,
    stream: true,
    messages: false,
    async prepare(place) {
      await runConfigure('codex', model, place);
      const args = ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', PROMPT];
      return { command: codex(place.directory), args, env: { SVC_API_KEY: place.key } };
    },
    call: readWithShell,
  };
}

export const CODEX: ClientUnderTest = {
  name: 'codex',
  title: 'Codex',
  probe: (directory) => ({ command: codex(directory), args: ['--version'] }),
  runs: [run('codex exec, a real model', 'test/good'), run('codex exec, svc:auto', 'svc:auto')],
};

/** Codex has no tool for reading files: it runs commands. */
function readWithShell(tools: readonly OfferedTool[], place: Place): ToolCall | undefined {
  const path = `${place.work}/note.txt`;
  const tool = tools.find(({ name }) => /^(exec_command|shell_command|shell)$/.test(name));
  if (tool === undefined) return undefined;
  if (tool.properties.includes('cmd')) return { name: tool.name, arguments: { cmd: `cat ${path}` } };
  const command = tool.name === 'shell' ? ['cat', path] : `cat ${path}`;
  return { name: tool.name, arguments: { command } };
}

function codex(directory: string): string {
  return join(directory, 'node_modules/.bin/codex');
}

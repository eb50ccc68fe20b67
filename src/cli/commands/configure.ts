// `svc configure`: what to type or to write down so that a client talks to this daemon.

import { homedir } from 'node:os';
import { loadSettings } from '../../daemon/settings.ts';
import { usageError } from '../cli-error.ts';
import { changeClientFile } from '../client-file-change.ts';
import { renderDiff } from '../client-file-diff.ts';
import { readClientFile, writeClientFile } from '../client-file-write.ts';
import type { ClientContent, ClientFile, ClientPlaces, ClientSetup, ClientTarget } from '../client-setup.ts';
import { shellWord } from '../client-setup.ts';
import { CLIENT_SETUPS } from '../client-setups.ts';
import type { CommandInput } from '../command.ts';
import { findDaemon } from '../daemon-address.ts';
import { EXIT } from '../exit-codes.ts';
import { renderTable } from '../table.ts';

const MODEL_DEFAULT = 'svc:auto';
const KEY_VARIABLE_DEFAULT = 'SVC_API_KEY';
const KEY_PLACEHOLDER = 'svc_sk_YOUR_KEY';

type Job = {
  readonly setup: ClientSetup;
  readonly target: ClientTarget;
  readonly places: ClientPlaces;
  readonly hasKey: boolean;
};

/** Prints; with `--write` it changes the client's file, with `--dry-run` it shows what would change. */
export async function runConfigure(input: CommandInput): Promise<number> {
  const name = input.args[0];
  if (name === undefined) return listClients(input);
  const job = await readJob(input, findSetup(name));
  if (input.options.isSet('dryRun') || input.options.isSet('write')) await changeFile(input, job);
  else printSetup(input, job);
  return EXIT.ok;
}

function listClients({ output }: CommandInput): number {
  const data = CLIENT_SETUPS.map(({ name, title, calls, version, file }) => ({
    name,
    title: title.replaceAll('`', ''),
    calls,
    version_run: version,
    writes_file: file !== undefined,
  }));
  output.result({ object: 'list', data }, () =>
    renderTable(
      [{ header: 'client' }, { header: 'what it is' }, { header: 'calls' }],
      data.map(({ name, title, calls }) => [name, title, calls]),
      output,
    ),
  );
  output.note('for one of them: svc configure CLIENT');
  return EXIT.ok;
}

function findSetup(name: string): ClientSetup {
  const setup = CLIENT_SETUPS.find((candidate) => candidate.name === name);
  const names = CLIENT_SETUPS.map((candidate) => candidate.name).join(', ');
  if (setup === undefined) throw usageError(`svc does not know the client ${JSON.stringify(name)}`, `one of ${names}`);
  return setup;
}

async function readJob({ options, io }: CommandInput, setup: ClientSetup): Promise<Job> {
  const settings = loadSettings({
    flags: { home: options.text('home'), baseUrl: options.text('baseUrl') },
    env: io.env,
  });
  const { url } = await findDaemon(settings);
  const keyVariable = checkVariable(options.text('key') ?? KEY_VARIABLE_DEFAULT);
  const key = io.env[keyVariable] || undefined;
  const model = options.text('model') ?? MODEL_DEFAULT;
  // Model names go into shell lines, code and three file formats as they are.
  if (!/^[\w@+~][\w@+~.:/-]{0,199}$/.test(model)) throw usageError(`${JSON.stringify(model)} is not a model name`);
  if (key !== undefined && !/^[\x21-\x7e]{1,500}$/.test(key)) {
    throw usageError(`${keyVariable} does not hold an API key`, 'set it to a key as `svc keys create NAME` prints it');
  }
  const home = io.env['HOME'] || io.env['USERPROFILE'] || homedir();
  return {
    setup,
    target: { url, key: key ?? KEY_PLACEHOLDER, keyVariable, model },
    places: { home, env: io.env },
    hasKey: key !== undefined,
  };
}

function checkVariable(name: string): string {
  if (/^[A-Za-z_]\w{0,99}$/.test(name) && !name.startsWith('svc_')) return name;
  // Not repeated: it may be the secret itself.
  throw usageError(
    '--key takes the name of an environment variable that holds the API key',
    'such as --key SVC_API_KEY; a secret has no place on a command line',
  );
}

function printSetup({ output }: CommandInput, job: Job): void {
  const { setup, target, places, hasKey } = job;
  const env = setup.env?.(target) ?? {};
  const file = setup.file && {
    path: setup.file.path(places),
    content: changeClientFile(undefined, setup.file.content(target), ''),
  };
  const lines = setup.lines(target);
  const value = { client: setup.name, url: target.url, model: target.model, env, file: file ?? null, lines };
  output.result(value, () => {
    const exports = Object.entries(env).map(([name, text]) => `export ${name}=${shellWord(text)}\n`);
    const parts = lines.map(({ text }) => `${text}\n`);
    const heading = (text: string): string => output.paint.bold(`# ${text}\n`);
    return [
      exports.length === 0 ? '' : `${heading('in the shell')}${exports.join('')}\n`,
      // Everything Claude Code needs is in its variables; the file is another place for them.
      file === undefined ? '' : `${heading(file.path)}${file.content}\n`,
      `${heading('then')}${parts.join('\n')}`,
    ].join('');
  });
  if (!hasKey) output.note(`${target.keyVariable} is not set: put an API key in place of ${KEY_PLACEHOLDER}`);
  if (file !== undefined) output.note(`svc configure ${setup.name} --write puts this into ${file.path}`);
}

async function changeFile({ options, output, io }: CommandInput, job: Job): Promise<void> {
  const { setup, target, places, hasKey } = job;
  const isDryRun = options.isSet('dryRun');
  const file = fileOf(setup);
  const path = file.path(places);
  if (file.holdsKey && !hasKey && !isDryRun) {
    throw usageError(
      `${target.keyVariable} is not set, and ${path} must hold the key itself`,
      'set it to a key as `svc keys create NAME` prints it',
    );
  }
  const content = file.content(target);
  const before = await readClientFile(path);
  const after = changeClientFile(before, content, path);
  const state = stateOf(before, after);
  const diff = renderDiff(before ?? '', after, ownValues(target, content));
  const writes = !isDryRun && state !== 'unchanged';
  const backup = writes ? await writeClientFile(path, after, io.now()) : undefined;
  const value = { client: setup.name, url: target.url, model: target.model, path, state, written: writes, diff };
  output.result({ ...value, backup: backup ?? null }, () => {
    if (state === 'unchanged') return `${path} is as it should be\n`;
    if (isDryRun) return `${path} (${state === 'new' ? 'new' : 'changed'}; nothing was written)\n${diff}`;
    return `${path} ${state === 'new' ? 'made' : 'changed'}\n${backup === undefined ? '' : `before: ${backup}\n`}`;
  });
  if (!file.holdsKey && !hasKey)
    output.note(`${setup.name} reads the key from ${target.keyVariable}, which is not set`);
}

function fileOf(setup: ClientSetup): ClientFile {
  if (setup.file !== undefined) return setup.file;
  throw usageError(`svc writes no file for ${setup.name}`, `svc configure ${setup.name} prints what to set`);
}

function stateOf(before: string | undefined, after: string): 'new' | 'changed' | 'unchanged' {
  if (before === undefined) return 'new';
  return before === after ? 'unchanged' : 'changed';
}

/** What may be shown although it stands where secrets stand. */
function ownValues(target: ClientTarget, content: ClientContent): readonly string[] {
  const own = [target.key, target.keyVariable, `{env:${target.keyVariable}}`];
  return content.kind === 'json' ? [...own, 'openai'] : own;
}

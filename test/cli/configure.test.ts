// `svc configure`: what it prints for every client, and how it changes their files without harm to what they hold.

import { execFile } from 'node:child_process';
import { lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { changeClientFile } from '../../src/cli/client-file-change.ts';
import { renderDiff } from '../../src/cli/client-file-diff.ts';
import { CLIENT_SETUPS } from '../../src/cli/client-setups.ts';
import { installedVersion } from '../clients-real/install-client.ts';
import { type ClientName, MAIN_PACKAGE, PACKAGES } from '../clients-real/versions.ts';
import { cleanEnv, removeHome, startDaemon, type TestDaemon } from '../helpers/daemon.ts';
import { type Home, makeHome, type RunResult, runCli } from './helpers/run-cli.ts';

const URL_GIVEN = 'http://127.0.0.1:9999';
const KEY = 'svc_sk_thekeyofthetests';
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const NAMES = CLIENT_SETUPS.map(({ name }) => name);

let home: Home;
beforeEach(async () => {
  home = await makeHome();
});
afterEach(() => home.remove());

const configure = (argv: readonly string[], env: Record<string, string> = { SVC_API_KEY: KEY }): Promise<RunResult> =>
  runCli(['configure', ...argv], { env: { HOME: home.path, SVC_HOME: home.path, SVC_BASE_URL: URL_GIVEN, ...env } });

/** The clients with a file: where it is under HOME, and what it may hold already. */
const FILES = [
  {
    client: 'claude-code',
    path: '.claude/settings.json',
    other:
      '{\n    "permissions": { "allow": ["Bash(ls)"] },\n    "env": { "FOO": "bar", "ANTHROPIC_MODEL": "old" }\n}\n',
    keeps: ['"allow"', 'Bash(ls)', '"FOO": "bar"'],
    gets: [`"ANTHROPIC_BASE_URL": "${URL_GIVEN}"`, `"ANTHROPIC_AUTH_TOKEN": "${KEY}"`, '"ANTHROPIC_MODEL": "svc:auto"'],
  },
  {
    client: 'codex',
    path: '.codex/config.toml',
    other:
      'model = "mine"\n\n[model_providers.other]\nname = "other" # svc\n\n[projects."/x"]\ntrust_level = "trusted"',
    keeps: ['model = "mine"', '[model_providers.other]', 'trust_level = "trusted"'],
    gets: [
      '[model_providers.svc]',
      `base_url = "${URL_GIVEN}/v1"`,
      'env_key = "SVC_API_KEY"',
      'wire_api = "responses"',
    ],
  },
  {
    client: 'opencode',
    path: '.config/opencode/opencode.json',
    other: '{"provider":{"other":{"npm":"x"}},"theme":"dark","model":"other/m"}',
    keeps: ['"other"', '"npm": "x"', '"theme": "dark"'],
    gets: [`"baseURL": "${URL_GIVEN}/v1"`, '"apiKey": "{env:SVC_API_KEY}"', '"model": "svc/svc:auto"'],
  },
  {
    client: 'qwen-code',
    path: '.qwen/settings.json',
    other:
      '{"modelProviders":{"openai":[{"id":"mine","envKey":"K"},{"id":"svc:auto","baseUrl":"http://old"}],"gemini":[]},"ui":1}',
    keeps: ['"id": "mine"', '"gemini": []', '"ui": 1'],
    gets: ['"id": "svc:auto"', `"baseUrl": "${URL_GIVEN}/v1"`, '"envKey": "SVC_API_KEY"', '"selectedType": "openai"'],
  },
  {
    client: 'continue',
    path: '.continue/config.yaml',
    other: 'name: mine\nversion: 1.0.0\nrules:\n  - be brief\n',
    keeps: ['name: mine', '  - be brief'],
    gets: ['models:', `    apiBase: "${URL_GIVEN}/v1"`, `    apiKey: "${KEY}"`, '    provider: openai'],
  },
];

describe('the versions in the table', () => {
  const installed = (client: ClientName): string | undefined => {
    const pinned: Readonly<Record<string, string>> = PACKAGES[client];
    return pinned[MAIN_PACKAGE[client]] ?? installedVersion(ROOT, MAIN_PACKAGE[client]);
  };
  const run = Object.keys(PACKAGES) as ClientName[];

  it.each(run)('of %s is the one that is run', (client) => {
    const setup = CLIENT_SETUPS.find(({ name }) => name === client);
    expect(setup?.version).toBe(installed(client));
    expect(setup?.seen).toMatch(/^works/);
  });

  it('are those of clients that are run, and of no others', () => {
    const claimed = CLIENT_SETUPS.filter(({ version }) => version !== null).map(({ name }) => name);
    expect(claimed.sort()).toEqual([...run].sort());
  });
});

describe('without a client', () => {
  it('all are listed', async () => {
    const { exitCode, stdout } = await configure([]);
    expect(exitCode).toBe(0);
    for (const name of NAMES) expect(stdout).toContain(`\n${name} `);
  });

  it('--json has them as a list', async () => {
    const { data } = JSON.parse((await configure(['--json'])).stdout);
    expect(data.map(({ name }: { name: string }) => name)).toEqual(NAMES);
    const withFile = data.filter((row: { writes_file: boolean }) => row.writes_file);
    expect(withFile.map(({ name }: { name: string }) => name).sort()).toEqual(FILES.map(({ client }) => client).sort());
  });
});

describe.each(NAMES)('%s', (client) => {
  it('is told the address of the daemon, the model and the key of the environment', async () => {
    const { exitCode, stdout, stderr } = await configure([client, '--model', 'test/one']);
    expect(exitCode).toBe(0);
    expect(stdout).toContain(URL_GIVEN);
    expect(stdout).toContain('test/one');
    expect(stdout).toContain(KEY);
    expect(stderr).not.toContain('is not set');
    expect(await readdir(home.path)).toEqual([]);
  });

  it('gets a placeholder where the environment has no key, and a note says so', async () => {
    const { stdout, stderr } = await configure([client], {});
    expect(stdout).toContain('svc_sk_YOUR_KEY');
    expect(stderr).toContain('SVC_API_KEY is not set');
  });

  it('--json prints the same as fields', async () => {
    const { stdout } = await configure([client, '--json']);
    const value = JSON.parse(stdout);
    expect(value).toMatchObject({ client, url: URL_GIVEN, model: 'svc:auto', env: expect.any(Object) });
    expect(value.lines.length).toBeGreaterThan(0);
    expect(Object.hasOwn(value, 'file')).toBe(true);
  });

  it('has shell lines that a shell can read', async () => {
    const { env, lines } = JSON.parse((await configure([client, '--json'])).stdout);
    const shell = lines.filter(({ language }: { language: string }) => language === 'sh');
    for (const { text } of shell) await promisify(execFile)('sh', ['-n', '-c', text]);
    for (const name of Object.keys(env)) expect(name).toMatch(/^[A-Z_]+$/);
  });
});

it.each(["it's", '$(id)', '`x`', 'a"b', 'a\\b', '#!&|;<>*?~'])(
  'a key such as %s goes through a shell whole',
  async (key) => {
    const { stdout } = await configure(['openai'], { SVC_API_KEY: key });
    const exports = stdout.split('\n').filter((line) => line.startsWith('export '));
    const script = `${exports.join('\n')}\nprintf %s "$OPENAI_API_KEY"`;
    expect((await promisify(execFile)('sh', ['-c', script], { cwd: home.path })).stdout).toBe(key);
    expect(await readdir(home.path)).toEqual([]);
  },
);

describe('the daemon', () => {
  it('is the one of the data directory where no address is given', async () => {
    await writeFile(join(home.path, 'daemon.json'), JSON.stringify({ url: 'http://127.0.0.1:5151', pid: 1 }));
    const { stdout } = await runCli(['configure', 'openai'], { env: { HOME: home.path, SVC_HOME: home.path } });
    expect(stdout).toContain('export OPENAI_BASE_URL=http://127.0.0.1:5151/v1');
  });

  it('is the one of --base-url before all', async () => {
    const { stdout } = await configure(['anthropic', '--base-url', 'https://svc.example.com/']);
    expect(stdout).toContain('export ANTHROPIC_BASE_URL=https://svc.example.com\n');
  });
});

describe('--key', () => {
  it('names another variable, in files and lines too', async () => {
    const { stdout } = await configure(['codex', '--key', 'WORK_KEY'], { WORK_KEY: 'svc_sk_work', SVC_API_KEY: KEY });
    expect(stdout).toContain('export WORK_KEY=svc_sk_work');
    expect(stdout).toContain('env_key = "WORK_KEY"');
    expect(stdout).not.toContain(KEY);
  });

  it.each(['svc_sk_abcdefgh', 'with space', '1X', ''])('refuses %j, and does not repeat it', async (value) => {
    const { exitCode, stdout, stderr } = await configure(['codex', '--key', value]);
    expect(exitCode).toBe(2);
    expect(stdout).toBe('');
    if (value !== '') expect(stderr).not.toContain(value);
  });

  it.each(['two words', 'line\nfeed', 'ключ'])('refuses a variable that holds %j', async (value) => {
    const { exitCode, stderr } = await configure(['openai'], { SVC_API_KEY: value });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('SVC_API_KEY does not hold an API key');
    expect(stderr).not.toContain(value);
  });
});

describe('wrong usage', () => {
  it.each([
    ['an unknown client', ['emacs'], 'one of claude-code, codex'],
    ['a model that would break out of its quotes', ['codex', '--model', 'a"b'], 'not a model name'],
    ['a model that is an option', ['codex', '--model=-x'], 'not a model name'],
    ['--write where there is no file', ['curl', '--write'], 'svc configure curl prints'],
    ['--dry-run where there is no file', ['openai', '--dry-run'], 'writes no file for openai'],
  ])('%s ends with 2', async (_what, argv, words) => {
    const { exitCode, stdout, stderr } = await configure(argv);
    expect(exitCode).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain(words);
  });

  it.each(['claude-code', 'continue'])('%s is not written without its key', async (client) => {
    const { exitCode, stderr } = await configure([client, '--write'], {});
    expect(exitCode).toBe(2);
    expect(stderr).toContain('must hold the key itself');
    expect(await readdir(home.path)).toEqual([]);
  });
});

describe.each(FILES)('the file of $client', ({ client, path, other, keeps, gets }) => {
  const full = (): string => join(home.path, path);
  const read = (): Promise<string> => readFile(full(), 'utf8');
  const place = async (text: string): Promise<void> => {
    await mkdir(dirname(full()), { recursive: true });
    await writeFile(full(), text, { mode: 0o644 });
  };
  const backups = async (): Promise<string[]> =>
    (await readdir(dirname(full()))).filter((name) => name.endsWith('.bak'));

  it('is made with what the command prints, for its owner alone', async () => {
    const printed = JSON.parse((await configure([client, '--json'])).stdout).file;
    expect(printed.path).toBe(full());
    const { exitCode, stdout } = await configure([client, '--write']);
    expect(exitCode).toBe(0);
    expect(stdout).toContain(`${full()} made`);
    expect(await read()).toBe(printed.content);
    expect((await stat(full())).mode & 0o777).toBe(0o600);
    expect(await readdir(dirname(full()))).toEqual([path.split('/').at(-1)]);
    for (const line of gets) expect(await read()).toContain(line);
  });

  it('keeps what else it holds, and a copy of itself beside it', async () => {
    await place(other);
    const { exitCode, stdout } = await configure([client, '--write', '--json']);
    expect(exitCode).toBe(0);
    for (const part of [...keeps, ...gets]) expect(await read()).toContain(part);
    expect((await stat(full())).mode & 0o777).toBe(0o600);
    const [backup = ''] = await backups();
    expect(JSON.parse(stdout)).toMatchObject({
      state: 'changed',
      written: true,
      backup: join(dirname(full()), backup),
    });
    expect(await readFile(join(dirname(full()), backup), 'utf8')).toBe(other);
    expect((await stat(join(dirname(full()), backup))).mode & 0o777).toBe(0o600);
    expect((await readdir(dirname(full()))).length).toBe(2);
  });

  it.each([
    ['new', undefined],
    ['changed', other],
  ])('a second run changes nothing after it was %s', async (_state, text) => {
    if (text !== undefined) await place(text);
    await configure([client, '--write']);
    const first = await read();
    const kept = await backups();
    const { exitCode, stdout } = await configure([client, '--write']);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('is as it should be');
    expect(await read()).toBe(first);
    expect(await backups()).toEqual(kept);
  });

  it('is not touched by --dry-run, which shows the lines', async () => {
    await place(other);
    const { exitCode, stdout } = await configure([client, '--dry-run', '--write']);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('nothing was written');
    for (const part of gets) expect(stdout).toMatch(new RegExp(`^\\+.*${escapeText(part)}`, 'm'));
    expect(await read()).toBe(other);
    expect(await backups()).toEqual([]);
  });

  it('stays a link where it is one', async () => {
    await mkdir(join(home.path, 'dotfiles'));
    await writeFile(join(home.path, 'dotfiles/real'), other);
    await mkdir(dirname(full()), { recursive: true });
    await symlink(join(home.path, 'dotfiles/real'), full());
    await configure([client, '--write']);
    expect((await lstat(full())).isSymbolicLink()).toBe(true);
    expect(await readFile(join(home.path, 'dotfiles/real'), 'utf8')).toContain(gets[0]);
  });

  it('that is empty counts as new', async () => {
    await place('\n');
    expect((await configure([client, '--write'])).exitCode).toBe(0);
    for (const part of gets) expect(await read()).toContain(part);
  });
});

function escapeText(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

describe('a file that cannot be changed safely is named and left as it is', () => {
  it.each([
    ['JSON with comments', 'claude-code', '.claude/settings.json', '{\n  // mine\n  "env": {}\n}\n'],
    ['half a JSON file', 'opencode', '.config/opencode/opencode.json', '{"provider": '],
    ['a list in place of an object', 'qwen-code', '.qwen/settings.json', '[]'],
    ['a string in place of an object', 'claude-code', '.claude/settings.json', '{"env": "none"}'],
    ['an object in place of a list', 'qwen-code', '.qwen/settings.json', '{"modelProviders": {"openai": {}}}'],
    ['another table of that name', 'codex', '.codex/config.toml', '[model_providers.svc]\nname = "mine"\n'],
    ['a quoted table of that name', 'codex', '.codex/config.toml', '[ model_providers."svc" ]\nname = "mine"\n'],
    ['an inline table', 'codex', '.codex/config.toml', 'model_providers = { svc = { name = "x" } }\n'],
    ['a dotted key', 'codex', '.codex/config.toml', 'model_providers.svc.name = "x"\n'],
    ['a list of models', 'continue', '.continue/config.yaml', 'name: mine\nmodels:\n  - name: x\n'],
    ['YAML in flow style', 'continue', '.continue/config.yaml', '{name: mine}\n'],
  ])('%s', async (_what, client, path, text) => {
    const full = join(home.path, path);
    await mkdir(dirname(full), { recursive: true });
    await writeFile(full, text);
    for (const flag of ['--write', '--dry-run']) {
      const { exitCode, stdout, stderr } = await configure([client, flag]);
      expect(exitCode).toBe(1);
      expect(stdout).toBe('');
      expect(stderr).toContain(full);
      expect(stderr).toContain('left as it is');
      expect(stderr).toContain('by hand');
    }
    expect(await readFile(full, 'utf8')).toBe(text);
    expect(await readdir(dirname(full))).toHaveLength(1);
  });

  it('another address is merged into JSON, but refused where it would need a table rewritten', async () => {
    for (const client of ['opencode', 'codex']) await configure([client, '--write']);
    const other = { SVC_API_KEY: KEY, SVC_BASE_URL: 'http://127.0.0.1:1234' };
    expect((await configure(['opencode', '--write'], other)).exitCode).toBe(0);
    expect(await readFile(join(home.path, '.config/opencode/opencode.json'), 'utf8')).toContain(':1234/v1');
    expect((await configure(['codex', '--write'], other)).exitCode).toBe(1);
  });
});

describe('where a client looks', () => {
  it.each([
    ['claude-code', 'CLAUDE_CONFIG_DIR', 'settings.json'],
    ['codex', 'CODEX_HOME', 'config.toml'],
    ['opencode', 'XDG_CONFIG_HOME', 'opencode/opencode.json'],
    ['continue', 'CONTINUE_GLOBAL_DIR', 'config.yaml'],
  ])('%s follows %s', async (client, variable, path) => {
    const directory = join(home.path, 'elsewhere');
    await configure([client, '--write'], { SVC_API_KEY: KEY, [variable]: directory });
    expect(await readFile(join(directory, path), 'utf8')).toContain(URL_GIVEN);
  });
});

describe('merging', () => {
  const fields = { env: { OURS: 'x' }, list: [{ id: 'a', n: 1 }] };
  const json = { kind: 'json', fields } as const;

  it('keeps every other field of any object, and does it once', () => {
    const others = fc.dictionary(
      fc.string().filter((name) => name !== 'env' && name !== 'list' && name !== '__proto__'),
      fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value))),
    );
    fc.assert(
      fc.property(others, fc.dictionary(fc.stringMatching(/^[A-Z]{1,3}$/), fc.string()), (rest, env) => {
        const before = `${JSON.stringify({ ...rest, env, list: [{ id: 'b' }] }, null, 4)}\n`;
        const after = changeClientFile(before, json, 'f');
        expect(JSON.parse(after)).toEqual({
          ...rest,
          env: { ...env, OURS: 'x' },
          list: [{ id: 'b' }, { id: 'a', n: 1 }],
        });
        expect(changeClientFile(after, json, 'f')).toBe(after);
      }),
    );
  });

  it('leaves the text alone where it has everything already, however it is written', () => {
    const text = '{"list":[ {"id":"a","n":1} ],\r\n "env":{"OURS":"x", "THEIRS":1}}';
    expect(changeClientFile(text, json, 'f')).toBe(text);
  });

  it('takes the indentation of the file', () => {
    expect(changeClientFile('{\n\t"a": 1\n}\n', json, 'f')).toContain('\n\t"env": {\n\t\t"OURS"');
  });

  it('a field called __proto__ stays a field', () => {
    const after = changeClientFile('{"__proto__":{"x":1},"env":{"__proto__":2}}', json, 'f');
    expect(after).toContain('"__proto__": {');
    expect(after).toContain('"__proto__": 2');
  });

  it('a block follows whatever text there is, which stays as it is', () => {
    const block = { kind: 'block', head: 'h\n', block: '[svc]\n', taken: /^\[svc\]/m, takenBy: 'one' } as const;
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }).filter((text) => text.trim() !== '' && !text.includes('[svc]')),
        (text) => {
          const after = changeClientFile(text, block, 'f');
          expect(after.startsWith(text)).toBe(true);
          expect(after.endsWith('\n\n[svc]\n')).toBe(true);
          expect(changeClientFile(after, block, 'f')).toBe(after);
        },
      ),
    );
  });
});

describe('the diff', () => {
  it('shows the lines lost and gained, and none of the others', () => {
    expect(renderDiff('a\nb\nc\n', 'a\nx\ny\nc\n', [])).toBe('-b\n+x\n+y\n');
    expect(renderDiff('', 'a\n', [])).toBe('+a\n');
    expect(renderDiff('a\n', 'a\n', [])).toBe('');
  });

  it('of any two texts puts back the one from the other', () => {
    const lines = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 8 });
    fc.assert(
      fc.property(lines, lines, (old, young) => {
        const diff = renderDiff(old.join('\n'), young.join('\n'), []).split('\n');
        const gained = diff.filter((line) => line.startsWith('+')).length;
        const lost = diff.filter((line) => line.startsWith('-')).length;
        expect(old.length - lost).toBe(young.length - gained);
      }),
    );
  });

  it.each([
    '"ANTHROPIC_AUTH_TOKEN": "sk-ant-old-secret"',
    '  "apiKey": "hunter2"',
    'api_key = "hunter2"',
    'apiKey: hunter2',
    "    password: 'hunter2'",
    '"note": "sk-proj-abcdefgh"',
    '"x": "svc_sk_another1234"',
  ])('hides the secret in %s', (line) => {
    for (const diff of [renderDiff(`${line}\n`, 'gone\n', [KEY]), renderDiff('', `${line}\n`, [KEY])]) {
      expect(diff).toContain('…');
      expect(diff).not.toMatch(/hunter2|sk-ant|sk-proj|another1234/);
    }
  });

  it('shows what svc itself puts there', () => {
    const text = `"apiKey": "${KEY}"\nenv_key = "SVC_API_KEY"\n`;
    expect(renderDiff('', text, [KEY, 'SVC_API_KEY'])).toBe(`+"apiKey": "${KEY}"\n+env_key = "SVC_API_KEY"\n`);
  });

  it('of a command hides the secrets of others in the file', async () => {
    const path = join(home.path, '.claude/settings.json');
    await mkdir(dirname(path));
    await writeFile(path, '{"env": {"ANTHROPIC_AUTH_TOKEN": "sk-ant-old", "OTHER_API_KEY": "hunter2"}}');
    const { stdout } = await configure(['claude-code', '--dry-run']);
    expect(stdout).toContain('OTHER_API_KEY');
    expect(stdout).not.toMatch(/hunter2|sk-ant-old/);
    expect(stdout).toContain(KEY);
  });
});

describe('the lines printed', () => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await startDaemon();
  });
  afterAll(async () => {
    await daemon.stop();
    await removeHome(daemon.home);
  });

  const printed = async (client: string) => {
    const env = { HOME: home.path, SVC_HOME: daemon.home, SVC_API_KEY: daemon.key };
    return JSON.parse((await runCli(['configure', client, '--json'], { env })).stdout);
  };

  it('of curl get an answer', async () => {
    const { env, lines } = await printed('curl');
    const command = lines[0].text.replace('curl ', 'curl -s ');
    const { stdout } = await promisify(execFile)('sh', ['-c', command], { env: cleanEnv(env) });
    expect(JSON.parse(stdout).choices[0].message.content).toContain('sandbox');
  });

  it.each(['openai', 'anthropic'])('of %s get an answer', async (client) => {
    const { env, lines } = await printed(client);
    const code = lines.find(({ language }: { language: string }) => language === 'js').text;
    // Run from here, since the packages are found from the working directory.
    const args = ['--input-type=module', '-e', `${code}\nconsole.log(JSON.stringify(answer));`];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env: cleanEnv(env), cwd: ROOT });
    expect(stdout).toContain('sandbox');
  });

  it('of the AI SDK name its three providers, each with /v1 in the address, and structured answers', async () => {
    const { lines } = await printed('ai-sdk');
    const [{ text }] = lines;
    for (const provider of ['createOpenAICompatible', 'createOpenAI', 'createAnthropic']) {
      expect(text).toMatch(new RegExp(`import \\{ ${provider} \\} from '@ai-sdk/`));
      expect(text).toContain(`${provider}({`);
    }
    expect(text.split(`baseURL: "${daemon.url}/v1"`)).toHaveLength(4);
    expect(text).toContain('supportsStructuredOutputs: true');
  });
});

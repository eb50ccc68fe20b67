// The command line itself: help, usage errors, suggestions, exit codes, and what goes to which stream.

import { describe, expect, it } from 'vitest';
import { COMMANDS, GROUPS } from '../../src/cli/command-table.ts';
import { serveSettings } from '../../src/cli/serve-options.ts';
import { SETTINGS } from '../../src/daemon/settings.ts';
import { runCli } from './helpers/run-cli.ts';

const PATHS = COMMANDS.map(({ path }) => path);

describe('help', () => {
  it.each([...PATHS, ...Object.keys(GROUPS)])('of `svc %s` has an example and ends with 0', async (path) => {
    const { exitCode, stdout, stderr } = await runCli([...path.split(' '), '--help']);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/\nExamples?:\n {2}\$ svc /);
    expect(stdout).toContain(`Usage: svc ${path}`);
    expect(stderr).toBe('');
  });

  it.each(PATHS)('of `svc %s` names --json, and how to find the daemon', async (path) => {
    const { stdout } = await runCli([...path.split(' '), '--help']);
    expect(stdout).toContain('--json');
    expect(stdout).toContain('--home');
    const talks = path !== 'serve' && !path.startsWith('ledger ');
    expect(stdout.includes('--base-url')).toBe(talks);
  });

  it.each(COMMANDS)('examples of `svc $path` are of that command', ({ path, examples }) => {
    for (const example of examples) expect(example.split(' ').slice(0, path.split(' ').length).join(' ')).toBe(path);
  });

  it.each([[[]], [['--help']], [['help']]])('is what %j prints, with every command', async (argv) => {
    const { exitCode, stdout } = await runCli(argv);
    expect(exitCode).toBe(0);
    for (const path of PATHS) expect(stdout).toContain(`\n  ${path.split(' ')[0]}`);
    expect(stdout).toContain('Example:');
  });

  it('of one command comes with `help` too', async () => {
    const { exitCode, stdout } = await runCli(['help', 'usage']);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('Usage: svc usage');
  });

  it('of serve has every setting that has a flag, and no secret', async () => {
    const { stdout } = await runCli(['serve', '--help']);
    for (const { flag, env } of serveSettings()) {
      expect(stdout).toContain(flag);
      expect(stdout).toContain(env);
    }
    for (const { flag } of SETTINGS.filter(({ secret }) => secret)) expect(stdout).not.toContain(`${flag} `);
  });
});

describe('help of serve', () => {
  it('has the settings of the environment, the allowed values, and lines that fit', async () => {
    for (const terminal of [80, 200]) {
      const { stdout } = await runCli(['serve', '--help'], { terminal, env: { NO_COLOR: '1' } });
      expect(stdout).toContain('SVC_UPSTREAM_API_KEY');
      expect(stdout.replace(/\s+/g, ' ')).toContain('trace | debug | info | warn | error | silent');
      const help = stdout.split('\nExamples:')[0] ?? '';
      for (const line of help.split('\n')) expect(line.length).toBeLessThanOrEqual(Math.min(terminal, 100));
    }
  });
});

describe('the version', () => {
  it.each(['--version', '-V'])('is printed by %s', async (flag) => {
    const { exitCode, stdout } = await runCli([flag]);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe('wrong usage', () => {
  const CASES: readonly [argv: string, message: RegExp][] = [
    ['statsu', /unknown command 'statsu'\n\(Did you mean status\?\)/],
    ['keys lst', /unknown command 'lst'\n\(Did you mean list\?\)/],
    ['usage --sinse 7d', /unknown option '--sinse'\n\(Did you mean --since\?\)/],
    ['status extra', /too many arguments/],
    ['--nope', /unknown option '--nope'/],
    ['usage --by colour', /Allowed choices are model, virtual_model, key, day, task/],
    ['usage --since', /argument missing/],
    ['usage --since yesterday', /--since can't be read: "yesterday"/],
    ['usage --until 7y', /--until can't be read/],
    ['usage --since 1d --until 2d', /--since \(2026-01-09.*\) is after --until \(2026-01-08/],
    ['usage --limit 0', /--limit must be a whole number from 1 to 100000/],
    ['usage --limit 1e3', /--limit must be a whole number/],
    ['usage --csv --json', /--csv and --json exclude each other/],
    ['--json usage --csv', /--csv and --json exclude each other/],
    ['credits add', /missing required argument 'amount'/],
    ['credits add lots', /the amount must be USD/],
    ['credits add 0', /the amount must be USD/],
    ['credits add -5', /the amount must be USD .* not "-5"/],
    ['keys create', /the name is missing/],
    ['keys create a --name b', /given twice/],
    ['keys create a b', /too many arguments/],
    ['keys create a --budget free', /--budget must be an amount/],
    ['keys create a --budget-period day', /goes with --budget/],
    ['keys create a --budget 1 --budget-period year', /Allowed choices are total, day, month/],
    ['keys create a --requests-per-minute x', /--requests-per-minute must be/],
    ['keys create a --tokens-per-minute 0', /--tokens-per-minute must be/],
    ['keys create a --expires soon', /--expires can't be read/],
    ['keys create a --models ,', /--models names no model/],
    ['keys revoke', /the name is missing/],
    ['keys revoke laptop', /there is no terminal to ask on/],
    ['workspaces use', /the name is missing/],
    ['login', /--email is missing/],
    ['login --email a@b.c', /--password-stdin/],
    ['login --email a@b.c --password-stdin --name Ada', /--name goes with --register/],
    ['login --email a@b.c --password-stdin', /standard input held no password/],
    ['login --with-token', /standard input held no token/],
    ['login --with-token --email a@b.c', /cannot be used with option/],
    ['explain', /the prompt is empty\nhint: usage: svc explain PROMPT/],
    ['explain --file /', /\/ is a directory/],
    ['keys rotate', /the name is missing/],
    ['keys rotate laptop', /there is no terminal to ask on/],
    ['workspaces create', /the name is missing/],
    ['explain --file x.txt prompt', /given twice/],
    ['keys', /Usage: svc keys[\s\S]*error: a command is missing/],
    ['keys --base-url http://127.0.0.1:1', /Usage: svc keys[\s\S]*error: a command is missing/],
    ['credits --home /nowhere', /a command is missing/],
    ['serve --upstream-api-key secret', /unknown option '--upstream-api-key'/],
  ];

  it.each(CASES)('`svc %s` ends with 2 and says why', async (line, message) => {
    const { exitCode, stdout, stderr } = await runCli(line.split(' '));
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(message);
    expect(stderr).toMatch(/(^|\n)error: /);
    if (!line.includes('--json')) expect(stdout).toBe('');
  });

  it.each(CASES)('`svc %s --json` puts one error object on standard output', async (line) => {
    const argv = line.split(' ');
    const { exitCode, stdout } = await runCli([...argv.slice(0, 1), ...argv.slice(1), '--json']);
    // Behind an option without its value, `--json` becomes that value.
    if (argv.at(-1) === '--since') return;
    expect(exitCode).toBe(2);
    expect(JSON.parse(stdout)).toEqual({
      error: expect.objectContaining({ code: 'USAGE', message: expect.any(String), retryable: false, exit_code: 2 }),
    });
  });

  it('does not take `--json` behind `--` for an option', async () => {
    const { exitCode, stdout } = await runCli(['status', '--', '--json']);
    expect(exitCode).toBe(2);
    expect(stdout).toBe('');
  });
});

describe('wrong settings', () => {
  it.each([
    [['status'], { SVC_PORT: 'abc' }, /port \(environment variable SVC_PORT\)/],
    [['status', '--base-url', 'nonsense'], {}, /baseUrl \(flag --base-url\)/],
    [['serve', '--port', '99999'], {}, /port \(flag --port\)/],
    [['serve', '--log-level', 'loud'], {}, /logLevel \(flag --log-level\)/],
    [['serve', '--behind-proxy', 'maybe'], {}, /behindProxy \(flag --behind-proxy\)/],
  ])('%j with %j ends with 78 and names the setting and its source', async (argv, env, message) => {
    const { exitCode, stderr } = await runCli(argv, { env });
    expect(exitCode).toBe(78);
    expect(stderr).toMatch(message);
  });
});

describe('colour', () => {
  const colours = async (env: Record<string, string>, terminal?: number): Promise<boolean> =>
    (await runCli(['statsu'], { env, ...(terminal === undefined ? {} : { terminal }) })).stderr.includes('\u001b[');

  it('is for terminals only, and honours NO_COLOR, CI and dumb terminals', async () => {
    expect(await colours({}, 80)).toBe(true);
    expect(await colours({})).toBe(false);
    expect(await colours({ NO_COLOR: '1' }, 80)).toBe(false);
    expect(await colours({ CI: 'true' }, 80)).toBe(false);
    expect(await colours({ TERM: 'dumb' }, 80)).toBe(false);
  });
});

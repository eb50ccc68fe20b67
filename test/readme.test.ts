// The README against the code: its tables, and every command in it that this machine can run.

import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withTables } from '../config/build/readme-tables.ts';
import { BIN, cleanEnv, removeHome, startDaemon, type TestDaemon } from './helpers/daemon.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');

/** Fenced blocks of one language, with their text. */
const blocks = (language: string): string[] =>
  [...readme.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map((match) => match[1] ?? '');

let daemon: TestDaemon;
let env: Record<string, string>;
const scratch = join(ROOT, '.cache', `readme-${process.pid}`);

beforeAll(async () => {
  daemon = await startDaemon();
  env = cleanEnv({ SVC_HOME: daemon.home, SVC_API_KEY: daemon.key });
  mkdirSync(scratch, { recursive: true });
});

afterAll(async () => {
  await daemon.stop();
  await removeHome(daemon.home);
  rmSync(scratch, { recursive: true, force: true });
});

it('has tables that are the code (run `npm run readme` when this fails)', () => {
  expect(withTables(readme)).toBe(readme);
});

it('names npm scripts that exist', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const named = [...readme.matchAll(/npm (?:run )?(start|test|check|format|bench|readme|catalog|train)\b/g)].map(
    (match) => match[1] ?? '',
  );
  expect(named.length).toBeGreaterThan(6);
  for (const name of named) expect(Object.keys(scripts)).toContain(name);
});

describe('the curl commands', () => {
  it.each(blocks('sh').filter((block) => block.includes('curl')))('%s', (block) => {
    const command = block
      .split('\n')
      .filter((line) => !line.startsWith('export'))
      .join('\n')
      .replaceAll('http://127.0.0.1:4747', daemon.url);
    const answer = JSON.parse(
      execFileSync('sh', ['-c', command.trim().replace('curl ', 'curl -s ')], { env, encoding: 'utf8' }),
    );
    expect(JSON.stringify(answer)).toContain('sandbox');
    expect(answer).not.toHaveProperty('error');
  });
});

describe('the JavaScript snippets', () => {
  it.each(blocks('js'))('%s', async (block) => {
    const file = join(
      scratch,
      `snippet-${Math.abs(block.length)}-${block.includes('anthropic') ? 'messages' : 'chat'}.mjs`,
    );
    writeFileSync(
      file,
      `${block.replaceAll('http://127.0.0.1:4747', daemon.url)}\nconsole.log(JSON.stringify(answer));\n`,
    );
    const { stdout } = await promisify(execFile)(process.execPath, [file], { env });
    expect(stdout).toContain('sandbox');
  });
});

describe('the commands of the command line', () => {
  const svc = (...args: string[]): Promise<{ stdout: string }> =>
    promisify(execFile)(process.execPath, [BIN, ...args], { env });
  const table = [...readme.matchAll(/^\| (`svc .*?) \| /gm)].map((match) => match[1] ?? '');

  it('are known, each with help and an example', async () => {
    const names = table.flatMap((cell) =>
      [...cell.matchAll(/`svc ([a-z]+)(?: ([a-z]+)\b)?/g)].map((match) => match[1] ?? ''),
    );
    expect([...new Set(names)].sort()).toEqual([
      'configure',
      'credits',
      'explain',
      'keys',
      'ledger',
      'login',
      'logout',
      'models',
      'serve',
      'status',
      'usage',
      'whoami',
      'workspaces',
    ]);
    for (const name of new Set(names)) expect((await svc(name, '--help')).stdout).toMatch(/svc/);
  });

  it('run in the order of the table', async () => {
    const login = execFileSync(
      'sh',
      [
        '-c',
        `printf 'correct horse battery' | ${process.execPath} ${BIN} login --email you@example.com --password-stdin --register`,
      ],
      { env, encoding: 'utf8' },
    );
    expect(login).toBeDefined();
    expect((await svc('status', '--json')).stdout).toContain(daemon.url);
    expect(
      JSON.parse((await svc('explain', 'Prove that there are infinitely many primes', '--json')).stdout),
    ).toHaveProperty('chosen');
    expect((await svc('models')).stdout).toContain('svc:auto');
    expect((await svc('whoami')).stdout).toContain('you@example.com');
    expect((await svc('workspaces', 'list')).stdout).toContain('default');
    expect((await svc('keys', 'create', 'laptop')).stdout).toMatch(/svc_sk_/);
    const keys = JSON.parse((await svc('keys', 'list', '--json')).stdout);
    const laptop = keys.data.find((key: { name: string }) => key.name === 'laptop');
    await svc('keys', 'revoke', laptop.id, '--yes');
    expect((await svc('usage', '--since', '7d', '--by', 'model')).stdout).toMatch(/model/i);
    expect((await svc('usage', '--csv')).stdout).toContain('request_id');
    await svc('credits', 'add', '5');
    expect(JSON.parse((await svc('credits', 'show', '--json')).stdout)).toMatchObject({ granted: '15' });
    await svc('logout');
  });
});

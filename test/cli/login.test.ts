// Logging in and out: where secrets come from, what is kept, and what is never shown.

import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Answers, type ApiServer, apiError } from './helpers/api-server.ts';
import { type Home, logIn, makeHome, type RunOptions, type RunResult, runCli } from './helpers/run-cli.ts';
import { ACCOUNT, startSampleServer, TOKEN, WORKSPACES } from './helpers/samples.ts';

let home: Home;
let server: ApiServer;
const start = async (more: Answers = {}): Promise<void> => {
  home = await makeHome();
  server = await startSampleServer(more);
};
beforeEach(() => start());
afterEach(async () => {
  await server.close();
  await home.remove();
});

const run = (line: string, options: RunOptions = {}): Promise<RunResult> =>
  runCli(line.split(' '), { ...options, env: { SVC_HOME: home.path, SVC_BASE_URL: server.url, ...options.env } });
const kept = async (): Promise<unknown> => JSON.parse(await readFile(join(home.path, 'session.json'), 'utf8'));
const restart = async (more: Answers): Promise<void> => {
  await server.close();
  await home.remove();
  await start(more);
};

const LOGIN = 'login --email ada@example.com --password-stdin';

describe('svc login', () => {
  it.each([
    ['pass word', 'pass word'],
    ['pass word\n', 'pass word'],
    ['pass word\r\n', 'pass word'],
    [' spaces count ', ' spaces count '],
    ['two\nlines\n', 'two\nlines'],
  ])('sends the password %j of standard input, less one line end', async (stdin, password) => {
    expect((await run(LOGIN, { stdin })).exitCode).toBe(0);
    expect(server.asked[0]).toMatchObject({ path: '/auth/login', body: { email: 'ada@example.com', password } });
  });

  it('keeps the session in a file of its owner’s', async () => {
    await run(LOGIN, { stdin: 'secret' });
    expect(await kept()).toEqual({ token: TOKEN, email: ACCOUNT.email, baseUrl: server.url, workspaceId: 'ws_1' });
    expect((await stat(join(home.path, 'session.json'))).mode & 0o777).toBe(0o600);
  });

  it('registers first where asked to', async () => {
    await run(`${LOGIN} --register --name Ada`, { stdin: 'secret' });
    expect(server.asked[0]).toMatchObject({
      path: '/auth/register',
      body: { email: 'ada@example.com', password: 'secret', name: 'Ada' },
    });
    expect(await kept()).toMatchObject({ token: TOKEN });
  });

  it('takes a token, checks it, and keeps it', async () => {
    const { exitCode, stdout } = await run('login --with-token', { stdin: '  svc_st_given\n' });
    expect(exitCode).toBe(0);
    expect(stdout).toBe(`Logged in at ${server.url} as ada@example.com, workspace default.\n`);
    expect(server.asked.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      ['/auth/me', 'Bearer svc_st_given'],
    ]);
    expect(await kept()).toMatchObject({ token: 'svc_st_given', email: ACCOUNT.email });
  });

  it('prints who and where with --json, and no secret', async () => {
    const { stdout, stderr } = await run(`${LOGIN} --json`, { stdin: 'secret' });
    expect(JSON.parse(stdout)).toEqual({ account: ACCOUNT, workspace: WORKSPACES[0], base_url: server.url });
    expect(stdout + stderr).not.toMatch(/secret|svc_st_/);
  });

  it.each(['two words', 'line\nbreak', 'ünicode'])('refuses %j as a token without repeating it', async (stdin) => {
    const { exitCode, stderr } = await run('login --with-token', { stdin });
    expect(exitCode).toBe(2);
    expect(stderr).not.toContain(stdin);
    expect(server.asked).toEqual([]);
  });

  it.each([LOGIN, 'login --with-token'])(
    'refuses to read a secret that would be typed on the screen: %s',
    async (line) => {
      const { exitCode, stderr } = await run(line, { terminal: 80, stdin: 'secret' });
      expect(exitCode).toBe(2);
      expect(stderr).toContain('must come from a file or a pipe');
    },
  );

  it('keeps nothing where the daemon refuses', async () => {
    await restart({ 'POST /auth/login': apiError(401, 'INVALID_CREDENTIALS', 'Wrong email or password.') });
    const { exitCode, stderr } = await run(LOGIN, { stdin: 'secret' });
    expect(exitCode).toBe(3);
    expect(stderr).toContain('Wrong email or password.');
    expect(stderr).not.toContain('secret');
    expect(await readdir(home.path)).toEqual([]);
  });

  it('ends with 1 where the email is taken, and with 6 where it is tried too often', async () => {
    await restart({
      'POST /auth/register': apiError(409, 'CONFLICT', 'taken'),
      'POST /auth/login': apiError(429, 'RATE_LIMITED', 'too often', { 'retry-after': '30' }),
    });
    expect((await run(`${LOGIN} --register`, { stdin: 'secret' })).exitCode).toBe(1);
    const { exitCode, stderr } = await run(LOGIN, { stdin: 'secret' });
    expect(exitCode).toBe(6);
    expect(stderr).toContain('try again in 30 s');
  });

  it('goes over a session file that is damaged', async () => {
    await writeFile(join(home.path, 'session.json'), '{', { mode: 0o600 });
    expect((await run('whoami')).exitCode).toBe(78);
    expect((await run(LOGIN, { stdin: 'secret' })).exitCode).toBe(0);
    expect((await run('whoami')).exitCode).toBe(0);
  });

  it('says that SVC_TOKEN still goes first', async () => {
    const { stderr } = await run(LOGIN, { stdin: 'secret', env: { SVC_TOKEN: 'svc_st_env' } });
    expect(stderr).toContain('SVC_TOKEN is set');
  });

  it('is content with an account without a workspace', async () => {
    await restart({ 'GET /auth/me': { body: { account: ACCOUNT, workspaces: [] } } });
    expect((await run(LOGIN, { stdin: 'secret' })).exitCode).toBe(0);
    expect(await kept()).toMatchObject({ workspaceId: null });
  });
});

describe('svc logout', () => {
  it('ends the session at the daemon that gave it, and forgets it', async () => {
    await logIn(home.path, server.url);
    const { exitCode, stdout } = await run('logout', { env: { SVC_BASE_URL: 'http://127.0.0.1:1' } });
    expect(exitCode).toBe(0);
    expect(stdout).toBe('Logged out ada@example.com.\n');
    expect(server.asked[0]).toMatchObject({ path: '/auth/logout', headers: { authorization: `Bearer ${TOKEN}` } });
    expect(await readdir(home.path)).toEqual([]);
    expect((await run('whoami')).exitCode).toBe(3);
  });

  it('succeeds where nobody is logged in', async () => {
    expect(await run('logout')).toMatchObject({ exitCode: 0, stdout: 'Nobody was logged in.\n' });
    expect(JSON.parse((await run('logout --json')).stdout)).toEqual({ logged_out: false, ended_at_daemon: false });
  });

  it.each([
    ['is over already', apiError(401, 'INVALID_SESSION', 'over'), true],
    ['cannot be ended', apiError(500, 'INTERNAL_ERROR', 'oh'), false],
  ])('forgets a session that %s', async (_name, answer, ended) => {
    await restart({ 'POST /auth/logout': answer });
    await logIn(home.path, server.url);
    const { exitCode, stdout, stderr } = await run('logout --json');
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ logged_out: true, ended_at_daemon: ended });
    expect(stderr.includes('stays valid there')).toBe(!ended);
    expect(await readdir(home.path)).toEqual([]);
  });

  it('forgets the session where the daemon is gone, and says that it stays valid there', async () => {
    await logIn(home.path, server.url);
    await server.close();
    const { exitCode, stderr } = await run('logout');
    expect(exitCode).toBe(0);
    expect(stderr).toContain('stays valid there');
    expect(await readdir(home.path)).toEqual([]);
  });
});

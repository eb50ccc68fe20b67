// Each command against a daemon that answers: what is asked, what is printed, and the exit code.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Answers, type ApiServer, apiError, apiList } from './helpers/api-server.ts';
import { type Home, logIn, makeHome, type RunOptions, type RunResult, runCli } from './helpers/run-cli.ts';
import {
  ACCOUNT,
  BALANCE,
  DECISION,
  ENTRY,
  KEY,
  MODELS,
  SUM,
  startSampleServer,
  TOKEN,
  WORKSPACES,
} from './helpers/samples.ts';

let home: Home;
let server: ApiServer;
beforeEach(async () => {
  home = await makeHome();
});
afterEach(async () => {
  await server.close();
  await home.remove();
});

/** Logged in at a server that has the samples and `more`. */
async function setUp(more: Answers = {}): Promise<void> {
  server = await startSampleServer(more);
  await logIn(home.path, server.url);
}
async function run(line: string | readonly string[], options: RunOptions = {}): Promise<RunResult> {
  const argv = typeof line === 'string' ? line.split(' ') : line;
  return await runCli(argv, { ...options, env: { SVC_HOME: home.path, SVC_BASE_URL: server.url, ...options.env } });
}
const asked = (): readonly string[] => server.asked.map(({ method, path }) => `${method} ${path}`);

describe('--json', () => {
  const LISTED = { object: 'list', has_more: false, next_cursor: null };
  const CASES: readonly [line: string, expected: unknown][] = [
    ['whoami', { account: ACCOUNT, workspaces: WORKSPACES, workspace_id: 'ws_1', credential: 'session' }],
    ['workspaces list', { ...LISTED, data: [{ ...WORKSPACES[0], current: true }, { current: false }] }],
    ['workspaces use research', WORKSPACES[1]],
    ['keys list', { ...LISTED, data: [KEY] }],
    ['keys create laptop', { ...KEY, key: 'svc_sk_secret' }],
    ['keys rotate laptop --yes', { ...KEY, key: 'svc_sk_rotated' }],
    ['workspaces create lab', { id: 'ws_3', name: 'lab' }],
    ['keys revoke key_1 --yes', { id: 'key_1', name: 'laptop', revoked: true, already_revoked: false }],
    ['credits show', BALANCE],
    ['credits add 2.5', { id: 'gr_1', amount: '2.5', balance: '12.5' }],
    ['usage', { ...LISTED, data: [ENTRY] }],
    ['usage --by model', { ...LISTED, data: [SUM] }],
    ['models', { object: 'list', data: MODELS }],
    ['explain hello', DECISION],
    ['status', { running: true, ready: true, pid: null, checks: { store: 'ok' } }],
    ['logout', { logged_out: true, ended_at_daemon: true }],
  ];

  it.each(CASES)('`svc %s` prints one object and nothing else', async (line, expected) => {
    await setUp();
    const { exitCode, stdout } = await run(`${line} --json`);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject(expected as object);
    expect(stdout.endsWith('}\n')).toBe(true);
  });

  it.each(CASES)('`svc --json %s` is the same', async (line, expected) => {
    await setUp();
    const { stdout } = await run(`--json ${line}`);
    expect(JSON.parse(stdout)).toMatchObject(expected as object);
  });

  it.each(CASES)('`svc %s` without it prints text, without escapes where it is piped', async (line) => {
    await setUp();
    const { exitCode, stdout } = await run(line);
    expect(exitCode).toBe(0);
    expect(stdout.endsWith('\n')).toBe(true);
    expect(stdout).not.toContain('\u001b');
    expect(() => JSON.parse(stdout)).toThrow();
  });

  it.each(CASES)('`svc %s` stays within a terminal of 60 columns', async (line) => {
    await setUp();
    const { exitCode, stdout } = await run(line, { terminal: 60, env: { NO_COLOR: '1' }, answer: 'y' });
    expect(exitCode).toBe(0);
    const tables = stdout.split('\n').filter((text) => / {2}/.test(text));
    for (const text of tables) expect(text.length).toBeLessThanOrEqual(60);
  });
});

describe('errors of the daemon', () => {
  const CASES: readonly [status: number, code: string, exitCode: number][] = [
    [400, 'INVALID_REQUEST', 1],
    [401, 'INVALID_SESSION', 3],
    [402, 'INSUFFICIENT_CREDITS', 6],
    [403, 'FORBIDDEN', 3],
    [404, 'NOT_FOUND', 4],
    [409, 'CONFLICT', 1],
    [429, 'RATE_LIMITED', 6],
    [500, 'INTERNAL_ERROR', 1],
    [503, 'STORAGE_UNAVAILABLE', 1],
  ];

  it.each(CASES)('%i %s ends with %i', async (status, code, exitCode) => {
    await setUp({ 'GET /workspaces/ws_1/balance': apiError(status, code, 'this went wrong') });
    const result = await run('credits show');
    expect(result).toMatchObject({ exitCode, stdout: '' });
    expect(result.stderr).toContain('error: this went wrong\n');
  });

  it.each(CASES)('%i %s is an object on standard output with --json', async (status, code, exitCode) => {
    await setUp({ 'GET /workspaces/ws_1/balance': apiError(status, code, 'this went wrong') });
    const { stdout, stderr } = await run('credits show --json');
    expect(JSON.parse(stdout).error).toMatchObject({ code, message: 'this went wrong', status, exit_code: exitCode });
    expect(stderr).toContain('this went wrong');
  });

  it('cannot drive the terminal', async () => {
    await setUp({ 'GET /auth/me': apiError(400, 'INVALID_REQUEST', 'a\u001b[2Jb') });
    expect((await run('whoami')).stderr).toBe('error: a\ufffd[2Jb\n');
  });
});

describe('no daemon', () => {
  it.each(['whoami', 'keys list', 'credits show', 'usage', 'models', 'explain hi', 'workspaces list'])(
    '`svc %s` ends with 5 and says how to start it',
    async (line) => {
      await setUp();
      await server.close();
      const { exitCode, stderr } = await run(line);
      expect(exitCode).toBe(5);
      expect(stderr).toContain(`no answer from ${server.url}: connection refused`);
      expect(stderr).toContain('svc serve');
    },
  );

  it('is a status of its own, printed as such, with exit code 5', async () => {
    await setUp();
    await server.close();
    const { exitCode, stdout, stderr } = await run('status --json');
    expect(exitCode).toBe(5);
    expect(JSON.parse(stdout)).toEqual({
      running: false,
      ready: false,
      url: server.url,
      pid: null,
      version: null,
      started_at: null,
      checks: null,
    });
    expect(stderr).toContain('svc serve');
  });
});

describe('svc status', () => {
  it('shows what daemon.json says about the process', async () => {
    await setUp();
    const daemon = { pid: 4321, url: server.url, version: '1.2.3', startedAt: '2026-01-10T09:00:00.000Z' };
    await writeFile(join(home.path, 'daemon.json'), JSON.stringify(daemon));
    const { stdout } = await run('status', { env: { SVC_BASE_URL: undefined } });
    expect(stdout).toBe(
      [
        'running',
        `address        ${server.url}`,
        'takes traffic  yes',
        'pid            4321',
        'version        1.2.3',
        'since          2026-01-10 09:00:00 (3h)',
        '',
      ].join('\n'),
    );
  });

  it('says why a daemon takes no traffic', async () => {
    await setUp({ 'GET /readyz': { status: 503, body: { status: 'not_ready', store: 'unwritable', draining: true } } });
    const { exitCode, stdout } = await run('status');
    expect(exitCode).toBe(0);
    expect(stdout).toContain('no, store: unwritable, draining: true');
  });

  it('needs nobody logged in', async () => {
    server = await startSampleServer();
    expect((await run('status')).exitCode).toBe(0);
  });
});

describe('svc status about the upstream', () => {
  const readyz = (state: string, models: number): Answers => ({
    'GET /readyz': { body: { status: 'ready', upstream: { name: 'openrouter.ai', state, models }, draining: false } },
  });

  it.each([
    ['ok', 300, 'openrouter.ai: ok, 300 models'],
    ['unreachable', 1, 'openrouter.ai: unreachable; requests will fail until it answers, 1 model'],
  ])('that is %s', async (state, models, said) => {
    await setUp(readyz(state, models));
    expect((await run('status')).stdout).toContain(`upstream       ${said}\n`);
  });

  it('says when the daemon is not that of this data directory', async () => {
    await setUp();
    const env = { SVC_BASE_URL: undefined, SVC_PORT: new URL(server.url).port };
    const { exitCode, stderr } = await run('status', { env });
    expect(exitCode).toBe(0);
    expect(stderr).toContain(`is not this data directory's (${home.path})`);
    expect((await run('status')).stderr).toBe('');
  });
});

describe('svc keys rotate', () => {
  it('prints the new secret alone on standard output', async () => {
    await setUp();
    const { stdout, stderr } = await run('keys rotate laptop --yes');
    expect(stdout).toBe('svc_sk_rotated\n');
    expect(stderr).toContain('laptop (key_1)');
    expect(asked()).toContain('POST /workspaces/ws_1/api-keys/key_1/rotate');
  });

  it('asks on a terminal, and leaves the key alone without a yes', async () => {
    await setUp();
    const { exitCode, stderr, questions } = await run('keys rotate laptop', { terminal: 100, answer: 'n' });
    expect(exitCode).toBe(1);
    expect(stderr).toContain('nothing was rotated');
    expect(questions).toHaveLength(1);
    expect(asked()).toEqual(['GET /workspaces/ws_1/api-keys']);
  });
});

describe('svc keys', () => {
  const LONG_ID = 'key_0123456789abcdefghijklmn';

  it.each([40, 60, 80])('list keeps the id whole in %i columns', async (terminal) => {
    const long = { ...KEY, id: LONG_ID, name: 'the key of the machine that builds everything' };
    await setUp({ 'GET /workspaces/ws_1/api-keys': apiList([long]) });
    const { stdout } = await run('keys list', { terminal, env: { NO_COLOR: '1' } });
    expect(stdout).toContain(LONG_ID);
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(terminal);
  });

  it.each(['keys --json list', 'keys list --json'])('`svc %s` takes the option on either side', async (line) => {
    await setUp();
    expect(JSON.parse((await run(line)).stdout).data).toEqual([KEY]);
  });

  it('create prints the secret alone on standard output', async () => {
    await setUp();
    const { stdout, stderr } = await run('keys create laptop');
    expect(stdout).toBe('svc_sk_secret\n');
    expect(stderr).toContain('laptop (key_1)');
    expect(stderr).not.toContain('svc_sk_secret');
  });

  it('create sends what was asked for, and nothing else', async () => {
    await setUp();
    await run('keys create --name ci --budget 2.5 --budget-period month --models a/b,c/* --expires 1d');
    expect(server.asked.at(-1)?.body).toEqual({
      name: 'ci',
      budget: '2.5',
      budget_period: 'month',
      models: ['a/b', 'c/*'],
      expires_at: '2026-01-11T12:00:00.000Z',
    });
    await run('keys create ci --requests-per-minute 5 --tokens-per-minute 100');
    expect(server.asked.at(-1)?.body).toEqual({ name: 'ci', requests_per_minute: 5, tokens_per_minute: 100 });
  });

  it('list shows state, spending and budget', async () => {
    const expired = { ...KEY, id: 'key_2', expires_at: '2026-01-01T00:00:00Z', budget: null };
    const later = { ...KEY, id: 'key_3', expires_at: '2026-02-01T00:00:00Z' };
    const revoked = { ...KEY, id: 'key_4', revoked_at: '2026-01-05T00:00:00Z' };
    await setUp({ 'GET /workspaces/ws_1/api-keys': apiList([KEY, expired, later, revoked]) });
    const { stdout } = await run('keys list');
    expect(stdout.split('\n').map((line) => line.split(/ {2,}/)[3])).toEqual([
      'STATE',
      'active',
      'expired',
      'until 2026-02-01',
      'revoked',
      undefined,
    ]);
    expect(stdout).toContain('svc_sk_abcd…wxyz');
    expect(stdout).toContain('$5.00/month');
  });

  it('list says how to make the first one', async () => {
    await setUp({ 'GET /workspaces/ws_1/api-keys': apiList([]) });
    expect((await run('keys list')).stdout).toContain('svc keys create NAME');
  });

  it.each(['key_1', 'laptop', '--name laptop'])('revoke finds %s', async (name) => {
    await setUp();
    expect((await run(`keys revoke ${name} --yes`)).exitCode).toBe(0);
    expect(asked()).toContain('DELETE /workspaces/ws_1/api-keys/key_1');
  });

  it.each([
    ['y', 0, true],
    ['YES ', 0, true],
    ['', 1, false],
    ['n', 1, false],
    ['yeah no', 1, false],
  ])('revoke asks on a terminal, and the answer %j ends with %i', async (answer, exitCode, revoked) => {
    await setUp();
    const result = await run('keys revoke laptop', { terminal: 100, answer });
    expect(result.exitCode).toBe(exitCode);
    expect(result.questions).toEqual([expect.stringContaining('laptop (key_1)')]);
    expect(asked().includes('DELETE /workspaces/ws_1/api-keys/key_1')).toBe(revoked);
  });

  it('revoke asks the daemon for nothing where it cannot ask', async () => {
    await setUp();
    const { exitCode, stderr } = await run('keys revoke laptop');
    expect(exitCode).toBe(2);
    expect(stderr).toContain('--yes');
    expect(server.asked).toEqual([]);
  });

  it('revoke does not ask twice with --yes', async () => {
    await setUp();
    expect((await run('keys revoke laptop --yes', { terminal: 80 })).questions).toEqual([]);
  });

  it('revoke is content where the key was revoked already', async () => {
    await setUp({ 'GET /workspaces/ws_1/api-keys': apiList([{ ...KEY, revoked_at: '2026-01-05T00:00:00Z' }]) });
    const { exitCode, stdout } = await run('keys revoke laptop --yes');
    expect(exitCode).toBe(0);
    expect(stdout).toContain('was revoked already');
    expect(asked()).toEqual(['GET /workspaces/ws_1/api-keys']);
  });

  it('revoke prefers the active one of two with a name, and asks which of two active ones', async () => {
    const old = { ...KEY, id: 'key_0', revoked_at: '2026-01-05T00:00:00Z' };
    await setUp({ 'GET /workspaces/ws_1/api-keys': apiList([old, KEY]) });
    await run('keys revoke laptop --yes');
    expect(asked()).toContain('DELETE /workspaces/ws_1/api-keys/key_1');
    await server.close();
    await setUp({ 'GET /workspaces/ws_1/api-keys': apiList([{ ...KEY, id: 'key_9' }, KEY]) });
    const { exitCode, stderr } = await run('keys revoke laptop --yes');
    expect(exitCode).toBe(2);
    expect(stderr).toContain('key_9, key_1');
  });

  it('revoke ends with 4 where there is no such key', async () => {
    await setUp();
    expect((await run('keys revoke nope --yes')).exitCode).toBe(4);
  });
});

describe('svc credits', () => {
  it('show prints every digit', async () => {
    await setUp();
    expect((await run('credits show')).stdout).toBe(
      'available  $9.99987555\nheld       $0.000001\nbalance    $9.99987655\ngranted    $10.00\ncharged    $0.00012345\n',
    );
  });

  it('add sends an idempotency key: a new one each time, or the one given', async () => {
    await setUp();
    await run('credits add 2.5');
    await run('credits add 2.5');
    await run(['credits', 'add', '2.5', '--idempotency-key', 'mine', '--note', 'invoice 42']);
    const keys = server.asked.map(({ headers }) => headers['idempotency-key']);
    expect(new Set(keys).size).toBe(3);
    expect(keys[2]).toBe('mine');
    expect(server.asked.map(({ body }) => body)).toEqual([
      { amount: '2.5' },
      { amount: '2.5' },
      { amount: '2.5', note: 'invoice 42' },
    ]);
  });

  it('add says how to repeat it safely where the answer never came', async () => {
    await setUp();
    await server.close();
    const { exitCode, stderr } = await run('credits add 2.5 --idempotency-key mine');
    expect(exitCode).toBe(5);
    expect(stderr).toContain('--idempotency-key mine');
  });

  it.each(['', 'has space', 'ümlaut', 'x'.repeat(256)])('add refuses the idempotency key %j', async (key) => {
    await setUp();
    expect((await run(['credits', 'add', '1', '--idempotency-key', key])).exitCode).toBe(2);
    expect(server.asked).toEqual([]);
  });
});

describe('svc workspaces', () => {
  it('create sends the name and leaves the current one', async () => {
    await setUp();
    expect(await run('workspaces create lab')).toMatchObject({
      exitCode: 0,
      stdout: 'Created workspace lab (ws_3).\n',
      stderr: 'choose it with `svc workspaces use ws_3`\n',
    });
    expect(server.asked.at(-1)?.body).toEqual({ name: 'lab' });
    expect(JSON.parse((await run('whoami --json')).stdout).workspace_id).toBe('ws_1');
  });

  it('are named by --workspace as by `use`', async () => {
    await setUp({ 'GET /workspaces/ws_2/balance': { body: BALANCE } });
    await run('credits show --workspace research');
    expect(asked()).toContain('GET /workspaces/ws_2/balance');
    expect((await run('whoami --workspace research')).stdout).toContain('research (ws_2');
  });

  it.each(['credits show', 'usage', 'whoami', 'workspaces list', 'explain hi'])(
    'that do not exist end `svc %s` with 4',
    async (line) => {
      await setUp();
      const { exitCode, stderr } = await run(`${line} --workspace nope`);
      expect(exitCode).toBe(4);
      expect(stderr).toContain('svc workspaces list');
    },
  );

  it('use keeps the choice, by id or name, for the commands after it', async () => {
    await setUp({ 'GET /workspaces/ws_2/balance': { body: { ...BALANCE, workspace_id: 'ws_2' } } });
    for (const name of ['ws_2', 'research']) {
      expect((await run(`workspaces use ${name}`)).exitCode).toBe(0);
      expect(JSON.parse((await run('credits show --json')).stdout).workspace_id).toBe('ws_2');
      expect((await run('workspaces list')).stdout).toMatch(/\n\* {2}research/);
    }
  });

  it('use ends with 4 where there is none, and asks which of two', async () => {
    const twins = [
      { id: 'ws_3', name: 'twin', role: 'owner' },
      { id: 'ws_4', name: 'twin', role: 'owner' },
    ];
    await setUp({ 'GET /auth/me': { body: { account: ACCOUNT, workspaces: twins } } });
    expect((await run('workspaces use nope')).exitCode).toBe(4);
    const { exitCode, stderr } = await run('workspaces use twin');
    expect(exitCode).toBe(2);
    expect(stderr).toContain('ws_3, ws_4');
  });

  it('use says that SVC_TOKEN leaves nothing to keep the choice with', async () => {
    await setUp();
    const { exitCode, stderr } = await run('workspaces use research', { env: { SVC_TOKEN: 'svc_st_env' } });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('--workspace');
  });

  it('the current one is --workspace, then the session’s, then the first of mine', async () => {
    await setUp({
      'GET /workspaces/ws_9/balance': { body: BALANCE },
      'GET /workspaces/ws_2/balance': { body: BALANCE },
    });
    await logIn(home.path, server.url, { workspaceId: 'ws_2' });
    await run('credits show --workspace ws_9');
    await run('credits show');
    await logIn(home.path, server.url, { workspaceId: null });
    await run('credits show');
    expect(asked()).toEqual([
      'GET /workspaces/ws_9/balance',
      'GET /workspaces/ws_2/balance',
      'GET /auth/me',
      'GET /workspaces/ws_1/balance',
    ]);
  });

  it('none at all ends with 4', async () => {
    await setUp({ 'GET /auth/me': { body: { account: ACCOUNT, workspaces: [] } } });
    await logIn(home.path, server.url, { workspaceId: null });
    expect((await run('credits show')).exitCode).toBe(4);
  });
});

describe('credentials', () => {
  it('SVC_TOKEN goes before the session that is kept', async () => {
    await setUp();
    await run('whoami', { env: { SVC_TOKEN: 'svc_st_env' } });
    await run('whoami');
    expect(server.asked.map(({ headers }) => headers.authorization)).toEqual(['Bearer svc_st_env', `Bearer ${TOKEN}`]);
  });

  it.each(['models', 'explain hello'])('SVC_API_KEY serves for `svc %s`, with nobody logged in', async (line) => {
    server = await startSampleServer();
    expect((await run(line, { env: { SVC_API_KEY: 'svc_sk_env' } })).exitCode).toBe(0);
    expect(server.asked.map(({ headers }) => headers.authorization)).toEqual(['Bearer svc_sk_env']);
  });

  it('SVC_API_KEY does not serve for account routes', async () => {
    server = await startSampleServer();
    const { exitCode, stderr } = await run('keys list', { env: { SVC_API_KEY: 'svc_sk_env' } });
    expect(exitCode).toBe(3);
    expect(stderr).toContain('svc login');
  });

  it('--workspace asks as the session, since a key has its own workspace', async () => {
    await setUp();
    await run('models --workspace ws_2', { env: { SVC_API_KEY: 'svc_sk_env' } });
    expect(server.asked[0]?.headers).toMatchObject({ authorization: `Bearer ${TOKEN}`, 'x-svc-workspace': 'ws_2' });
  });

  it('the session goes to no other daemon than the one that gave it', async () => {
    server = await startSampleServer();
    await logIn(home.path, 'http://127.0.0.1:1');
    const { exitCode, stderr } = await run('whoami');
    expect(exitCode).toBe(3);
    expect(stderr).toContain('the session kept is for http://127.0.0.1:1');
    expect(server.asked).toEqual([]);
  });

  it('but it does go to the daemon of its data directory, on whatever port that is now', async () => {
    server = await startSampleServer();
    await logIn(home.path, 'http://127.0.0.1:1');
    await writeFile(join(home.path, 'daemon.json'), JSON.stringify({ url: server.url }));
    expect((await run('whoami', { env: { SVC_BASE_URL: undefined } })).exitCode).toBe(0);
    await logIn(home.path, 'https://elsewhere.example');
    expect((await run('whoami', { env: { SVC_BASE_URL: undefined } })).exitCode).toBe(3);
  });
});

describe('svc models', () => {
  it('shows presets, then real models with prices, context and abilities', async () => {
    await setUp();
    expect((await run('models')).stdout).toBe(
      [
        'VIRTUAL MODEL  FOR',
        'svc:auto       general purpose',
        '',
        'MODEL            INPUT/M  OUTPUT/M  CONTEXT  ABILITIES',
        'openai/gpt-nano    $0.05     $0.40     400k  general 0.62, coding 0.70',
        '',
      ].join('\n'),
    );
  });

  it('shows that a price is unknown', async () => {
    const data = [{ id: 'a/b', object: 'model', created: 1, owned_by: 'a', context_length: 1_050_000 }];
    await setUp({ 'GET /v1/models': { body: { object: 'list', data } } });
    expect((await run('models')).stdout).toMatch(/a\/b +\? +\? +1\.1M/);
  });
});

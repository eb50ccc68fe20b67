// `svc usage` and `svc explain`: what they send, and their forms of output.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Answers, type ApiServer, apiList } from './helpers/api-server.ts';
import { type Home, logIn, makeHome, type RunOptions, type RunResult, runCli } from './helpers/run-cli.ts';
import { DECISION, ENTRY, startSampleServer } from './helpers/samples.ts';

let home: Home;
let server: ApiServer;
beforeEach(async () => {
  home = await makeHome();
});
afterEach(async () => {
  await server.close();
  await home.remove();
});
async function setUp(more: Answers = {}): Promise<void> {
  server = await startSampleServer(more);
  await logIn(home.path, server.url);
}
const run = (argv: readonly string[], options: RunOptions = {}): Promise<RunResult> =>
  runCli(argv, { ...options, env: { SVC_HOME: home.path, SVC_BASE_URL: server.url } });

/** 2,500 entries, given page by page. */
const MANY: Answers = {
  'GET /workspaces/ws_1/usage': ({ query }) => {
    const from = Number(query['cursor'] ?? 0);
    const to = Math.min(2_500, from + Number(query['limit']));
    const page = Array.from({ length: to - from }, (_, index) => ({
      ...ENTRY,
      id: `use_${from + index}`,
      cost: '0.001',
    }));
    return apiList(page, to < 2_500 ? String(to) : null);
  },
};

describe('svc usage', () => {
  it('prints a table, with the total beside it', async () => {
    await setUp();
    const { stdout, stderr } = await run(['usage']);
    expect(stdout).toBe(
      [
        'TIME (UTC)           MODEL            TASK    STATUS  INPUT  OUTPUT       COST  LATENCY',
        '2026-01-03 10:11:12  openai/gpt-nano  coding     200     12      34  $0.000123   123 ms',
        '',
      ].join('\n'),
    );
    expect(stderr).toBe('1 request, $0.000123\n');
  });

  it('prints sums', async () => {
    await setUp();
    const { stdout, stderr } = await run(['usage', '--by', 'model']);
    expect(stdout).toBe(
      [
        'MODEL            REQUESTS  ERRORS  INPUT  CACHED  OUTPUT      COST',
        'openai/gpt-nano         3       1     36       0     102  $0.00037',
        '',
      ].join('\n'),
    );
    expect(stderr).toBe('3 requests, $0.00037\n');
  });

  it('names the error of a request that failed, and the model that was asked for', async () => {
    const failed = {
      ...ENTRY,
      model: null,
      status: 402,
      error_code: 'INSUFFICIENT_CREDITS',
      task_type: null,
      cost: '0',
    };
    await setUp({ 'GET /workspaces/ws_1/usage': apiList([failed]) });
    expect((await run(['usage'])).stdout).toMatch(/svc:auto +402 INSUFFICIENT_CREDITS +12 +34 +\$0\.00/);
  });

  it('prints nothing but a note where there is nothing', async () => {
    await setUp({ 'GET /workspaces/ws_1/usage': apiList([]) });
    expect(await run(['usage'])).toMatchObject({ exitCode: 0, stdout: '', stderr: 'no requests\n' });
  });

  it('prints CSV that is safe in a spreadsheet', async () => {
    await setUp();
    const { stdout } = await run(['usage', '--csv']);
    const [header, row, end] = stdout.split('\r\n');
    expect(header?.split(',').slice(0, 6)).toEqual([
      'id',
      'request_id',
      'created_at',
      'api_key_id',
      'format',
      'source',
    ]);
    expect(header).not.toContain('decision');
    expect(row).toContain(`use_1,req_1,2026-01-03T10:11:12.000Z,key_1,chat,"'=cmd(),""quoted""",true,svc:auto`);
    expect(row).toContain(',0.00012345,measured,');
    expect(end).toBe('');
  });

  it('prints sums as CSV', async () => {
    await setUp();
    expect((await run(['usage', '--csv', '--by', 'day'])).stdout).toBe(
      'group,requests,errors,input_tokens,cached_tokens,output_tokens,cost\r\nopenai/gpt-nano,3,1,36,0,102,0.00037035\r\n',
    );
  });

  it('sends its filters as the API has them', async () => {
    await setUp();
    await run(['usage', '--since', '7d', '--until', '2026-01-09', '--model', 'a/b', '--key', 'laptop', '--by', 'task']);
    expect(server.asked.at(-1)?.query).toMatchObject({
      from: '2026-01-03T12:00:00.000Z',
      to: '2026-01-09T00:00:00.000Z',
      model: 'a/b',
      key_id: 'key_1',
      group_by: 'task',
    });
    await run(['usage']);
    expect(server.asked.at(-1)?.query).toEqual({ limit: '100' });
    await run(['usage', '--by', 'virtual_model', '--key', 'key_1']);
    expect(server.asked.at(-1)?.query).toMatchObject({ group_by: 'virtual_model', key_id: 'key_1' });
  });

  it('ends with 4 for a key that is not there, rather than show nothing', async () => {
    await setUp();
    expect((await run(['usage', '--key', 'nope'])).exitCode).toBe(4);
  });

  it.each([32, 80])('keeps the cost and the start of the model in %i columns', async (terminal) => {
    const long = { ...ENTRY, model: 'some-maker/a-very-long-model-name-of-theirs:free', error_code: 'UPSTREAM_ERROR' };
    await setUp({ 'GET /workspaces/ws_1/usage': apiList([long]) });
    const { stdout } = await run(['usage'], { terminal });
    expect(stdout).toContain('COST');
    expect(stdout).toContain('$0.000123');
    expect(stdout).toContain('some-maker/a-ver');
    if (terminal === 80) expect(stdout).toMatch(/TIME.*MODEL.*STATUS.*INPUT.*OUTPUT.*COST/);
  });

  it.each([
    [[], 100, ['100']],
    [['--limit', '1'], 1, ['1']],
    [['--limit', '2200'], 2_200, ['1000', '1000', '200']],
    [['--limit', '100000'], 2_500, ['1000', '1000', '1000']],
  ])('with %j reads %i entries, page by page', async (options, count, limits) => {
    await setUp(MANY);
    const { stdout, stderr } = await run(['usage', '--json', ...options]);
    const list = JSON.parse(stdout);
    expect(list.data).toHaveLength(count);
    expect(new Set(list.data.map(({ id }: { id: string }) => id)).size).toBe(count);
    expect(list.has_more).toBe(count < 2_500);
    expect(server.asked.map(({ query }) => query['limit'])).toEqual(limits);
    expect(stderr.includes('there are more')).toBe(count < 2_500);
  });

  it('stops at an empty page, whatever the daemon says about more', async () => {
    await setUp({ 'GET /workspaces/ws_1/usage': apiList([], 'again') });
    expect((await run(['usage', '--limit', '5000'])).exitCode).toBe(0);
    expect(server.asked).toHaveLength(1);
  });
});

describe('svc explain', () => {
  const promptOf = (): unknown => server.asked.at(-1)?.body;
  const bodyOf = (content: string, model = 'svc:auto') => ({ model, messages: [{ role: 'user', content }] });

  it('takes the prompt from its arguments, quoted or not', async () => {
    await setUp();
    await run(['explain', 'write a haiku']);
    expect(promptOf()).toEqual(bodyOf('write a haiku'));
    await run(['explain', 'write', 'a', 'haiku', '--model', 'svc:fast']);
    expect(promptOf()).toEqual(bodyOf('write a haiku', 'svc:fast'));
    await run(['explain', '--', '--json', 'means', 'what?']);
    expect(promptOf()).toEqual(bodyOf('--json means what?'));
  });

  it('takes it from a file', async () => {
    await setUp();
    const path = join(home.path, 'prompt.txt');
    await writeFile(path, 'from a file\n');
    await run(['explain', '--file', path]);
    expect(promptOf()).toEqual(bodyOf('from a file\n'));
    const missing = await run(['explain', '--file', `${path}.nope`]);
    expect(missing.exitCode).toBe(4);
    expect(missing.stderr).toContain(`there is no file ${path}.nope`);
  });

  it('takes it from standard input, by `-` or where it is piped', async () => {
    await setUp();
    await run(['explain', '-'], { stdin: 'from a pipe' });
    expect(promptOf()).toEqual(bodyOf('from a pipe'));
    await run(['explain'], { stdin: 'from a pipe too' });
    expect(promptOf()).toEqual(bodyOf('from a pipe too'));
  });

  it('does not wait for a person to type it', async () => {
    await setUp();
    const { exitCode, stderr } = await run(['explain'], { terminal: 80 });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('the prompt is missing');
  });

  it.each(['explain', 'models'])('`svc %s` without a credential says that an API key will do', async (command) => {
    server = await startSampleServer();
    const { exitCode, stderr } = await run([command, ...(command === 'explain' ? ['hi'] : [])]);
    expect(exitCode).toBe(3);
    expect(stderr).toMatch(/SVC_API_KEY.*svc login --email you@example.com --password-stdin.*--register/);
  });

  it('asks as the session, in the current workspace', async () => {
    await setUp();
    await run(['explain', 'hi']);
    expect(server.asked[0]?.headers['x-svc-workspace']).toBe('ws_1');
  });

  it('gives the decision as it came with --json', async () => {
    await setUp();
    expect(JSON.parse((await run(['explain', 'hi', '--json'])).stdout)).toEqual(DECISION);
  });
});

// `svc ledger`: what it prints, its exit codes, and that it may look at any time without being noticed.

import { spawn } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LedgerReconciliation, LedgerVerification } from '../../src/daemon/ledger-views.ts';
import type { UsageEntry } from '../../src/ledger/records.ts';
import { type FileStore, openFileStore } from '../../src/store/file-store.ts';
import { BIN, cleanEnv, startDaemon } from '../helpers/daemon.ts';
import { forgeJournal } from '../store/fixtures/forge-journal.ts';
import { DAY_MS, makeGrant, makeHold, makeHoldRequest, makeSettle, NOON } from '../store/fixtures/records.ts';
import { type RunOptions, type RunResult, runCli } from './helpers/run-cli.ts';

const SEGMENT = '000000000001.ndjson';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'svc-ledger-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const run = (line: string, options: RunOptions = {}): Promise<RunResult> =>
  runCli(line.split(' '), { ...options, env: { SVC_HOME: home, ...options.env } });
const journalFile = (): string => join(home, 'journal', SEGMENT);

type Ran = { readonly code: number | null; readonly stdout: string; readonly stderr: string };
/** The real binary. */
function runBin(argv: readonly string[]): Promise<Ran> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [BIN, ...argv], {
      env: cleanEnv({ SVC_HOME: home }),
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (text) => {
      stdout += text;
    });
    child.stderr.on('data', (text) => {
      stderr += text;
    });
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}

const NOBODY = 65_534;

/** To root, nothing is unreadable: it becomes another user for as long as the work takes. */
async function asNobody<T>(work: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return work();
  // Loads the code, which that user may not be able to read.
  await work();
  process.seteuid?.(NOBODY);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}

async function useStore(work: (store: FileStore) => Promise<void>): Promise<void> {
  const store = await openFileStore({
    directory: home,
    now: () => NOON,
    onFatal: (error) => expect.fail(error.message),
  });
  await work(store);
  await store.close();
}

/** Charges for the entries, in nano-dollars; the first workspace gets a dollar. */
async function useLedger(entries: readonly Partial<UsageEntry>[]): Promise<void> {
  await useStore(async ({ ledger, documents }) => {
    await documents.putWorkspace({
      id: 'ws_1',
      name: 'research',
      createdAt: NOON,
      members: [],
      requestsPerMinute: null,
      tokensPerMinute: null,
    });
    await ledger.grant(makeGrant(1_000_000_000));
    for (const [index, entry] of entries.entries()) {
      await ledger.hold(makeHoldRequest(`req_${index}`, 1_000_000));
      await ledger.settle(makeSettle(`req_${index}`, entry.cost ?? 0, entry));
    }
  });
}

describe('svc ledger verify', () => {
  it('proves a ledger in use, and says so in its last line', async () => {
    await useLedger([{ cost: 250_000 }, { cost: 0, status: 402 }]);
    const { exitCode, stdout, stderr } = await run('ledger verify');
    expect(stderr).toBe('');
    expect(exitCode).toBe(0);
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^WORKSPACE +NAME +GRANTED +CHARGED +BALANCE +HELD +REQUESTS$/);
    expect(lines[1]).toMatch(/^ws_1 +research +\$1\.00 +\$0\.00025 +\$0\.99975 +\$0\.00 +2$/);
    expect(lines[2]).toMatch(/^total +\$1\.00 +\$0\.00025 +\$0\.99975 +\$0\.00 +2$/);
    expect(lines[3]).toBe('the journal is whole: 6 records in 1 segment, 0 open holds');
  });

  it('answers JSON with decimal strings, and nothing else on standard output', async () => {
    await useLedger([{ cost: 250_000 }]);
    const { exitCode, stdout } = await run('ledger verify --json');
    expect(exitCode).toBe(0);
    const amounts = { granted: '1', charged: '0.00025', balance: '0.99975', held: '0', available: '0.99975' };
    expect(JSON.parse(stdout)).toEqual({
      ok: true,
      directory: home,
      running: false,
      records: 4,
      segments: 1,
      open_holds: 0,
      first_segment: 1,
      carried: false,
      torn: null,
      lost_records: 0,
      partial: false,
      workspaces: [{ workspace_id: 'ws_1', name: 'research', ...amounts, requests: 1 }],
      total: { ...amounts, requests: 1 },
      damage: null,
      problems: [],
      index_only: false,
    });
  });

  it('does without names where the documents do not say', async () => {
    await useLedger([]);
    await writeFile(join(home, 'documents', 'workspaces.json'), 'no JSON');
    const { exitCode, stdout } = await run('ledger verify');
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/\nws_1 +\$1\.00/);
  });

  it('reports an unfinished write, which is no damage', async () => {
    await useLedger([{ cost: 1 }]);
    await rm(join(home, 'index'), { recursive: true, force: true });
    const { size } = await stat(journalFile());
    await truncate(journalFile(), size - 20);
    const { exitCode, stdout } = await run('ledger verify');
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(
      new RegExp(`\njournal/${SEGMENT} byte \\d+: an unfinished write of \\d+ bytes will be cut at the next start\n`),
    );
    const json: LedgerVerification = JSON.parse((await run('ledger verify --json')).stdout);
    expect(json).toMatchObject({ ok: true, torn: { file: journalFile() }, open_holds: 1 });
    expect((json.torn?.offset ?? 0) + (json.torn?.bytes ?? 0)).toBe(size - 20);
  });

  it('ends with 78 for damage, naming file, byte and record', async () => {
    await useLedger([{ cost: 1 }]);
    const text = await readFile(journalFile(), 'utf8');
    await writeFile(journalFile(), text.replace('"grant_1"', '"grant_7"'));
    const offset = text.indexOf('\n') + 1;
    const { exitCode, stdout, stderr } = await run('ledger verify');
    expect(exitCode).toBe(78);
    expect(stdout.trimEnd().split('\n').at(-1)).toBe(
      `journal/${SEGMENT} byte ${offset}, record 2: the checksum is wrong, and whole records follow`,
    );
    expect(stderr).toContain('hint: ');
    const json: LedgerVerification = JSON.parse((await run('ledger verify --json')).stdout);
    expect(json).toMatchObject({ ok: false, index_only: false });
    expect(json.damage).toMatchObject({ file: journalFile(), offset, record: 2 });
  });

  it('ends with 78 for whole records that break a rule, naming each', async () => {
    await forgeJournal(join(home, 'journal'), [[makeGrant(5), makeHold('req_1', 6), makeSettle('req_1', 7)]]);
    const { exitCode, stdout, stderr } = await run('ledger verify');
    expect(exitCode).toBe(78);
    expect(stdout).toMatch(new RegExp(`\njournal/${SEGMENT} byte \\d+, record 3: ws_1 is below zero\n$`));
    expect(stderr).toContain('record 4: the request req_1 is charged more than was held\n');
    expect(stdout).toContain('-$0.000000002');
  });

  it('prints no control characters of a damaged journal', async () => {
    const id = 'grant_\u001b[2J';
    await forgeJournal(join(home, 'journal'), [[makeGrant(5, { id }), makeGrant(5, { id })]]);
    const { stdout, stderr } = await run('ledger verify');
    expect(stdout + stderr).not.toContain('\u001b');
  });

  it('ends with 78 for a damaged index, and says that it can be made again', async () => {
    await useLedger([{ cost: 1 }]);
    await mkdir(join(home, 'index'), { recursive: true });
    await writeFile(join(home, 'index', 'snapshot.ndjson'), '{"format":1,"digest":"x"}\n{}');
    const { exitCode, stdout, stderr } = await run('ledger verify');
    expect(exitCode).toBe(78);
    expect(stdout).toMatch(/\nindex\/snapshot\.ndjson: its digest is wrong\n$/);
    expect(stderr).toContain(`remove ${home}/index`);
    await rm(join(home, 'index'), { recursive: true });
    expect((await run('ledger verify')).exitCode).toBe(0);
  });

  it('says how many records a torn tail cut off, where a snapshot shows it', async () => {
    await useLedger([{ cost: 1 }]);
    const { size } = await stat(journalFile());
    await truncate(journalFile(), size - 20);
    const { exitCode, stdout } = await run('ledger verify');
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/will be cut at the next start; 1 record that had been written before went with it/);
  });

  it('ends with 78 where a snapshot shows that whole records are gone', async () => {
    await useLedger([{ cost: 1 }]);
    const text = await readFile(journalFile(), 'utf8');
    await truncate(journalFile(), Buffer.byteLength(text.slice(0, text.trimEnd().lastIndexOf('\n') + 1)));
    const { exitCode, stdout, stderr } = await run('ledger verify');
    expect(exitCode).toBe(78);
    expect(stdout).toMatch(/ record 4: it was made when the journal had 4 records, which the journal has no more\n$/);
    expect(stderr).toContain('from a backup');
  });

  it('ends with 4 where there is nothing, and makes nothing', async () => {
    const missing = join(home, 'none');
    const absent = await run(`ledger verify --home ${missing}`);
    expect(absent).toMatchObject({ exitCode: 4, stdout: '' });
    expect(absent.stderr).toMatch(/there is no data directory .*\nhint: .*--home/);
    const empty = await run('ledger verify');
    expect(empty).toMatchObject({ exitCode: 4 });
    expect(empty.stderr).toContain(`there is no journal in ${home}`);
    expect(await readdir(home)).toEqual([]);
  });

  it('ends with 78 where the journal of a directory in use is gone', async () => {
    await useLedger([]);
    await rm(journalFile());
    const { exitCode, stderr } = await run('ledger verify');
    expect(exitCode).toBe(78);
    expect(stderr).toContain('the journal is missing');
  });

  it.each([
    ['the data directory', '.'],
    ['the journal', 'journal'],
    ['a segment', join('journal', SEGMENT)],
  ])('ends with 77 where %s may not be read', async (_name, path) => {
    await useLedger([]);
    for (const open of ['.', 'documents', 'journal']) await chmod(join(home, open), 0o755);
    await chmod(journalFile(), 0o644);
    await chmod(join(home, path), 0);
    const { exitCode, stdout, stderr } = await asNobody(() => run('ledger verify'));
    expect([exitCode, stdout]).toEqual([77, '']);
    expect(stderr).toContain('cannot be read');
    await chmod(join(home, path), 0o700);
  });

  it('changes nothing in the directory', async () => {
    await useLedger([{ cost: 1 }]);
    const list = async () =>
      Promise.all(
        (await readdir(home, { recursive: true })).sort().map(async (name) => {
          const { mtimeMs, size, mode } = await stat(join(home, name));
          return [name, mtimeMs, size, mode];
        }),
      );
    const before = await list();
    await run('ledger verify');
    await run('ledger reconcile');
    expect(await list()).toEqual(before);
  });
});

describe('svc ledger reconcile', () => {
  const REQUESTS: readonly Partial<UsageEntry>[] = [
    { cost: 150_000, upstream_cost: 100_000 },
    { cost: 20_000, upstream_cost: null, cost_kind: 'estimated', anomalies: ['usage_missing'] },
    { cost: 5_000, upstream_cost: 6_000, model: '=cmd()', created_at: NOON - DAY_MS },
  ];

  it('shows sums, the greatest difference first, and the single requests that differ most', async () => {
    await useLedger(REQUESTS);
    const { exitCode, stdout } = await run('ledger reconcile');
    expect(exitCode).toBe(0);
    const [sums = '', singles = ''] = stdout.split('\n\n');
    expect(sums.split('\n').map((line) => line.replaceAll(/ {2,}/g, ' | '))).toEqual([
      'MODEL | REQUESTS | COMPARED | CHARGED | UPSTREAM | DIFFERENCE | % | UNCOMPARED | CHARGED FOR THEM | ESTIMATED | ANOMALIES',
      'maker/model | 2 | 1 | $0.00015 | $0.0001 | $0.00005 | 50.00 | 1 | $0.00002 | 1 | usage_missing: 1',
      '=cmd() | 1 | 1 | $0.000005 | $0.000006 | -$0.000001 | -16.67 | 0 | $0.00 | 0',
      'total | 3 | 2 | $0.000155 | $0.000106 | $0.000049 | 46.23 | 1 | $0.00002 | 1 | usage_missing: 1',
    ]);
    expect(singles).toMatch(
      /^REQUEST +MODEL +CHARGED +UPSTREAM +DIFFERENCE\nreq_0 .*\nreq_2 +=cmd\(\) .*-\$0\.000001\n$/,
    );
  });

  it('answers JSON with exact decimal strings', async () => {
    await useLedger(REQUESTS);
    const { stdout } = await run('ledger reconcile --json --by day');
    const found: LedgerReconciliation = JSON.parse(stdout);
    expect(found.groups.map(({ group }) => group)).toEqual(['2026-01-15', '2026-01-14']);
    expect(found.total).toEqual({
      requests: 3,
      compared: 2,
      our_cost: '0.000155',
      upstream_cost: '0.000106',
      difference: '0.000049',
      difference_percent: '46.23',
      without_upstream_cost: 1,
      our_cost_without: '0.00002',
      estimated: 1,
      anomalies: { usage_missing: 1 },
    });
    expect(found.requests[1]).toEqual({
      request_id: 'req_2',
      model: '=cmd()',
      our_cost: '0.000005',
      upstream_cost: '0.000006',
      difference: '-0.000001',
    });
  });

  it('prints CSV that runs nothing in a spreadsheet and keeps its numbers', async () => {
    await useLedger(REQUESTS);
    const { stdout } = await run('ledger reconcile --csv');
    expect(stdout.split('\r\n')).toEqual([
      'model,requests,compared,our_cost,upstream_cost,difference,difference_percent,without_upstream_cost,our_cost_without,estimated,anomalies',
      'maker/model,2,1,0.00015,0.0001,0.00005,50.00,1,0.00002,1,usage_missing: 1',
      "'=cmd(),1,1,0.000005,0.000006,-0.000001,-16.67,0,0,0,",
      '',
    ]);
  });

  it.each([
    ['--since 2026-01-15', 2],
    ['--until 2026-01-15', 1],
    ['--since 2026-01-14 --until 2026-01-16', 3],
    ['--since 2026-02-01', 0],
  ])('takes %s', async (range, requests) => {
    await useLedger(REQUESTS);
    const found: LedgerReconciliation = JSON.parse((await run(`ledger reconcile --json ${range}`)).stdout);
    expect(found.total.requests).toBe(requests);
  });

  it('says so where there is nothing to compare', async () => {
    await useLedger([]);
    expect(await run('ledger reconcile')).toMatchObject({ exitCode: 0, stdout: 'no requests\n' });
  });

  it.each([
    ['--csv --json', /--csv and --json exclude each other/],
    ['--since 2026-02-01 --until 2026-01-01', /is after --until/],
    ['--since soon', /--since can't be read/],
    ['--by key', /Allowed choices are model, upstream, day/],
  ])('refuses %s', async (options, message) => {
    const { exitCode, stderr } = await run(`ledger reconcile ${options}`);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(message);
  });

  it('ends with 78 for a damaged journal, and with 4 without one', async () => {
    expect((await run('ledger reconcile')).exitCode).toBe(4);
    await useLedger(REQUESTS);
    const text = await readFile(journalFile(), 'utf8');
    await writeFile(journalFile(), text.replace('"grant_1"', '"grant_7"'));
    const { exitCode, stderr } = await run('ledger reconcile');
    expect(exitCode).toBe(78);
    expect(stderr).toMatch(/damaged at byte \d+, record 2.*\nhint: keep a copy of the data directory/);
  });
});

describe('the binary', () => {
  it.each(['verify', 'reconcile'])('gives `ledger %s` its exit code and keeps the streams apart', async (command) => {
    await useLedger([{ cost: 1, upstream_cost: 2 }]);
    const whole = await runBin(['ledger', command, '--json']);
    expect(whole).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(whole.stdout)).toMatchObject({ directory: home });
    const text = await readFile(journalFile(), 'utf8');
    await writeFile(journalFile(), text.replace('"grant_1"', '"grant_7"'));
    const damaged = await runBin(['ledger', command, '--json']);
    expect(damaged.code).toBe(78);
    expect(JSON.parse(damaged.stdout)).toBeTypeOf('object');
    expect((await runBin(['ledger', command, '--home', join(home, 'none')])).code).toBe(4);
  });

  it('finds a running daemon in order at every moment, while it works', async () => {
    const daemon = await startDaemon({ home });
    let working = true;
    try {
      let answered = 0;
      const work = async (): Promise<void> => {
        while (working) {
          const answer = await fetch(`${daemon.url}/v1/chat/completions`, {
            method: 'POST',
            headers: { 'content-type': 'application/json', authorization: `Bearer ${daemon.key}` },
            body: JSON.stringify({ model: 'svc:fast', messages: [{ role: 'user', content: 'hi' }], max_tokens: 5 }),
          });
          await answer.text();
          if (answer.ok) answered += 1;
        }
      };
      const workers = Array.from({ length: 8 }, work);
      await expect.poll(() => answered).toBeGreaterThan(10);
      const seen: LedgerVerification[] = [];
      for (let round = 0; round < 12; round += 1) {
        const { exitCode, stdout, stderr } = await run('ledger verify --json');
        expect([exitCode, stderr]).toEqual([0, expect.stringMatching(/^note: a daemon has this data directory/)]);
        seen.push(JSON.parse(stdout));
      }
      working = false;
      await Promise.all(workers);
      const last: LedgerVerification = JSON.parse((await run('ledger verify --json')).stdout);
      expect(seen.every(({ ok, running }) => ok && running)).toBe(true);
      expect(seen.map(({ records }) => records)).toEqual(seen.map(({ records }) => records).sort((a, b) => a - b));
      expect(last.total.requests).toBeGreaterThanOrEqual(answered);
      expect(last.open_holds).toBe(0);
    } finally {
      working = false;
      await daemon.stop();
    }
    const stopped: LedgerVerification = JSON.parse((await run('ledger verify --json')).stdout);
    expect(stopped).toMatchObject({ ok: true, running: false, torn: null });
  });

  it('finds a killed daemon, and its copy, not running', async () => {
    const daemon = await startDaemon({ home });
    await daemon.kill();
    const copy = join(home, 'copy');
    await mkdir(copy);
    for (const name of ['journal', 'documents', 'index', 'initialized']) {
      await cp(join(home, name), join(copy, name), { recursive: true });
    }
    for (const directory of [home, copy]) {
      const { exitCode, stdout } = await run(`ledger verify --json --home ${directory}`);
      expect(exitCode).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ ok: true, running: false, directory });
    }
  });
});

// Throughput and latency of the built daemon beside a bare relay: `npm run bench [-- --rounds 3 --bench DIR --phases json,open,paced50]`.
// Uses the load generator and mock upstream of a bench folder (default ../shared/bench), copied to .cache/bench; needs gcc, wrk, taskset.

import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '1' },
    secs: { type: 'string', default: '4' },
    bench: { type: 'string', default: '../shared/bench' },
    phases: { type: 'string', default: 'json,open,paced50,burst50' },
    targets: { type: 'string', default: '.' },
  },
});

const root = new URL('../..', import.meta.url).pathname;
const source = resolve(root, options.bench);
const work = join(root, '.cache/bench');
const BIN = join(root, 'bin/svc.js');
const MOCK = 'http://127.0.0.1:19100';
const PORT = '19150';
/** High enough that the rate limiter counts but never refuses. */
const NO_LIMIT = 1_000_000_000;

if (!existsSync(source)) fail(`no bench folder at ${source}: give it with --bench`);
if (!existsSync(BIN.replace('bin/svc.js', 'dist/cli/main.js'))) fail('not built: run `npm run build` first');
for (const tool of ['wrk', 'gcc', 'taskset']) if (spawnSync('which', [tool]).status !== 0) fail(`${tool} is missing: apt-get install it`);

mkdirSync(work, { recursive: true });
cpSync(source, work, { recursive: true, force: true, filter: (path) => !/results.*\.(jsonl|md)$/.test(path) });
spawnSync('chmod', ['-R', 'u+w', work]);
run('npm', ['install', '--no-fund', '--no-audit', '--loglevel=error'], join(work, 'peers/mini'));

const results = join(work, `svc-${Date.now()}.jsonl`);
const catalog = join(work, 'catalog.json');
const { models } = await catalogOfBench();
writeFileSync(catalog, JSON.stringify({ models }));
listModelsInMock(models.map(({ id }) => id));
const home = mkdtempSync(join(tmpdir(), 'svc-bench-'));
const env = { SVC_HOME: home, SVC_PORT: PORT, SVC_CATALOG: catalog, SVC_UPSTREAM_URL: `${MOCK}/v1`, SVC_LOG_LEVEL: 'info', SVC_STARTING_CREDITS: '1000000' };
const key = await prepareKey();
const svc = `env NODE_ENV=production ${Object.entries(env).map(([name, value]) => `${name}=${value}`).join(' ')} ${process.execPath} ${BIN} serve 2>${join(work, 'svc.log')}`;
const auth = ['-H', `authorization: Bearer ${key}`];
const targets = [
  ['direct', `${MOCK}/v1/chat/completions`, []],
  ['bare-relay', 'http://127.0.0.1:19120/v1/chat/completions', ['--start', `env NODE_ENV=production PORT=19120 ${process.execPath} ${join(work, 'peers/mini/koa-dispatch.mjs')}`]],
  ['svc-named-model', `http://127.0.0.1:${PORT}/v1/chat/completions`, [...auth, '--model', 'gpt-4o-mini', '--start', svc]],
  ['svc-auto', `http://127.0.0.1:${PORT}/v1/chat/completions`, [...auth, '--model', 'svc:auto', '--start', svc]],
  ['svc-messages', `http://127.0.0.1:${PORT}/v1/messages`, [...auth, '--model', 'gpt-4o-mini', '--start', svc]],
  ...installedPeers(),
].filter(([name]) => new RegExp(`^(${options.targets})`).test(name));

for (let round = 1; round <= Number(options.rounds); round += 1) {
  for (const [name, url, extra] of targets) {
    console.error(`# round ${round}: ${name}`);
    const args = [url, '--name', name, '--reps', '1', '--secs', options.secs, '--phases', options.phases, '--out', results, ...extra];
    if (spawnSync(join(work, 'run.sh'), args, { stdio: ['ignore', 'ignore', 'inherit'] }).status !== 0) console.error(`# FAILED: ${name}`);
  }
}
run(process.execPath, [join(work, 'table.mjs'), results], work);
rmSync(home, { recursive: true, force: true });

/** The shipped catalogue and the mock's own model, so that routing has as much to do as in earnest. */
async function catalogOfBench() {
  const shipped = await import(join(root, 'config/catalog.json'), { with: { type: 'json' } });
  const own = {
    id: 'gpt-4o-mini',
    name: 'Mock',
    context_length: 128000,
    max_output_tokens: 16384,
    input_modalities: ['text'],
    supported_parameters: ['tools', 'max_tokens', 'temperature'],
    pricing: { prompt: '0.00000015', completion: '0.0000006' },
    abilities: { general: 0.6 },
  };
  return { models: [own, ...shipped.default.models] };
}

/** The mock lists two models of its own; its copy here is made to list the catalogue, since only listed models are candidates. */
function listModelsInMock(ids) {
  const path = join(work, 'src/mock.c');
  const list = JSON.stringify(JSON.stringify({ object: 'list', data: ids.map((id) => ({ id, object: 'model', created: 1700000000, owned_by: 'mock' })) }));
  const code = readFileSync(join(source, 'src/mock.c'), 'utf8');
  writeFileSync(path, code.replace(/static const char models_json\[\] =[\s\S]*?;\n/, () => `static const char models_json[] = ${list};\n`));
}

/** Other gateways, where they are at hand: nginx on the path, npm peers installed below `.cache/bench/peers` (its setup.sh does that). */
function installedPeers() {
  const peers = join(work, 'peers');
  const loopback = `-r ${join(peers, 'loopback.cjs')}`;
  const portkey = join(peers, 'portkey/node_modules/@portkey-ai/gateway/build/start-server.js');
  const ccr = join(peers, 'ccr/node_modules/@musistudio/claude-code-router/dist/cli.js');
  const found = [];
  if (spawnSync('which', ['nginx']).status === 0) {
    const start = `nginx -p ${work}/ -e out/nginx-error.log -c ${join(peers, 'nginx.conf')}`;
    found.push(['nginx', 'http://127.0.0.1:19110/v1/chat/completions', ['--start', start]]);
  }
  if (existsSync(portkey)) {
    const headers = ['-H', 'x-portkey-provider: openai', '-H', `x-portkey-custom-host: ${MOCK}/v1`];
    const start = `env NODE_ENV=production ${process.execPath} ${loopback} ${portkey} --headless --port=19130`;
    found.push(['portkey', 'http://127.0.0.1:19130/v1/chat/completions', [...headers, '--start', start]]);
  }
  if (existsSync(ccr)) {
    const start = `env HOME=${join(peers, 'ccr/home')} NODE_ENV=production ${process.execPath} ${loopback} ${ccr} start`;
    found.push(['ccr-messages', 'http://127.0.0.1:19140/v1/messages', ['--model', 'mock,mock-model', '--start', start]]);
  }
  return found;
}

/** One start to make the key, lift its rate limits and give the workspace plenty. */
async function prepareKey() {
  const child = spawn(process.execPath, [BIN, 'serve'], { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  for await (const chunk of child.stdout) {
    out += chunk;
    if (out.includes('listens on')) break;
  }
  const secret = /svc_sk_[0-9A-Za-z]+/.exec(out)?.[0] ?? fail('no key was printed');
  const base = `http://127.0.0.1:${PORT}`;
  const call = async (method, path, token, body) => {
    const headers = { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) };
    const answer = await fetch(base + path, { method, headers, body: JSON.stringify(body) });
    if (!answer.ok) fail(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  };
  const made = await call('POST', '/auth/register', undefined, { email: 'bench@example.com', password: 'correct horse battery' });
  const keys = await (await fetch(`${base}/workspaces/${made.workspace.id}/api-keys`, { headers: { authorization: `Bearer ${made.token}` } })).json();
  await call('PATCH', `/workspaces/${made.workspace.id}/api-keys/${keys.data[0].id}`, made.token, { requests_per_minute: NO_LIMIT, tokens_per_minute: NO_LIMIT });
  child.kill('SIGTERM');
  await new Promise((done) => child.once('exit', done));
  return secret;
}

function run(command, args, cwd) {
  if (spawnSync(command, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] }).status !== 0) fail(`${command} ${args.join(' ')} failed`);
}

function fail(message) {
  console.error(message);
  process.exit(1);
}

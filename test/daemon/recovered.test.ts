// kill -9 in the middle of answers: what a stream was known to have delivered is charged once, the rest is released.

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { makeHome, removeHome, startDaemon, type TestDaemon } from '../helpers/daemon.ts';
import { type FakeUpstream, type Piece, startFakeUpstream } from '../helpers/fake-upstream.ts';
import { type Gateway, gatewayOf, nanoOf, type UsageRow } from '../helpers/gateway.ts';

const PIECE_BYTES = 4096;
/** `test/good` at $15 a million tokens of output; four bytes count as one. */
const PIECE_NANO = (PIECE_BYTES / 4) * 15_000;

let upstream: FakeUpstream;
let home: string;
let key = '';
const daemons: TestDaemon[] = [];

beforeAll(async () => {
  upstream = await startFakeUpstream();
  home = await makeHome();
});

afterEach(async () => {
  for (const daemon of daemons.splice(0)) await daemon.stop();
});

afterAll(async () => {
  await upstream.close();
  await removeHome(home);
});

async function start(): Promise<Gateway> {
  const daemon = await startDaemon({ home, env: { SVC_UPSTREAM_URL: upstream.url } });
  daemons.push(daemon);
  key ||= daemon.key;
  return gatewayOf(daemon, upstream, key);
}

const ask = (gateway: Gateway, fields: object, path = '/v1/chat/completions'): Promise<Response> =>
  gateway.post(path, {
    model: 'test/good',
    max_tokens: 16_000,
    messages: [{ role: 'user', content: 'Go on and on.' }],
    ...fields,
  });

const event = (delta: object, extra: object = {}): string =>
  `data: ${JSON.stringify({ id: 'gen', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: null }], ...extra })}\n\n`;
const piece = event({ role: 'assistant', content: 'word'.repeat(PIECE_BYTES / 4) });

/** A piece every 300 ms, until the caller has gone. */
const slowly: readonly Piece[] = Array.from({ length: 60 }, () => [piece, 300]).flat();

async function journalOf(): Promise<string> {
  const directory = join(home, 'journal');
  const names = (await readdir(directory)).filter((name) => name.endsWith('.ndjson')).sort();
  return (await Promise.all(names.map((name) => readFile(join(directory, name), 'utf8')))).join('');
}

const progressIn = (journal: string): number => journal.split('"type":"progress"').length - 1;

const entriesOf = async (gateway: Gateway, id: string | null): Promise<UsageRow[]> =>
  (await gateway.usage()).filter(({ request_id }) => request_id === id);

describe('a daemon killed in the middle of answers', () => {
  it('charges a stream for what was known to be delivered, and a whole answer nothing', async () => {
    const before = await start();
    upstream.queue({ sse: slowly }, { wait: new Promise(() => undefined) });
    const streamed = await ask(before, { stream: true });
    const id = streamed.headers.get('x-request-id');
    const reading = readUntilCut(streamed);
    const whole = ask(before, {}).catch(() => 'cut');
    await upstream.arrived(2);
    await expect.poll(async () => progressIn(await journalOf())).toBeGreaterThan(1);
    const held = nanoOf((await before.balance()).held);
    await before.daemon.kill();
    const delivered = await reading;
    expect(await whole).toBe('cut');

    const after = await start();
    await expect.poll(() => after.daemon.stderr()).toContain('1 charged for what was delivered');
    const [entry, ...more] = await entriesOf(after, id);
    expect(more).toEqual([]);
    expect(entry).toMatchObject({
      settle_reason: 'recovered',
      status: 500,
      error_code: 'INTERNAL_ERROR',
      cost_kind: 'estimated',
      model: 'test/good',
      stream: true,
    });
    const output = Number(entry?.['output_tokens']);
    expect(output).toBeGreaterThan(0);
    expect(output % (PIECE_BYTES / 4)).toBe(0);
    expect(output).toBeLessThanOrEqual(delivered / 4);
    expect(nanoOf(entry?.cost ?? '0')).toBe(BigInt(output * 15_000 + Number(entry?.['input_tokens']) * 3_000));
    expect(nanoOf(entry?.cost ?? '0')).toBeLessThanOrEqual(held);
    const recovered = (await after.usage()).filter(({ settle_reason }) => settle_reason === 'recovered');
    expect(recovered.map(({ cost }) => nanoOf(cost)).sort()).toEqual([0n, nanoOf(entry?.cost ?? '0')]);
    await checkBooks(after);

    await after.daemon.kill();
    const again = await start();
    expect(await entriesOf(again, id)).toEqual([entry]);
    await checkBooks(again);
  });

  it('counts usage that the upstream had sent already, in the other dialect too', async () => {
    const before = await start();
    const usage = { prompt_tokens: 20, completion_tokens: 6_000, total_tokens: 6_020 };
    upstream.queue({ sse: [event({ role: 'assistant', content: 'x' }, { usage }), ...slowly] });
    const streamed = await ask(before, { stream: true }, '/v1/messages');
    const known = progressIn(await journalOf());
    const reading = readUntilCut(streamed);
    await expect.poll(async () => progressIn(await journalOf())).toBeGreaterThan(known);
    await before.daemon.kill();
    await reading;
    const after = await start();
    const [entry] = await entriesOf(after, streamed.headers.get('x-request-id'));
    expect(entry).toMatchObject({ input_tokens: 20, settle_reason: 'recovered', cost_kind: 'estimated' });
    expect(Number(entry?.['output_tokens'])).toBeGreaterThanOrEqual(6_000);
    await checkBooks(after);
  });
});

describe('a daemon that lives on', () => {
  it('notes progress once a second at most, nothing of short streams, and charges by the upstream in the end', async () => {
    const gateway = await start();
    const first = progressIn(await journalOf());
    await (await ask(gateway, { stream: true })).text();
    expect(progressIn(await journalOf())).toBe(first);

    const usage = { prompt_tokens: 20, completion_tokens: 100, total_tokens: 120 };
    const many = Array.from({ length: 14 }, () => [piece, 150]).flat();
    const finish = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage };
    upstream.queue({ sse: [...many, event({}, finish), 'data: [DONE]\n\n'] });
    const startedMs = performance.now();
    const answer = await ask(gateway, { stream: true });
    expect(await answer.text()).toContain('[DONE]');
    const seconds = (performance.now() - startedMs) / 1000;
    const written = progressIn(await journalOf()) - first;
    expect(written).toBeGreaterThan(0);
    expect(written).toBeLessThanOrEqual(seconds);
    const [entry] = await entriesOf(gateway, answer.headers.get('x-request-id'));
    expect(entry).toMatchObject({ output_tokens: 100, cost_kind: 'measured', settle_reason: 'completed' });
    expect(nanoOf(entry?.cost ?? '0')).toBeLessThan(BigInt(PIECE_NANO));
    await checkBooks(gateway);
  });
});

/** Bytes of text received until the connection broke. */
async function readUntilCut(answer: Response): Promise<number> {
  let text = '';
  try {
    for await (const chunk of answer.body ?? []) text += Buffer.from(chunk as Uint8Array).toString();
  } catch {
    // The daemon was killed.
  }
  return text.split('word').length * 4;
}

async function checkBooks(gateway: Gateway): Promise<void> {
  const { balance, granted, charged, held } = await gateway.balance();
  const sum = (await gateway.usage()).reduce((total, { cost }) => total + nanoOf(cost), 0n);
  expect(nanoOf(charged)).toBe(sum);
  expect(nanoOf(balance)).toBe(nanoOf(granted) - sum);
  expect(held).toBe('0');
}

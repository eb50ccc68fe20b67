// The price of the moment a request is let in holds to its end, whatever the list or the hour says meanwhile.

import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  chatAnswer,
  chatEvents,
  DEFAULT_MODELS,
  type FakeUpstream,
  startFakeUpstream,
} from '../helpers/fake-upstream.ts';
import { type InProcessGateway, startInProcess } from '../helpers/in-process.ts';

let upstream: FakeUpstream;
let gateway: InProcessGateway;

const at = (clock: string): number => Date.parse(`2026-03-04T${clock}Z`);

beforeAll(async () => {
  upstream = await startFakeUpstream();
  gateway = await startInProcess(upstream, at('12:00:00'));
});

afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const MODEL = DEFAULT_MODELS.find(({ id }) => id === 'test/good');
const listed = (prompt: string, completion: string, ...overrides: unknown[]) => ({
  ...MODEL,
  pricing: { prompt, completion, overrides },
});
const body = { model: 'test/good', max_tokens: 100, messages: [{ role: 'user', content: 'Hello.' }] };
const usage = { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 };
/** 1,000 tokens in and 100 out, at $1 and $2 a million. */
const BASE_COST = '0.0012';

type Row = { readonly request_id: string; readonly cost: string };

async function costOf(answer: Response): Promise<string | undefined> {
  const page = (await gateway.get(`/workspaces/${gateway.workspaceId}/usage`)) as { data: Row[] };
  return page.data.find(({ request_id }) => request_id === answer.headers.get('x-request-id'))?.cost;
}

const DEARER = { prompt: '0.00001', completion: '0.00002' };

it.each<[string, boolean, () => void]>([
  ['the price list changes', false, () => gateway.list([listed(DEARER.prompt, DEARER.completion)])],
  ['the price list changes', true, () => gateway.list([listed(DEARER.prompt, DEARER.completion)])],
  ['the model leaves the list', false, () => gateway.list([])],
  ['a dearer hour begins', false, () => turn('13:00:01')],
  ['a dearer hour begins', true, () => turn('13:00:01')],
])('%s in the middle of a request (stream: %s)', async (_name, stream, change) => {
  turn('12:59:59');
  gateway.list([listed('0.000001', '0.000002', { utc_start: 1300, utc_end: 1400, ...DEARER })]);
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const answer = { text: 'One two three.', usage };
  const before = upstream.requests.length;
  upstream.queue({ wait: gate, ...(stream ? { sse: chatEvents(answer) } : { json: chatAnswer(answer) }) });
  const asking = gateway.post('/v1/chat/completions', { ...body, stream });
  await upstream.arrived(before + 1);
  change();
  open();
  const done = await asking;
  await done.text();
  expect(await costOf(done)).toBe(BASE_COST);
});

function turn(clock: string): void {
  gateway.clock.ms = at(clock);
}

it.each([
  ['12:59:59', BASE_COST],
  ['13:00:00', '0.012'],
  ['13:59:59', '0.012'],
  ['14:00:00', BASE_COST],
])('a request let in at %s costs what that hour says', async (clock, cost) => {
  turn(clock);
  gateway.list([listed('0.000001', '0.000002', { utc_start: 1300, utc_end: 1400, ...DEARER })]);
  upstream.queue({ json: chatAnswer({ usage }) });
  const answer = await gateway.post('/v1/chat/completions', body);
  await answer.text();
  expect(await costOf(answer)).toBe(cost);
});

it('a model whose price has a condition nobody here knows is refused', async () => {
  gateway.list([listed('0.000001', '0.000002', { weekday: 'sunday', prompt: '0' })]);
  const refused = await gateway.post('/v1/chat/completions', body);
  expect(refused.status).toBe(403);
  expect(await refused.text()).toContain('price of test/good is unknown');
});

// Races for one balance (F-30): exactly as many requests go through as it covers, in the ledger and over HTTP.
import { request } from 'node:http';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { HoldResult, Ledger } from '../../src/store/store.ts';
import { verifyJournal } from '../../src/store/verify-journal.ts';
import { startDaemon } from '../helpers/daemon.ts';
import { chatAnswer, startFakeUpstream } from '../helpers/fake-upstream.ts';
import { type Gateway, gatewayOf, nanoOf } from '../helpers/gateway.ts';
import { makeDirectory, openStore } from '../store/fixtures/data-directory.ts';
import { makeGrant, makeHoldRequest, makeSettle } from '../store/fixtures/records.ts';
import { type Claim, checkInvariants, Model } from './invariants.ts';
import { auditJournal } from './journal-audit.ts';
import { scale, seededRandom } from './scale.ts';

const REQUESTS = 1_000;
const LEDGER_SEEDS = Array.from({ length: scale(3, 20) }, (_, index) => index + 1);
const DAEMON_SEEDS = Array.from({ length: scale(1, 20) }, (_, index) => index + 1);
const AMOUNT = 100;

type Asking = { readonly ledger: Ledger; readonly model: Model };

async function ask(asking: Asking, claim: Claim, work: () => Promise<boolean>): Promise<boolean> {
  asking.model.asked(claim);
  const done = await work();
  if (done) asking.model.acknowledged(claim);
  return done;
}

/** Each key may spend so many amounts; without a budget, null. */
async function hold(asking: Asking, id: string, keyId: string, budget: number | null): Promise<HoldResult> {
  const { record } = makeHoldRequest(id, AMOUNT, { apiKeyId: keyId });
  let result: HoldResult | undefined;
  await ask(asking, { kind: 'hold', record }, async () => {
    const limit = budget === null ? null : ({ limitNano: budget * AMOUNT, period: 'total' } as const);
    result = await asking.ledger.hold({ record, budget: limit, minimumNano: AMOUNT });
    return result.ok;
  });
  if (result === undefined) throw new Error('no result');
  return result;
}

function settle(asking: Asking, id: string, keyId: string, chargeNano: number): Promise<boolean> {
  const record = makeSettle(id, chargeNano, { api_key_id: keyId });
  return ask(asking, { kind: 'settle', record }, () => asking.ledger.settle(record));
}

it.each(LEDGER_SEEDS)(
  'of 1,000 parallel holds exactly those are given that balance and budgets cover (seed %i)',
  async (seed) => {
    const random = seededRandom(seed);
    const upTo = (most: number) => Math.floor(random() * (most + 1));
    const directory = await makeDirectory();
    const { ledger } = await openStore(directory);
    const asking = { ledger, model: new Model() };
    const covered = upTo(REQUESTS - 1);
    const earlier = 1 + upTo(20);
    const budgets = [null, upTo(300), upTo(300)];
    const grant = makeGrant((covered + earlier) * AMOUNT + upTo(AMOUNT - 1));
    await ask(asking, { kind: 'grant', record: grant }, () => ledger.grant(grant));
    for (let index = 0; index < earlier; index += 1) await hold(asking, `req_early_${index}`, 'key_early', null);

    // Settlements at the full price run among the holds: they give nothing back, so they change nothing for the race.
    const requests = Array.from({ length: REQUESTS }, (_, index) => ({ id: `req_${index}`, key: upTo(2) }));
    const asked = budgets.map((_, key) => requests.filter((request) => request.key === key).length);
    const racing = requests.map(({ id, key }) => hold(asking, id, `key_${key}`, budgets[key] ?? null));
    const settling = Array.from({ length: earlier }, (_, index) =>
      settle(asking, `req_early_${index}`, 'key_early', AMOUNT),
    );
    const results = await Promise.all(racing);
    expect(await Promise.all(settling)).toEqual(settling.map(() => true));
    const within = budgets.reduce<number>((sum, budget, key) => sum + Math.min(budget ?? REQUESTS, asked[key] ?? 0), 0);
    const given = results.filter(({ ok }) => ok).length;
    expect(given, `seed ${seed}`).toBe(Math.min(covered, within));

    // What a free settlement gives back is good for one more each.
    const freed = upTo(Math.min(given, 50));
    const admitted = requests.filter((_, index) => results[index]?.ok === true).slice(0, freed);
    await Promise.all(admitted.map(({ id, key }) => settle(asking, id, `key_${key}`, 0)));
    const more = await Promise.all(requests.map(({ id }) => hold(asking, `${id}_again`, 'key_late', null)));
    const rest = covered - given;
    expect(more.filter(({ ok }) => ok).length, `seed ${seed}`).toBe(Math.min(REQUESTS, rest + freed));
    await checkInvariants(directory, asking.model, `seed ${seed}`, { ledger });
    expect(results.some(({ ok }) => !ok)).toBe(true);
  },
);

// A hold is ((body bytes + 1,024) × $1 + max_tokens × $4) per million tokens; a charge is 10 × $1 + 5 × $4 per million.
const MODEL = {
  id: 'test/dear',
  name: 'Dear',
  created: 1,
  context_length: 128_000,
  pricing: { prompt: '0.000001', completion: '0.000004' },
  architecture: { input_modalities: ['text'] },
  supported_parameters: ['max_tokens'],
  top_provider: { max_completion_tokens: 16_000 },
};
const BODY = JSON.stringify({ model: MODEL.id, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 1_000 });
const HOLD_NANO = (BODY.length + 1_024) * 1_000 + 1_000 * 4_000;
const CHARGE_NANO = 10 * 1_000 + 5 * 4_000;

type Race = { readonly gateway: Gateway; readonly key: string; openGate(): void };

async function startRace(creditsNano: number): Promise<Race> {
  const upstream = await startFakeUpstream();
  upstream.models([MODEL]);
  let openGate = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    openGate = resolve;
  });
  upstream.respond(async () => {
    await gate;
    return { json: chatAnswer({ model: MODEL.id }) };
  });
  const credits = `0.${String(creditsNano).padStart(9, '0')}`;
  const daemon = await startDaemon({ env: { SVC_UPSTREAM_URL: upstream.url, SVC_STARTING_CREDITS: credits } });
  const key = await makeBusyKey(gatewayOf(daemon, upstream));
  return { gateway: gatewayOf(daemon, upstream, key), key, openGate: () => openGate() };
}

/** Status and error code. On a connection of its own and without the cost of `fetch`, as there are a thousand. */
function post(url: string, key: string): Promise<string> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const asking = request(`${url}/v1/chat/completions`, { method: 'POST', headers, agent: false }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      answer.on('end', () => resolve(`${answer.statusCode} ${/"code":"([A-Z_]+)"/.exec(text)?.[1] ?? ''}`));
      answer.on('error', reject);
    });
    asking.on('error', reject);
    asking.end(BODY);
  });
}

/** A key whose limits are far away, so that credits alone decide. */
async function makeBusyKey(gateway: Gateway): Promise<string> {
  const { token, workspaceId } = await gateway.operator();
  const answer = await fetch(`${gateway.daemon.url}/workspaces/${workspaceId}/api-keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'busy', requests_per_minute: 1_000_000, tokens_per_minute: 1_000_000_000 }),
  });
  return ((await answer.json()) as { key: string }).key;
}

it.each(DAEMON_SEEDS)(
  'of 1,000 parallel HTTP requests exactly those reach the upstream that the balance covers (seed %i)',
  async (seed) => {
    const random = seededRandom(seed);
    const covered = 1 + Math.floor(random() * 190);
    const race = await startRace(covered * HOLD_NANO + Math.floor(random() * HOLD_NANO));
    const { gateway } = race;
    const { upstream } = gateway;
    try {
      let refused = 0;
      const asking = Array.from({ length: REQUESTS }, async () => {
        const answer = await post(gateway.daemon.url, race.key);
        if (answer.startsWith('402')) refused += 1;
        return answer;
      });
      // All the others are refused before any of the admitted gives credits back.
      await expect
        .poll(() => [upstream.requests.length, refused], { timeout: 30_000 })
        .toEqual([covered, REQUESTS - covered]);
      race.openGate();
      const answers = await Promise.all(asking);
      expect(
        answers.filter((answer) => answer === '200 '),
        `seed ${seed}`,
      ).toHaveLength(covered);
      expect(answers.filter((answer) => answer === '402 INSUFFICIENT_CREDITS')).toHaveLength(REQUESTS - covered);
      expect(upstream.requests).toHaveLength(covered);
      const journal = join(gateway.daemon.home, 'journal');
      const audit = auditJournal(journal);
      const charged = [...audit.settles.values()].reduce((sum, { chargeNano }) => sum + chargeNano, 0n);
      expect(audit).toMatchObject({ problems: [], leastAvailable: 0n, tornBytes: 0 });
      expect([audit.open.size, audit.holds.size, audit.settles.size]).toEqual([0, covered, REQUESTS]);
      expect(charged, 'I6').toBe(BigInt(covered * CHARGE_NANO));
      expect(await verifyJournal(journal)).toMatchObject({ ok: true, openHolds: 0 });
    } finally {
      race.openGate();
      await gateway.close();
    }
  },
);

it('what is admitted is finished and charged at the price of its admission, though its key is revoked and credits come meanwhile', async () => {
  const race = await startRace(HOLD_NANO);
  const { gateway } = race;
  try {
    const { token, workspaceId } = await gateway.operator();
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const workspace = `${gateway.daemon.url}/workspaces/${workspaceId}`;
    const asking = gateway.post('/v1/chat/completions', BODY);
    await gateway.upstream.arrived(1);
    const keys = (await (await fetch(`${workspace}/api-keys`, { headers })).json()) as {
      data: { id: string; name: string }[];
    };
    const id = keys.data.find(({ name }) => name === 'busy')?.id;
    const revoked = await fetch(`${workspace}/api-keys/${id}`, { method: 'DELETE', headers });
    const grant = { method: 'POST', headers, body: JSON.stringify({ amount: '5' }) };
    const granted = await fetch(`${workspace}/credits`, grant);
    gateway.upstream.models([{ ...MODEL, pricing: { prompt: '0.000009', completion: '0.000009' } }]);
    const late = await gateway.post('/v1/chat/completions', BODY);
    race.openGate();
    expect([revoked.status, granted.status, (await asking).status, late.status]).toEqual([204, 201, 200, 401]);
    const { balance, held, charged } = await gateway.balance();
    expect([nanoOf(charged), held]).toEqual([BigInt(CHARGE_NANO), '0']);
    expect(nanoOf(balance)).toBe(BigInt(HOLD_NANO) + 5_000_000_000n - BigInt(CHARGE_NANO));
    expect(gateway.upstream.requests).toHaveLength(1);
    expect(auditJournal(join(gateway.daemon.home, 'journal'))).toMatchObject({ problems: [], open: new Set() });
  } finally {
    race.openGate();
    await gateway.close();
  }
});

// Holds and settlements as the gateway writes them, decision summary included, made from a seed.

import { readFileSync } from 'node:fs';
import { chargeNano } from '../../src/ledger/price.ts';
import type { DecisionSummary, HoldRecord, SettleRecord } from '../../src/ledger/records.ts';
import { worstCaseNano } from '../../src/ledger/worst-case.ts';
import { type CatalogModel, type Pricing, pricingAt } from '../../src/routing/catalog.ts';
import { parseCatalog } from '../../src/routing/parse-catalog.ts';
import { seededRandom } from '../faults/scale.ts';

export type Pair = { readonly hold: HoldRecord; readonly settle: SettleRecord };

export type Owner = { readonly workspaceId: string; readonly apiKeyIds: readonly string[] };

/** `pair` makes the next request of that owner, settled `latencyMs` after its hold at `atMs`. */
export type RecordMaker = {
  readonly models: readonly string[];
  /** About one request in 2,000 goes to this one. */
  readonly rareModel: string;
  random(): number;
  pair(owner: Owner, atMs: number): Pair;
};

type PricedModel = { readonly id: string; readonly pricing: Pricing };

const MODELS = 30;
const RARE_SHARE = 1 / 2_000;
const VIRTUAL_MODELS = ['svc:auto', 'svc:auto', 'svc:auto', 'svc:fast', 'svc:cheap', 'svc:best'] as const;
const TASKS = ['coding', 'coding', 'chat', 'agentic', 'qa', 'writing', 'summarization', 'math', 'extraction'] as const;
const DOMAINS = ['computer_science', 'other', 'other', 'business', 'law', 'health', 'math'] as const;
const COMPLEXITIES = ['simple', 'medium', 'complex'] as const;
const SOURCES = [null, null, 'ci', 'editor', 'support-bot'] as const;
const WEIGHTS = { speed: 50, quality: 50, cost: 50 };
const OUTPUT_TOKENS_HELD = 8_192;
const BASE62 = [...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'];
const PAIRS = BASE62.flatMap((first) => BASE62.map((second) => first + second));

export function createRecordMaker(seed: number): RecordMaker {
  const random = seededRandom(seed);
  const models = pricedModels();
  const rare = models.at(-1);
  if (rare === undefined) throw new Error('the catalogue has no priced models');
  const common = models.slice(0, -1);
  return {
    models: models.map(({ id }) => id),
    rareModel: rare.id,
    random,
    pair: (owner, atMs) => {
      // The square makes some models far busier than others, as they are in life.
      const model = random() < RARE_SHARE ? rare : (common[Math.floor(random() ** 2 * common.length)] ?? rare);
      return makePair(random, model, owner, Math.floor(atMs));
    },
  };
}

/** 22 characters as real ids have, two pairs from each draw. */
function makeId(prefix: string, random: () => number): string {
  let id = `${prefix}_`;
  for (let draw = 0; draw < 6; draw += 1) {
    const value = Math.floor(random() * PAIRS.length * PAIRS.length);
    id += PAIRS[value % PAIRS.length] ?? '';
    if (draw < 5) id += PAIRS[Math.floor(value / PAIRS.length)] ?? '';
  }
  return id;
}

function pick<T>(random: () => number, from: readonly [T, ...T[]]): T {
  return from[Math.floor(random() * from.length)] ?? from[0];
}

function between(random: () => number, low: number, high: number): number {
  return low + Math.floor(random() * (high - low + 1));
}

type Tokens = {
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
};

function makePair(random: () => number, model: PricedModel, owner: Owner, atMs: number): Pair {
  const requestId = makeId('req', random);
  const apiKeyId = owner.apiKeyIds[Math.floor(random() * owner.apiKeyIds.length)] ?? '';
  const { workspaceId } = owner;
  const failed = random() < 0.03;
  const inputTokens = between(random, 10, 12_000);
  const tokens: Tokens = {
    inputTokens: failed ? 0 : inputTokens,
    cachedTokens: failed || random() < 0.5 ? 0 : Math.floor(inputTokens * random()),
    cacheWriteTokens: 0,
    outputTokens: failed ? 0 : between(random, 1, 2_000),
  };
  const cost = failed ? 0 : chargeNano(model.pricing, tokens, 0);
  const bounds = { inputTokensMax: Math.ceil(inputTokens * 1.3), maxOutputTokens: OUTPUT_TOKENS_HELD, images: 0 };
  const amountNano = worstCaseNano(model.pricing, bounds);
  const hold: HoldRecord = { type: 'hold', at: atMs, requestId, workspaceId, apiKeyId, model: model.id, amountNano };
  const ended = { random, hold, tokens, cost, failed, inputTokens };
  return { hold, settle: settlementOf(ended) };
}

type Ended = {
  readonly random: () => number;
  readonly hold: HoldRecord;
  readonly tokens: Tokens;
  readonly cost: number;
  readonly failed: boolean;
  readonly inputTokens: number;
};

/** The fields stand in the order in which the gateway writes them. */
function settlementOf({ random, hold, tokens, cost, failed, inputTokens }: Ended): SettleRecord {
  const { requestId, workspaceId, model } = hold;
  const latencyMs = between(random, 200_000, 20_000_000) / 1_000;
  const at = hold.at + Math.floor(latencyMs);
  const virtual = random() < 0.8 ? pick(random, VIRTUAL_MODELS) : null;
  const decision = decisionOf(random, model, virtual, inputTokens);
  return {
    type: 'settle',
    at,
    requestId,
    workspaceId,
    chargeNano: cost,
    entry: {
      id: makeId('ue', random),
      request_id: requestId,
      created_at: at,
      api_key_id: hold.apiKeyId,
      format: random() < 0.6 ? 'chat' : 'messages',
      source: pick(random, SOURCES),
      stream: random() < 0.7,
      requested_model: virtual ?? model,
      virtual_model: virtual,
      model,
      upstream: 'openrouter',
      task_type: decision.classification.task_type,
      complexity: decision.classification.complexity,
      classifier: virtual === null ? 'passthrough' : virtual === 'svc:auto' ? 'auto' : 'virtual',
      status: failed ? 502 : 200,
      error_code: failed ? 'UPSTREAM_ERROR' : null,
      finish_reason: failed ? null : 'stop',
      input_tokens: tokens.inputTokens,
      cached_tokens: tokens.cachedTokens,
      cache_write_tokens: tokens.cacheWriteTokens,
      output_tokens: tokens.outputTokens,
      reasoning_tokens: 0,
      tokens_saved: 0,
      cost,
      cost_kind: failed ? 'free' : 'measured',
      settle_reason: failed ? 'failed' : 'completed',
      latency_ms: latencyMs,
      ttft_ms: failed ? null : between(random, 100_000, 900_000) / 1_000,
      gateway_ms: between(random, 500, 6_000) / 1_000,
      attempts: 1,
      upstream_cost: failed ? null : cost,
      anomalies: [],
      decision,
    },
  };
}

function decisionOf(random: () => number, model: string, preset: string | null, inputTokens: number): DecisionSummary {
  const task_type = pick(random, TASKS);
  const complexity = pick(random, COMPLEXITIES);
  const times = between(random, 2, 90);
  return {
    id: makeId('dec', random),
    preset,
    weights: preset === null ? null : WEIGHTS,
    classification: {
      task_type,
      domain: pick(random, DOMAINS),
      complexity,
      difficulty: between(random, 50, 950) / 1_000,
      confidence: between(random, 400, 999) / 1_000,
    },
    needs: {
      input_tokens: inputTokens,
      max_output_tokens: 0,
      vision: false,
      tools: task_type === 'agentic',
      structured_output: false,
      reasoning: false,
    },
    chosen: model,
    why: `${model} costs ${times}× less ($0.00029152 against $0.017486184) and starts 13× sooner than anthropic/claude-opus-5.5, the strongest here, and is nearly as likely to do this ${complexity} ${task_type} prompt well (0.98 against 1.00).`,
    sticky: random() < 0.2,
  };
}

function pricedModels(): readonly PricedModel[] {
  const text = readFileSync(new URL('../../config/catalog.json', import.meta.url), 'utf8');
  const priced = parseCatalog(JSON.parse(text)).models.flatMap(withPrice);
  const step = Math.max(1, Math.floor(priced.length / MODELS));
  return priced.filter((_, index) => index % step === 0).slice(0, MODELS);
}

function withPrice({ id, pricing }: CatalogModel): readonly PricedModel[] {
  return pricing === undefined ? [] : [{ id, pricing: pricingAt(pricing, 0) }];
}

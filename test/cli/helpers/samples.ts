// Sample resources of the API, and a server that has them all.

import type {
  ApiAccount,
  ApiKeyView,
  BalanceResponse,
  CandidateView,
  DecisionView,
  UsageEntryView,
  UsageSumView,
} from '../../../src/api/types.ts';
import { type Answers, type ApiServer, apiList, startApiServer } from './api-server.ts';

export const TOKEN = 'svc_st_sample';

export const ACCOUNT: ApiAccount = {
  id: 'acc_1',
  email: 'ada@example.com',
  name: 'Ada',
  role: 'operator',
  created_at: '2026-01-01T00:00:00Z',
};
export const WORKSPACES = [
  { id: 'ws_1', name: 'default', role: 'owner' },
  { id: 'ws_2', name: 'research', role: 'member' },
];
export const BALANCE: BalanceResponse = {
  workspace_id: 'ws_1',
  currency: 'USD',
  balance: '9.99987655',
  held: '0.000001',
  available: '9.99987555',
  granted: '10',
  charged: '0.00012345',
};
export const KEY: ApiKeyView = {
  id: 'key_1',
  name: 'laptop',
  prefix: 'svc_sk_abcd',
  last4: 'wxyz',
  created_at: '2026-01-02T03:04:05.678Z',
  expires_at: null,
  revoked_at: null,
  models: null,
  requests_per_minute: 600,
  tokens_per_minute: 2_000_000,
  budget: '5',
  budget_period: 'month',
  spent: '0.0123456',
};
export const ENTRY: UsageEntryView = {
  id: 'use_1',
  request_id: 'req_1',
  created_at: '2026-01-03T10:11:12.000Z',
  api_key_id: 'key_1',
  format: 'chat',
  source: '=cmd(),"quoted"',
  stream: true,
  requested_model: 'svc:auto',
  virtual_model: 'svc:auto',
  model: 'openai/gpt-nano',
  upstream: 'sandbox',
  task_type: 'coding',
  complexity: 'simple',
  classifier: 'auto',
  status: 200,
  error_code: null,
  finish_reason: 'stop',
  input_tokens: 12,
  cached_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: 34,
  reasoning_tokens: 0,
  tokens_saved: 0,
  cost: '0.00012345',
  cost_kind: 'measured',
  settle_reason: 'completed',
  latency_ms: 123.4,
  ttft_ms: 45,
  gateway_ms: 1,
  attempts: 1,
  upstream_cost: null,
  anomalies: [],
  decision: { chosen: 'openai/gpt-nano' },
};
export const SUM: UsageSumView = {
  group: 'openai/gpt-nano',
  requests: 3,
  errors: 1,
  input_tokens: 36,
  cached_tokens: 0,
  output_tokens: 102,
  cost: '0.00037035',
};
export const MODELS = [
  { id: 'svc:auto', object: 'model', created: 1, owned_by: 'svc', description: 'general purpose' },
  {
    id: 'openai/gpt-nano',
    object: 'model',
    created: 1,
    owned_by: 'openai',
    context_length: 400_000,
    pricing: { input_per_million: '0.05', output_per_million: '0.4' },
    abilities: { general: 0.62, coding: 0.7 },
  },
];

export function candidate(model: string, fields: Partial<CandidateView> = {}): CandidateView {
  return {
    model,
    score: 0.8125,
    quality: 0.75,
    speed: 0.5,
    cost: 1,
    estimated_cost: '0.00012345',
    estimated_ttft_ms: 420.4,
    ...fields,
  };
}
type Flip = DecisionView['flips'][number];
// biome-ignore lint/suspicious/noThenProperty: the decision record calls it so.
export const flip = (condition: Flip['if'], model: string): Flip => ({ if: condition, then: model });

export const DECISION: DecisionView = {
  id: 'dec_1',
  requested: 'svc:auto',
  preset: 'svc:auto',
  weights: { speed: 50, quality: 50, cost: 50 },
  classification: {
    task_type: 'coding',
    domain: 'computer_science',
    complexity: 'medium',
    difficulty: 0.42,
    confidence: 0.87,
    signals: {},
  },
  needs: {
    input_tokens: 120,
    max_output_tokens: 4096,
    vision: false,
    tools: true,
    structured_output: false,
    reasoning: false,
  },
  candidates: Array.from({ length: 12 }, (_, index) => candidate(`maker/model-${index}`)),
  excluded: [
    { model: 'maker/small', reason: 'context too small' },
    { model: 'maker/tiny', reason: 'context too small' },
    { model: 'maker/blind', reason: 'no tools' },
  ],
  chosen: 'maker/model-0',
  why: 'It is good enough and the cheapest.',
  flips: [
    flip({ weights: { speed: 0, quality: 100, cost: 0 } }, 'maker/model-3'),
    flip({ input_tokens: 50_000 }, 'maker/model-4'),
    flip({ max_output_tokens: 64 }, 'maker/model-5'),
  ],
  sticky: false,
};

export const SAMPLE_ANSWERS: Answers = {
  'GET /healthz': { body: { status: 'ok' } },
  'GET /readyz': { body: { status: 'ready', store: 'ok', draining: false } },
  'POST /auth/login': { body: { account: ACCOUNT, token: TOKEN, expires_at: '2026-12-31T00:00:00Z' } },
  'POST /auth/register': {
    status: 201,
    body: { account: ACCOUNT, workspace: WORKSPACES[0], token: TOKEN, expires_at: '2026-12-31T00:00:00Z' },
  },
  'POST /auth/logout': { status: 204 },
  'GET /auth/me': { body: { account: ACCOUNT, workspaces: WORKSPACES } },
  'GET /workspaces': apiList(WORKSPACES),
  'GET /workspaces/ws_1/balance': { body: BALANCE },
  'POST /workspaces/ws_1/credits': { status: 201, body: { id: 'gr_1', amount: '2.5', balance: '12.5' } },
  'GET /workspaces/ws_1/usage': ({ query }) => apiList('group_by' in query ? [SUM] : [ENTRY]),
  'GET /workspaces/ws_1/api-keys': apiList([KEY]),
  'POST /workspaces/ws_1/api-keys': { status: 201, body: { ...KEY, key: 'svc_sk_secret' } },
  'DELETE /workspaces/ws_1/api-keys/key_1': { status: 204 },
  'POST /workspaces/ws_1/api-keys/key_1/rotate': { body: { ...KEY, key: 'svc_sk_rotated' } },
  'POST /workspaces': { status: 201, body: { id: 'ws_3', name: 'lab', role: 'owner' } },
  'GET /v1/models': { body: { object: 'list', data: MODELS } },
  'POST /v1/route': { body: DECISION },
};

export function startSampleServer(more: Answers = {}): Promise<ApiServer> {
  return startApiServer({ ...SAMPLE_ANSWERS, ...more });
}

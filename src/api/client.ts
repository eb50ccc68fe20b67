// The typed client of a daemon: one method for each route that the CLI uses.

import { type ApiCall, type ApiTransport, callApi, unexpectedAnswer } from './api-call.ts';
import type {
  ApiKeyCreate,
  ApiKeyCreated,
  ApiKeyView,
  ApiList,
  ApiWorkspace,
  BalanceResponse,
  DecisionView,
  GrantRequest,
  GrantResponse,
  HealthResponse,
  LoginRequest,
  LoginResponse,
  MeResponse,
  ModelList,
  PageQuery,
  ReadyResponse,
  RegisterRequest,
  RegisterResponse,
  RouteRequest,
  UsageEntryView,
  UsageGroup,
  UsageQuery,
  UsageSumView,
} from './types.ts';

export type ClientOptions = {
  readonly baseUrl: string;
  /** Session token, for every route. */
  readonly token?: string | undefined;
  /** API key; used instead of the session token on `/v1` routes. */
  readonly apiKey?: string | undefined;
  /** The workspace that a session token acts for on `/v1` routes. */
  readonly workspaceId?: string | undefined;
  readonly userAgent?: string | undefined;
  readonly fetch?: typeof fetch | undefined;
  /** Limit of one call, in milliseconds; 30,000 by default. */
  readonly timeoutMs?: number | undefined;
};

/** Every method throws `ApiClientError` for an error answer and `DaemonUnreachableError` for none. */
export type ApiClient = {
  readonly register: (body: RegisterRequest) => Promise<RegisterResponse>;
  readonly login: (body: LoginRequest) => Promise<LoginResponse>;
  readonly logout: () => Promise<void>;
  readonly me: () => Promise<MeResponse>;
  readonly workspaces: (page?: PageQuery) => Promise<ApiList<ApiWorkspace>>;
  readonly createWorkspace: (body: { readonly name: string }) => Promise<ApiWorkspace>;
  readonly balance: (workspaceId: string) => Promise<BalanceResponse>;
  /** The same `idempotencyKey` grants once, however often it is sent. */
  readonly grant: (workspaceId: string, body: GrantRequest, idempotencyKey: string) => Promise<GrantResponse>;
  readonly usage: (workspaceId: string, query?: UsageQuery) => Promise<ApiList<UsageEntryView>>;
  readonly usageSums: (workspaceId: string, groupBy: UsageGroup, query?: UsageQuery) => Promise<ApiList<UsageSumView>>;
  readonly apiKeys: (workspaceId: string, page?: PageQuery) => Promise<ApiList<ApiKeyView>>;
  readonly createApiKey: (workspaceId: string, body: ApiKeyCreate) => Promise<ApiKeyCreated>;
  /** The old secret stops working at once. */
  readonly rotateApiKey: (workspaceId: string, keyId: string) => Promise<ApiKeyCreated>;
  readonly revokeApiKey: (workspaceId: string, keyId: string) => Promise<void>;
  readonly models: () => Promise<ModelList>;
  /** A dry run: the decision, and nothing is sent upstream. */
  readonly route: (body: RouteRequest) => Promise<DecisionView>;
  readonly health: () => Promise<HealthResponse>;
  /** `ready` is false where the daemon answers 503; `body` then says why. */
  readonly ready: () => Promise<{ readonly ready: boolean; readonly body: ReadyResponse }>;
};

const TIMEOUT_MS_DEFAULT = 30_000;

export function createClient(options: ClientOptions): ApiClient {
  const transport: ApiTransport = {
    baseUrl: options.baseUrl.replace(/\/+$/, ''),
    fetch: options.fetch ?? fetch,
    userAgent: options.userAgent ?? 'svc-client',
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS_DEFAULT,
  };
  const session = bearer(options.token);
  const inference = options.apiKey === undefined ? workspaceSession(options) : bearer(options.apiKey);
  const get = <T>(path: string, fields: readonly string[], query: ApiCall['query'] = {}): Promise<T> =>
    ask(transport, { method: 'GET', path, headers: session, query }, fields);
  const post = <T>(path: string, fields: readonly string[], body: unknown, headers = session): Promise<T> =>
    ask(transport, { method: 'POST', path, headers, body }, fields);

  return {
    register: (body) => post('/auth/register', ['account', 'workspace', 'token'], body, {}),
    login: (body) => post('/auth/login', ['account', 'token'], body, {}),
    logout: () => tell(transport, { method: 'POST', path: '/auth/logout', headers: session }),
    me: () => get('/auth/me', ['account', 'workspaces']),
    workspaces: (page) => get('/workspaces', ['data'], page),
    createWorkspace: (body) => post('/workspaces', ['id', 'name'], body),
    balance: (workspaceId) => get(`${within(workspaceId)}/balance`, ['balance', 'available']),
    grant: (workspaceId, body, idempotencyKey) =>
      post(`${within(workspaceId)}/credits`, ['id', 'amount', 'balance'], body, {
        ...session,
        'idempotency-key': idempotencyKey,
      }),
    usage: (workspaceId, query) => get(`${within(workspaceId)}/usage`, ['data'], query),
    usageSums: (workspaceId, groupBy, query) =>
      get(`${within(workspaceId)}/usage`, ['data'], { ...query, group_by: groupBy }),
    apiKeys: (workspaceId, page) => get(`${within(workspaceId)}/api-keys`, ['data'], page),
    createApiKey: (workspaceId, body) => post(`${within(workspaceId)}/api-keys`, ['id', 'key'], body),
    rotateApiKey: (workspaceId, keyId) =>
      post(`${within(workspaceId)}/api-keys/${encodeURIComponent(keyId)}/rotate`, ['id', 'key'], {}),
    revokeApiKey: (workspaceId, keyId) =>
      tell(transport, {
        method: 'DELETE',
        path: `${within(workspaceId)}/api-keys/${encodeURIComponent(keyId)}`,
        headers: session,
      }),
    models: () => ask(transport, { method: 'GET', path: '/v1/models', headers: inference }, ['data']),
    route: (body) => post('/v1/route', ['candidates', 'chosen', 'classification'], body, inference),
    health: () => ask(transport, { method: 'GET', path: '/healthz' }, ['status']),
    ready: () => askReady(transport),
  };
}

function bearer(secret: string | undefined): Readonly<Record<string, string>> {
  return secret === undefined ? {} : { authorization: `Bearer ${secret}` };
}

function workspaceSession(options: ClientOptions): Readonly<Record<string, string>> {
  const session = bearer(options.token);
  return options.workspaceId === undefined ? session : { ...session, 'x-svc-workspace': options.workspaceId };
}

function within(workspaceId: string): string {
  return `/workspaces/${encodeURIComponent(workspaceId)}`;
}

async function ask<T>(transport: ApiTransport, call: ApiCall, fields: readonly string[]): Promise<T> {
  const answer = await callApi(transport, call);
  return parseAnswer<T>(answer.body, fields, () => unexpectedAnswer(transport.baseUrl, answer.status));
}

/** For calls whose answer has no content worth reading. */
async function tell(transport: ApiTransport, call: ApiCall): Promise<void> {
  await callApi(transport, call);
}

async function askReady(transport: ApiTransport): Promise<{ ready: boolean; body: ReadyResponse }> {
  const answer = await callApi(transport, { method: 'GET', path: '/readyz', alsoOk: [503] });
  const body = parseAnswer<ReadyResponse>(
    // A draining daemon may answer with the error body, which has no status of its own.
    isObject(answer.body) && !('status' in answer.body) ? { status: 'unavailable', ...answer.body } : answer.body,
    ['status'],
    () => unexpectedAnswer(transport.baseUrl, answer.status),
  );
  return { ready: answer.status === 200, body };
}

/** The daemon's answers are taken at their word once the fields that name their kind are there. */
function parseAnswer<T>(body: unknown, fields: readonly string[], unexpected: () => Error): T {
  if (!isObject(body) || !fields.every((field) => field in body)) throw unexpected();
  return body as T;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

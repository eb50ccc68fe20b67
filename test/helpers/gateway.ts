// A daemon in front of a scriptable upstream, and the few calls that tests make of it.

import { type DaemonOptions, removeHome, startDaemon, type TestDaemon } from './daemon.ts';
import { type FakeUpstream, startFakeUpstream } from './fake-upstream.ts';

export type Gateway = {
  readonly daemon: TestDaemon;
  readonly upstream: FakeUpstream;
  /** POST with the first API key unless `headers` say otherwise. A string body goes as it is. */
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>;
  /** The session of a registered operator, made at first use. */
  operator(): Promise<{ token: string; workspaceId: string }>;
  balance(): Promise<Balance>;
  usage(query?: string): Promise<UsageRow[]>;
  close(): Promise<void>;
};

export type Balance = { balance: string; held: string; available: string; granted: string; charged: string };
export type UsageRow = Record<string, unknown> & {
  readonly request_id: string;
  readonly cost: string;
  readonly settle_reason: string;
};

export async function startGateway(options: DaemonOptions = {}): Promise<Gateway> {
  const upstream = await startFakeUpstream();
  const daemon = await startDaemon({
    ...options,
    env: { SVC_UPSTREAM_URL: upstream.url, SVC_UPSTREAM_API_KEY: 'upstream-secret', ...options.env },
  });
  return gatewayOf(daemon, upstream);
}

export function gatewayOf(daemon: TestDaemon, upstream: FakeUpstream, key = daemon.key): Gateway {
  let session: Promise<{ token: string; workspaceId: string }> | undefined;
  const operator = (): Promise<{ token: string; workspaceId: string }> => {
    session ??= register(daemon.url);
    return session;
  };
  const get = async (path: (workspaceId: string) => string): Promise<Response> => {
    const { token, workspaceId } = await operator();
    return fetch(daemon.url + path(workspaceId), { headers: { authorization: `Bearer ${token}` } });
  };
  return {
    daemon,
    upstream,
    operator,
    post: (path, body, headers = {}) =>
      fetch(daemon.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    balance: async () => (await (await get((id) => `/workspaces/${id}/balance`)).json()) as Balance,
    usage: async (query = '') => {
      const page = await (await get((id) => `/workspaces/${id}/usage?limit=1000${query}`)).json();
      return (page as { data: UsageRow[] }).data;
    },
    async close() {
      await daemon.stop();
      await upstream.close();
      await removeHome(daemon.home);
    },
  };
}

/** Registers the operator, or logs in where an earlier daemon on the same directory did. */
async function register(url: string): Promise<{ token: string; workspaceId: string }> {
  const credentials = { email: 'operator@example.com', password: 'correct horse battery' };
  const call = async (path: string, token?: string): Promise<{ token?: string; workspaces?: { id: string }[] }> => {
    const answer = await fetch(url + path, {
      method: token === undefined ? 'POST' : 'GET',
      headers: {
        'content-type': 'application/json',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      ...(token === undefined ? { body: JSON.stringify(credentials) } : {}),
    });
    return (await answer.json()) as { token?: string };
  };
  let session = await call('/auth/register');
  if (!('token' in session)) session = await call('/auth/login');
  const token = String(session.token);
  const me = await call('/auth/me', token);
  return { token, workspaceId: me.workspaces?.[0]?.id ?? '' };
}

/** Nano-dollars of a decimal string, exactly. */
export function nanoOf(usd: string): bigint {
  const [whole = '0', fraction = ''] = usd.split('.');
  return BigInt(whole) * 1_000_000_000n + BigInt(fraction.padEnd(9, '0'));
}

// The whole gateway in this process, over real files and real HTTP: for tests that turn the clock or swap the price list.

import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type Koa from 'koa';
import { compose } from '../../src/daemon/compose.ts';
import { createLog } from '../../src/daemon/log.ts';
import { loadSettings } from '../../src/daemon/settings.ts';
import { type Catalog, createCatalog } from '../../src/routing/catalog.ts';
import { mergeUpstreamModels } from '../../src/routing/merge-upstream-models.ts';
import { parseModelList } from '../../src/routing/parse-model-list.ts';
import { openFileStore } from '../../src/store/file-store.ts';
import { createHttpUpstream } from '../../src/upstream/http-upstream.ts';
import type { UpstreamFormat } from '../../src/upstream/upstream.ts';
import type { FakeUpstream } from './fake-upstream.ts';

export type InProcessGateway = {
  readonly url: string;
  readonly app: Koa;
  readonly clock: { ms: number };
  /** API key and session of an account that has credits. */
  readonly key: string;
  readonly token: string;
  readonly workspaceId: string;
  /** What the upstream lists from now on. */
  list(models: readonly unknown[]): void;
  post(path: string, body: unknown): Promise<Response>;
  get(path: string): Promise<unknown>;
  close(): Promise<void>;
};

export async function startInProcess(
  upstream: FakeUpstream,
  startMs: number,
  formats: readonly UpstreamFormat[] = ['chat'],
): Promise<InProcessGateway> {
  const directory = await mkdtemp(join(tmpdir(), 'svc-in-process-'));
  const settings = loadSettings({ env: { SVC_HOME: directory, SVC_STARTING_CREDITS: '1000' }, flags: {} });
  const clock = { ms: startMs };
  const store = await openFileStore({
    directory,
    now: () => clock.ms,
    onFatal: (error) => {
      throw error;
    },
  });
  const http = createHttpUpstream({
    name: 'fake',
    baseUrl: upstream.url,
    apiKey: undefined,
    formats,
    dialect: 'openrouter',
  });
  let catalog: Catalog = createCatalog([]);
  const { app, control } = await compose({
    settings,
    store,
    offers: { current: () => ({ upstream: http, catalog }), listed: true, close: () => http.close() },
    clock: { nowMs: () => clock.ms, monotonicMs: () => performance.now() },
    log: createLog('error', process.stderr),
    allowedHosts: () => undefined,
  });
  const server = createServer(app.callback());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const registered = await control.accounts.register(
    { email: 'someone@example.com', password: 'correct horse battery', name: 'Someone' },
    'vitest',
  );
  const { token } = registered;
  const workspaceId = registered.workspace.id;
  const send = (path: string, credential: string, body?: unknown): Promise<Response> =>
    fetch(url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const made = await send(`/workspaces/${workspaceId}/api-keys`, token, { name: 'test' });
  const { key } = (await made.json()) as { key: string };
  return {
    url,
    app,
    clock,
    key,
    token,
    workspaceId,
    list(models) {
      catalog = mergeUpstreamModels(createCatalog([]), parseModelList({ data: models }));
    },
    post: (path, body) => send(path, key, body),
    get: async (path) => (await send(path, token)).json(),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await http.close();
      await store.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

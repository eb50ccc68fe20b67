// A data directory in use: an operator, a key without limits, some answered requests. Copies of it are quick to make.

import { afterAll, beforeAll } from 'vitest';
import { makeHome, removeHome, startDaemon } from '../helpers/daemon.ts';
import { type FakeUpstream, startFakeUpstream } from '../helpers/fake-upstream.ts';
import { gatewayOf } from '../helpers/gateway.ts';
import { ask, billedAnswer, unlimit } from './asking.ts';
import { copyHome } from './daemon-under.ts';

export type Prepared = {
  readonly upstream: FakeUpstream;
  /** For each daemon that runs on a copy. */
  readonly env: Readonly<Record<string, string>>;
  readonly key: string;
  readonly token: string;
  readonly workspaceId: string;
  /** Removed when the test ends, unless the caller gave the place. */
  copy(to?: string): Promise<string>;
};

/** For the tests of a file; to be called at its top. Answers what the hook has prepared. */
export function prepareOnce(): () => Prepared {
  let prepared: Prepared | undefined;
  let original = '';
  beforeAll(async () => {
    original = await makeHome();
    const upstream = await startFakeUpstream((request) => billedAnswer(request));
    const env = { SVC_UPSTREAM_URL: upstream.url };
    const daemon = await startDaemon({ home: original, env });
    const { key } = daemon;
    const operator = await gatewayOf(daemon, upstream).operator();
    await unlimit(daemon.url, operator);
    for (let number = 0; number < 4; number += 1) await ask(daemon.url, key, { number });
    await daemon.stop();
    prepared = { upstream, env, key, ...operator, copy: (to) => copyHome(original, to) };
  });
  afterAll(async () => {
    await prepared?.upstream.close();
    await removeHome(original);
  });
  return () => {
    if (prepared === undefined) throw new Error('the hook has not run');
    return prepared;
  };
}

/** POST /workspaces/:id/api-keys: a document that is written. */
export function createKey(url: string, prepared: Prepared, name: string): Promise<Response> {
  return fetch(`${url}/workspaces/${prepared.workspaceId}/api-keys`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${prepared.token}` },
    body: JSON.stringify({ name }),
  });
}

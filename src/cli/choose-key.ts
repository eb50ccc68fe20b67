// Finds one of the API keys of a workspace by its id or name.

import type { ApiClient } from '../api/client.ts';
import type { ApiKeyView } from '../api/types.ts';
import { readPages } from './all-pages.ts';
import { notFound, usageError } from './cli-error.ts';

const KEYS_MAX = 10_000;

/** Of several with a name, the active one. Throws `CliError`: exit code 4 where there is none, 2 where several are active. */
export async function findKey(client: ApiClient, workspaceId: string, wanted: string): Promise<ApiKeyView> {
  const { data } = await readPages((page) => client.apiKeys(workspaceId, page), KEYS_MAX);
  return chooseKey(data, wanted);
}

function chooseKey(keys: readonly ApiKeyView[], wanted: string): ApiKeyView {
  const byId = keys.find(({ id }) => id === wanted);
  if (byId !== undefined) return byId;
  const named = keys.filter(({ name }) => name === wanted);
  const active = named.filter(({ revoked_at }) => revoked_at === null);
  const [first, ...others] = active.length > 0 ? active : named.slice(0, 1);
  if (first === undefined) {
    throw notFound(`no API key here is called ${JSON.stringify(wanted)}`, 'see `svc keys list`');
  }
  if (others.length === 0) return first;
  const ids = active.map(({ id }) => id).join(', ');
  throw usageError(`several API keys are called ${JSON.stringify(wanted)}`, `give one by its id: ${ids}`);
}

// `svc keys revoke`: ends an API key for good, after asking.

import type { ApiKeyView } from '../../api/types.ts';
import { readPages } from '../all-pages.ts';
import { CliError, notFound, usageError } from '../cli-error.ts';
import type { CommandInput } from '../command.ts';
import { connectSession } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';
import { nameArgument } from '../name-argument.ts';
import { printable } from '../text-width.ts';

const KEYS_MAX = 10_000;

/** Revoking a key that is revoked already succeeds. */
export async function runKeysRevoke(input: CommandInput): Promise<number> {
  const wanted = nameArgument(input, 'keys revoke KEY');
  checkCanAsk(input);
  const { client, workspaceId } = await connectSession(input);
  const id = await workspaceId();
  const { data } = await readPages((page) => client.apiKeys(id, page), KEYS_MAX);
  const key = choose(data, wanted);
  if (key.revoked_at === null) {
    await confirm(input, key);
    await client.revokeApiKey(id, key.id);
  }
  const result = { id: key.id, name: key.name, revoked: true, already_revoked: key.revoked_at !== null };
  input.output.result(result, () =>
    key.revoked_at === null
      ? `Revoked API key ${printable(key.name)} (${key.id}).\n`
      : `API key ${printable(key.name)} (${key.id}) was revoked already.\n`,
  );
  return EXIT.ok;
}

function checkCanAsk({ io, options }: CommandInput): void {
  if (options.isSet('yes') || (io.stdin.isTerminal && io.stderr.isTerminal)) return;
  throw usageError('revoking a key asks first, and there is no terminal to ask on', 'give --yes to answer beforehand');
}

function choose(keys: readonly ApiKeyView[], wanted: string): ApiKeyView {
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

async function confirm({ io, options }: CommandInput, key: ApiKeyView): Promise<void> {
  if (options.isSet('yes')) return;
  const answer = await io.ask(`Revoke API key ${printable(key.name)} (${key.id})? What uses it stops working. [y/N] `);
  if (/^y(es)?$/i.test(answer.trim())) return;
  throw new CliError('CANCELLED', EXIT.failed, 'nothing was revoked');
}

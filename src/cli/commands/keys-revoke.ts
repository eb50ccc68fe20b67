// `svc keys revoke`: ends an API key for good, after asking.

import { findKey } from '../choose-key.ts';
import type { CommandInput } from '../command.ts';
import { checkCanAsk, confirm } from '../confirm.ts';
import { connectSession } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';
import { nameArgument } from '../name-argument.ts';
import { printable } from '../text-width.ts';

/** Revoking a key that is revoked already succeeds. */
export async function runKeysRevoke(input: CommandInput): Promise<number> {
  const wanted = nameArgument(input, 'keys revoke KEY');
  checkCanAsk(input, 'revoking a key');
  const { client, workspaceId } = await connectSession(input);
  const id = await workspaceId();
  const key = await findKey(client, id, wanted);
  if (key.revoked_at === null) {
    const question = `Revoke API key ${printable(key.name)} (${key.id})? What uses it stops working.`;
    await confirm(input, question, 'nothing was revoked');
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

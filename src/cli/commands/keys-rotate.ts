// `svc keys rotate`: gives an API key a new secret, after asking, and prints it, this once.

import { findKey } from '../choose-key.ts';
import type { CommandInput } from '../command.ts';
import { checkCanAsk, confirm } from '../confirm.ts';
import { connectSession } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';
import { nameArgument } from '../name-argument.ts';
import { printable } from '../text-width.ts';

/** The secret is alone on standard output, so that `KEY=$(svc keys rotate ci --yes)` works. */
export async function runKeysRotate(input: CommandInput): Promise<number> {
  const wanted = nameArgument(input, 'keys rotate KEY');
  checkCanAsk(input, 'rotating a key');
  const { client, workspaceId } = await connectSession(input);
  const id = await workspaceId();
  const key = await findKey(client, id, wanted);
  const question = `Rotate API key ${printable(key.name)} (${key.id})? Its old secret stops working.`;
  await confirm(input, question, 'nothing was rotated');
  const rotated = await client.rotateApiKey(id, key.id);
  input.output.note(`Rotated API key ${rotated.name} (${rotated.id}). Its new secret is shown this once; keep it now.`);
  input.output.result(rotated, () => `${rotated.key}\n`);
  return EXIT.ok;
}

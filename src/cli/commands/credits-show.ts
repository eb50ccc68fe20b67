// `svc credits show`: the balance of the current workspace.

import type { CommandInput } from '../command.ts';
import { connectSession } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';
import { renderFields } from '../field-list.ts';
import { usdExact } from '../usd-text.ts';

export async function runCreditsShow(input: CommandInput): Promise<number> {
  const { client, workspaceId } = await connectSession(input);
  const balance = await client.balance(await workspaceId());
  input.output.result(balance, () =>
    renderFields(
      [
        ['available', usdExact(balance.available)],
        ['held', usdExact(balance.held)],
        ['balance', usdExact(balance.balance)],
        ['granted', usdExact(balance.granted)],
        ['charged', usdExact(balance.charged)],
      ],
      input.output.paint.dim,
    ),
  );
  return EXIT.ok;
}

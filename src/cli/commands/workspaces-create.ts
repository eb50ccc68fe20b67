// `svc workspaces create`: makes a workspace of one's own.

import type { CommandInput } from '../command.ts';
import { connectSession } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';
import { nameArgument } from '../name-argument.ts';
import { printable } from '../text-width.ts';

/** The current workspace stays what it was. */
export async function runWorkspacesCreate(input: CommandInput): Promise<number> {
  const name = nameArgument(input, 'workspaces create NAME');
  const { client } = await connectSession(input);
  const made = await client.createWorkspace({ name });
  input.output.note(`choose it with \`svc workspaces use ${made.id}\``);
  input.output.result(made, () => `Created workspace ${printable(made.name)} (${made.id}).\n`);
  return EXIT.ok;
}

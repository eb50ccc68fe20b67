// `svc workspaces use`: chooses the current workspace and keeps the choice with the session.

import { chooseWorkspace } from '../choose-workspace.ts';
import { usageError } from '../cli-error.ts';
import type { CommandInput } from '../command.ts';
import { connectSession } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';
import { nameArgument } from '../name-argument.ts';

export async function runWorkspacesUse(input: CommandInput): Promise<number> {
  const wanted = nameArgument(input, 'workspaces use WORKSPACE');
  const { client, credentials, session } = await connectSession(input);
  if (session === undefined) {
    throw usageError('SVC_TOKEN is set, so there is no session to keep the choice with', 'use --workspace ID instead');
  }
  const { workspaces } = await client.me();
  const workspace = chooseWorkspace(workspaces, wanted);
  await credentials.write({ ...session, workspaceId: workspace.id });
  input.output.result(workspace, () => `The current workspace is ${workspace.name} (${workspace.id}).\n`);
  return EXIT.ok;
}

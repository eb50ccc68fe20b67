// `svc workspaces use`: chooses the current workspace and keeps the choice with the session.

import type { ApiWorkspace } from '../../api/types.ts';
import { notFound, usageError } from '../cli-error.ts';
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
  const workspace = choose(workspaces, wanted);
  await credentials.write({ ...session, workspaceId: workspace.id });
  input.output.result(workspace, () => `The current workspace is ${workspace.name} (${workspace.id}).\n`);
  return EXIT.ok;
}

function choose(workspaces: readonly ApiWorkspace[], wanted: string): ApiWorkspace {
  const byId = workspaces.find(({ id }) => id === wanted);
  if (byId !== undefined) return byId;
  const [first, ...others] = workspaces.filter(({ name }) => name === wanted);
  if (first === undefined) {
    throw notFound(`no workspace of yours is called ${JSON.stringify(wanted)}`, 'see `svc workspaces list`');
  }
  if (others.length === 0) return first;
  const ids = [first, ...others].map(({ id }) => id).join(', ');
  throw usageError(`several workspaces are called ${JSON.stringify(wanted)}`, `give one by its id: ${ids}`);
}

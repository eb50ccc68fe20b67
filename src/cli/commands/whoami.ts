// `svc whoami`: who is logged in, where, and in which workspace.

import { chooseWorkspace } from '../choose-workspace.ts';
import type { CommandInput } from '../command.ts';
import { connectSession } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';
import { renderFields } from '../field-list.ts';

export async function runWhoami(input: CommandInput): Promise<number> {
  const { client, address, session } = await connectSession(input);
  const { account, workspaces } = await client.me();
  const wanted = input.options.text('workspace');
  const given = wanted === undefined ? undefined : chooseWorkspace(workspaces, wanted);
  const workspaceId = given?.id ?? session?.workspaceId ?? workspaces[0]?.id ?? null;
  const current = workspaces.find(({ id }) => id === workspaceId);
  const result = {
    account,
    workspaces,
    workspace_id: workspaceId,
    base_url: address.url,
    credential: session === undefined ? 'environment' : 'session',
  };
  input.output.result(result, () =>
    renderFields(
      [
        ['account', account.name ? `${account.email} (${account.name})` : account.email],
        ['role', account.role],
        ['workspace', current === undefined ? (workspaceId ?? '') : `${current.name} (${current.id}, ${current.role})`],
        ['daemon', address.url],
        ['session', session === undefined ? 'from SVC_TOKEN' : 'kept in the data directory'],
      ],
      input.output.paint.dim,
    ),
  );
  return EXIT.ok;
}

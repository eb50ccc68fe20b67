// `svc workspaces list`: the workspaces of the account, with the current one marked.

import { readPages } from '../all-pages.ts';
import { chooseWorkspace } from '../choose-workspace.ts';
import type { CommandInput } from '../command.ts';
import { connectSession } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';
import { renderTable } from '../table.ts';

const WORKSPACES_MAX = 10_000;

export async function runWorkspacesList(input: CommandInput): Promise<number> {
  const { output } = input;
  const { client, session } = await connectSession(input);
  const list = await readPages(client.workspaces, WORKSPACES_MAX);
  const wanted = input.options.text('workspace');
  const given = wanted === undefined ? undefined : chooseWorkspace(list.data, wanted);
  const currentId = given?.id ?? session?.workspaceId ?? list.data[0]?.id;
  const data = list.data.map((workspace) => ({ ...workspace, current: workspace.id === currentId }));
  output.result({ ...list, data }, () => {
    const rows = data.map(({ id, name, role, current }) => [current ? '*' : '', name, id, role]);
    const columns = [
      { header: '' },
      { header: 'NAME', shrinks: true },
      { header: 'ID', keep: true },
      { header: 'ROLE' },
    ];
    return renderTable(columns, rows, { width: output.width, header: output.paint.dim });
  });
  return EXIT.ok;
}

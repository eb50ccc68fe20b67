// `svc keys list`: the API keys of the current workspace.

import type { ApiKeyView } from '../../api/types.ts';
import { readPages } from '../all-pages.ts';
import type { CommandInput } from '../command.ts';
import { connectSession } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';
import { renderTable } from '../table.ts';
import { timeText } from '../time-text.ts';
import { usdText } from '../usd-text.ts';

const KEYS_MAX = 10_000;

const COLUMNS = [
  { header: 'NAME', shrinks: true, widthMin: 12 },
  { header: 'ID', keep: true },
  { header: 'KEY', dropOrder: 3 },
  { header: 'STATE', dropOrder: 5 },
  { header: 'SPENT', align: 'right', dropOrder: 4 },
  { header: 'BUDGET', align: 'right', dropOrder: 2 },
  { header: 'CREATED', dropOrder: 1 },
] as const;

export async function runKeysList(input: CommandInput): Promise<number> {
  const { output, io } = input;
  const { client, workspaceId } = await connectSession(input);
  const id = await workspaceId();
  const list = await readPages((page) => client.apiKeys(id, page), KEYS_MAX);
  output.result(list, () => {
    if (list.data.length === 0) return 'No API keys. Make one with: svc keys create NAME\n';
    const rows = list.data.map((key) => [
      key.name,
      key.id,
      `${key.prefix}…${key.last4}`,
      stateOf(key, io.now()),
      usdText(key.spent),
      key.budget === null ? '' : `${usdText(key.budget)}/${key.budget_period}`,
      timeText(key.created_at),
    ]);
    return renderTable(COLUMNS, rows, { width: output.width, header: output.paint.dim });
  });
  return EXIT.ok;
}

function stateOf(key: ApiKeyView, now: Date): string {
  if (key.revoked_at !== null) return 'revoked';
  if (key.expires_at === null) return 'active';
  return Date.parse(key.expires_at) <= now.getTime() ? 'expired' : `until ${key.expires_at.slice(0, 10)}`;
}

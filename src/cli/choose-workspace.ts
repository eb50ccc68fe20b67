// Finds one of several workspaces by its id or name.

import type { ApiWorkspace } from '../api/types.ts';
import { notFound, usageError } from './cli-error.ts';

/** Throws `CliError`: exit code 4 where there is none, 2 where several have the name. */
export function chooseWorkspace(workspaces: readonly ApiWorkspace[], wanted: string): ApiWorkspace {
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

// `svc logout`: ends the session at the daemon and forgets it here.

import { ApiClientError, DaemonUnreachableError } from '../../api/client-errors.ts';
import type { CommandInput } from '../command.ts';
import { clientOf, connect } from '../connection.ts';
import type { StoredSession } from '../credential-store.ts';
import { EXIT } from '../exit-codes.ts';

export async function runLogout(input: CommandInput): Promise<number> {
  const { credentials, settings } = await connect(input);
  const session = await credentials.read();
  const ended = session === undefined ? false : await endSession(input, session);
  await credentials.remove();
  if (settings.token !== undefined) input.output.note('note: SVC_TOKEN is still set and still logs you in');
  input.output.result({ logged_out: session !== undefined, ended_at_daemon: ended }, () =>
    session === undefined ? 'Nobody was logged in.\n' : `Logged out ${session.email}.\n`,
  );
  return EXIT.ok;
}

/** The session is forgotten here in any case; where the daemon can't be told, it stays valid there until it expires. */
async function endSession({ output }: CommandInput, session: StoredSession): Promise<boolean> {
  const address = { url: session.baseUrl, source: 'given', daemon: undefined } as const;
  try {
    await clientOf(address, { token: session.token }).logout();
    return true;
  } catch (error) {
    if (error instanceof ApiClientError && error.status === 401) return true;
    if (!(error instanceof ApiClientError || error instanceof DaemonUnreachableError)) throw error;
    output.note(`note: the session was not ended at the daemon and stays valid there (${error.message})`);
    return false;
  }
}

// Connects a command to its daemon, with the credential and the workspace it acts for.

import { type ApiClient, type ClientOptions, createClient } from '../api/client.ts';
import { loadSettings, type Settings } from '../daemon/settings.ts';
import { chooseWorkspace } from './choose-workspace.ts';
import { KEY_OR_LOGIN_HINT, LOGIN_HINT, notFound, notLoggedIn } from './cli-error.ts';
import type { CommandInput } from './command.ts';
import { type CredentialStore, createFileCredentialStore, type StoredSession } from './credential-store.ts';
import { type DaemonAddress, findDaemon } from './daemon-address.ts';
import { readPackageVersion } from './package-version.ts';

export type Connection = {
  readonly settings: Settings;
  readonly address: DaemonAddress;
  readonly credentials: CredentialStore;
  readonly client: ApiClient;
};

export type SessionConnection = Connection & {
  /** The session kept in the data directory; undefined where the token is from the environment. */
  readonly session: StoredSession | undefined;
  /** Id of the current workspace: the option's (an id, or the name of one of mine), the session's, else the first of mine. */
  readonly workspaceId: () => Promise<string>;
};

/** Without a credential. */
export async function connect(input: CommandInput, options: Partial<ClientOptions> = {}): Promise<Connection> {
  const settings = loadSettings({
    flags: { home: input.options.text('home'), baseUrl: input.options.text('baseUrl') },
    env: input.io.env,
  });
  const address = await findDaemon(settings);
  const credentials = createFileCredentialStore(settings.home);
  return { settings, address, credentials, client: clientOf(address, options) };
}

/** As the account that is logged in. Throws `CliError` with exit code 3 where nobody is. */
export async function connectSession(input: CommandInput, hint = LOGIN_HINT): Promise<SessionConnection> {
  const connection = await connect(input);
  const { settings, address } = connection;
  const session = settings.token === undefined ? await readSession(connection, hint) : undefined;
  const token = settings.token ?? session?.token;
  if (token === undefined) throw notLoggedIn('not logged in', hint);
  const client = clientOf(address, { token });
  const workspaceId = async (): Promise<string> =>
    (await givenWorkspace(input, client)) ?? session?.workspaceId ?? (await firstWorkspace(client));
  return { ...connection, client, session, workspaceId };
}

/** For `/v1` routes: with the API key of the environment, else as the session in the current workspace. */
export async function connectInference(input: CommandInput): Promise<Connection> {
  const connection = await connect(input);
  const { settings, address } = connection;
  // A key belongs to one workspace, so asking for a workspace asks for the session.
  if (settings.apiKey !== undefined && input.options.text('workspace') === undefined) {
    return { ...connection, client: clientOf(address, { apiKey: settings.apiKey }) };
  }
  const session = await connectSession(input, KEY_OR_LOGIN_HINT);
  const token = settings.token ?? session.session?.token;
  return { ...connection, client: clientOf(address, { token, workspaceId: await session.workspaceId() }) };
}

/** A client for the same daemon with another credential. */
export function clientOf(address: DaemonAddress, options: Partial<ClientOptions>): ApiClient {
  return createClient({ ...options, baseUrl: address.url, userAgent: `svc-cli/${readPackageVersion()}` });
}

async function readSession({ address, credentials }: Connection, hint: string): Promise<StoredSession | undefined> {
  const session = await credentials.read();
  if (session === undefined || isFor(session, address)) return session;
  throw notLoggedIn(`not logged in at ${address.url}: the session kept is for ${session.baseUrl}`, hint);
}

/** A token goes only to the daemon that gave it; the one of this data directory may have changed its port. */
function isFor(session: StoredSession, address: DaemonAddress): boolean {
  const ours = new URL(address.url);
  if (!URL.canParse(session.baseUrl)) return false;
  const theirs = new URL(session.baseUrl);
  if (ours.origin === theirs.origin) return true;
  return address.source === 'daemon-file' && isLoopback(ours) && isLoopback(theirs);
}

function isLoopback(url: URL): boolean {
  return ['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname);
}

/** An id is taken as it is: an operator may act in workspaces that aren't theirs. */
async function givenWorkspace(input: CommandInput, client: ApiClient): Promise<string | undefined> {
  const wanted = input.options.text('workspace');
  if (wanted === undefined || wanted.startsWith('ws_')) return wanted;
  return chooseWorkspace((await client.me()).workspaces, wanted).id;
}

async function firstWorkspace(client: ApiClient): Promise<string> {
  const { workspaces } = await client.me();
  const first = workspaces[0];
  if (first === undefined) throw notFound('you belong to no workspace', 'ask its owner to add you');
  return first.id;
}

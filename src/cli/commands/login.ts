// `svc login`: opens a session by password or token, and keeps it.

import type { ApiClient } from '../../api/client.ts';
import type { MeResponse } from '../../api/types.ts';
import { usageError } from '../cli-error.ts';
import type { CommandInput } from '../command.ts';
import { clientOf, connect } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';

export async function runLogin(input: CommandInput): Promise<number> {
  const byToken = input.options.isSet('withToken');
  if (!byToken) checkPasswordOptions(input);
  const secret = await readSecret(input, byToken ? 'token' : 'password');
  const connection = await connect(input);
  const token = byToken ? secret : await openSession(input, connection.client, secret);
  const me = await clientOf(connection.address, { token }).me();
  const workspace = me.workspaces[0] ?? null;
  await connection.credentials.write({
    token,
    email: me.account.email,
    baseUrl: connection.address.url,
    workspaceId: workspace?.id ?? null,
  });
  if (connection.settings.token !== undefined) {
    input.output.note('note: SVC_TOKEN is set and goes before the session just opened; unset it to use the session');
  }
  const result = { account: me.account, workspace, base_url: connection.address.url };
  input.output.result(result, () => greeting(me, connection.address.url));
  return EXIT.ok;
}

function checkPasswordOptions({ options }: CommandInput): void {
  const usage = 'usage: svc login --email EMAIL --password-stdin [--register], or svc login --with-token';
  if (!options.text('email')) throw usageError('say who logs in: --email is missing', usage);
  if (!options.isSet('passwordStdin')) throw usageError('say where the password comes from: --password-stdin', usage);
  if (options.text('name') !== undefined && !options.isSet('register')) {
    throw usageError('--name goes with --register only', usage);
  }
}

async function readSecret({ io }: CommandInput, what: 'password' | 'token'): Promise<string> {
  // Typed in, it would be shown on the screen.
  if (io.stdin.isTerminal) {
    throw usageError(`the ${what} must come from a file or a pipe`, `such as: svc login … < ${what}.txt`);
  }
  const text = await io.stdin.readAll();
  const secret = what === 'token' ? text.trim() : text.replace(/\r?\n$/, '');
  if (secret === '') throw usageError(`standard input held no ${what}`);
  // Anything else can't be sent in a header, and its error would show it.
  if (what === 'token' && !/^[\x21-\x7e]+$/.test(secret)) throw usageError('standard input held no session token');
  return secret;
}

async function openSession(input: CommandInput, client: ApiClient, password: string): Promise<string> {
  const email = input.options.text('email') ?? '';
  const name = input.options.text('name');
  if (!input.options.isSet('register')) return (await client.login({ email, password })).token;
  return (await client.register({ email, password, ...(name === undefined ? {} : { name }) })).token;
}

function greeting({ account, workspaces }: MeResponse, baseUrl: string): string {
  const workspace = workspaces[0];
  const where = workspace === undefined ? '' : `, workspace ${workspace.name}`;
  return `Logged in at ${baseUrl} as ${account.email}${where}.\n`;
}

// Accounts: registering, logging in and out, and who a session token stands for.

import type { ApiAccount, ApiWorkspace, LoginResponse, MeResponse, RegisterResponse } from '../api/types.ts';
import { normaliseEmail } from '../identity/email.ts';
import { ID_BYTES, makeId } from '../identity/ids.ts';
import { passwordProblem } from '../identity/password-rules.ts';
import type { Account, Session, Store } from '../store/store.ts';
import { SvcError } from '../wire/svc-error.ts';
import { createKeyedLock } from './keyed-lock.ts';
import type { PasswordHasher } from './password-hasher.ts';
import { invalidField, orNull, readFields, readLabel, readText, renderTimestamp, required } from './request-fields.ts';
import { createSessionService } from './sessions.ts';
import { createWorkspaceService, NAME_LENGTH_MAX } from './workspaces.ts';

export type AccountDeps = {
  readonly store: Store;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly hasher: PasswordHasher;
  readonly startingCreditsNano: number;
  /** False: nobody can register by themselves. */
  readonly registrationOpen: boolean;
};

export type Identity = { readonly account: Account; readonly session: Session };

export type AccountService = {
  /**
   * Makes an account with a workspace and logs it in. The first account is the operator. `client` says what logs in (its
   * user agent). Throws `INVALID_REQUEST`, `CONFLICT` (email taken), `FORBIDDEN` (registration closed), `OVERLOADED`.
   */
  register(body: unknown, client: string): Promise<RegisterResponse>;
  /** Throws the same `INVALID_CREDENTIALS` for an unknown email and for a wrong password, after the same time. */
  login(body: unknown, client: string): Promise<LoginResponse>;
  logout(identity: Identity): Promise<void>;
  me(account: Account): MeResponse;
  /** Throws `INVALID_SESSION`. */
  authenticateSession(token: string | undefined): Promise<Identity>;
};

type NewAccount = { readonly email: string; readonly password: string; readonly name: string | null };

export function createAccountService(deps: AccountDeps): AccountService {
  const { documents } = deps.store;
  const sessions = createSessionService(deps);
  const workspaces = createWorkspaceService(deps);
  const lock = createKeyedLock();

  const openSession = async (account: Account, client: string): Promise<LoginResponse> => {
    const { token, session } = await sessions.issue(account.id, client);
    return { account: renderAccount(account), token, expires_at: renderTimestamp(session.expiresAt) };
  };
  const register: AccountService['register'] = async (body, client) => {
    if (!deps.registrationOpen) {
      throw new SvcError('FORBIDDEN', 'Registration is closed here; ask the operator for an account.');
    }
    const wanted = parseNewAccount(body);
    if (documents.accountByEmail(wanted.email)) throw emailTaken();
    const passwordHash = await deps.hasher.hash(wanted.password);
    // One at a time, so that there is exactly one first account.
    const account = await lock('register', () => addAccount(deps, wanted, passwordHash));
    const workspace: ApiWorkspace = await workspaces.ensureOwn(account);
    const { token, expires_at, account: view } = await openSession(account, client);
    return { account: view, workspace, token, expires_at };
  };
  const login: AccountService['login'] = async (body, client) => {
    const { email, password } = parseLogin(body);
    const account = email === undefined ? undefined : documents.accountByEmail(email);
    const right = account
      ? await deps.hasher.verify(password, account.passwordHash)
      : await deps.hasher.verifyNobody(password);
    if (!account || !right) throw new SvcError('INVALID_CREDENTIALS', 'Wrong email or password.');
    // Mends what a crash in the middle of registering left undone.
    await workspaces.ensureOwn(account);
    return openSession(account, client);
  };
  return {
    register,
    login,
    logout: (identity) => sessions.end(identity.session),
    me: (account) => ({ account: renderAccount(account), workspaces: workspaces.listOf(account) }),
    authenticateSession: async (token) => {
      const session = await sessions.authenticate(token);
      const account = documents.accountById(session.accountId);
      if (!account) throw new SvcError('INVALID_SESSION', 'The account of this session is gone.');
      return { account, session };
    },
  };
}

async function addAccount(deps: AccountDeps, wanted: NewAccount, passwordHash: string): Promise<Account> {
  const { documents } = deps.store;
  if (documents.accountByEmail(wanted.email)) throw emailTaken();
  const account: Account = {
    id: makeId('acc', deps.randomBytes(ID_BYTES)),
    email: wanted.email,
    name: wanted.name,
    passwordHash,
    operator: documents.accounts().length === 0,
    createdAt: deps.now(),
  };
  await documents.addAccount(account);
  return account;
}

function parseNewAccount(body: unknown): NewAccount {
  const fields = readFields(body, ['email', 'password', 'name']);
  const email = normaliseEmail(required(readText(fields, 'email'), 'email'));
  if (email === undefined) throw invalidField('email', 'must be an address such as "ada@example.com"');
  const password = required(readText(fields, 'password'), 'password');
  const problem = passwordProblem(password);
  if (problem !== undefined) throw new SvcError('INVALID_REQUEST', problem, { param: 'password' });
  return { email, password, name: orNull(fields, 'name', () => readLabel(fields, 'name', NAME_LENGTH_MAX)) ?? null };
}

function parseLogin(body: unknown): { readonly email: string | undefined; readonly password: string } {
  const fields = readFields(body, ['email', 'password']);
  return {
    email: normaliseEmail(required(readText(fields, 'email'), 'email')),
    password: required(readText(fields, 'password'), 'password'),
  };
}

function renderAccount(account: Account): ApiAccount {
  return {
    id: account.id,
    email: account.email,
    name: account.name,
    role: account.operator ? 'operator' : 'user',
    created_at: renderTimestamp(account.createdAt),
  };
}

function emailTaken(): SvcError {
  return new SvcError('CONFLICT', 'There is an account with this email already; log in instead.', { param: 'email' });
}

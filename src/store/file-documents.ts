// Accounts, sessions, workspaces, keys, preferences and saved answers: one file per kind, read from memory.

import type { z } from 'zod';
import { SvcError } from '../wire/svc-error.ts';
import type { Disk } from './disk.ts';
import {
  accountSchema,
  answerSchema,
  apiKeySchema,
  documentFileParser,
  preferencesSchema,
  type StoredAnswer,
  type StoredPreferences,
  sessionSchema,
  workspaceSchema,
} from './document-schemas.ts';
import { type DocumentTable, type DocumentTableOptions, openDocumentTable } from './document-table.ts';
import { removeTemporaries } from './replace-file.ts';
import type { Account, ApiKey, Documents, IdempotentAnswer, Preferences, Session, Workspace } from './store.ts';

export type FileDocumentsOptions = {
  readonly directory: string;
  /** True once the data directory has been set up: no file may be missing then. */
  readonly required: boolean;
  readonly now: () => number;
  readonly onFatal: (error: Error) => void;
  readonly disk: Disk;
};

const ANSWER_KEPT_MS = 24 * 3_600_000;

const DEFAULT_PREFERENCES: Preferences = Object.freeze({
  weights: null,
  models: Object.freeze({ allow: Object.freeze([]), deny: Object.freeze([]) }),
  maxPrice: Object.freeze({ input: null, output: null }),
  listRealModels: true,
  optimize: 'off',
  fallback: true,
  sticky: true,
});

type Tables = {
  readonly accounts: DocumentTable<Account>;
  readonly sessions: DocumentTable<Session>;
  readonly workspaces: DocumentTable<Workspace>;
  readonly keys: DocumentTable<ApiKey>;
  readonly preferences: DocumentTable<StoredPreferences>;
  readonly answers: DocumentTable<StoredAnswer>;
};

/** Throws `DamagedStateError` for a file that is missing or unreadable. */
export async function openFileDocuments(options: FileDocumentsOptions): Promise<FileDocuments> {
  await removeTemporaries(options.disk, options.directory);
  const { now } = options;
  const open = <T>(
    name: string,
    schema: z.ZodType<T>,
    keys: Pick<DocumentTableOptions<T>, 'idOf' | 'indexOf' | 'isStale'>,
  ) => openDocumentTable<T>({ ...options, ...keys, name, parse: documentFileParser(schema) });
  return new FileDocuments(
    {
      accounts: await open('accounts.json', accountSchema, {
        idOf: byId,
        indexOf: (account) => emailKey(account.email),
      }),
      sessions: await open('sessions.json', sessionSchema, {
        idOf: byId,
        indexOf: (session) => session.digest,
        isStale: (session) => session.expiresAt <= now(),
      }),
      workspaces: await open('workspaces.json', workspaceSchema, { idOf: byId }),
      keys: await open('keys.json', apiKeySchema, { idOf: byId, indexOf: (key) => key.digest }),
      preferences: await open('preferences.json', preferencesSchema, { idOf: (each) => each.workspaceId }),
      answers: await open('idempotency.json', answerSchema, {
        idOf: (stored) => stored.scope,
        isStale: (stored) => isOver(stored.answer, now()),
      }),
    },
    now,
  );
}

export class FileDocuments implements Documents {
  readonly #tables: Tables;
  readonly #now: () => number;

  constructor(tables: Tables, now: () => number) {
    this.#tables = tables;
    this.#now = now;
  }

  /** True while no document was ever written. */
  get empty(): boolean {
    return Object.values(this.#tables).every((table) => table.size === 0);
  }

  accountById(id: string): Account | undefined {
    return this.#tables.accounts.get(id);
  }

  accountByEmail(email: string): Account | undefined {
    return this.#tables.accounts.find(emailKey(email));
  }

  accounts(): readonly Account[] {
    return this.#tables.accounts.values();
  }

  addAccount(account: Account): Promise<void> {
    const added = this.#tables.accounts.copy(account);
    return this.#tables.accounts.change((next) => {
      for (const other of next.values()) {
        if (other.id !== added.id && emailKey(other.email) !== emailKey(added.email)) continue;
        throw new SvcError('CONFLICT', 'an account with this email exists already', { param: 'email' });
      }
      next.set(added.id, added);
    });
  }

  sessionByDigest(digest: string): Session | undefined {
    return this.#tables.sessions.find(digest);
  }

  putSession(session: Session): Promise<void> {
    return this.#tables.sessions.put(session);
  }

  removeSession(id: string): Promise<void> {
    return this.#tables.sessions.change((next) => next.delete(id));
  }

  workspaceById(id: string): Workspace | undefined {
    return this.#tables.workspaces.get(id);
  }

  workspaces(): readonly Workspace[] {
    return this.#tables.workspaces.values();
  }

  putWorkspace(workspace: Workspace): Promise<void> {
    return this.#tables.workspaces.put(workspace);
  }

  apiKeyByDigest(digest: string): ApiKey | undefined {
    return this.#tables.keys.find(digest);
  }

  apiKeysOf(workspaceId: string): readonly ApiKey[] {
    return this.#tables.keys.values().filter((key) => key.workspaceId === workspaceId);
  }

  putApiKey(key: ApiKey): Promise<void> {
    return this.#tables.keys.put(key);
  }

  preferencesOf(workspaceId: string): Preferences {
    return this.#tables.preferences.get(workspaceId)?.preferences ?? DEFAULT_PREFERENCES;
  }

  putPreferences(workspaceId: string, preferences: Preferences): Promise<void> {
    return this.#tables.preferences.put({ workspaceId, preferences });
  }

  idempotent(scope: string): IdempotentAnswer | undefined {
    const answer = this.#tables.answers.get(scope)?.answer;
    return answer === undefined || isOver(answer, this.#now()) ? undefined : answer;
  }

  putIdempotent(scope: string, answer: IdempotentAnswer): Promise<void> {
    return this.#tables.answers.put({ scope, answer });
  }

  /** Resolves when everything handed in is written. */
  async close(): Promise<void> {
    await Promise.all(Object.values(this.#tables).map((table) => table.idle()));
  }
}

function byId(item: { readonly id: string }): string {
  return item.id;
}

function emailKey(email: string): string {
  return email.toLowerCase();
}

function isOver(answer: IdempotentAnswer, nowMs: number): boolean {
  return nowMs - answer.at >= ANSWER_KEPT_MS;
}

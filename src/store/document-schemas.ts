// What the document files may hold, checked when they are read.

import { z } from 'zod';
import { ROLES } from '../identity/roles.ts';
import type { Account, ApiKey, IdempotentAnswer, Preferences, Session, Workspace } from './store.ts';

export type StoredPreferences = { readonly workspaceId: string; readonly preferences: Preferences };
export type StoredAnswer = { readonly scope: string; readonly answer: IdempotentAnswer };

const time = z.number();
const limit = z.number().nonnegative();
const price = z.string().nullable();

export const accountSchema: z.ZodType<Account> = z.object({
  id: z.string(),
  email: z.string(),
  name: z.string().nullable(),
  passwordHash: z.string(),
  operator: z.boolean(),
  createdAt: time,
});

export const sessionSchema: z.ZodType<Session> = z.object({
  id: z.string(),
  digest: z.string(),
  accountId: z.string(),
  client: z.string(),
  createdAt: time,
  lastUsedAt: time,
  expiresAt: time,
});

export const workspaceSchema: z.ZodType<Workspace> = z.object({
  id: z.string(),
  name: z.string(),
  createdAt: time,
  members: z.array(z.object({ accountId: z.string(), role: z.enum(ROLES) })),
  requestsPerMinute: limit.nullable(),
  tokensPerMinute: limit.nullable(),
});

export const apiKeySchema: z.ZodType<ApiKey> = z.object({
  id: z.string(),
  workspaceId: z.string(),
  name: z.string(),
  digest: z.string(),
  prefix: z.string(),
  last4: z.string(),
  createdAt: time,
  expiresAt: time.nullable(),
  revokedAt: time.nullable(),
  models: z.array(z.string()).nullable(),
  requestsPerMinute: limit,
  tokensPerMinute: limit,
  budgetNano: z.int().nonnegative().nullable(),
  budgetPeriod: z.enum(['total', 'day', 'month']),
});

export const preferencesSchema: z.ZodType<StoredPreferences> = z.object({
  workspaceId: z.string(),
  preferences: z.object({
    weights: z.object({ speed: limit, quality: limit, cost: limit }).nullable(),
    models: z.object({ allow: z.array(z.string()), deny: z.array(z.string()) }),
    maxPrice: z.object({ input: price, output: price }),
    listRealModels: z.boolean(),
    optimize: z.enum(['off', 'lossless']),
    fallback: z.boolean(),
    sticky: z.boolean(),
  }),
});

export const answerSchema: z.ZodType<StoredAnswer> = z.object({
  scope: z.string(),
  answer: z.object({ bodyDigest: z.string(), status: z.int(), body: z.unknown(), at: time }),
});

/** A parser for a whole file of such documents; throws a `ZodError`. */
export function documentFileParser<T>(
  item: z.ZodType<T>,
): (content: unknown) => { readonly format: 1; readonly items: readonly T[] } {
  const file = z.object({ format: z.literal(1), items: z.array(item) });
  return (content) => file.parse(content);
}

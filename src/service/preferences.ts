// Preferences of a workspace: how its requests are routed where they do not say so themselves.

import type { PreferencesView } from '../api/types.ts';
import { renderUsd } from '../ledger/nano.ts';
import type { Account, Preferences, Store } from '../store/store.ts';
import { createKeyedLock } from './keyed-lock.ts';
import { type Fields, orNull, readBoolean, readChoice, readFields, readPatterns, readUsd } from './request-fields.ts';
import { parseWeights } from './svc-options.ts';
import type { WorkspaceService } from './workspaces.ts';

const FIELDS = ['weights', 'models', 'max_price', 'list_real_models', 'optimize', 'fallback', 'sticky'];
const PATTERNS_MAX = 200;
const PATTERN_LENGTH_MAX = 200;

export type PreferenceService = {
  read(account: Account, workspaceId: string): PreferencesView;
  /** Fields given replace, others stay, inside `models` and `max_price` too; null resets. Owners only. */
  replace(account: Account, workspaceId: string, body: unknown): Promise<PreferencesView>;
};

export function createPreferenceService(deps: {
  readonly store: Store;
  readonly workspaces: WorkspaceService;
}): PreferenceService {
  const { documents } = deps.store;
  const lock = createKeyedLock();
  return {
    read: (account, workspaceId) => {
      deps.workspaces.workspaceFor(account, workspaceId, 'read');
      return renderPreferences(documents.preferencesOf(workspaceId));
    },
    replace: async (account, workspaceId, body) => {
      deps.workspaces.workspaceFor(account, workspaceId, 'write');
      const fields = readFields(body, FIELDS);
      return lock(workspaceId, async () => {
        const merged = mergePreferences(documents.preferencesOf(workspaceId), fields);
        await documents.putPreferences(workspaceId, merged);
        return renderPreferences(merged);
      });
    },
  };
}

function mergePreferences(current: Preferences, fields: Fields): Preferences {
  return {
    weights:
      fields['weights'] === undefined
        ? current.weights
        : orNull(fields, 'weights', () => parseWeights(fields['weights'], 'weights')),
    models: mergeModels(current.models, fields['models']),
    maxPrice: mergeMaxPrice(current.maxPrice, fields['max_price']),
    listRealModels: readBoolean(fields, 'list_real_models') ?? current.listRealModels,
    optimize: readChoice(fields, 'optimize', ['off', 'lossless']) ?? current.optimize,
    fallback: readBoolean(fields, 'fallback') ?? current.fallback,
    sticky: readBoolean(fields, 'sticky') ?? current.sticky,
  };
}

function mergeModels(current: Preferences['models'], given: unknown): Preferences['models'] {
  if (given === undefined) return current;
  if (given === null) return { allow: [], deny: [] };
  const fields = inside(given, 'models', ['allow', 'deny']);
  return {
    allow: readPatterns(fields, 'models.allow', PATTERNS_MAX, PATTERN_LENGTH_MAX) ?? current.allow,
    deny: readPatterns(fields, 'models.deny', PATTERNS_MAX, PATTERN_LENGTH_MAX) ?? current.deny,
  };
}

function mergeMaxPrice(current: Preferences['maxPrice'], given: unknown): Preferences['maxPrice'] {
  if (given === undefined) return current;
  if (given === null) return { input: null, output: null };
  const fields = inside(given, 'max_price', ['input', 'output']);
  return {
    input: priceOf(fields, 'max_price.input', current.input),
    output: priceOf(fields, 'max_price.output', current.output),
  };
}

/** A price in its shortest spelling. */
function priceOf(fields: Fields, field: string, current: string | null): string | null {
  if (fields[field] === undefined) return current;
  const nano = orNull(fields, field, () => readUsd(fields, field));
  return nano === null || nano === undefined ? null : renderUsd(nano);
}

/** The fields of a nested object under their full names, so that a message tells where they stand. */
function inside(value: unknown, name: string, allowed: readonly string[]): Fields {
  const fields = readFields(value, allowed, `${name}.`);
  return Object.fromEntries(Object.entries(fields).map(([field, item]) => [`${name}.${field}`, item]));
}

function renderPreferences(preferences: Preferences): PreferencesView {
  return {
    weights: preferences.weights,
    models: preferences.models,
    max_price: preferences.maxPrice,
    list_real_models: preferences.listRealModels,
    optimize: preferences.optimize,
    fallback: preferences.fallback,
    sticky: preferences.sticky,
  };
}

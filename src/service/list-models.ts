// The model list: the four virtual models always, the real ones where the workspace has that enabled.

import type { ModelList, ModelView } from '../api/types.ts';
import { renderUsd } from '../ledger/nano.ts';
import type { CatalogModel, ListedPricing } from '../routing/catalog.ts';
import { matchesAny } from '../routing/eligible.ts';
import { PRESETS } from '../routing/presets.ts';
import { SvcError } from '../wire/svc-error.ts';
import { type Caller, type CallerDeps, type CallerInput, identifyCaller } from './caller.ts';
import type { Offer } from './completion.ts';
import { invalidField } from './request-fields.ts';

/** A page as Anthropic's clients ask for one, in the words of their query. */
export type ModelPage = {
  readonly limit: string | undefined;
  readonly afterId: string | undefined;
  readonly beforeId: string | undefined;
};

export interface ModelLister {
  /** Without a page everything is listed. Throws `INVALID_REQUEST` for a `limit` or an id that makes no page. */
  list(input: CallerInput, page?: ModelPage): Promise<ModelList>;
  /** Throws `NOT_FOUND`. Answers for every model that can be asked for, listed or not. */
  one(input: CallerInput, id: string): Promise<ModelView>;
}

/** When the virtual models came to be, for clients that sort by it. */
const PRESETS_CREATED = 1_767_225_600;
const LIMIT_MAX = 1000;

export function createModelLister(deps: CallerDeps & { offer(): Pick<Offer, 'catalog'> }): ModelLister {
  const all = (caller: Caller): readonly ModelView[] => {
    const { listRealModels } = deps.store.documents.preferencesOf(caller.workspace.id);
    return listRealModels ? [...virtualModels(), ...realModels(deps.offer(), caller)] : virtualModels();
  };
  return {
    async list(input, page) {
      const models = all(await identifyCaller(deps, input));
      return page ? pageOf(models, page) : listOf(models, false);
    },
    async one(input, id) {
      const caller = await identifyCaller(deps, input);
      const model = [...virtualModels(), ...realModels(deps.offer(), caller)].find((entry) => entry.id === id);
      if (!model)
        throw new SvcError(
          'NOT_FOUND',
          `There is no model ${JSON.stringify(id.slice(0, 200))}; GET /v1/models lists what there is.`,
        );
      return model;
    },
  };
}

/** `has_more` looks the way the page was asked for: back where `before_id` says so, else on. */
function pageOf(models: readonly ModelView[], page: ModelPage): ModelList {
  const limit = parseLimit(page.limit) ?? models.length;
  const start = page.afterId === undefined ? 0 : indexOf(models, page.afterId, 'after_id') + 1;
  const end = page.beforeId === undefined ? models.length : indexOf(models, page.beforeId, 'before_id');
  const between = models.slice(start, end);
  const isBackward = page.beforeId !== undefined && page.afterId === undefined;
  const data = isBackward ? between.slice(Math.max(0, between.length - limit)) : between.slice(0, limit);
  return listOf(data, data.length < between.length);
}

function parseLimit(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= LIMIT_MAX) return limit;
  throw invalidField('limit', `must be a whole number from 1 to ${LIMIT_MAX}`);
}

function indexOf(models: readonly ModelView[], id: string, field: string): number {
  const index = models.findIndex((model) => model.id === id);
  if (index < 0) throw invalidField(field, 'must be the id of a listed model');
  return index;
}

function listOf(data: readonly ModelView[], hasMore: boolean): ModelList {
  const [first] = data;
  return {
    object: 'list',
    data,
    has_more: hasMore,
    next_cursor: null,
    first_id: first?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  };
}

/** What Anthropic's clients expect to be told of every model; what is listed can be used. */
const ACTIVE = {
  capabilities: null,
  line: null,
  lifecycle: 'active',
  deprecated_at: null,
  retires_at: null,
} as const;

function virtualModels(): readonly ModelView[] {
  return PRESETS.map(({ id, description }) => ({
    id,
    object: 'model' as const,
    type: 'model' as const,
    display_name: id,
    created: PRESETS_CREATED,
    created_at: rfc3339(PRESETS_CREATED),
    owned_by: 'svc',
    ...ACTIVE,
    max_input_tokens: null,
    max_tokens: null,
    description,
  }));
}

function realModels(offer: Pick<Offer, 'catalog'>, caller: Caller): readonly ModelView[] {
  const allowed = caller.principal?.apiKey.models;
  const models = allowed ? offer.catalog.models.filter(({ id }) => matchesAny(id, allowed)) : offer.catalog.models;
  return models.map(viewOf);
}

function viewOf(model: CatalogModel): ModelView {
  return {
    id: model.id,
    object: 'model',
    type: 'model',
    display_name: model.name,
    created: model.created,
    created_at: rfc3339(model.created),
    owned_by: model.id.split('/')[0] ?? 'unknown',
    ...ACTIVE,
    max_input_tokens: model.contextLength,
    max_tokens: model.maxOutputTokens ?? null,
    name: model.name,
    context_length: model.contextLength,
    ...(model.maxOutputTokens === undefined ? {} : { max_output_tokens: model.maxOutputTokens }),
    ...(model.pricing ? { pricing: pricesOf(model.pricing) } : {}),
    abilities: model.abilities,
  };
}

/** A moment no calendar has is the beginning of time, as clients expect it of models without a date. */
function rfc3339(seconds: number): string {
  const date = new Date(seconds * 1000);
  return (Number.isNaN(date.getTime()) ? new Date(0) : date).toISOString().replace('.000Z', 'Z');
}

/** USD per million tokens, as people compare prices. */
function pricesOf(pricing: ListedPricing): Record<string, string> {
  return {
    input_per_million: renderUsd(pricing.inputPerMTok),
    output_per_million: renderUsd(pricing.outputPerMTok),
    ...(pricing.cachedInputPerMTok === undefined
      ? {}
      : { cached_input_per_million: renderUsd(pricing.cachedInputPerMTok) }),
    ...(pricing.cacheWritePerMTok === undefined
      ? {}
      : { cache_write_per_million: renderUsd(pricing.cacheWritePerMTok) }),
    ...(pricing.perRequest === undefined ? {} : { per_request: renderUsd(pricing.perRequest) }),
    ...(pricing.perImage === undefined ? {} : { per_image: renderUsd(pricing.perImage) }),
  };
}

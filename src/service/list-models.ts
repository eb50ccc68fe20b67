// The model list: the four virtual models always, the real ones where the workspace has that enabled.

import type { ModelList, ModelView } from '../api/types.ts';
import { renderUsd } from '../ledger/nano.ts';
import type { CatalogModel, ListedPricing } from '../routing/catalog.ts';
import { matchesAny } from '../routing/eligible.ts';
import { PRESETS } from '../routing/presets.ts';
import { SvcError } from '../wire/svc-error.ts';
import { type Caller, type CallerDeps, type CallerInput, identifyCaller } from './caller.ts';
import type { Offer } from './completion.ts';

export interface ModelLister {
  list(input: CallerInput): Promise<ModelList>;
  /** Throws `NOT_FOUND`. Answers for every model that can be asked for, listed or not. */
  one(input: CallerInput, id: string): Promise<ModelView>;
}

/** When the virtual models came to be, for clients that sort by it. */
const PRESETS_CREATED = 1_767_225_600;

export function createModelLister(deps: CallerDeps & { offer(): Pick<Offer, 'catalog'> }): ModelLister {
  const all = (caller: Caller): readonly ModelView[] => {
    const { listRealModels } = deps.store.documents.preferencesOf(caller.workspace.id);
    return listRealModels ? [...virtualModels(), ...realModels(deps.offer(), caller)] : virtualModels();
  };
  return {
    async list(input) {
      return listOf(all(await identifyCaller(deps, input)));
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

/** One page holds everything, whatever `limit` asks for. */
function listOf(data: readonly ModelView[]): ModelList {
  const [first] = data;
  return {
    object: 'list',
    data,
    has_more: false,
    next_cursor: null,
    first_id: first?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  };
}

function virtualModels(): readonly ModelView[] {
  return PRESETS.map(({ id, description }) => ({
    id,
    object: 'model' as const,
    type: 'model' as const,
    display_name: id,
    created: PRESETS_CREATED,
    created_at: rfc3339(PRESETS_CREATED),
    owned_by: 'svc',
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

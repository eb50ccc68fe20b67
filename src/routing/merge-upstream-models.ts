// What the upstream lists joined with what the snapshot knows: the catalogue requests are routed with.

import { type Catalog, type CatalogModel, createCatalog, type ListedPricing } from './catalog.ts';
import { estimateAbilities } from './estimate-abilities.ts';
import type { ListedModel } from './parse-model-list.ts';

/** What nearly every model of today has room for; an upstream that lists no limit seldom means a smaller one. */
const CONTEXT_UNKNOWN_TOKENS = 128_000;
/** An upstream that lists no parameters gets the benefit of the doubt for the usual ones. */
const PARAMETERS_UNKNOWN = ['max_tokens', 'temperature', 'top_p', 'stop', 'tools', 'tool_choice', 'response_format'];
const SEES_IMAGES = /claude|gemini|gpt-4o|gpt-4\.1|gpt-[5-9]|llama-4|pixtral|gemma-3|gemma-4|[-_]vl\b|[-_]vision\b/i;
const GIVES_NO_TEXT = /embed|rerank|whisper|transcri|[-_]tts\b|\btts[-_]|dall-e|[-_]image\b|moderation/i;

/**
 * Exactly the models of `listed`, in its order. Listed prices and limits win over the snapshot's; models the snapshot
 * does not know get estimated abilities (`estimated: true`). `pricing` is absent where no price is known, and where the
 * listed one can't be read.
 */
export function mergeUpstreamModels(snapshot: Catalog, listed: readonly ListedModel[]): Catalog {
  const tails = uniqueTails(snapshot);
  const models = listed.map((model) => {
    const known = snapshot.byId.get(model.id) ?? tails.get(model.id);
    return known ? refresh(known, model) : introduce(model, snapshot);
  });
  return createCatalog(models);
}

function refresh(known: CatalogModel, listed: ListedModel): CatalogModel {
  const { maxOutputTokens: oldCap, pricing: oldPricing, expires: _gone, ...rest } = known;
  const cap = listed.maxOutputTokens ?? oldCap;
  const pricing = listed.priceUnreadable ? undefined : (listed.pricing ?? oldPricing);
  return {
    ...rest,
    id: listed.id,
    name: listed.name ?? known.name,
    contextLength: listed.contextLength ?? known.contextLength,
    ...(cap === undefined ? {} : { maxOutputTokens: cap }),
    inputModalities: listed.inputModalities ?? known.inputModalities,
    ...(listed.outputModalities === undefined ? {} : { outputModalities: listed.outputModalities }),
    supportedParameters: listed.supportedParameters ?? known.supportedParameters,
    ...(pricing === undefined ? {} : { pricing }),
    created: known.created || listed.created || 0,
    ...expiry(listed.expires ?? known.expires),
  };
}

function introduce(listed: ListedModel, snapshot: Catalog): CatalogModel {
  const created = listed.created ?? 0;
  const supportedParameters = listed.supportedParameters ?? PARAMETERS_UNKNOWN;
  const outputModalities = listed.outputModalities ?? (GIVES_NO_TEXT.test(listed.id) ? ['other'] : undefined);
  const sees = SEES_IMAGES.test(listed.id);
  const unmeasured = { id: listed.id, created, supportedParameters, pricing: listed.pricing };
  return {
    id: listed.id,
    name: listed.name ?? listed.id,
    contextLength: listed.contextLength ?? CONTEXT_UNKNOWN_TOKENS,
    ...(listed.maxOutputTokens === undefined ? {} : { maxOutputTokens: listed.maxOutputTokens }),
    inputModalities: listed.inputModalities ?? (sees ? ['text', 'image'] : ['text']),
    ...(outputModalities === undefined ? {} : { outputModalities }),
    supportedParameters,
    ...priced(listed.pricing),
    abilities: estimateAbilities(unmeasured, snapshot.models),
    estimated: true,
    created,
    ...expiry(listed.expires),
  };
}

/** A plain list may leave the maker out (`gpt-4o` for `openai/gpt-4o`): that is the same model if only one is so called. */
function uniqueTails(snapshot: Catalog): ReadonlyMap<string, CatalogModel> {
  const tails = new Map<string, CatalogModel>();
  const shared = new Set<string>();
  for (const model of snapshot.models) {
    const tail = model.id.slice(model.id.indexOf('/') + 1);
    if (tails.has(tail)) shared.add(tail);
    tails.set(tail, model);
  }
  for (const tail of shared) tails.delete(tail);
  return tails;
}

function priced(pricing: ListedPricing | undefined): { pricing?: ListedPricing } {
  return pricing === undefined ? {} : { pricing };
}

function expiry(expires: number | undefined): { expires?: number } {
  return expires === undefined ? {} : { expires };
}

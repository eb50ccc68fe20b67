// What a request and its answer count and cost at the sandbox's own prices.

import { isJsonRecord, type JsonRecord } from './json-record.ts';
import type { PrefixCache, PromptPart } from './prefix-cache.ts';
import type { SandboxModel } from './sandbox-models.ts';
import type { SandboxMessage, SandboxRequest } from './sandbox-request.ts';

export type SandboxUsage = {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  /** USD, a float as OpenRouter sends it. */
  readonly cost: number;
  readonly prompt_tokens_details: { readonly cached_tokens: number };
  readonly completion_tokens_details: { readonly reasoning_tokens: number };
};

type CountedPrompt = { readonly tokens: number; readonly cachedTokens: number; readonly images: number };

/** Role and separators of a message. */
const MESSAGE_OVERHEAD = { tokens: 3, known: 'message' };
const IMAGE_TOKENS = 765;
const LOW_DETAIL_IMAGE_TOKENS = 85;
/** An image is known by its length and ends; reading megabytes to tell two apart is not worth it. */
const IMAGE_EDGE = 512;

export function countPrompt(request: SandboxRequest, cache: PrefixCache): CountedPrompt {
  const parts: PromptPart[] = request.tools.map((tool) => JSON.stringify(tool));
  for (const message of request.messages) addParts(parts, message);
  const images = request.messages.reduce((sum, message) => sum + message.images.length, 0);
  return { ...cache.measure(request.model, parts), images };
}

export function renderUsage(model: SandboxModel, prompt: CountedPrompt, completionTokens: number): SandboxUsage {
  return {
    prompt_tokens: prompt.tokens,
    completion_tokens: completionTokens,
    total_tokens: prompt.tokens + completionTokens,
    cost: costOf(model, prompt, completionTokens),
    prompt_tokens_details: { cached_tokens: prompt.cachedTokens },
    completion_tokens_details: { reasoning_tokens: 0 },
  };
}

function addParts(parts: PromptPart[], message: SandboxMessage): void {
  parts.push(MESSAGE_OVERHEAD, message.role, message.text);
  if (message.calls !== '') parts.push(message.calls);
  for (const { url, detail } of message.images) {
    const known = `${url.length} ${url.slice(0, IMAGE_EDGE)} ${url.slice(-IMAGE_EDGE)}`;
    parts.push({ tokens: detail === 'low' ? LOW_DETAIL_IMAGE_TOKENS : IMAGE_TOKENS, known });
  }
  for (const name of message.files) parts.push(name);
}

function costOf(model: SandboxModel, prompt: CountedPrompt, completionTokens: number): number {
  const prices = pricesFor(model.pricing ?? {}, prompt.tokens);
  const input = price(prices, 'prompt');
  const cached = 'input_cache_read' in prices ? price(prices, 'input_cache_read') : input;
  const cost =
    (prompt.tokens - prompt.cachedTokens) * input +
    prompt.cachedTokens * cached +
    completionTokens * price(prices, 'completion') +
    price(prices, 'request') +
    prompt.images * price(prices, 'image');
  return Number(cost.toFixed(12));
}

/** The last override whose length is reached replaces the prices it names. */
function pricesFor(pricing: JsonRecord, promptTokens: number): JsonRecord {
  const overrides = Array.isArray(pricing['overrides']) ? pricing['overrides'].filter(isJsonRecord) : [];
  const reached = overrides.filter((override) => {
    const from = override['min_prompt_tokens'] ?? override['min_input_tokens'];
    return typeof from === 'number' && promptTokens >= from;
  });
  return Object.assign({}, pricing, ...reached);
}

function price(prices: JsonRecord, name: string): number {
  const value = Number(prices[name] ?? 0);
  return Number.isFinite(value) && value > 0 ? value : 0;
}

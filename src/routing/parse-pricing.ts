// Prices as an aggregator lists them (decimal strings, USD per token) to our integers.

import type { Pricing, PricingOverride } from './catalog.ts';
import { NANO_DIGITS, PER_TOKEN_DIGITS, parseScaledDecimal } from './decimal-price.ts';

type Raw = Readonly<Record<string, unknown>>;

/** More tiers than anyone lists; a longer list is damage. */
const OVERRIDES_MAX = 16;

/**
 * `{prompt, completion, input_cache_read?, input_cache_write?, request?, image?, overrides?}`. Undefined when the
 * price is not known: absent, null, or with neither `prompt` nor `completion`. Throws an Error naming the field.
 */
export function parsePricing(value: unknown): Pricing | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isRecord(value)) throw new Error('pricing must be an object');
  if (isUnset(value['prompt']) && isUnset(value['completion'])) return undefined;
  const cachedInputPerMTok = optional(value, 'input_cache_read', PER_TOKEN_DIGITS);
  const cacheWritePerMTok = optional(value, 'input_cache_write', PER_TOKEN_DIGITS);
  const perRequest = optional(value, 'request', NANO_DIGITS);
  const perImage = optional(value, 'image', NANO_DIGITS);
  const overrides = parseOverrides(value['overrides']);
  return {
    inputPerMTok: required(value, 'prompt'),
    outputPerMTok: required(value, 'completion'),
    ...(cachedInputPerMTok === undefined ? {} : { cachedInputPerMTok }),
    ...(cacheWritePerMTok === undefined ? {} : { cacheWritePerMTok }),
    ...(perRequest ? { perRequest } : {}),
    ...(perImage ? { perImage } : {}),
    ...(overrides.length > 0 ? { overrides } : {}),
  };
}

function parseOverrides(value: unknown): readonly PricingOverride[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || value.length > OVERRIDES_MAX) throw new Error('pricing.overrides must be a short array');
  const tiers = value.map(parseOverride).sort((a, b) => a.minInputTokens - b.minInputTokens);
  const twice = tiers.find((tier, index) => tiers[index + 1]?.minInputTokens === tier.minInputTokens);
  if (twice) throw new Error(`pricing.overrides has two tiers from ${twice.minInputTokens} tokens`);
  return tiers;
}

function parseOverride(value: unknown): PricingOverride {
  if (!isRecord(value)) throw new Error('pricing.overrides must hold objects');
  const from = value['min_prompt_tokens'];
  if (typeof from !== 'number' || !Number.isSafeInteger(from) || from < 0) {
    throw new Error('pricing.overrides[].min_prompt_tokens must be a whole number of tokens');
  }
  const inputPerMTok = optional(value, 'prompt', PER_TOKEN_DIGITS);
  const outputPerMTok = optional(value, 'completion', PER_TOKEN_DIGITS);
  const cachedInputPerMTok = optional(value, 'input_cache_read', PER_TOKEN_DIGITS);
  const cacheWritePerMTok = optional(value, 'input_cache_write', PER_TOKEN_DIGITS);
  return {
    minInputTokens: from,
    ...(inputPerMTok === undefined ? {} : { inputPerMTok }),
    ...(outputPerMTok === undefined ? {} : { outputPerMTok }),
    ...(cachedInputPerMTok === undefined ? {} : { cachedInputPerMTok }),
    ...(cacheWritePerMTok === undefined ? {} : { cacheWritePerMTok }),
  };
}

function required(raw: Raw, field: string): number {
  const price = optional(raw, field, PER_TOKEN_DIGITS);
  if (price === undefined) throw new Error(`pricing.${field} is missing`);
  return price;
}

function optional(raw: Raw, field: string, digits: number): number | undefined {
  const value = raw[field];
  if (isUnset(value)) return undefined;
  const price = typeof value === 'string' ? parseScaledDecimal(value, digits) : undefined;
  if (price === undefined) {
    throw new Error(`pricing.${field} must be a decimal string in USD of 0 or more, not ${shown(value)}`);
  }
  return price;
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? typeof value).slice(0, 60);
}

function isUnset(value: unknown): boolean {
  return value === undefined || value === null;
}

function isRecord(value: unknown): value is Raw {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

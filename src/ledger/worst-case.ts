// The most a request can cost, which is what is held for it, and how much output a balance can pay for.

import { type Pricing, type Rates, ratesAt } from '../routing/catalog.ts';
import { priceNano } from './price.ts';

export type InputBounds = { readonly inputTokensMax: number; readonly images: number };
export type RequestBounds = InputBounds & { readonly maxOutputTokens: number };

const TOKENS_PER_PRICE = 1_000_000n;

/** Nano-dollars, never below the charge of any usage within the bounds. */
export function worstCaseNano(pricing: Pricing, bounds: RequestBounds): number {
  let worst = 0;
  for (const tier of reachableTiers(pricing, bounds.inputTokensMax)) {
    const cost = priceNano(
      [
        [tier.inputTokensMax, dearestInput(tier.rates)],
        [bounds.maxOutputTokens, tier.rates.output],
      ],
      [
        [1, tier.rates.perRequest],
        [bounds.images, tier.rates.perImage],
      ],
    );
    worst = Math.max(worst, cost);
  }
  return worst;
}

/**
 * The largest `max_tokens` whose worst case is not over `availableNano`; 0 when not even the input fits. Where output
 * is free and the rest fits it is `Number.MAX_SAFE_INTEGER`.
 */
export function affordableOutputTokens(pricing: Pricing, bounds: InputBounds, availableNano: number): number {
  let least = BigInt(Number.MAX_SAFE_INTEGER);
  for (const tier of reachableTiers(pricing, bounds.inputTokensMax)) {
    const { rates } = tier;
    const fixed = BigInt(rates.perRequest) + BigInt(bounds.images) * BigInt(rates.perImage);
    const spendable = (BigInt(availableNano) - fixed) * TOKENS_PER_PRICE;
    const left = spendable - BigInt(tier.inputTokensMax) * BigInt(dearestInput(rates));
    if (left < 0n) return 0;
    if (rates.output === 0) continue;
    const tokens = left / BigInt(rates.output);
    if (tokens < least) least = tokens;
  }
  return Number(least);
}

type Tier = { readonly inputTokensMax: number; readonly rates: Rates };

/** Each price level that some input within the bound would meet, with the most input that still meets it. */
function reachableTiers(pricing: Pricing, inputTokensMax: number): readonly Tier[] {
  const tops = [inputTokensMax];
  for (const { minInputTokens } of pricing.overrides ?? []) {
    if (minInputTokens > 0 && minInputTokens <= inputTokensMax) tops.push(minInputTokens - 1);
  }
  return tops.map((top) => ({ inputTokensMax: top, rates: ratesAt(pricing, top) }));
}

function dearestInput(rates: Rates): number {
  return Math.max(rates.input, rates.cached, rates.cacheWrite);
}

// What a request costs: tokens × price, exact, rounded up once to a whole nano-dollar.

import { type Pricing, ratesAt } from '../routing/catalog.ts';

/** Whole token counts, 0 or more. `inputTokens` is all of the input; cached and written tokens are parts of it. */
export type BilledUsage = {
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
};

const TOKENS_PER_PRICE = 1_000_000;
const TOKENS_PER_PRICE_BIG = 1_000_000n;

/** Nano-dollars, a safe integer; an amount beyond that is answered as `Number.MAX_SAFE_INTEGER`, which no balance covers. */
export function chargeNano(pricing: Pricing, usage: BilledUsage, images: number): number {
  const rates = ratesAt(pricing, usage.inputTokens);
  const cached = Math.min(usage.cachedTokens, usage.inputTokens);
  const written = Math.min(usage.cacheWriteTokens, usage.inputTokens - cached);
  const plain = usage.inputTokens - cached - written;
  return priceNano(
    [
      [plain, rates.input],
      [cached, rates.cached],
      [written, rates.cacheWrite],
      [usage.outputTokens, rates.output],
    ],
    [
      [1, rates.perRequest],
      [images, rates.perImage],
    ],
  );
}

type Term = readonly [count: number, price: number];

/** Σ tokens × price per million, rounded up once, plus Σ pieces × price per piece. */
export function priceNano(tokens: readonly Term[], pieces: readonly Term[]): number {
  const tokenSum = sumOf(tokens);
  const pieceSum = sumOf(pieces);
  // A sum of non-negative products that comes out safe was exact all the way.
  if (tokenSum <= Number.MAX_SAFE_INTEGER && pieceSum <= Number.MAX_SAFE_INTEGER) {
    const rest = tokenSum % TOKENS_PER_PRICE;
    const total = (tokenSum - rest) / TOKENS_PER_PRICE + (rest > 0 ? 1 : 0) + pieceSum;
    return Math.min(total, Number.MAX_SAFE_INTEGER);
  }
  const exact = (bigSumOf(tokens) + TOKENS_PER_PRICE_BIG - 1n) / TOKENS_PER_PRICE_BIG + bigSumOf(pieces);
  return exact > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(exact);
}

function sumOf(terms: readonly Term[]): number {
  let sum = 0;
  for (const [count, price] of terms) sum += count * price;
  return sum;
}

function bigSumOf(terms: readonly Term[]): bigint {
  let sum = 0n;
  for (const [count, price] of terms) sum += BigInt(count) * BigInt(price);
  return sum;
}

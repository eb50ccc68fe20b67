// Hold: reserves a request's worst case before its first upstream byte, and says how many output tokens that pays for.

import { renderUsd } from '../ledger/nano.ts';
import type { HoldRecord } from '../ledger/records.ts';
import { affordableOutputTokens, worstCaseNano } from '../ledger/worst-case.ts';
import { type Catalog, type CatalogModel, type Pricing, pricingAt } from '../routing/catalog.ts';
import type { ApiKey, HoldResult, Ledger } from '../store/store.ts';
import type { NeutralRequest } from '../wire/neutral.ts';
import { SvcError } from '../wire/svc-error.ts';
import type { RequestSize } from './request-size.ts';

/** Output tokens assumed for a model that nobody gave a cap for; it is then sent as `max_tokens`. */
const OUTPUT_TOKENS_ASSUMED = 32_768;
/** The least answer worth sending a request for, when the balance can't cover the model's cap. */
const OUTPUT_TOKENS_MIN = 1024;

/** Made here alone, once credits are reserved: no attempt without one. */
class Reservation {
  readonly #requestId: string;

  constructor(requestId: string) {
    this.#requestId = requestId;
  }

  get requestId(): string {
    return this.#requestId;
  }
}

export type Hold = {
  readonly reservation: Reservation;
  readonly heldNano: number;
  /** The prices of the moment of admission: they hold for the whole request, whatever changes meanwhile. */
  readonly pricing: Pricing;
  /** The price was unknown and the dearest known one is charged. */
  readonly priceAssumed: boolean;
  /** Most input tokens this hold pays for. */
  readonly inputTokensMax: number;
  /** Most output tokens this hold pays for, all choices together. */
  readonly outputTokensMax: number;
  /** Set where svc must tell the upstream `max_tokens`, because the client gave none. */
  readonly injectedMaxTokens: number | undefined;
};

export type HoldInput = {
  readonly ledger: Ledger;
  readonly record: Omit<HoldRecord, 'amountNano'>;
  readonly apiKey: ApiKey;
  readonly model: CatalogModel;
  readonly catalog: Catalog;
  readonly request: NeutralRequest;
  readonly size: RequestSize;
};

/** Resolves once the hold is on disk. Throws `INSUFFICIENT_CREDITS` naming balance and need. */
export async function holdCredits(input: HoldInput): Promise<Hold> {
  const { model, request, size } = input;
  const priceAssumed = model.pricing === undefined;
  const pricing = model.pricing ? pricingAt(model.pricing, input.record.at) : dearestPricing(input.catalog);
  // What is behind a URL can't be counted here: it may fill the model's whole context.
  const inputTokensMax = size.unbounded ? Math.max(size.inputTokensMax, model.contextLength) : size.inputTokensMax;
  const perChoice = request.maxTokens ?? outputCapOf(model, inputTokensMax);
  const worst = (outputTokens: number): number =>
    worstCaseNano(pricing, {
      inputTokensMax,
      maxOutputTokens: outputTokens * request.choices,
      images: size.images,
    });
  const amountNano = worst(perChoice);
  const minimumNano = request.maxTokens === undefined ? worst(Math.min(perChoice, OUTPUT_TOKENS_MIN)) : amountNano;
  const budget =
    input.apiKey.budgetNano === null ? null : { limitNano: input.apiKey.budgetNano, period: input.apiKey.budgetPeriod };
  const result = await input.ledger.hold({ record: { ...input.record, amountNano }, budget, minimumNano });
  if (!result.ok) throw refused(result, minimumNano, input.apiKey);
  const affordable =
    result.heldNano >= amountNano
      ? perChoice
      : Math.floor(
          affordableOutputTokens(pricing, { inputTokensMax, images: size.images }, result.heldNano) / request.choices,
        );
  const unlimited = request.maxTokens === undefined && (affordable < perChoice || model.maxOutputTokens === undefined);
  return {
    reservation: new Reservation(input.record.requestId),
    heldNano: result.heldNano,
    pricing,
    priceAssumed,
    inputTokensMax,
    outputTokensMax: affordable * request.choices,
    injectedMaxTokens: unlimited ? affordable : undefined,
  };
}

function outputCapOf(model: CatalogModel, inputTokens: number): number {
  if (model.maxOutputTokens !== undefined) return model.maxOutputTokens;
  const room = Math.max(OUTPUT_TOKENS_MIN, model.contextLength - inputTokens);
  return Math.min(OUTPUT_TOKENS_ASSUMED, room);
}

/** For a model of unknown price: every rate at the dearest that any model of the catalogue has at any size or hour. */
function dearestPricing(catalog: Catalog): Pricing {
  const priced = catalog.models.flatMap(({ pricing }) => (pricing ? [pricing, ...(pricing.overrides ?? [])] : []));
  const most = (pick: (prices: (typeof priced)[number]) => number | undefined): number =>
    priced.reduce((max, prices) => Math.max(max, pick(prices) ?? 0), 0);
  return {
    inputPerMTok: most((prices) => prices.inputPerMTok),
    outputPerMTok: most((prices) => prices.outputPerMTok),
    perRequest: most((prices) => prices.perRequest),
    perImage: most((prices) => prices.perImage),
  };
}

function refused(result: Extract<HoldResult, { ok: false }>, neededNano: number, apiKey: ApiKey): SvcError {
  if (result.reason === 'duplicate') return new SvcError('INTERNAL_ERROR', 'A request id was used twice.');
  const available = `$${renderUsd(Math.max(0, result.availableNano))}`;
  const needed = `$${renderUsd(neededNano)}`;
  return result.reason === 'budget'
    ? new SvcError(
        'INSUFFICIENT_CREDITS',
        `The budget of the API key "${apiKey.name}" has ${available} left, this request may cost up to ${needed}.`,
      )
    : new SvcError(
        'INSUFFICIENT_CREDITS',
        `The workspace has ${available} available, this request may cost up to ${needed}: add credits, or ask for fewer max_tokens.`,
      );
}

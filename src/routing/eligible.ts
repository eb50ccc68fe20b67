// Which models can't serve a request, and why: each exclusion is a code on the hot path and a sentence when shown.

import { renderNanoUsd } from './decimal-price.ts';
import type { Exclusion, Needs } from './decision.ts';
import { matchesGlob, parseGlob } from './glob.ts';
import {
  CAN_CALL_TOOLS,
  CAN_REASON,
  CAN_SEE,
  CAN_STRUCTURE,
  CAN_WRITE,
  type PreparedCatalog,
} from './prepare-catalog.ts';

/** Pattern lists are `*` globs over model ids; an empty `allow` means all. */
export type RouteLimits = {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  /** The API key's own list; null when it has none. Its `svc:` entries name virtual models and exclude no real one. */
  readonly keyModels: readonly string[] | null;
  /** Nano-dollars per million tokens. */
  readonly maxInputPerMTok?: number;
  readonly maxOutputPerMTok?: number;
  /** Nano-dollars for the expected cost of this request. */
  readonly maxCostNano?: number;
  readonly allowUnknownPrice: boolean;
};

/** Why a model is out; 0 when it is in. */
export type ExclusionCode = number;
export const ELIGIBLE = 0;
const EXPIRED = 1;
const NO_TEXT = 2;
const KEY_FORBIDS = 3;
const NOT_ALLOWED = 4;
const DENIED = 5;
const NO_VISION = 6;
const NO_TOOLS = 7;
const NO_STRUCTURE = 8;
const NO_REASONING = 9;
const CONTEXT_TOO_SMALL = 10;
const PRICE_UNKNOWN = 11;
const INPUT_TOO_DEAR = 12;
const OUTPUT_TOO_DEAR = 13;
const COST_TOO_HIGH = 14;

/** What a request asks, in the form the check below wants it. */
export type Ask = {
  readonly needs: Needs;
  readonly bits: number;
  readonly tokens: number;
  readonly nowSeconds: number;
  readonly limits: RouteLimits;
  readonly allow: Uint8Array | null;
  readonly deny: Uint8Array | null;
  readonly key: Uint8Array | null;
};

/** As many lists as a busy installation has keys with their own; more are worked out anew. */
const MATCHES_MAX = 256;

/** Whether any of `patterns` (`*` stands for any run of characters) matches `id`. */
export function matchesAny(id: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => matchesGlob(id, parseGlob(pattern)));
}

export function prepareAsk(columns: PreparedCatalog, needs: Needs, limits: RouteLimits, nowSeconds: number): Ask {
  const { allow, deny, keyModels } = limits;
  const onlyVirtual = keyModels !== null && keyModels.length > 0 && keyModels.every((name) => name.startsWith('svc:'));
  return {
    needs,
    bits: bitsOf(needs),
    tokens: needs.input_tokens + needs.max_output_tokens,
    nowSeconds,
    limits,
    allow: allow.length === 0 ? null : matching(columns, allow),
    deny: deny.length === 0 ? null : matching(columns, deny),
    key: keyModels === null || onlyVirtual ? null : matching(columns, keyModels),
  };
}

/** Everything but the price, which is checked by `priceExclusion` once the cost is known. */
export function exclusionOf(columns: PreparedCatalog, index: number, ask: Ask): ExclusionCode {
  if ((columns.expiresSeconds[index] ?? 0) <= ask.nowSeconds) return EXPIRED;
  if (ask.key !== null && ask.key[index] === 0) return KEY_FORBIDS;
  if (ask.allow !== null && ask.allow[index] === 0) return NOT_ALLOWED;
  if (ask.deny !== null && ask.deny[index] === 1) return DENIED;
  const missing = ask.bits & ~(columns.abilities[index] ?? 0);
  if (missing !== 0) return missingAbility(missing);
  if ((columns.contextTokens[index] ?? 0) < ask.tokens) return CONTEXT_TOO_SMALL;
  return ELIGIBLE;
}

/** Rates in nano-dollars per million tokens, negative when unknown; the cost in nano-dollars. */
export function priceExclusion(limits: RouteLimits, input: number, output: number, costNano: number): ExclusionCode {
  const { maxInputPerMTok, maxOutputPerMTok, maxCostNano } = limits;
  if (input < 0) {
    // What can't be shown to be under a cap is taken to be over it.
    const capped = maxInputPerMTok !== undefined || maxOutputPerMTok !== undefined || maxCostNano !== undefined;
    return limits.allowUnknownPrice && !capped ? ELIGIBLE : PRICE_UNKNOWN;
  }
  if (maxInputPerMTok !== undefined && input > maxInputPerMTok) return INPUT_TOO_DEAR;
  if (maxOutputPerMTok !== undefined && output > maxOutputPerMTok) return OUTPUT_TOO_DEAR;
  return maxCostNano !== undefined && costNano > maxCostNano ? COST_TOO_HIGH : ELIGIBLE;
}

/** The exclusion in words. `rates` and `costNano` as `priceExclusion` had them. */
export function describeExclusion(
  columns: PreparedCatalog,
  index: number,
  code: ExclusionCode,
  detail: { readonly ask: Ask; readonly input: number; readonly output: number; readonly costNano: number },
): Exclusion {
  const { needs, limits } = detail.ask;
  const asked = needs.max_output_tokens > 0 ? ` and ${needs.max_output_tokens} of output` : '';
  const expiredOn = new Date((columns.expiresSeconds[index] ?? 0) * 1000);
  const sentences: Readonly<Record<ExclusionCode, () => string>> = {
    [EXPIRED]: () => `expired on ${expiredOn.toISOString().slice(0, 10)}`,
    [NO_TEXT]: () => 'does not answer in text',
    [KEY_FORBIDS]: () => 'not among the models of this API key',
    [NOT_ALLOWED]: () => 'not on the allow list',
    [DENIED]: () => 'on the deny list',
    [NO_VISION]: () => 'does not take images (vision)',
    [NO_TOOLS]: () => 'does not take tools',
    [NO_STRUCTURE]: () => 'has no structured output',
    [NO_REASONING]: () => 'has no reasoning, which was asked for',
    [CONTEXT_TOO_SMALL]: () =>
      `context of ${columns.contextTokens[index] ?? 0} tokens is too small for ${needs.input_tokens} of input${asked}`,
    [PRICE_UNKNOWN]: () => 'price is unknown',
    [INPUT_TOO_DEAR]: () => overCap('input price', detail.input, limits.maxInputPerMTok, ' per million tokens'),
    [OUTPUT_TOO_DEAR]: () => overCap('output price', detail.output, limits.maxOutputPerMTok, ' per million tokens'),
    [COST_TOO_HIGH]: () => overCap('estimated cost', detail.costNano, limits.maxCostNano, ''),
  };
  return { model: columns.models[index]?.id ?? '', reason: sentences[code]?.() ?? '' };
}

function overCap(what: string, nano: number, capNano: number | undefined, unit: string): string {
  return `${what} of $${renderNanoUsd(nano)}${unit} is over the cap of $${renderNanoUsd(capNano ?? 0)}`;
}

function bitsOf(needs: Needs): number {
  return (
    CAN_WRITE |
    (needs.vision ? CAN_SEE : 0) |
    (needs.tools ? CAN_CALL_TOOLS : 0) |
    (needs.structured_output ? CAN_STRUCTURE : 0) |
    (needs.reasoning ? CAN_REASON : 0)
  );
}

function missingAbility(missing: number): ExclusionCode {
  if (missing & CAN_WRITE) return NO_TEXT;
  if (missing & CAN_SEE) return NO_VISION;
  if (missing & CAN_CALL_TOOLS) return NO_TOOLS;
  return missing & CAN_STRUCTURE ? NO_STRUCTURE : NO_REASONING;
}

/** One flag per model: 1 where a pattern matches. */
function matching(columns: PreparedCatalog, patterns: readonly string[]): Uint8Array {
  const key = patterns.join('\n');
  const known = columns.matches.get(key);
  if (known) return known;
  const globs = patterns.map(parseGlob);
  const flags = Uint8Array.from(columns.models, ({ id }) => (globs.some((glob) => matchesGlob(id, glob)) ? 1 : 0));
  if (columns.matches.size >= MATCHES_MAX) columns.matches.clear();
  columns.matches.set(key, flags);
  return flags;
}

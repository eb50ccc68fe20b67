// Prices as an aggregator lists them (decimal strings, USD per token) to our integers.

import type { ListedOverride, ListedPricing, UtcWindow } from './catalog.ts';
import { NANO_DIGITS, PER_TOKEN_DIGITS, parseScaledDecimal } from './decimal-price.ts';

type Raw = Readonly<Record<string, unknown>>;

/** More than anyone lists; a longer list is damage. */
const OVERRIDES_MAX = 16;

const CONDITIONS = ['min_prompt_tokens', 'utc_start', 'utc_end'];
/** Prices of things that svc neither counts nor charges for: harmless in an override. */
const PRICES_UNUSED = [
  'audio',
  'audio_output',
  'discount',
  'image_output',
  'image_token',
  'input_audio_cache',
  'input_cache_write_1h',
  'internal_reasoning',
  'web_search',
];
const PRICES_USED = ['prompt', 'completion', 'input_cache_read', 'input_cache_write', 'request', 'image'];
const OVERRIDE_FIELDS: ReadonlySet<string> = new Set([...CONDITIONS, ...PRICES_USED, ...PRICES_UNUSED]);

/**
 * `{prompt, completion, input_cache_read?, input_cache_write?, request?, image?, overrides?}`. Undefined when the
 * price is not known: absent, null, or with neither `prompt` nor `completion`. Throws an Error naming the field.
 *
 * `overrides[]` hold prices by the same names, and when they apply: above `min_prompt_tokens` of input, and from
 * `utc_start` until before `utc_end`, as clock numbers (930 is 09:30) or as `"09:30"`, `"09:30:00"`, `"09:30Z"`. All
 * conditions of an entry have to hold. An entry with a field unknown here throws, so that the whole price is unknown:
 * it may be a condition, and a price whose condition nobody checks would be charged at the wrong time.
 */
export function parsePricing(value: unknown): ListedPricing | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isRecord(value)) throw new Error('pricing must be an object');
  if (isUnset(value['prompt']) && isUnset(value['completion'])) return undefined;
  const { perRequest, perImage, ...rates } = parsePrices(value);
  const overrides = parseOverrides(value['overrides']);
  return {
    ...rates,
    inputPerMTok: required(value, 'prompt'),
    outputPerMTok: required(value, 'completion'),
    ...(perRequest ? { perRequest } : {}),
    ...(perImage ? { perImage } : {}),
    ...(overrides.length > 0 ? { overrides } : {}),
  };
}

function parsePrices(raw: Raw) {
  const inputPerMTok = optional(raw, 'prompt', PER_TOKEN_DIGITS);
  const outputPerMTok = optional(raw, 'completion', PER_TOKEN_DIGITS);
  const cachedInputPerMTok = optional(raw, 'input_cache_read', PER_TOKEN_DIGITS);
  const cacheWritePerMTok = optional(raw, 'input_cache_write', PER_TOKEN_DIGITS);
  const perRequest = optional(raw, 'request', NANO_DIGITS);
  const perImage = optional(raw, 'image', NANO_DIGITS);
  return {
    ...(inputPerMTok === undefined ? {} : { inputPerMTok }),
    ...(outputPerMTok === undefined ? {} : { outputPerMTok }),
    ...(cachedInputPerMTok === undefined ? {} : { cachedInputPerMTok }),
    ...(cacheWritePerMTok === undefined ? {} : { cacheWritePerMTok }),
    ...(perRequest === undefined ? {} : { perRequest }),
    ...(perImage === undefined ? {} : { perImage }),
  };
}

function parseOverrides(value: unknown): readonly ListedOverride[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || value.length > OVERRIDES_MAX) throw new Error('pricing.overrides must be a short array');
  return value.map(parseOverride);
}

function parseOverride(value: unknown): ListedOverride {
  if (!isRecord(value)) throw new Error('pricing.overrides must hold objects');
  const unknown = Object.keys(value).find((field) => !OVERRIDE_FIELDS.has(field));
  if (unknown !== undefined) {
    throw new Error(`pricing.overrides[].${unknown.slice(0, 60)} is unknown: its prices may hold at some times only`);
  }
  if (CONDITIONS.every((field) => isUnset(value[field]))) {
    throw new Error('pricing.overrides[] needs min_prompt_tokens, or utc_start and utc_end');
  }
  const window = parseWindow(value);
  return { minInputTokens: parseMinimum(value), ...(window === undefined ? {} : { window }), ...parsePrices(value) };
}

/** The list names the size that has to be passed; ours is the first one for which the prices hold. */
function parseMinimum(raw: Raw): number {
  const above = raw['min_prompt_tokens'];
  if (isUnset(above)) return 0;
  if (typeof above !== 'number' || !(above >= 0 && above < Number.MAX_SAFE_INTEGER)) {
    throw new Error('pricing.overrides[].min_prompt_tokens must be a number of tokens');
  }
  return Math.floor(above) + 1;
}

function parseWindow(raw: Raw): UtcWindow | undefined {
  if (isUnset(raw['utc_start']) && isUnset(raw['utc_end'])) return undefined;
  return { startSecond: parseClock(raw, 'utc_start'), endSecond: parseClock(raw, 'utc_end') };
}

const CLOCK = /^(\d\d):(\d\d)(?::(\d\d))?Z?$/;

/** Seconds of the day; 24:00 is the end of it. */
function parseClock(raw: Raw, field: string): number {
  const value = raw[field];
  const [hours, minutes, seconds] = clockParts(value);
  const second = hours * 3600 + minutes * 60 + seconds;
  if (!(minutes < 60 && seconds < 60 && second <= 86_400)) {
    throw new Error(`pricing.overrides[].${field} must be a time of day such as 930 or "09:30", not ${shown(value)}`);
  }
  return second;
}

function clockParts(value: unknown): readonly [number, number, number] {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) {
    return [Math.floor(value / 100), value % 100, 0];
  }
  const match = typeof value === 'string' ? CLOCK.exec(value) : null;
  return match ? [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)] : [Number.NaN, 0, 0];
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

// An upstream's `/models` answer to listed models; lenient, since one odd entry must not cost the whole list.

import type { ListedPricing } from './catalog.ts';
import { parseSeconds } from './parse-catalog.ts';
import { parsePricing } from './parse-pricing.ts';

type Raw = Readonly<Record<string, unknown>>;

/** What an upstream said of one model; fields it left out are absent. */
export type ListedModel = {
  readonly id: string;
  readonly name?: string;
  readonly contextLength?: number;
  readonly maxOutputTokens?: number;
  readonly inputModalities?: readonly string[];
  readonly outputModalities?: readonly string[];
  readonly supportedParameters?: readonly string[];
  readonly pricing?: ListedPricing;
  /** A price is listed that can't be read: whatever was known before is not the price either. */
  readonly priceUnreadable?: true;
  readonly created?: number;
  readonly expires?: number;
};

const LISTED_MAX = 10_000;
const ID_LENGTH_MAX = 256;

/** `{data: […]}` in OpenRouter's shape, or a plain OpenAI list without prices. Throws an Error when there is no list. */
export function parseModelList(value: unknown): ListedModel[] {
  const data = isRecord(value) ? value['data'] : undefined;
  if (!Array.isArray(data)) throw new Error('the model list has no array "data"');
  const listed = new Map<string, ListedModel>();
  for (const entry of data.slice(0, LISTED_MAX)) {
    const model = parseEntry(entry);
    if (model && !listed.has(model.id)) listed.set(model.id, model);
  }
  return [...listed.values()];
}

function parseEntry(entry: unknown): ListedModel | undefined {
  if (!isRecord(entry)) return undefined;
  const id = entry['id'];
  if (typeof id !== 'string' || id === '' || id.length > ID_LENGTH_MAX) return undefined;
  const architecture = recordOf(entry['architecture']);
  const top = recordOf(entry['top_provider']);
  const contextLength = count(entry['context_length']) ?? count(top['context_length']) ?? count(entry['max_model_len']);
  const cap = count(top['max_completion_tokens']) ?? count(entry['max_output_tokens']);
  return defined({
    id,
    name: typeof entry['name'] === 'string' ? entry['name'] : undefined,
    contextLength,
    // A cap that equals the whole context is the absence of one.
    maxOutputTokens: cap !== undefined && cap !== contextLength ? cap : undefined,
    inputModalities: strings(architecture['input_modalities']) ?? strings(entry['input_modalities']),
    outputModalities: strings(architecture['output_modalities']) ?? strings(entry['output_modalities']),
    supportedParameters: strings(entry['supported_parameters']),
    ...lenientPricing(entry['pricing']),
    created: lenientSeconds(entry['created']),
    expires: lenientSeconds(entry['expiration_date']),
  });
}

/** A price that can't be read is unknown, never zero. `-1` (it depends) is one such. */
function lenientPricing(value: unknown): Pick<Optional<ListedModel>, 'pricing' | 'priceUnreadable'> {
  if (!isRecord(value)) return { pricing: undefined, priceUnreadable: undefined };
  const entries = Object.entries(value).map(([key, price]) => [key, typeof price === 'number' ? String(price) : price]);
  try {
    return { pricing: parsePricing(Object.fromEntries(entries)), priceUnreadable: undefined };
  } catch {
    return { pricing: undefined, priceUnreadable: true };
  }
}

function lenientSeconds(value: unknown): number | undefined {
  try {
    return parseSeconds(value, '');
  } catch {
    // An unreadable date says nothing; the model itself may be fine.
    return undefined;
  }
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}

function strings(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.filter((item) => typeof item === 'string');
}

type Optional<T> = { readonly [K in keyof T]: T[K] | undefined };

/** Drops the fields that are undefined. */
function defined(model: Optional<Omit<ListedModel, 'id'>> & { readonly id: string }): ListedModel {
  const entries = Object.entries(model).filter(([, field]) => field !== undefined);
  return { ...(Object.fromEntries(entries) as Omit<ListedModel, 'id'>), id: model.id };
}

function recordOf(value: unknown): Raw {
  return isRecord(value) ? value : {};
}

function isRecord(value: unknown): value is Raw {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// A catalogue file (the shipped snapshot or a user's own) to a catalogue; strict, so that a mistake is found at start.

import { type Catalog, type CatalogModel, createCatalog, type ListedPricing } from './catalog.ts';
import { estimateAbilities } from './estimate-abilities.ts';
import { parsePricing } from './parse-pricing.ts';

type Raw = Readonly<Record<string, unknown>>;

/** Far above any aggregator; keeps a damaged file from filling the memory. */
const MODELS_MAX = 10_000;
const ABILITIES_MAX = 400;

/** The file format is the contract's (§2). Throws an Error naming the model and the field. */
export function parseCatalog(value: unknown): Catalog {
  if (!isRecord(value) || !Array.isArray(value['models'])) throw new Error('the catalogue needs an array "models"');
  const rows: readonly unknown[] = value['models'];
  if (rows.length > MODELS_MAX) throw new Error(`the catalogue has more than ${MODELS_MAX} models`);
  const catalog = createCatalog(rows.map(parseRow));
  if (catalog.byId.size !== rows.length) throw new Error(`model ${firstDuplicate(catalog.models)}: id is listed twice`);
  return catalog;
}

/** Seconds since 1970 from a number or an ISO date; undefined when absent. Throws an Error naming the field. */
export function parseSeconds(value: unknown, field: string): number | undefined {
  if (value === undefined || value === null) return undefined;
  const seconds = typeof value === 'string' ? Date.parse(value) / 1000 : value;
  if (typeof seconds !== 'number' || !Number.isFinite(seconds) || seconds < 0) {
    throw new Error(`${field} must be Unix seconds or an ISO date`);
  }
  return Math.floor(seconds);
}

function parseRow(row: unknown, index: number): CatalogModel {
  const id = isRecord(row) ? row['id'] : undefined;
  if (!isRecord(row) || typeof id !== 'string' || id === '') throw new Error(`model ${index}: id must be a string`);
  try {
    return parseModel(row, id);
  } catch (error) {
    throw new Error(`model ${id}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

function parseModel(row: Raw, id: string): CatalogModel {
  const contextLength = parseCount(row['context_length'], 'context_length');
  if (contextLength === undefined) throw new Error('context_length is missing');
  const maxOutputTokens = parseCount(row['max_output_tokens'], 'max_output_tokens');
  const outputModalities = parseStrings(row['output_modalities'], 'output_modalities');
  const pricing = parsePricing(row['pricing']);
  const tokensPerSecond = parsePositive(row['tokens_per_second'], 'tokens_per_second');
  const ttftMs = parsePositive(row['ttft_ms'], 'ttft_ms');
  const created = parseSeconds(row['created'], 'created') ?? 0;
  const expires = parseSeconds(row['expiration_date'], 'expiration_date');
  const supportedParameters = parseStrings(row['supported_parameters'], 'supported_parameters') ?? [];
  return {
    id,
    name: parseName(row['name']) ?? id,
    contextLength,
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    inputModalities: parseStrings(row['input_modalities'], 'input_modalities') ?? ['text'],
    ...(outputModalities === undefined ? {} : { outputModalities }),
    supportedParameters,
    ...(pricing === undefined ? {} : { pricing }),
    ...abilitiesOf(row['abilities'], { id, created, supportedParameters, pricing }),
    ...(tokensPerSecond === undefined ? {} : { tokensPerSecond }),
    ...(ttftMs === undefined ? {} : { ttftMs }),
    created,
    ...(expires === undefined ? {} : { expires }),
  };
}

type Known = {
  readonly id: string;
  readonly created: number;
  readonly supportedParameters: readonly string[];
  readonly pricing: ListedPricing | undefined;
};

function abilitiesOf(value: unknown, known: Known): Pick<CatalogModel, 'abilities' | 'estimated'> {
  const abilities = parseAbilities(value);
  if (abilities) return { abilities, estimated: false };
  return { abilities: estimateAbilities(known, []), estimated: true };
}

function parseAbilities(value: unknown): Readonly<Record<string, number>> | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isRecord(value)) throw new Error('abilities must be an object');
  const entries = Object.entries(value);
  if (entries.length > ABILITIES_MAX) throw new Error(`abilities has more than ${ABILITIES_MAX} keys`);
  const abilities = entries.map(([key, share]): [string, number] => {
    if (typeof share !== 'number' || !(share >= 0 && share <= 1)) throw new Error(`abilities.${key} must be 0 to 1`);
    return [key, share];
  });
  return abilities.length === 0 ? undefined : Object.fromEntries(abilities);
}

function parseName(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw new Error('name must be a string');
  return value;
}

function parseCount(value: unknown, field: string): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1) {
    throw new Error(`${field} must be a whole number of tokens above 0`);
  }
  return value;
}

function parsePositive(value: unknown, field: string): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0) throw new Error(`${field} must be above 0`);
  return value;
}

function parseStrings(value: unknown, field: string): readonly string[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) {
    throw new Error(`${field} must be an array of strings`);
  }
  return value;
}

function firstDuplicate(models: readonly CatalogModel[]): string {
  const seen = new Set<string>();
  for (const { id } of models) {
    if (seen.has(id)) return id;
    seen.add(id);
  }
  return '';
}

function isRecord(value: unknown): value is Raw {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

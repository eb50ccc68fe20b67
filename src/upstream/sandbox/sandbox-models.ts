// The sandbox's models: the catalogue file read leniently, and listed the way OpenRouter lists them.

import { isJsonRecord, type JsonRecord } from './json-record.ts';

export type SandboxModel = {
  readonly id: string;
  readonly name: string;
  /** Unix seconds. */
  readonly created: number;
  readonly contextLength: number;
  readonly maxOutputTokens: number | undefined;
  readonly inputModalities: readonly string[];
  readonly outputModalities: readonly string[];
  readonly supportedParameters: readonly string[];
  /** As the file has it: decimal strings, USD per token. */
  readonly pricing: JsonRecord | undefined;
  readonly tokensPerSecond: number;
  readonly ttftMs: number;
  readonly expirationDate: unknown;
};

const DEFAULT_CONTEXT_LENGTH = 128_000;
const DEFAULT_TOKENS_PER_SECOND = 60;
const DEFAULT_TTFT_MS = 500;

/** Rows without an id are left out; whatever else is missing gets a default. */
export function parseSandboxModels(catalogJson: unknown): SandboxModel[] {
  const rows = isJsonRecord(catalogJson) && Array.isArray(catalogJson['models']) ? catalogJson['models'] : [];
  return rows.filter(isJsonRecord).flatMap((row) => parseModel(row) ?? []);
}

/** The body of `GET /models`. */
export function renderModelList(models: readonly SandboxModel[]): { readonly data: readonly JsonRecord[] } {
  return { data: models.map(renderModel) };
}

function parseModel(row: JsonRecord): SandboxModel | undefined {
  const id = row['id'];
  if (typeof id !== 'string' || id === '') return undefined;
  return {
    id,
    name: typeof row['name'] === 'string' ? row['name'] : id,
    created: toUnixSeconds(row['created']),
    contextLength: positive(row['context_length']) ?? DEFAULT_CONTEXT_LENGTH,
    maxOutputTokens: positive(row['max_output_tokens']),
    inputModalities: strings(row['input_modalities']) ?? ['text'],
    outputModalities: strings(row['output_modalities']) ?? ['text'],
    supportedParameters: strings(row['supported_parameters']) ?? [],
    pricing: isJsonRecord(row['pricing']) ? row['pricing'] : undefined,
    tokensPerSecond: positive(row['tokens_per_second']) ?? DEFAULT_TOKENS_PER_SECOND,
    ttftMs: positive(row['ttft_ms']) ?? DEFAULT_TTFT_MS,
    expirationDate: row['expiration_date'],
  };
}

function renderModel(model: SandboxModel): JsonRecord {
  return {
    id: model.id,
    canonical_slug: model.id,
    name: model.name,
    created: model.created,
    description: `${model.name}, played by the svc sandbox.`,
    context_length: model.contextLength,
    architecture: {
      input_modalities: model.inputModalities,
      output_modalities: model.outputModalities,
      tokenizer: 'Other',
    },
    ...(model.pricing === undefined ? {} : { pricing: model.pricing }),
    top_provider: {
      context_length: model.contextLength,
      max_completion_tokens: model.maxOutputTokens ?? null,
      is_moderated: false,
    },
    per_request_limits: null,
    supported_parameters: model.supportedParameters,
    ...(model.expirationDate === undefined ? {} : { expiration_date: model.expirationDate }),
  };
}

function positive(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : undefined;
}

function strings(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : undefined;
}

/** Takes Unix seconds or a date; 0 where there is neither. */
function toUnixSeconds(value: unknown): number {
  if (typeof value === 'number') return value;
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? 0 : Math.floor(ms / 1000);
}

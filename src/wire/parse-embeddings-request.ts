// An embeddings request, checked: which model is asked for, and how much it is to read.

import {
  checkLength,
  invalidField,
  isObject,
  type JsonObject,
  optionalInteger,
  optionalString,
  requiredString,
} from './field-checks.ts';
import { parseSvcField } from './parse-chat-request.ts';

export type EmbeddingsRequest = {
  readonly model: string;
  /** How many vectors are asked for: one per text or list of token ids. */
  readonly inputs: number;
  /** Texts to embed; empty where the input is token ids. */
  readonly texts: readonly string[];
  /** Token ids given, all inputs together: an exact count. */
  readonly tokenIds: number;
  readonly svc: JsonObject | undefined;
};

/** Twice what any upstream takes at once. */
const INPUTS_MAX = 4096;
const DIMENSIONS_RANGE = { min: 1, max: 1_000_000 } as const;
const SHAPE = 'must be a text, an array of texts, an array of token ids, or an array of such arrays';

/** Throws INVALID_REQUEST naming the first field that is missing or wrong. Unknown fields are ignored. */
export function parseEmbeddingsRequest(value: unknown): EmbeddingsRequest {
  if (!isObject(value)) throw invalidField('body', 'must be a JSON object');
  const model = requiredString(value, 'model');
  optionalInteger(value, 'dimensions', DIMENSIONS_RANGE);
  optionalString(value, 'encoding_format');
  optionalString(value, 'user');
  return { model, ...parseInput(value['input']), svc: parseSvcField(value) };
}

type Input = Pick<EmbeddingsRequest, 'inputs' | 'texts' | 'tokenIds'>;

function parseInput(input: unknown): Input {
  if (input === undefined || input === null) throw invalidField('input', `is required and ${SHAPE}`);
  if (typeof input === 'string') return { inputs: 1, texts: [nonEmpty(input, 'input')], tokenIds: 0 };
  if (!Array.isArray(input)) throw invalidField('input', SHAPE);
  const items: readonly unknown[] = input;
  if (items.length === 0) throw invalidField('input', 'must not be empty');
  if (typeof items[0] === 'number') return { inputs: 1, texts: [], tokenIds: countIds(items, 'input') };
  checkLength(items, INPUTS_MAX, 'input');
  return parseInputs(items);
}

function parseInputs(items: readonly unknown[]): Input {
  const texts: string[] = [];
  let tokenIds = 0;
  for (const [index, item] of items.entries()) {
    const path = `input[${index}]`;
    if (typeof item === 'string') texts.push(nonEmpty(item, path));
    else if (Array.isArray(item)) tokenIds += countIds(item, path);
    else throw invalidField(path, 'must be a text or an array of token ids');
  }
  if (texts.length > 0 && tokenIds > 0) throw invalidField('input', 'must hold texts or token ids, not both');
  return { inputs: items.length, texts, tokenIds };
}

function countIds(ids: readonly unknown[], path: string): number {
  if (ids.length === 0) throw invalidField(path, 'must not be empty');
  const wrong = ids.findIndex((id) => typeof id !== 'number' || !Number.isSafeInteger(id) || id < 0);
  if (wrong !== -1) throw invalidField(`${path}[${wrong}]`, 'must be a token id, a whole number of at least 0');
  return ids.length;
}

function nonEmpty(text: string, path: string): string {
  if (text === '') throw invalidField(path, 'must not be empty');
  return text;
}
